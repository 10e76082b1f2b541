"""Each formulation pinned by its optimum and by its LP bound: a weaker formulation would show here (after Egret)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.models import choose, formulations
from optsched.solvers.highs import relaxation
from optsched.solvers.linear_form import linear_form
from tests.oracle import tiny

# instance (an example file, or family and seed of tests/oracle/tiny.py), changes, formulation, optimum, LP bound.
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
    (("allocation", 1), {"first_ending": "earliest", "use_all_nodes": True}, "aggregated", 0.1953198845, 0.1953198845),
    (("allocation", 1), {"first_ending": "earliest", "use_all_nodes": True}, "linearized", 0.1953198845, 0.1953198845),
    (("allocation", 1), {"first_ending": "earliest", "use_all_nodes": False}, "aggregated", 0.1953198845, 0.1466229888),
    (("allocation", 1), {"first_ending": "earliest", "use_all_nodes": False}, "linearized", 0.1953198845, 0.1587972127),
    (("allocation", 1), {"first_ending": "cheapest", "use_all_nodes": True}, "aggregated", 0.1953198845, 0.1953198845),
    (("allocation", 1), {"first_ending": "cheapest", "use_all_nodes": True}, "linearized", 0.1953198845, 0.1953198845),
    (("allocation", 1), {"first_ending": "cheapest", "use_all_nodes": False}, "aggregated", 0.1953198845, 0.1466229888),
    (("allocation", 1), {"first_ending": "cheapest", "use_all_nodes": False}, "linearized", 0.1953198845, 0.1466229888),
    (("allocation", 3), {"first_ending": "earliest", "use_all_nodes": True}, "aggregated", 0.1336833333, 0.1336833333),
    (("allocation", 3), {"first_ending": "earliest", "use_all_nodes": True}, "linearized", 0.1336833333, 0.1336833333),
    (("allocation", 3), {"first_ending": "earliest", "use_all_nodes": False}, "aggregated", 0.1336833333, 0.04456111111),
    (("allocation", 3), {"first_ending": "earliest", "use_all_nodes": False}, "linearized", 0.1336833333, 0.05347333333),
    (("allocation", 3), {"first_ending": "cheapest", "use_all_nodes": True}, "aggregated", 0.1336833333, 0.1336833333),
    (("allocation", 3), {"first_ending": "cheapest", "use_all_nodes": True}, "linearized", 0.1336833333, 0.1336833333),
    (("allocation", 3), {"first_ending": "cheapest", "use_all_nodes": False}, "aggregated", 0.1336833333, 0.04456111111),
    (("allocation", 3), {"first_ending": "cheapest", "use_all_nodes": False}, "linearized", 0.1336833333, 0.04456111111),
    (("allocation", 8), {"first_ending": "earliest", "use_all_nodes": True}, "aggregated", 207.9433825, 207.9433825),
    (("allocation", 8), {"first_ending": "earliest", "use_all_nodes": True}, "linearized", 207.9433825, 159.0890041),
    (("allocation", 8), {"first_ending": "earliest", "use_all_nodes": False}, "aggregated", 207.9433825, 207.9433825),
    (("allocation", 8), {"first_ending": "earliest", "use_all_nodes": False}, "linearized", 207.9433825, 159.0890041),
    (("allocation", 8), {"first_ending": "cheapest", "use_all_nodes": True}, "aggregated", 207.9433825, 207.9433825),
    (("allocation", 8), {"first_ending": "cheapest", "use_all_nodes": True}, "linearized", 207.9433825, 159.0890041),
    (("allocation", 8), {"first_ending": "cheapest", "use_all_nodes": False}, "aggregated", 207.9433825, 207.9433825),
    (("allocation", 8), {"first_ending": "cheapest", "use_all_nodes": False}, "linearized", 207.9433825, 159.0890041),
    (("allocation", 9), {"first_ending": "earliest", "use_all_nodes": True}, "aggregated", 0.2234837133, 0.2234837133),
    (("allocation", 9), {"first_ending": "earliest", "use_all_nodes": True}, "linearized", 0.2234837133, 0.2234837133),
    (("allocation", 9), {"first_ending": "earliest", "use_all_nodes": False}, "aggregated", 0.0585776051, 0.04497626222),
    (("allocation", 9), {"first_ending": "earliest", "use_all_nodes": False}, "linearized", 0.0585776051, 0.0585776051),
    (("allocation", 9), {"first_ending": "cheapest", "use_all_nodes": True}, "aggregated", 0.2234837133, 0.2234837133),
    (("allocation", 9), {"first_ending": "cheapest", "use_all_nodes": True}, "linearized", 0.2234837133, 0.2234837133),
    (("allocation", 9), {"first_ending": "cheapest", "use_all_nodes": False}, "aggregated", 0.0585776051, 0.04497626222),
    (("allocation", 9), {"first_ending": "cheapest", "use_all_nodes": False}, "linearized", 0.0585776051, 0.04497626222),
    ("deferrable-small", {}, "state", 118, 125),
    ("deferrable-small", {}, "cover", 118, 121),
    ("geo-small", {}, "state", 2.895066059, 2.999208155),
    (("geo", 17), {}, "cover", 0.005307695417, 0.005307695417),
    (("geo", 127), {}, "cover", 0.001954763033, 0.0033048316),
    (("deferrable", 9), {}, "state", 8.05, 8.47),
    (("deferrable", 9), {}, "cover", 8.05, 8.2),
    (("deferrable", 10), {}, "state", 2.13, 2.2),
    (("deferrable", 10), {}, "cover", 2.13, 2.13),
    ("vcc-small", {}, "starts", 30.90659257, 30.90659257),
    (("vcc", 5), {}, "starts", 2.995, 2.735414689),
    (("vcc", 6), {}, "starts", 1.785, 1.5),
    (("vcc", 9), {}, "starts", 28.764, 24.38229669),
    ("day-ahead", {}, "day-ahead", 1408348.409, 1408348.409),
    (("day_ahead", 5), {}, "day-ahead", 0.2262941176, 0.2262941176),
    (("day_ahead", 9), {}, "day-ahead", 37.048909, 37.048909),
]


def instance_of(source: str | tuple[str, int], examples: Path) -> Any:
    return optsched.load(examples / f"{source}.json") if isinstance(source, str) else tiny.EVERY[source[0]](source[1])


def test_every_linear_formulation_is_pinned(examples: Path) -> None:
    pinned = {(instance_of(source, examples).problem, formulation) for source, _, formulation, _, _ in PINNED}
    assert pinned == {(f, name) for f in tiny.EVERY for name, model in formulations(f).items() if model.linear}


@pytest.mark.parametrize(("source", "changes", "formulation", "optimum", "bound"), PINNED)
def test_pinned(
    examples: Path,
    source: str | tuple[str, int],
    changes: dict[str, object],
    formulation: str,
    optimum: float,
    bound: float,
) -> None:
    instance = instance_of(source, examples).model_copy(update=changes)
    result = optsched.solve(instance, "exact", formulation=formulation)
    assert result.solution == "optimal"
    assert result.objective == pytest.approx(optimum, rel=1e-8)
    value, _, _ = relaxation(linear_form(choose(instance, formulation).of(instance)))
    assert value == pytest.approx(bound, rel=1e-7)
    noise = 1e-6 * max(1, abs(optimum))
    assert value <= optimum + noise if instance.sense == "minimize" else value >= optimum - noise
