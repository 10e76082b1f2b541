"""Each formulation pinned by its optimum and by its LP bound: a weaker formulation would show here (after Egret)."""

from __future__ import annotations

from pathlib import Path

import pytest

import optsched
from optsched.models import choose
from optsched.solvers.highs import relaxation
from optsched.solvers.linear_form import linear_form
from tests.oracle import tiny

# instance (an example file, or a seed of tests/oracle/tiny.py), changes, formulation, optimum, LP bound.
# Neither allocation formulation dominates: seed 8 shows the patterns' strength, seeds 1, 3 and 9 the named nodes'.
PINNED = [
    (
        "armida-snapshot",
        {"first_ending": "earliest", "use_all_nodes": True},
        "aggregated",
        244.4223253,
        244.4223253,
    ),
    (
        "armida-snapshot",
        {"first_ending": "earliest", "use_all_nodes": True},
        "linearized",
        244.4223253,
        244.4223253,
    ),
    (
        "armida-snapshot",
        {"first_ending": "cheapest", "use_all_nodes": True},
        "aggregated",
        244.4223253,
        244.4223253,
    ),
    (
        "armida-snapshot",
        {"first_ending": "cheapest", "use_all_nodes": True},
        "linearized",
        244.4223253,
        244.4223253,
    ),
    (1, {"first_ending": "earliest", "use_all_nodes": True}, "aggregated", 0.1953198845, 0.1953198845),
    (1, {"first_ending": "earliest", "use_all_nodes": True}, "linearized", 0.1953198845, 0.1953198845),
    (1, {"first_ending": "earliest", "use_all_nodes": False}, "aggregated", 0.1953198845, 0.1466229888),
    (1, {"first_ending": "earliest", "use_all_nodes": False}, "linearized", 0.1953198845, 0.1587972127),
    (1, {"first_ending": "cheapest", "use_all_nodes": True}, "aggregated", 0.1953198845, 0.1953198845),
    (1, {"first_ending": "cheapest", "use_all_nodes": True}, "linearized", 0.1953198845, 0.1953198845),
    (1, {"first_ending": "cheapest", "use_all_nodes": False}, "aggregated", 0.1953198845, 0.1466229888),
    (1, {"first_ending": "cheapest", "use_all_nodes": False}, "linearized", 0.1953198845, 0.1466229888),
    (3, {"first_ending": "earliest", "use_all_nodes": True}, "aggregated", 0.1336833333, 0.1336833333),
    (3, {"first_ending": "earliest", "use_all_nodes": True}, "linearized", 0.1336833333, 0.1336833333),
    (3, {"first_ending": "earliest", "use_all_nodes": False}, "aggregated", 0.1336833333, 0.04456111111),
    (3, {"first_ending": "earliest", "use_all_nodes": False}, "linearized", 0.1336833333, 0.05347333333),
    (3, {"first_ending": "cheapest", "use_all_nodes": True}, "aggregated", 0.1336833333, 0.1336833333),
    (3, {"first_ending": "cheapest", "use_all_nodes": True}, "linearized", 0.1336833333, 0.1336833333),
    (3, {"first_ending": "cheapest", "use_all_nodes": False}, "aggregated", 0.1336833333, 0.04456111111),
    (3, {"first_ending": "cheapest", "use_all_nodes": False}, "linearized", 0.1336833333, 0.04456111111),
    (8, {"first_ending": "earliest", "use_all_nodes": True}, "aggregated", 207.9433825, 207.9433825),
    (8, {"first_ending": "earliest", "use_all_nodes": True}, "linearized", 207.9433825, 159.0890041),
    (8, {"first_ending": "earliest", "use_all_nodes": False}, "aggregated", 207.9433825, 207.9433825),
    (8, {"first_ending": "earliest", "use_all_nodes": False}, "linearized", 207.9433825, 159.0890041),
    (8, {"first_ending": "cheapest", "use_all_nodes": True}, "aggregated", 207.9433825, 207.9433825),
    (8, {"first_ending": "cheapest", "use_all_nodes": True}, "linearized", 207.9433825, 159.0890041),
    (8, {"first_ending": "cheapest", "use_all_nodes": False}, "aggregated", 207.9433825, 207.9433825),
    (8, {"first_ending": "cheapest", "use_all_nodes": False}, "linearized", 207.9433825, 159.0890041),
    (9, {"first_ending": "earliest", "use_all_nodes": True}, "aggregated", 0.2234837133, 0.2234837133),
    (9, {"first_ending": "earliest", "use_all_nodes": True}, "linearized", 0.2234837133, 0.2234837133),
    (9, {"first_ending": "earliest", "use_all_nodes": False}, "aggregated", 0.0585776051, 0.04497626222),
    (9, {"first_ending": "earliest", "use_all_nodes": False}, "linearized", 0.0585776051, 0.0585776051),
    (9, {"first_ending": "cheapest", "use_all_nodes": True}, "aggregated", 0.2234837133, 0.2234837133),
    (9, {"first_ending": "cheapest", "use_all_nodes": True}, "linearized", 0.2234837133, 0.2234837133),
    (9, {"first_ending": "cheapest", "use_all_nodes": False}, "aggregated", 0.0585776051, 0.04497626222),
    (9, {"first_ending": "cheapest", "use_all_nodes": False}, "linearized", 0.0585776051, 0.04497626222),
    ("deferrable-small", {}, "state", 118, 125),
    ("deferrable-small", {}, "cover", 118, 125),
    ("geo-small", {}, "state", 2.895066059, 2.999208155),
    ("geo-small", {}, "cover", 2.895066059, 2.999208155),
]


@pytest.mark.parametrize(("file", "changes", "formulation", "optimum", "bound"), PINNED)
def test_pinned(
    examples: Path,
    file: str | int,
    changes: dict[str, object],
    formulation: str,
    optimum: float,
    bound: float,
) -> None:
    base = tiny.allocation(file) if isinstance(file, int) else optsched.load(examples / f"{file}.json")
    instance = base.model_copy(update=changes)
    result = optsched.solve(instance, formulation=formulation)
    assert result.solution == "optimal"
    assert result.objective == pytest.approx(optimum, rel=1e-8)
    value, _, _ = relaxation(linear_form(choose(instance, formulation).of(instance)))
    assert value == pytest.approx(bound, rel=1e-7)
    assert value <= optimum + 1e-6 if instance.sense == "minimize" else value >= optimum - 1e-6
