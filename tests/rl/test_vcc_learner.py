"""Training of vcc's agents, in short: it learns, goes on after a stop as if there had been none, and leaves what it acts by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytestmark = pytest.mark.rl

import torch  # noqa: E402

from optsched.errors import OptschedError  # noqa: E402
from optsched.instances.base import Instance  # noqa: E402
from optsched.instances.generators import vcc  # noqa: E402
from optsched.rl.learner import Learner, Run  # noqa: E402
from optsched.rl.vcc.action import to_share  # noqa: E402
from optsched.rl.vcc.agent import Agent  # noqa: E402
from optsched.rl.vcc.learner import CapLearner  # noqa: E402
from optsched.rl.vcc.observation import SIZE  # noqa: E402
from optsched.rolling.vcc import lessons  # noqa: E402
from optsched.rolling.vcc.lessons import ppo, sac  # noqa: E402

MAKE = {"ppo": ppo, "sac": sac}
TOY_STEPS = 40_000


def learner(algorithm: str, seed: int = 3, instances: tuple[Instance, ...] = (vcc(days=1, jobs=60, load=0.1),)) -> CapLearner:
    found: Learner = MAKE[algorithm]("toy", instances, seed)
    assert isinstance(found, CapLearner)
    return found


def same(one: CapLearner, other: CapLearner) -> None:
    a, b = one.trained().arrays, other.trained().arrays
    assert set(a) == set(b)
    for name in a:
        assert (a[name] == b[name]).all(), name


@pytest.mark.parametrize("algorithm", MAKE)
def test_whoever_goes_on_is_as_if_never_stopped(algorithm: str, tmp_path: Path) -> None:
    """Past the turns in which only the critic learns; what was kept is read without pickles."""
    whole = learner(algorithm)
    for _ in range(9):
        whole.turn()
    first = learner(algorithm)
    for _ in range(6):
        first.turn()
    torch.save(first.state(), tmp_path / "kept")
    np.random.random(7)  # noqa: NPY002 (somebody else's draws)
    torch.rand(3)
    again = learner(algorithm)
    again.restore(torch.load(tmp_path / "kept", weights_only=True))
    assert again.steps == first.steps
    for _ in range(3):
        again.turn()
    assert again.steps == whole.steps == 9 * 24 * lessons.SIZE
    same(whole, again)


@pytest.mark.parametrize("algorithm", MAKE)
def test_everyone_begins_as_uncapped(algorithm: str) -> None:
    assert learner(algorithm).validate() == 0.0


@pytest.mark.parametrize("algorithm", MAKE)
def test_the_agent_is_the_models_actor(algorithm: str) -> None:
    trained = learner(algorithm)
    for _ in range(7):
        trained.turn()
    seen = np.random.default_rng(0).random((20, SIZE))
    theirs, _ = trained.model.predict(trained.venv._normal(seen), deterministic=True)
    assert Agent(trained.trained()).shares(seen) == pytest.approx(to_share(theirs[:, 0], seen), abs=1e-5)


@pytest.mark.parametrize("algorithm", MAKE)
def test_the_toy_is_learned(algorithm: str, tmp_path: Path) -> None:
    """Better than uncapped on cases that it has not trained on."""
    run = Run.begin(MAKE[algorithm]("toy", (), 0), tmp_path / "toy.npz")
    best = run.go(TOY_STEPS, TOY_STEPS // 5)
    assert run.score is not None
    assert run.score > 0.001
    agent = Agent.load(tmp_path / "toy.npz")
    assert agent.sha256 == best.sha256
    assert agent.trained.card.scenario == "toy"


def test_what_cannot_be_learned_from() -> None:
    with pytest.raises(OptschedError, match="without evictions"):
        learner("ppo", instances=(vcc(days=1, jobs=30, load=0.1, preempt=True),))
    with pytest.raises(OptschedError, match="same number of slots"):
        learner("ppo", instances=(vcc(days=1, jobs=30, load=0.1), vcc(days=2, jobs=30, load=0.1)))


def test_without_data_there_is_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPTSCHED_DATA", str(tmp_path))
    with pytest.raises(OptschedError, match="--scenario synthetic, --scenario toy and --instance need none"):
        ppo("months", (), 0)
