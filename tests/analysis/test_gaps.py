"""`compare`: objects and names, the best bound for every row, and nobody scores by what a simple rule did in their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.analysis.bounds import Bound, given_bound, proven_bound, quick_bound
from optsched.analysis.gaps import compare
from optsched.analysis.metrics import METRICS
from optsched.instances.events import Events, disturbed
from optsched.methods import method
from optsched.rolling.run import PolicyFailed
from tests.oracle import tiny
from tests.rolling.test_budget import Raises, Sane, batch


class ReturnsAWrongDict(Sane):
    def decide(self, snapshot: Any) -> Any:
        return {"assignments": [{"job": "j0"}]}


def test_names_and_objects(examples: Path) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    table = compare(instance, ["greedy", method("fifo", "deferrable")], ["fifo", Sane()])
    assert table["kind"].tolist() == ["offline", "offline", "online", "online"]
    assert table["name"].tolist() == ["greedy", "fifo", "fifo", "Sane"]
    assert table["bound"].nunique() == 1
    assert (table["gap"] == (table["bound"] - table["objective"]) / table["objective"]).all()
    assert table[list(METRICS)].notna().all(axis=None)
    online = table[table["kind"] == "online"]
    assert (online["fallbacks"] == 0).all()
    assert (online["decisions"] > 0).all()
    assert table.loc[table["kind"] == "offline", "decisions"].isna().all()


def test_a_policy_that_fails_raises(examples: Path) -> None:
    instance = optsched.load(examples / "allocation-small.json")
    with pytest.raises(PolicyFailed, match=r"ReturnsAWrongDict returned: assignments\[0\]\.node: is missing"):
        optsched.compare(instance, [], ["fifo", ReturnsAWrongDict()])


def test_a_policy_that_fails_never_scores() -> None:
    """Whatever the fallback reaches; it comes last, and without figures."""
    table = compare(batch(), [], [Raises(), "greedy"], on_failure="fallback")
    assert table["name"].tolist() == ["greedy", "Raises"]
    last = table.iloc[-1]
    assert last["fallbacks"] == last["decisions"] == 3
    assert last[["objective", "gap", *METRICS]].isna().all()
    assert table.iloc[0][["objective", "gap", *METRICS]].notna().all()


def test_a_given_bound_is_taken_where_it_is_tighter_and_refused_where_it_is_none() -> None:
    free = compare(batch(), [], ["greedy"])
    assert free["bound"].tolist() == pytest.approx([3.0])
    assert compare(batch(), [], ["greedy"], bound=4)["bound"].tolist() == [4.0]
    assert compare(batch(), ["exact"], ["greedy"], bound=4)["bound"].tolist() == [3.0, 3.0]
    with pytest.raises(optsched.OptschedError, match=r"2 \(given\) is no bound: replay:greedy has 3"):
        compare(batch(), [], ["greedy"], bound=2.0)
    with pytest.raises(optsched.OptschedError, match="a finite number, got inf"):
        compare(batch(), [], ["greedy"], bound=float("inf"))


def test_the_bound_of_a_result() -> None:
    solved = optsched.solve(batch(), "exact")
    assert proven_bound(batch(), solved) == Bound(3.0, "exact, given")
    assert given_bound(batch(), solved).value == 3.0
    for wrong, said in (
        (solved.model_copy(update={"bound": 2.5}), "cannot be trusted: edited"),
        (optsched.solve(batch(), "greedy"), "has no bound"),
        (optsched.solve(tiny.deferrable(3), "exact"), "not of the instance"),
    ):
        with pytest.raises(optsched.OptschedError, match=said):
            proven_bound(batch(), wrong)


def test_a_proxy_bounds_no_replay(examples: Path) -> None:
    instance = optsched.load(examples / "armida-snapshot.json")
    solved = optsched.solve(instance, "exact")
    with pytest.raises(optsched.OptschedError, match="the bound is of a proxy objective, the schedule has a realised one"):
        proven_bound(instance, solved)
    table = compare(instance, ["exact"], ["fifo"])
    assert table["bound"].nunique() == 2


@pytest.mark.parametrize("family", tiny.TINY)
def test_a_quick_bound_bounds_the_optimum(family: str) -> None:
    for seed in range(5):
        instance: Any = tiny.TINY[family](seed)
        bound, best = quick_bound(instance, 1.0), optsched.solve(instance, "exact")
        if bound is not None and best.objective is not None and best.objective_kind != "proxy":
            sign = 1 if instance.sense == "minimize" else -1
            assert sign * (best.objective - bound.value) >= -1e-9 * max(1.0, abs(best.objective))


@pytest.mark.slow
def test_a_quick_bound_is_better_than_the_clairvoyant_one() -> None:
    from optsched.instances.generators import vcc
    from optsched.registry import family_of

    instance = vcc(days=3, jobs=200, seed=1)
    bound, own = quick_bound(instance, 6.0), family_of(instance).clairvoyant(instance)
    assert bound is not None
    assert own is not None
    assert bound.kind == "decomposition"
    assert bound.value > own


@pytest.mark.parametrize("family", ["deferrable", "geo"])
def test_a_quick_bound_of_a_small_instance_is_the_optimum(family: str, examples: Path) -> None:
    from optsched.registry import family_of

    instance = optsched.load(examples / f"{family}-small.json")
    bound, best = quick_bound(instance), optsched.solve(instance, "exact")
    assert bound is not None
    assert best.objective is not None
    assert (bound.value, bound.kind) == (pytest.approx(best.objective), "auto")
    without_a_clock, own = quick_bound(instance, seconds=0), family_of(instance).clairvoyant(instance)
    assert without_a_clock is not None
    assert own is not None
    assert without_a_clock.kind == "exact, at its root"  # whose cuts close some of what the dual leaves
    assert best.objective - 1e-9 <= without_a_clock.value < own - 1e-6
    assert quick_bound(instance, seconds=0) == without_a_clock


def test_a_quick_bound_is_sought_once() -> None:
    """The decomposition begins with what would be the clairvoyant bound."""
    from optsched.decomposition.vcc import VccDecomposition
    from optsched.instances.generators import vcc

    calls = []
    searched = VccDecomposition.search

    def search(self: Any, call: Any) -> Any:
        calls.append(call.stop)
        return searched(self, call)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VccDecomposition, "search", search)
        bound = quick_bound(vcc(days=1, jobs=40, seed=1), 2.0)
    assert bound is not None
    assert len(calls) == 1


def test_no_bound_where_jobs_are_evicted() -> None:
    from optsched.instances.generators import vcc

    instance = vcc(days=1, jobs=80, load=0.2, preempt=True)
    assert quick_bound(instance) is None
    assert compare(instance, [], ["uncapped"])["bound"].isna().all()
    assert quick_bound(disturbed(instance, Events(estimates="noisy:1"))) is None
