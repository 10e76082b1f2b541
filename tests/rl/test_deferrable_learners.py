"""OSDEC and its ablations in torch: what acts is what was trained, the loss has the right gradient, and toys are learned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.rl

from optsched import deferrable, replay  # noqa: E402
from optsched.errors import InputError  # noqa: E402
from optsched.registry import family_of  # noqa: E402
from optsched.rl.deferrable.acting import ACTS  # noqa: E402
from optsched.rl.deferrable.batch import Batch, Sight  # noqa: E402
from optsched.rl.deferrable.network import scored  # noqa: E402
from optsched.rl.deferrable.split import workload  # noqa: E402
from optsched.rl.deferrable.state import start_by_score  # noqa: E402
from optsched.rl.learner import Learner, Run, checkpoint_of, curve_of  # noqa: E402
from optsched.rl.learners import learner as learner_of  # noqa: E402
from optsched.rolling.deferrable.learning import configurations  # noqa: E402
from optsched.rolling.deferrable.learning.judging import earns  # noqa: E402
from optsched.rolling.deferrable.learning.ppo import Episode, Osdec  # noqa: E402
from optsched.rolling.deferrable.play import Play  # noqa: E402


def sights(count: int) -> list[Sight]:
    """Decisions in the middle of a case."""
    play, found = Play(workload("train", 7)), []
    rng = np.random.default_rng(0)
    while play.seen is not None and len(found) < count:
        found.append(Sight.of(play.seen, play.past))
        play.start(start_by_score(play.seen, rng.normal(size=len(play.seen.cores))))
    return found


@pytest.mark.parametrize("name", configurations.SHAPES)
def test_what_acts_is_what_was_trained(name: str) -> None:
    learner = configurations.made(name, "osdec", (), seed=3)
    seen = sights(30)
    batch = Batch.of(seen, learner.shape.most)
    with torch.no_grad():
        mean, scale, _ = learner._forward(batch)
    assert (scale.numpy()[batch.held] > 0).all()
    arrays = learner.trained().arrays
    for b, sight in enumerate(seen):
        n = min(learner.shape.most, len(sight.order))
        acted = scored(arrays, sight.jobs[:n], sight.whole, sight.past)
        assert acted == pytest.approx(mean[b, :n].numpy(), abs=2e-5)


def test_auxiliary_features_are_joined_where_the_ablation_says_so() -> None:
    first = {name: configurations.made(name, "osdec", (), 0).trained().arrays for name in configurations.SHAPES}
    joined = {name: {key for key in arrays if key.startswith("prior.")} for name, arrays in first.items()}
    assert joined["osdec"] == {"prior.low", "prior.high"}
    assert joined["osdec-auxh"] == {"prior.high"}
    assert joined["osdec-auxl"] == {"prior.low"}
    assert not joined["osdec-att"] | joined["osdec-mlp"] | joined["osdec-pointer"]


def test_the_gradient_of_the_scores_density_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(1)
    raw, drawn = rng.normal(size=(2, 3, 4)), torch.from_numpy(rng.normal(size=(3, 4)))
    ready = torch.from_numpy(rng.random((3, 4)) < 0.7)

    def density(values: np.ndarray, keep: bool = False) -> tuple[object, object]:
        given = torch.tensor(values, requires_grad=keep)
        log = Osdec._log(torch.tanh(given[0]), torch.nn.functional.softplus(given[1]) + 0.05, drawn, ready)
        return log.sum(), given

    total, given = density(raw, keep=True)
    total.backward()  # type: ignore[attr-defined]
    step = 1e-6
    for place in np.ndindex(raw.shape):
        up, down = raw.copy(), raw.copy()
        up[place] += step
        down[place] -= step
        slope = (float(density(up)[0]) - float(density(down)[0])) / (2 * step)  # type: ignore[arg-type]
        assert float(given.grad[place]) == pytest.approx(slope, abs=1e-5)  # type: ignore[attr-defined]


def test_advantages_by_hand() -> None:
    learner = configurations.made("osdec-mlp", "toy", (), 0)
    play = Play(workload("train", 0))
    episode = Episode(play, 1.0, values=[1.0, 2.0, 3.0], rewards=[1.0, 0.0, 4.0])
    worth, returns = learner._advantages([episode])
    g, lam = 0.99, 0.95
    last = 4 - 3
    middle = g * 3 - 2 + g * lam * last
    first = 1 + g * 2 - 1 + g * lam * middle
    assert worth == pytest.approx([first, middle, last])
    assert returns == pytest.approx([first + 1, middle + 2, last + 3])
    alone = configurations.made("osdec-reinforce", "toy", (), 0)
    assert alone._advantages([episode])[0] == pytest.approx([1 + g * g * 4, g * 4, 4])


@pytest.mark.parametrize("name", ["osdec", "deferrable-imitation", "deferrable-prices"])
def test_resumed_is_as_never_stopped(name: str, tmp_path: Path) -> None:
    def learner() -> Learner:
        return learner_of(name, "toy", (), 5)

    whole = Run.begin(learner(), tmp_path / "whole.npz").go(500, 100)
    part = Run.begin(learner(), tmp_path / "part.npz")
    part.go(250, 100)
    (tmp_path / "part.npz").with_suffix(".curve.csv").unlink()  # what a kill may leave behind, it is made again
    again = Run.resume(learner(), tmp_path / "part.npz").go(500, 100)
    assert again.sha256 == whole.sha256
    assert [n for n, _ in again.card.curve][-1] == [n for n, _ in whole.card.curve][-1]
    assert [s for _, s in again.card.curve][-1] == [s for _, s in whole.card.curve][-1]
    assert curve_of(tmp_path / "part.npz").read_text().splitlines()[-1].split(",")[0] == str(again.card.steps)
    assert checkpoint_of(tmp_path / "part.npz").exists()


def test_a_checkpoint_is_not_lost_and_not_anothers(tmp_path: Path) -> None:
    Run.begin(learner_of("osdec-mlp", "toy"), tmp_path / "a.npz").go(60, 60)
    kept = checkpoint_of(tmp_path / "a.npz").read_bytes()
    with pytest.raises(InputError, match="--resume goes on"):
        Run.begin(learner_of("osdec-mlp", "toy"), tmp_path / "a.npz")
    for other in (learner_of("osdec-att", "toy"), learner_of("osdec-mlp", "toy", seed=1)):
        with pytest.raises(InputError, match="is a checkpoint of osdec-mlp, scenario toy, seed 0"):
            Run.resume(other, tmp_path / "a.npz")
    with pytest.raises(InputError, match="no such file"):
        Run.resume(learner_of("osdec-mlp", "toy"), tmp_path / "b.npz")
    assert checkpoint_of(tmp_path / "a.npz").read_bytes() == kept
    kept_half = kept[: len(kept) // 2]
    checkpoint_of(tmp_path / "a.npz").write_bytes(kept_half)
    with pytest.raises(InputError, match="no checkpoint of this training"):
        Run.resume(learner_of("osdec-mlp", "toy"), tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["osdec", "osdec-mlp", "osdec-reinforce", "deferrable-imitation", "deferrable-prices"])
def test_a_toy_is_learned(name: str, tmp_path: Path) -> None:
    learner: Learner = learner_of(name, "toy", seed=2)
    found = Run.begin(learner, tmp_path / "toy.npz").go(2400, 400)
    cases, agent = learner.validation, f"agent:{tmp_path / 'toy.npz'}"  # type: ignore[attr-defined]
    bounds = [family_of(case).clairvoyant(case) for case in cases]
    acted, fifo = ([replay(case, policy, guard=False).objective for case in cases] for policy in (agent, "fifo"))
    assert acted == pytest.approx([earns(ACTS[found.card.kind], found.arrays, case) for case in cases])
    assert all(a <= b + 1e-6 for a, b in zip(acted, bounds, strict=True))
    assert sum(acted) > 1.08 * sum(fifo)  # which starts in the order of the file and loses the urgent
    if name != "deferrable-prices":  # whose rule alone does it: no price, no patience
        assert found.card.curve[0][1] + 0.05 < max(score for _, score in found.card.curve)


def test_own_ppo_and_stable_baselines_find_the_same_optimum(tmp_path: Path) -> None:
    stable = pytest.importorskip("stable_baselines3")
    from optsched.rolling.deferrable.environment import DeferrableEnv

    m = deferrable.Model("tiny", slot_s=300, capacity=[2, 2], delay_penalty=0.1, overload_penalty=10)
    m.add_job(cores=1, duration=1, earliest=0, latest=1, submitted=0)
    m.add_job(cores=2, duration=1, earliest=0, latest=0, submitted=0)
    tiny = m.instance()
    best = 2.9  # the wide job first, the other a slot later; else 1
    learner = configurations.made("osdec-mlp", "toy", (tiny,), 0)
    Run.begin(learner, tmp_path / "own.npz").go(600, 300)
    assert earns(ACTS["deferrable-scores"], learner.trained().arrays, tiny) == pytest.approx(best)
    environment = DeferrableEnv([tiny], most=4)
    model = stable.PPO("MultiInputPolicy", environment, n_steps=64, batch_size=32, learning_rate=3e-3, seed=0, device="cpu")
    model.learn(2_000)
    seen, _ = environment.reset(seed=0)
    earned, over = 0.0, False
    while not over:
        seen, reward, over, _, _ = environment.step(model.predict(seen, deterministic=True)[0])
        earned += reward
    assert earned == pytest.approx(best)
