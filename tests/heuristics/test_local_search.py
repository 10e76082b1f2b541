"""The local search of allocation: never worse by the proxy, feasible, and better where a move is plain to see."""

from __future__ import annotations

from typing import Any

import pytest

import optsched
from optsched.heuristics.allocation.local_search import local_search
from optsched.schedules import check, evaluate
from optsched.schedules.allocation import AllocationSchedule, Assignment
from tests.oracle import tiny


@pytest.mark.parametrize("method", ["greedy", "edf"])
def test_never_worse_and_feasible(method: str) -> None:
    """From a schedule of the rule, and from nothing."""
    better = 0
    for seed in range(150):
        instance: Any = tiny.allocation(seed).model_copy(update={"use_all_nodes": False})
        for start in (optsched.solve(instance, method).schedule, AllocationSchedule(assignments=())):
            found = local_search(instance, start)  # type: ignore[arg-type]
            assert check(instance, found) == [], seed
            before, after = (evaluate(instance, s).objective for s in (start, found))  # type: ignore[arg-type]
            assert after <= before + 1e-9, seed
            better += after < before - 1e-9
    assert better > 50


def one_node(gpus: int, **times: list[float]) -> Any:
    """Jobs that are all due at once, a euro a second; a GPU costs 36 EUR/h."""
    fields = {"submit_s": 0, "due_s": 0, "weight_per_s": 1}
    return tiny.make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=10,
        postponement_penalty=2,
        use_all_nodes=False,
        gpu_types={"A": {"node_cost_per_h": [36.0 * g for g in range(1, gpus + 1)]}},
        nodes=[{"id": "n", "gpu_type": "A", "gpus": gpus}],
        jobs=[{"id": j, **fields, "time_s": {"A": ts}} for j, ts in times.items()],
    )


def on(*rows: tuple[str, int]) -> AllocationSchedule:
    return AllocationSchedule(assignments=tuple(Assignment(job=j, node="n", gpus=g) for j, g in rows))


@pytest.mark.parametrize(
    ("gpus", "times", "before", "after"),
    [
        (2, {"a": [100, 60]}, on(("a", 1)), [("a", 2)]),  # more GPUs: 60 s late instead of 100
        (1, {"a": [100]}, on(), [("a", 1)]),  # one comes in
        (1, {"a": [100], "b": [500]}, on(("a", 1)), [("b", 1)]),  # one takes another's place: its postponement is dearer
        (
            2,
            {"a": [100, 60], "b": [50]},
            on(("a", 2)),
            [("a", 2)],
        ),  # both on one GPU each would be better, but that is two moves away
    ],
)
def test_moves_by_hand(gpus: int, times: Any, before: AllocationSchedule, after: list[tuple[str, int]]) -> None:
    instance = one_node(gpus, **times)
    found = local_search(instance, before)
    assert check(instance, found) == []
    assert [(a.job, a.gpus) for a in found.assignments] == after
