"""Algorithm 1 of ANDREAS: a deterministic construction, what chance adds to it, its options, its seeds."""

from __future__ import annotations

from typing import Any

import pytest

import optsched
from optsched.heuristics.allocation.local_search import searched_greedy
from optsched.heuristics.allocation.randomized_greedy import randomized_greedy
from optsched.instances.generators import andreas
from tests.oracle import tiny
from tests.schedules.test_errata_allocation import cluster

URGENT = {"id": "urgent", "time_s": {"A": [150, 60]}, "due_s": 200}  # in time either way: for 1.5 EUR, or for 1.2
# it has time now, yet would be 4010 s late when it runs on B later, which nobody sees who looks at its fastest time only
WAITS_DEAR = {"id": "dear", "time_s": {"A": [100], "B": [5000]}, "due_s": 1000}


def cost(instance: Any, *arguments: Any) -> float:
    return optsched.evaluate(instance, randomized_greedy(instance, *arguments)).objective


@pytest.mark.parametrize(("gpus", "swap", "among"), [(2, 0.0, 2), (1, 0.3, 1)])
def test_chance_finds_what_the_first_construction_misses(gpus: int, swap: float, among: int) -> None:
    """Two GPUs: urgent takes both, unless its dearer configuration is drawn. One: it goes first, unless the two are swapped."""
    instance = cluster([URGENT, WAITS_DEAR], gpus=gpus, use_all_nodes=False)
    assert {a.job for a in randomized_greedy(instance, 0, 0).assignments} == {"urgent"}
    assert {a.job for a in randomized_greedy(instance, 0, 100, 0.0, 1).assignments} == {"urgent"}
    for seed in range(5):
        found = randomized_greedy(instance, seed, 100, swap, among)
        assert ("dear", 1) in {(a.job, a.gpus) for a in found.assignments}
        assert len(found.assignments) == gpus


def test_late_ones_come_last_and_who_fits_nowhere_waits() -> None:
    """Three jobs for two GPUs: the two of most pressure, each on one GPU though two would be faster, are in time so."""
    times = {"a": 300, "b": 310, "c": 400}
    jobs = [{"id": j, "time_s": {"A": [100, 90]}, "due_s": due} for j, due in times.items()]
    found = randomized_greedy(cluster(jobs, use_all_nodes=False), 0, 0)
    assert {(a.job, a.gpus) for a in found.assignments} == {("a", 1), ("b", 1)}


def test_never_worse_than_its_first_construction() -> None:
    """Which is the rule `least-slack`; and often better."""
    better = 0
    for seed in range(100):
        instance: Any = tiny.allocation(seed)
        first = optsched.solve(instance, "least-slack").objective
        assert first is not None
        assert cost(instance, 0, 0) <= first + 1e-9 * max(1, first)
        drawn = cost(instance, 0, 100)
        assert drawn <= first + 1e-9 * max(1, first), seed
        better += drawn < first - 1e-9
    assert better > 8


def test_without_chance_the_first_construction_is_all() -> None:
    for seed in range(40):
        instance: Any = tiny.allocation(seed)
        assert randomized_greedy(instance, 3, 20, 0.0, 1) == randomized_greedy(instance, 0, 0)


def test_seeds_reproduce_and_matter() -> None:
    """With few constructions another seed finds something else; the same one never does."""
    instance = andreas(case=2, nodes=4, jobs=12, all_submitted=True)
    found = [randomized_greedy(instance, seed, 20) for seed in range(8)]
    assert [randomized_greedy(instance, seed, 20) for seed in range(8)] == found
    assert len({optsched.evaluate(instance, schedule).objective for schedule in found}) > 1


def test_options_are_those_of_the_algorithm() -> None:
    instance = cluster([URGENT, WAITS_DEAR], use_all_nodes=False)
    for options in ({"iterations": 0}, {"iterations": 100, "swap": 0.0, "among": 1}):
        result: Any = optsched.solve(instance, "randomized-greedy", options=options)
        assert {a.job for a in result.schedule.assignments} == {"urgent"}
    whole: Any = optsched.solve(instance, "randomized-greedy", options={"iterations": 100})
    assert {a.job for a in whole.schedule.assignments} == {"urgent", "dear"}
    with pytest.raises(optsched.OptschedError, match="luck"):
        optsched.solve(instance, "randomized-greedy", options={"luck": 7})
    with pytest.raises(
        optsched.OptschedError, match=r"option among of randomized-greedy is a whole number from 1 to .*, got 0"
    ):
        optsched.solve(instance, "randomized-greedy", options={"among": 0})


def test_local_search_only_improves_it() -> None:
    better = 0
    for seed in range(60):
        instance: Any = tiny.allocation(seed)
        before = cost(instance, seed, 5)
        after = optsched.evaluate(instance, searched_greedy(instance, seed, 5)).objective
        assert after <= before + 1e-9 * max(1, before), seed
        better += after < before - 1e-9
    assert better
