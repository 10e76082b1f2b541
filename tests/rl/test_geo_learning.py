"""Discrete SAC and double DQN of geo: closed forms, another library's DQN, masks, and runs that go on as if never stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from optsched.errors import OptschedError  # noqa: E402
from optsched.instances.generators import masac as generated  # noqa: E402
from optsched.rl.geo.actors import Agents, best_legal  # noqa: E402
from optsched.rl.geo.dqn import DoubleDqn, DqnSettings  # noqa: E402
from optsched.rl.geo.files import loaded  # noqa: E402
from optsched.rl.geo.memory import Batch, Memory  # noqa: E402
from optsched.rl.geo.observation import Sight  # noqa: E402
from optsched.rl.geo.prices import FEATURES, features  # noqa: E402
from optsched.rl.geo.sac import DiscreteSac, SacSettings, by_agent, policy, valued  # noqa: E402
from optsched.rl.geo.split import SCENARIOS, case  # noqa: E402
from optsched.rl.geo.stack import Stack  # noqa: E402
from optsched.rl.perceptron import forward, layers_of  # noqa: E402
from optsched.rolling.geo import teaching  # noqa: E402
from optsched.rolling.geo.cases import Cases  # noqa: E402
from optsched.rolling.geo.episode import Episode  # noqa: E402
from optsched.rolling.geo.learning import madqn, masac  # noqa: E402
from optsched.rolling.geo.teaching import imitation  # noqa: E402

pytestmark = pytest.mark.rl
torch.set_num_threads(1)  # threads of tiny matrices wait for one another

GAMMA, WEIGHT = 0.8, 0.3
# two states, two actions: reward and next state; action 1 pays nothing in state 0 but leads to state 1, which pays
REWARD = np.array([[0.5, 0.0], [0.3, 1.0]])
NEXT = np.array([[0, 1], [0, 1]])


def soft_optimum(weight: float = WEIGHT) -> tuple[np.ndarray, np.ndarray]:
    """Action values and policy of largest reward and entropy, by value iteration."""
    value = np.zeros(2)
    for _ in range(500):
        q = REWARD + GAMMA * value[NEXT]
        value = weight * np.log(np.exp(q / weight).sum(axis=1))
    return q, np.exp((q - value[:, None]) / weight)


def walk(count: int, agents: int, rng: np.random.Generator, bonus: float = 0.0, size: float = 1.0) -> Memory:
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
            size=np.full(agents, size),
            next_size=np.full(agents, size),
            over=False,
        )
        state = after
    return memory


def two_walks(count: int, rng: np.random.Generator) -> Memory:
    """Each agent in a process of its own; both are paid what both earn."""
    memory, states = Memory(count, 2, 2, 3), np.zeros(2, dtype=np.int64)
    legal, nothing, ones = np.tile([True, True, False], (2, 1)), np.zeros((2, 3)), np.ones(2)
    for _ in range(count):
        action = rng.integers(2, size=2)
        after = NEXT[states, action]
        memory.add(
            seen=np.eye(2)[states],
            legal=legal,
            active=np.ones(2, bool),
            action=action,
            reward=float(REWARD[states, action].sum()),
            next_seen=np.eye(2)[after],
            next_legal=legal,
            credit=nothing,
            next_credit=nothing,
            size=ones,
            next_size=ones,
            over=False,
        )
        states = after
    return memory


@pytest.mark.parametrize(("bonus", "size"), [(0.0, 1.0), (0.7, 1.0), (0.7, 3.0)])
def test_sac_finds_the_soft_optimum(bonus: float, size: float) -> None:
    """Its policy and both critics, for two agents at once; neither credit nor the size of jobs changes anything."""
    rng = np.random.default_rng(0)
    settings = SacSettings((32,), GAMMA, 64, 3e-3, 3e-3, entropy=WEIGHT, follow=0.05)
    sac, memory = DiscreteSac(2, 2, 3, settings, rng), walk(400, 2, rng, bonus, size)
    for _ in range(1500):
        sac.update(memory.draw(64, rng))
    credit = torch.tensor([0.0, bonus, 0.0])
    share = shares(sac, credit, size)
    q, wanted = soft_optimum()
    assert np.allclose(share[:, :, :2], wanted, atol=0.03)
    assert float(share[:, :, 2].max()) == 0.0
    for critic in sac.critics:
        assert np.allclose((said(critic, size) + credit.numpy())[:, :, :2], q, atol=0.1)


def said(network: Stack, size: float = 1.0) -> np.ndarray:
    """Of the three actions in each state, by agent."""
    with torch.no_grad():
        return valued(network, torch.eye(2)[None].repeat(2, 1, 1), torch.full((2, 2), size)).numpy()


def shares(sac: DiscreteSac, credit: torch.Tensor, size: float = 1.0) -> np.ndarray:
    """Of the three actions in each state, by agent."""
    logits = torch.as_tensor(said(sac.actor, size)) + sac.credited * credit
    return policy(logits, torch.tensor([True, True, False]).expand(2, 2, 3))[0].numpy()


def test_critics_that_add_up_part_a_shared_reward() -> None:
    """Each agent's policy is the soft optimum of what it earns itself."""
    rng = np.random.default_rng(0)
    settings = SacSettings((32,), GAMMA, 64, 3e-3, 3e-3, entropy=WEIGHT, follow=0.05, additive=True)
    sac, memory = DiscreteSac(2, 2, 3, settings, rng), two_walks(800, rng)
    for _ in range(2500):
        sac.update(memory.draw(64, rng))
    assert np.allclose(shares(sac, torch.zeros(3))[:, :, :2], soft_optimum()[1], atol=0.05)


def test_dqn_parts_a_shared_reward_too() -> None:
    """By how much action 1 is better than action 0, in each state of each agent."""
    rng = np.random.default_rng(0)
    settings = DqnSettings((32,), GAMMA, 64, 3e-3, 0.05, gap=0.0, additive=True)
    dqn, memory = DoubleDqn(2, 2, 3, settings, rng), two_walks(800, rng)
    for _ in range(2500):
        dqn.update(memory.draw(64, rng))
    found, best = said(dqn.actor), 1 / (1 - GAMMA)
    wanted = [GAMMA * best - 0.5 - GAMMA**2 * best, best - 0.3 - GAMMA**2 * best]
    assert np.allclose(found[:, :, 1] - found[:, :, 0], wanted, atol=0.1)


def test_sac_begins_as_the_soft_choice_by_what_is_known_at_once() -> None:
    sac = DiscreteSac(2, 2, 3, SacSettings((32,), entropy=WEIGHT), np.random.default_rng(0))
    wanted = 1 / (1 + np.exp(-0.7 / WEIGHT))
    assert np.allclose(shares(sac, torch.tensor([0.0, 0.7, 0.0]))[:, :, 1], wanted, atol=1e-6)


def test_a_share_of_the_log_likelihood_widens_the_gaps() -> None:
    """Its policy is the soft optimum at 1 - gap of the entropy's weight (Vieillard et al. 2020, Theorem 1)."""
    rng, gap = np.random.default_rng(0), 0.3
    settings = SacSettings((32,), GAMMA, 64, 3e-3, 3e-3, entropy=WEIGHT, follow=0.05, gap=gap)
    sac, memory = DiscreteSac(2, 2, 3, settings, rng), walk(400, 2, rng)
    for _ in range(2500):
        sac.update(memory.draw(64, rng))
    found, wanted = shares(sac, torch.zeros(3))[:, :, :2], soft_optimum(WEIGHT * (1 - gap))[1]
    assert np.allclose(found, wanted, atol=0.03)
    assert abs(wanted - soft_optimum()[1]).max() > 0.03


def test_the_entropy_weight_reaches_its_target() -> None:
    rng = np.random.default_rng(1)
    settings = SacSettings((32,), GAMMA, 64, 3e-3, 3e-3, entropy=1.0, target_ratio=0.5, follow=0.05)
    sac, memory = DiscreteSac(1, 2, 3, settings, rng), walk(400, 1, rng)
    told = [sac.update(memory.draw(64, rng)) for _ in range(1500)]
    assert np.mean([each["entropy_ratio"] for each in told[-200:]]) == pytest.approx(0.5, abs=0.1)


def test_dqn_finds_the_values() -> None:
    """Of the hard optimum: state 1 pays 1 / (1 - gamma) for ever."""
    rng = np.random.default_rng(0)
    settings = DqnSettings((32,), GAMMA, 64, 3e-3, 0.05, gap=0.0)
    dqn, memory = DoubleDqn(2, 2, 3, settings, rng), walk(400, 2, rng, 0.5)
    for _ in range(1500):
        dqn.update(memory.draw(64, rng))
    found = said(dqn.actor) + np.array([0.0, 0.5, 0.0])
    best = 1 / (1 - GAMMA)
    wanted = [[0.5 + GAMMA**2 * best, GAMMA * best], [0.3 + GAMMA * GAMMA * best, best]]
    assert np.allclose(found[:, :, :2], wanted, atol=0.25)
    assert (found[:, :, 1] > found[:, :, 0]).all()


def test_advantage_learning_widens_the_gaps() -> None:
    """The best action's values are the optimum's, and the other's lack is 1 / (1 - gap) times as large."""
    rng = np.random.default_rng(0)
    settings = DqnSettings((32,), GAMMA, 64, 3e-3, 0.05, gap=0.5)
    dqn, memory = DoubleDqn(2, 2, 3, settings, rng), walk(400, 2, rng, 0.5)
    for _ in range(2500):
        dqn.update(memory.draw(64, rng))
    found = said(dqn.actor) + np.array([0.0, 0.5, 0.0])
    best = 1 / (1 - GAMMA)
    lack = np.array([GAMMA * best - 0.5 - GAMMA**2 * best, best - 0.3 - GAMMA**2 * best])
    assert np.allclose(found[:, :, 1], [GAMMA * best, best], atol=0.25)
    assert np.allclose(found[:, :, 1] - found[:, :, 0], 2 * lack, atol=0.1)


def test_madqn_begins_at_the_utility_known_at_once() -> None:
    """To the last decision: what a random layer says is more than gaps are."""
    learner = madqn("toy", (), 0)
    assert learner.validate() == learner.cases.judge(ByCredit())


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
    assert earned(lambda seen: ours.actor(torch.as_tensor(seen)[None, None])[0, 0, 1:3].argmax()) == 19.0


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


@pytest.mark.parametrize("agents", [1, 4])
def test_both_forward_passes_say_the_same(agents: int) -> None:
    """Torch's, which learns, and NumPy's, which acts."""
    rng = np.random.default_rng(agents)
    stack = Stack(agents, (9, 16, 8, 3), rng)
    with torch.no_grad():
        for tensor in stack.parameters:
            tensor.mul_(3.0)
        x = rng.normal(size=(agents, 50, 9))
        theirs = stack(torch.as_tensor(x, dtype=torch.float32)).numpy()
    ours = forward(x, layers_of(stack.arrays()))
    assert np.abs(ours).max() > 1.0
    assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_what_acts_is_what_has_learned(tmp_path: Path) -> None:
    """From the file, on what is seen in an episode."""
    sites, prices = masac("toy", (), 5), imitation("toy", (), 5)
    sight = Episode(sites.cases.training(0)).sight
    with torch.no_grad():
        for tensor in sites.algorithm.actor.layers[-1]:  # which says nothing at first
            tensor.normal_()
        joint = torch.as_tensor(sight.joint()[:, None], dtype=torch.float32)
        shown = torch.as_tensor(features(sight).reshape(1, -1, FEATURES), dtype=torch.float32)
        sizes = torch.as_tensor(sight.sizes()[:, None], dtype=torch.float32)
        told = valued(sites.algorithm.actor, joint, sizes)[:, 0].numpy()
        learned = told + sites.algorithm.credited * sight.credits()
        wanted = learned, prices.network(shown)[0].numpy()
    for learner in (sites, prices):
        learner.trained().save(tmp_path / f"{learner.name}.npz")
    agents, bids = loaded(str(tmp_path / "masac.npz")), loaded(str(tmp_path / "geo-imitation.npz"))
    assert isinstance(agents, Agents)
    assert np.allclose(agents.scores(sight), wanted[0], rtol=1e-5, atol=1e-5)
    assert np.allclose(forward(features(sight), bids.layers).reshape(-1, 1), wanted[1], rtol=1e-5, atol=1e-5)


def test_no_validation_changes_what_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The discount that it finds best goes into what is kept, and into no turn: who ends, validates and goes on is no other."""
    monkeypatch.setattr(teaching, "DISCOUNTS", (0.0, 5.0))  # as far apart as can be told
    monkeypatch.setattr(Cases, "judge", lambda _, actor: actor.discount)  # the last one is best
    one, other = imitation("toy", (), 3), imitation("toy", (), 3)
    one.turn()
    other.turn()
    before = float(one.trained().arrays["discount"])
    assert one.validate() == 5.0
    assert (before, float(one.trained().arrays["discount"])) == (0.0, 5.0)
    assert [one.turn() for _ in range(3)] == [other.turn() for _ in range(3)]
    assert one.steps == other.steps
    assert all((a == b).all() for a, b in zip(one.network.state(), other.network.state(), strict=True))


@pytest.mark.parametrize("make", [masac, madqn, imitation])
def test_nothing_to_learn_from_is_told_in_a_line(make: object) -> None:
    """No jobs, jobs that fit nowhere, and sites that differ where there is an agent a site."""
    good = generated(jobs=20, days=0.2, scale=0.2, seed=7)
    huge = good.model_copy(update={"jobs": tuple(job.model_copy(update={"gpus": 10_000}) for job in good.jobs)})
    for instance in (good.model_copy(update={"jobs": ()}), huge):
        with pytest.raises(OptschedError, match="leaves nothing to decide"):
            make("toy", (good, instance), 0)  # type: ignore[operator]
    other = case(SCENARIOS["many"], "train", next(n for n in range(99) if len(case(SCENARIOS["many"], "train", n).sites) != 5))
    if make is imitation:
        imitation("toy", (good, other), 0)
    else:
        with pytest.raises(OptschedError, match="the same number of sites in every instance"):
            make("toy", (good, other), 0)  # type: ignore[operator]


class ByCredit:
    """What earns most at once: what agents are told before they have learned anything."""

    def act(self, sight: Sight) -> np.ndarray:
        """A myopic rule."""
        return best_legal(sight.credits(), sight.rounds.legal)

    def knows(self, sites: int) -> bool:
        """Any number."""
        return True


@pytest.mark.parametrize(("make", "steps", "of_myopic"), [(masac, 2000, 0.85), (imitation, 1200, 1.0)])
def test_a_toy_is_learned(make: object, steps: int, of_myopic: float) -> None:
    """In seconds, on validation: MASAC from nothing (who always postpones has 0) to nearly a myopic rule; prices beyond it."""
    learner = make("toy", (), 0)  # type: ignore[operator]
    first, myopic = learner.validate(), learner.cases.judge(ByCredit())
    while learner.steps < steps:
        learner.turn()
    assert 0.5 < myopic < 1
    assert learner.validate() > max(first, of_myopic * myopic)


def test_a_toy_is_learned_beyond_the_myopic_rule() -> None:
    """By MADQN, which begins there: the best of three validations."""
    learner, scores = madqn("toy", (), 0), []
    myopic = learner.cases.judge(ByCredit())
    for until in (1000, 2000, 3000):
        while learner.steps < until:
            learner.turn()
        scores.append(learner.validate())
    assert max(scores) > myopic
    assert min(scores) > 0.95 * myopic  # before advantage learning: 0.6 to 0.85 of the bound
