"""Discrete SAC and double DQN of geo: closed forms, another library's DQN, masks, and runs that go on as if never stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from optsched.rl.geo.dqn import DoubleDqn, DqnSettings  # noqa: E402
from optsched.rl.geo.memory import Batch, Memory  # noqa: E402
from optsched.rl.geo.sac import DiscreteSac, SacSettings, by_agent, policy  # noqa: E402
from optsched.rolling.geo.learning import madqn, masac  # noqa: E402
from optsched.rolling.geo.teaching import imitation  # noqa: E402

pytestmark = pytest.mark.rl
torch.set_num_threads(1)  # threads of tiny matrices wait for one another

GAMMA, WEIGHT = 0.8, 0.3
# two states, two actions: reward and next state; action 1 pays nothing in state 0 but leads to state 1, which pays
REWARD = np.array([[0.5, 0.0], [0.3, 1.0]])
NEXT = np.array([[0, 1], [0, 1]])


def soft_optimum() -> tuple[np.ndarray, np.ndarray]:
    """Action values and policy of largest reward and entropy, by value iteration."""
    value = np.zeros(2)
    for _ in range(500):
        q = REWARD + GAMMA * value[NEXT]
        value = WEIGHT * np.log(np.exp(q / WEIGHT).sum(axis=1))
    return q, np.exp((q - value[:, None]) / WEIGHT)


def walk(count: int, agents: int, rng: np.random.Generator, bonus: float = 0.0) -> Memory:
    """Random steps of the two-state process, the same for each agent; `bonus` of action 1's reward is told as credit."""
    memory, state = Memory(count, agents, 2, 3), 0
    legal = np.tile([True, True, False], (agents, 1))
    credit = np.tile([0.0, bonus, 0.0], (agents, 1))
    for _ in range(count):
        action = int(rng.integers(2))
        after = int(NEXT[state, action])
        seen, later = (np.tile(np.eye(2)[s], (agents, 1)) for s in (state, after))
        memory.add(
            seen=seen,
            legal=legal,
            active=np.ones(agents, bool),
            action=np.full(agents, action),
            reward=float(REWARD[state, action]),
            next_seen=later,
            next_legal=legal,
            credit=credit,
            next_credit=credit,
            over=False,
        )
        state = after
    return memory


@pytest.mark.parametrize("bonus", [0.0, 0.7])
def test_sac_finds_the_soft_optimum(bonus: float) -> None:
    """Its policy and both critics, for two agents at once; what is credited at once changes nothing."""
    rng = np.random.default_rng(0)
    settings = SacSettings((32,), GAMMA, 64, 3e-3, 3e-3, entropy=WEIGHT, follow=0.05)
    sac, memory = DiscreteSac(2, 2, 3, settings, rng), walk(400, 2, rng, bonus)
    for _ in range(1500):
        sac.update(memory.draw(64, rng))
    states = torch.eye(2)[None].repeat(2, 1, 1)
    share, _ = policy(sac.actor(states), torch.tensor([True, True, False]).expand(2, 2, 3))
    q, wanted = soft_optimum()
    assert np.allclose(share[:, :, :2].detach().numpy(), wanted, atol=0.03)
    assert float(share[:, :, 2].max()) == 0.0
    credit = torch.tensor([0.0, bonus, 0.0])
    for critic in sac.critics:
        assert np.allclose((critic(states) + credit)[:, :, :2].detach().numpy(), q, atol=0.1)


def test_the_entropy_weight_reaches_its_target() -> None:
    rng = np.random.default_rng(1)
    settings = SacSettings((32,), GAMMA, 64, 3e-3, 3e-3, entropy=1.0, target_ratio=0.5, follow=0.05)
    sac, memory = DiscreteSac(1, 2, 3, settings, rng), walk(400, 1, rng)
    told = [sac.update(memory.draw(64, rng)) for _ in range(1500)]
    assert np.mean([each["entropy_ratio"] for each in told[-200:]]) == pytest.approx(0.5, abs=0.1)


def test_dqn_finds_the_values() -> None:
    """Of the hard optimum: state 1 pays 1 / (1 - gamma) for ever."""
    rng = np.random.default_rng(0)
    dqn, memory = DoubleDqn(2, 2, 3, DqnSettings((32,), GAMMA, 64, 3e-3, 0.05), rng), walk(400, 2, rng, 0.5)
    for _ in range(1500):
        dqn.update(memory.draw(64, rng))
    found = dqn.actor(torch.eye(2)[None].repeat(2, 1, 1)).detach().numpy() + np.array([0.0, 0.5, 0.0])
    best = 1 / (1 - GAMMA)
    wanted = [[0.5 + GAMMA**2 * best, GAMMA * best], [0.3 + GAMMA * GAMMA * best, best]]
    assert np.allclose(found[:, :, :2], wanted, atol=0.25)
    assert (found[:, :, 1] > found[:, :, 0]).all()


def test_dqn_reaches_what_another_library_reaches() -> None:
    """Stable-Baselines3's DQN and ours, on the two states as a Gymnasium environment of 20 steps: both earn the optimum, 19."""
    gymnasium = pytest.importorskip("gymnasium")
    library = pytest.importorskip("stable_baselines3")

    class TwoStates(gymnasium.Env):  # type: ignore[misc,name-defined]
        observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict[str, float]]:
            super().reset(seed=seed)
            self.state = self.count = 0
            return np.eye(2, dtype=np.float32)[0], {}

        def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, float]]:
            reward, self.state = float(REWARD[self.state, action]), int(NEXT[self.state, action])
            self.count += 1
            return np.eye(2, dtype=np.float32)[self.state], reward, False, self.count >= 20, {}

    theirs = library.DQN(
        "MlpPolicy", TwoStates(), 3e-3, learning_starts=100, gamma=GAMMA, target_update_interval=100, seed=0, device="cpu"
    ).learn(2000)
    rng = np.random.default_rng(0)
    ours, memory = DoubleDqn(1, 2, 3, DqnSettings((32,), GAMMA, 64, 3e-3, 0.05), rng), walk(400, 1, rng)
    for _ in range(1500):
        ours.update(memory.draw(64, rng))

    def earned(act: object) -> float:
        env, total = TwoStates(), 0.0
        seen, _ = env.reset(seed=0)
        for _ in range(20):
            seen, reward, *_ = env.step(int(act(seen)))  # type: ignore[operator]
            total += reward
        return total

    assert earned(lambda seen: theirs.predict(seen, deterministic=True)[0]) == 19.0
    assert earned(lambda seen: ours.actor(torch.as_tensor(seen)[None, None])[0, 0, :2].argmax()) == 19.0


def test_gradients_of_the_masked_policy() -> None:
    """Of its entropy, against finite differences."""
    legal = torch.tensor([[True, False, True]])
    logits = torch.tensor([[0.3, 9.0, -0.4]], dtype=torch.float64, requires_grad=True)

    def entropy(x: torch.Tensor) -> torch.Tensor:
        share, log = policy(x, legal)
        return -(share * log).sum()

    assert torch.autograd.gradcheck(entropy, (logits,))


def test_batches_are_what_was_added() -> None:
    memory = Memory(8, 2, 3, 2, shared=1)
    rng = np.random.default_rng(0)
    for k in range(11):
        seen = np.array([[k, 1.0, -k], [k, 2.0, -k]])
        memory.add(seen=seen, next_seen=seen + 1, action=np.array([k % 2, 0]), reward=float(k))
    assert len(memory) == 8
    batch = memory.draw(64, rng)
    assert isinstance(batch, Batch)
    assert set(batch.reward.tolist()) <= set(range(3, 11))
    assert (batch.seen[:, :, 0] == batch.reward[:, None]).all()
    assert (batch.seen[:, :, 2] == -batch.reward[:, None]).all()
    assert (batch.next_seen == batch.seen + 1).all()
    assert by_agent(batch.seen).shape == (2, 64, 3)


@pytest.mark.parametrize("make", [masac, madqn, imitation])
def test_a_run_goes_on_as_if_never_stopped(make: object, tmp_path: Path) -> None:
    """To the last weight, through a file that torch reads without pickled code."""
    one, other = (make("toy", (), 3) for _ in range(2))  # type: ignore[operator]
    while one.steps < 260:
        one.turn()
    torch.save(dict(one.state()), tmp_path / "kept")
    other.restore(torch.load(tmp_path / "kept", weights_only=True))
    for _ in range(3):
        assert one.turn() == other.turn()
    assert one.trained().sha256 == other.trained().sha256
    assert one.steps == other.steps


@pytest.mark.parametrize("make", [masac, imitation])
def test_a_toy_is_learned(make: object) -> None:
    """In seconds: well above what it begins with, on validation."""
    learner = make("toy", (), 0)  # type: ignore[operator]
    first = learner.validate()
    while learner.steps < 1200:
        learner.turn()
    assert learner.validate() > first
