"""Dispatch rules and the greedy of allocation, by hand: who goes first, with how many GPUs, on which node."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

import optsched
from optsched.heuristics.allocation import HEURISTICS
from optsched.heuristics.allocation.configurations import preferences, pressure
from optsched.heuristics.allocation.priced import Bidding, priced_dispatch
from tests.oracle import enumerate_exact, exact_referee, tiny
from tests.oracle.brute import plain
from tests.schedules.test_errata_allocation import cluster

RULES = ["fifo", "edf", "ps", "preemptive-edf", "least-slack", "wspt"]


def placed(instance: Any, method: str, **options: Any) -> dict[str, tuple[str, int]]:
    """Job -> node and GPUs."""
    result = optsched.solve(instance, method, options=options or None)
    assert result.verify(instance) == []
    return {a.job: (a.node, a.gpus) for a in result.schedule.assignments}  # type: ignore[union-attr]


FOUR = [  # at 10 s
    {"id": "first", "submit_s": 0, "due_s": 300, "weight_per_s": 1, "time_s": {"A": [100]}},
    {"id": "soon", "submit_s": 5, "due_s": 200, "weight_per_s": 2, "time_s": {"A": [12]}},  # 178 s of slack, 1/6 a second
    {"id": "tight", "submit_s": 3, "due_s": 400, "weight_per_s": 5, "time_s": {"A": [350]}},  # 40 s of slack
    {"id": "heavy", "submit_s": 4, "due_s": 990, "weight_per_s": 9, "time_s": {"A": [100]}},
    {"id": "quick", "submit_s": 4, "due_s": 950, "weight_per_s": 4, "time_s": {"A": [5]}},  # 4/5 a second
]


@pytest.mark.parametrize(
    ("rule", "order"),
    [
        ("fifo", ["first", "tight", "heavy", "quick", "soon"]),  # heavy and quick came together: as listed
        ("edf", ["soon", "first", "tight", "quick", "heavy"]),
        ("ps", ["heavy", "tight", "quick", "soon", "first"]),
        ("preemptive-edf", ["soon", "first", "tight", "quick", "heavy"]),
        ("least-slack", ["tight", "soon", "first", "heavy", "quick"]),
        ("wspt", ["quick", "soon", "heavy", "tight", "first"]),
    ],
)
def test_who_goes_first(rule: str, order: list[str]) -> None:
    """On one GPU, on two, and so on: the rule's first ones run."""
    for count in range(1, len(FOUR) + 1):
        instance = cluster(FOUR, count=count, gpus=1, now_s=10, use_all_nodes=False)
        assert set(placed(instance, rule)) == set(order[:count])


def test_a_price_rule_of_hardly_any_fade_is_least_slack() -> None:
    """The file's order is another one, and weights fade to nothing: their logarithms do not."""
    jobs, order = [FOUR[i] for i in (4, 3, 0, 1, 2)], ["tight", "soon", "first", "heavy", "quick"]
    for count in range(1, len(FOUR) + 1):
        instance = cluster(jobs, count=count, gpus=1, now_s=10, use_all_nodes=False)
        decided = priced_dispatch(instance, bidding=Bidding(price=0.03, fade=1e-4))
        assert {a.job for a in decided.assignments} == set(order[:count])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("due_s", "gpus", "why"),
    [
        (1000, 1, "both are in time: 100 s at 36 EUR/h are cheaper than 60 s at 72"),
        (80, 2, "only 60 s are in time"),
        (50, 2, "neither is in time: the fastest"),
    ],
)
def test_the_cheapest_in_time_else_the_fastest(rule: str, due_s: float, gpus: int, why: str) -> None:
    instance = cluster([{"id": "a", "time_s": {"A": [100, 60]}, "due_s": due_s}])
    assert placed(instance, rule) == {"a": ("n0", gpus)}, why


def test_preferences_in_order() -> None:
    """At 20 s: of three configurations in time the cheapest first, then the late ones by time; padded where a job has fewer."""
    rates = {"A": {"node_cost_per_h": [36, 72, 180]}}
    jobs = [
        {"id": "a", "time_s": {"A": [100, 60, 50]}, "due_s": 200},  # 1, 1.2 and 2.5 EUR
        {"id": "b", "time_s": {"A": [100, 40, 50]}, "due_s": 75},  # 50 and 40 s are in time, at 2.5 and 0.8 EUR
        {"id": "c", "time_s": {"A": [None, 60]}, "due_s": 0},
    ]
    liked = preferences(cluster(jobs, gpus=3, now_s=20, gpu_types=rates))
    gpus = [[int(liked.listed.gpus[o]) if o >= 0 else None for o in row] for row in liked.option.tolist()]
    assert gpus == [[1, 2, 3], [2, 3, 1], [2, None, None]]
    assert liked.in_time.tolist() == [[True] * 3, [True, True, False], [False] * 3]
    assert liked.cost[1].tolist() == pytest.approx([0.8, 2.5, 1.0])
    assert pressure(cluster(jobs, gpus=3, now_s=20, gpu_types=rates)).tolist() == [20 + 50 - 200, 20 + 40 - 75, 20 + 60]


@pytest.mark.parametrize("rule", RULES)
def test_the_fullest_node_that_has_room(rule: str) -> None:
    """a takes one of two GPUs of n0; b takes the other, not one of the empty n1; c, which needs two, has n1."""
    jobs = [{"id": j, "time_s": {"A": [100]}, "due_s": 500 + d} for d, j in enumerate("ab")]
    jobs.append({"id": "c", "time_s": {"A": [None, 100]}, "due_s": 900, "weight_per_s": 0.1})
    assert placed(cluster(jobs, count=2, use_all_nodes=False), rule) == {"a": ("n0", 1), "b": ("n0", 1), "c": ("n1", 2)}


@pytest.mark.parametrize("rule", RULES)
def test_back_filling(rule: str) -> None:
    """b, which needs both GPUs, waits for the one that a has; c, behind it, does not."""
    times = {"a": [100], "b": [None, 105], "c": [110]}
    jobs = [
        {"id": j, "time_s": {"A": t}, "due_s": 500 + 100 * d, "weight_per_s": 3 - d} for d, (j, t) in enumerate(times.items())
    ]
    assert placed(cluster(jobs, use_all_nodes=False), rule) == {"a": ("n0", 1), "c": ("n0", 1)}


@pytest.mark.parametrize("rule", RULES)
def test_idle_nodes_are_opened_where_that_is_asked(rule: str) -> None:
    """One node would hold both jobs; with `use_all_nodes` each has its own."""
    jobs = [{"id": j, "time_s": {"A": [100]}} for j in "ab"]
    assert {n for n, _ in placed(cluster(jobs, count=2, use_all_nodes=False), rule).values()} == {"n0"}
    assert {n for n, _ in placed(cluster(jobs, count=2), rule).values()} == {"n0", "n1"}


@pytest.mark.parametrize("rule", [*RULES, "greedy", "priced", "randomized-greedy"])
def test_nodes_that_block_each_other(rule: str) -> None:
    """a runs on both types, b on A only: both nodes are in use only if a leaves A to b."""
    nodes = [{"id": "a0", "gpu_type": "A", "gpus": 1}, {"id": "b0", "gpu_type": "B", "gpus": 1}]
    jobs = [{"id": "a", "time_s": {"A": [10], "B": [90]}, "due_s": 50}, {"id": "b", "time_s": {"A": [30]}, "due_s": 600}]
    assert placed(cluster(jobs, nodes=nodes), rule) == {"a": ("b0", 1), "b": ("a0", 1)}


@pytest.mark.parametrize(("time_s", "runs"), [(80, {"b", "c"}), (120, {"a"})])
def test_greedy_takes_the_most_gain_a_gpu(time_s: float, runs: set[str]) -> None:
    """b and c save 2 * 50 - 40 = 60 on a GPU each; a saves 2 * 90 - 80 = 100 on two, or 2 * 130 - 120 = 140."""
    jobs = [{"id": "a", "time_s": {"A": [None, time_s]}, "due_s": 0}]
    jobs += [{"id": j, "time_s": {"A": [40]}, "due_s": 0} for j in "bc"]
    assert set(placed(cluster(jobs, use_all_nodes=False), "greedy")) == runs


def test_greedy_opens_no_node_for_less_than_it_costs() -> None:
    """cheap saves 0.06 and would cost 0.4 on a node of its own; beside dear it costs nothing. slack saves nothing at all."""
    cheap = {"id": "cheap", "time_s": {"A": [40]}, "due_s": 0, "weight_per_s": 0.001}
    slack = {"id": "slack", "time_s": {"A": [10]}, "due_s": 1000}
    dear = {"id": "dear", "time_s": {"A": [40]}, "due_s": 0}
    alone, both = (cluster(jobs, gpus=2, use_all_nodes=False) for jobs in ([cheap, slack], [cheap, slack, dear]))
    assert placed(alone, "greedy") == {}
    assert placed(both, "greedy") == {"cheap": ("n0", 1), "dear": ("n0", 1)}


def test_greedy_covers_nodes_with_what_waits_dearest() -> None:
    """One node must be in use: of two jobs with slack the cheaper runs; of one with slack and one overdue, that one."""
    slack = [{"id": j, "time_s": {"A": [t]}} for j, t in (("long", 50), ("short", 20))]
    assert set(placed(cluster(slack, gpus=1), "greedy")) == {"short"}
    overdue = {"id": "overdue", "time_s": {"A": [90]}, "due_s": 0}
    assert set(placed(cluster([*slack, overdue], gpus=1), "greedy")) == {"overdue"}


@pytest.mark.parametrize("name", HEURISTICS)
def test_feasible_and_never_better_than_the_optimum(name: str) -> None:
    """By the second referee, on every kind of tiny instance; and each finds the optimum now and then."""
    best = 0
    for seed in range(100):
        instance: Any = tiny.allocation(seed)
        raw = plain(instance)
        schedule = json.loads(HEURISTICS[name](instance, 0).model_dump_json())
        optimum = enumerate_exact.best(raw).value
        assert optimum is not None
        assert exact_referee.check(raw, schedule) == [], seed
        value = exact_referee.objective(raw, schedule)
        assert value >= optimum, seed
        best += value <= optimum * (1 + Fraction(1, 10**9))
    assert best > 20
