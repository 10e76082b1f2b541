"""Learned policies of deferrable in replays, and their guard: with weights made by hand, no torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from optsched import replay
from optsched.errors import OptschedError
from optsched.heuristics.deferrable import dispatch, fifo
from optsched.instances.deferrable import DeferrableInstance
from optsched.instances.generators import osdec
from optsched.registry import family_of
from optsched.rl.deferrable.charges import SLOT
from optsched.rl.deferrable.split import toy
from optsched.rl.trained import Card, Trained
from optsched.rolling.deferrable.agents import agent_policy
from optsched.rolling.deferrable.guard import GuardedScores, worth
from optsched.rolling.policy import Lasting, Settings
from optsched.schedules.deferrable import DeferrableSchedule


def charging(path: Path, price: float) -> str:
    """An agent that thinks that a core costs so much in every slot, and pays for all of it."""
    bias = float(np.log(np.expm1(price)))
    shapes = {"layers.0": (4, SLOT), "layers.2": (4, 4), "layers.4": (1, 4)}
    arrays = {f"{name}.weight": np.zeros(shape) for name, shape in shapes.items()}
    arrays |= {f"{name}.bias": np.zeros(shape[0]) for name, shape in shapes.items()}
    arrays |= {"layers.4.bias": np.array([bias]), "share": np.array(1.0)}
    words = {"name": "by hand", "scenario": "none", "split": "none"}
    card = Card(kind="deferrable-charges", problem="deferrable", seed=0, steps=0, settings={}, **words)
    Trained(arrays, card).save(path)
    return f"agent:{path}"


def test_who_thinks_that_nothing_pays_starts_nothing_and_is_overruled(tmp_path: Path) -> None:
    agent = charging(tmp_path / "dear.npz", 5.0)
    for seed in range(4):
        case = osdec(jobs=50, horizon=40, load=1.3, seed=seed)
        fifo = replay(case, "fifo").objective
        bare, kept = replay(case, agent, guard=False), replay(case, agent)
        assert bare.objective == 0
        assert fifo is not None
        assert kept.objective is not None
        assert kept.objective >= 0.9 * fifo
        assert kept.options["figures"]["overruled"] > 0
        assert bare.options["figures"]["overruled"] == 0


def test_who_does_better_than_the_rule_is_left_alone(tmp_path: Path) -> None:
    agent = charging(tmp_path / "cheap.npz", 0.01)  # it starts what would lose most by waiting: the large jobs
    case = toy("test", 2)
    fifo, kept, bare = replay(case, "fifo"), replay(case, agent), replay(case, agent, guard=False)
    assert fifo.objective is not None
    assert bare.objective is not None
    assert bare.objective > 1.2 * fifo.objective
    assert kept.objective == bare.objective
    assert kept.options["figures"]["overruled"] == 0


class Stub:
    """An agent that starts what FIFO would, or nothing."""

    def __init__(self, starts: bool) -> None:
        self.starts, self.past = starts, self

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def copied(self) -> Stub:
        """It remembers nothing."""
        return self

    def note(self, snapshot: DeferrableInstance, starts: DeferrableSchedule) -> None:
        """Nor does it now."""

    def decide(self, snapshot: DeferrableInstance) -> DeferrableSchedule:
        """All that FIFO would start, or nothing."""
        return dispatch(snapshot, fifo, slots=1) if self.starts else DeferrableSchedule(starts=())


@pytest.mark.parametrize("starts", [True, False])
def test_who_is_behind_is_overruled_only_by_something_better(starts: bool) -> None:
    """However far behind the FIFO that was played beside it."""
    case = osdec(jobs=20, horizon=40, load=1.3, seed=1)
    case = case.model_copy(update={"jobs": tuple(job.model_copy(update={"submitted": 0, "earliest": 0}) for job in case.jobs)})
    guarded = GuardedScores(Stub(starts))  # type: ignore[arg-type]
    guarded.earned = -1e6
    decided = guarded.decide(case)
    assert decided.starts
    assert guarded.overruled == (not starts)
    assert guarded.earned == -1e6 + worth(case, decided)


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("price", [0.3, 5.0])
def test_it_remembers(tmp_path: Path, guard: bool, price: float) -> None:
    charging(tmp_path / "some.npz", price)
    case = osdec(jobs=50, horizon=40, load=1.3, seed=2)
    simulator = family_of(case).online().simulator(case, None, lambda s, now, d, k: s[:, now:], 0)  # type: ignore[union-attr]
    file, settings = str(tmp_path / "some.npz"), Settings(guard=None if guard else False)
    policy = agent_policy(file, settings)
    policy.reset(0)
    for step in range(24):
        shown = simulator.snapshot()
        assert shown is not None
        if step % 5 == 0:
            assert isinstance(policy, Lasting)
            again = agent_policy(file, settings)
            again.reset(0)
            assert isinstance(again, Lasting)
            again.restore(policy.state())
            policy, other = again, policy
            decided = other.decide(shown)
            assert policy.decide(shown) == decided
        else:
            decided = policy.decide(shown)
        simulator.apply(decided)


def test_it_is_not_taken_for_another(tmp_path: Path) -> None:
    for name, price in (("a", 0.3), ("b", 0.4)):
        charging(tmp_path / f"{name}.npz", price)
    for guard in (None, False):
        one, other = (agent_policy(str(tmp_path / f"{name}.npz"), Settings(guard=guard)) for name in "ab")
        assert isinstance(one, Lasting)
        assert isinstance(other, Lasting)
        with pytest.raises(OptschedError, match="not the one that the checkpoint was made with"):
            other.restore(one.state())
        with pytest.raises(OptschedError):
            other.restore({"nonsense": 1})


def test_a_decision_of_the_rule_is_looked_back_on(tmp_path: Path) -> None:
    charging(tmp_path / "dear.npz", 5.0)
    policy = agent_policy(str(tmp_path / "dear.npz"), Settings())
    assert isinstance(policy, GuardedScores)
    case = osdec(jobs=50, horizon=40, load=1.3, seed=2)
    shown = case.model_copy(
        update={"now": 400, "jobs": tuple(j.model_copy(update={"earliest": 0, "submitted": 0}) for j in case.jobs)}
    )
    decided = policy.decide(shown)
    assert policy.overruled
    assert decided.starts
    assert policy.policy.past.rows[-1][4] > 0  # cores that were started, though not by the agent
