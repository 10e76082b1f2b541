"""The local search of allocation: never worse by the proxy, feasible, and better where a move is plain to see."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

import optsched
from optsched.heuristics.allocation import HEURISTICS
from optsched.heuristics.allocation.local_search import local_search
from optsched.schedules.allocation import AllocationSchedule, Assignment
from tests.oracle import exact_referee, tiny
from tests.oracle.brute import plain
from tests.schedules.test_errata_allocation import cluster


@pytest.mark.parametrize("start", ["greedy", "edf", "randomized-greedy", "nothing", "anything"])
def test_never_worse_and_feasible(start: str) -> None:
    """From a rule's schedule, from nothing, from any feasible one; by the second referee, in fractions."""
    better = 0
    for seed in range(200):
        instance: Any = tiny.allocation(seed)
        if start == "nothing":
            instance = instance.model_copy(update={"use_all_nodes": False})
        raw, before = plain(instance), starting(start, instance, seed)
        after = local_search(instance, before)
        was, now = (json.loads(schedule.model_dump_json()) for schedule in (before, after))
        assert exact_referee.check(raw, now) == [], seed
        saved = exact_referee.objective(raw, was) - exact_referee.objective(raw, now)
        assert saved >= -NOISE, seed
        better += saved > NOISE
        again = local_search(instance, after)
        rest = exact_referee.objective(raw, now) - exact_referee.objective(raw, json.loads(again.model_dump_json()))
        assert abs(rest) <= NOISE, seed  # no move was left
    assert better > LEAST[start]


LEAST = {"greedy": 10, "edf": 10, "randomized-greedy": 0, "nothing": 60, "anything": 60}
NOISE = 1e-9


def starting(start: str, instance: Any, seed: int) -> AllocationSchedule:
    """A schedule to start from; at random: each job in any way that fits, all nodes in use where they must be."""
    if start == "nothing":
        return AllocationSchedule(assignments=())
    if start != "anything":
        return HEURISTICS[start](instance, 0)
    raw, rng = plain(instance), Random(seed)
    for _ in range(200):
        free, rows = {n["id"]: n["gpus"] for n in raw["nodes"]}, []
        for name, job in exact_referee.known_jobs(raw).items():
            ways = [(n["id"], g) for n in raw["nodes"] for g in exact_referee.configurations(raw, job, n) if g <= free[n["id"]]]
            if ways and rng.random() < 0.8:
                node, gpus = rng.choice(ways)
                free[node] -= gpus
                rows.append(Assignment(job=name, node=node, gpus=gpus))
        if not exact_referee.check(raw, {"assignments": [row.model_dump() for row in rows]}):
            return AllocationSchedule(assignments=tuple(rows))
    return HEURISTICS["greedy"](instance, 0)


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
    assert optsched.check(instance, found) == []
    assert [(a.job, a.gpus) for a in found.assignments] == after


@pytest.mark.parametrize(("reading", "joins"), [("earliest", False), ("cheapest", True)])
def test_who_ends_first_sets_the_energy(reading: str, joins: bool) -> None:
    """short saves 0.05; ending first it would make the node's energy 0.4 instead of long's 0.3, unless the cheapest counts."""
    jobs = [
        {"id": "long", "time_s": {"A": [30]}, "due_s": 0},
        {"id": "short", "time_s": {"A": [None, 20]}, "due_s": 0, "weight_per_s": 0.00125},
    ]
    rates = {"A": {"node_cost_per_h": [36, 72, 108]}}
    instance = cluster(jobs, gpus=3, first_ending=reading, use_all_nodes=False, gpu_types=rates)
    start = AllocationSchedule(assignments=(Assignment(job="long", node="n0", gpus=1),))
    found = local_search(instance, start)
    assert {a.job for a in found.assignments} == ({"long", "short"} if joins else {"long"})
