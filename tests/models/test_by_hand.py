"""Instances on which a formulation that drops a row, or reads capacity at the wrong slot, shows at once."""

from __future__ import annotations

from typing import Any

import pytest

import optsched
from optsched.models import formulations
from tests.schedules.test_errata_allocation import cluster
from tests.schedules.test_errata_time import deferrable, geo


def proven(instance: Any, formulation: str) -> Any:
    """The optimum, which the formulation itself must have proven: a row that is missing shows in the bound."""
    result = optsched.solve(instance, formulation=formulation)
    assert result.solution == "optimal"
    assert result.bound == pytest.approx(result.objective)
    return result


SITE = {"id": "A", "pue": 1, "price_usd_per_mwh": [0.0, 0.0], "carbon_g_per_kwh": [0.0, 0.0]}


@pytest.mark.parametrize("formulation", formulations("allocation"))
@pytest.mark.parametrize("reading", ["earliest", "cheapest"])
def test_one_job_a_gpu(formulation: str, reading: str) -> None:
    """One GPU, two overdue jobs that nobody forces to run: a second one on the node would save its postponement, 2 * 50."""
    jobs = [{"id": j, "time_s": {"A": [40]}, "due_s": 0} for j in "ab"]
    instance = cluster(jobs, gpus=1, first_ending=reading, use_all_nodes=False)
    assert proven(instance, formulation).objective == pytest.approx(40 + 0.4 + 2 * 50)


@pytest.mark.parametrize("formulation", formulations("allocation"))
@pytest.mark.parametrize("reading", ["earliest", "cheapest"])
def test_every_node_is_used_once(formulation: str, reading: str) -> None:
    """Two nodes of two GPUs and five jobs: four run, the fifth waits."""
    jobs = [{"id": j, "time_s": {"A": [40]}, "due_s": 0} for j in "abcde"]
    for forced in (True, False):
        instance = cluster(jobs, count=2, first_ending=reading, use_all_nodes=forced)
        assert proven(instance, formulation).objective == pytest.approx(4 * 40 + 2 * 0.4 + 2 * 50)


@pytest.mark.parametrize("formulation", formulations("allocation"))
def test_nobody_ends_before_the_first(formulation: str) -> None:
    """Short ends first and pays 0.4; were long the first, at 0.3, short would end before it."""
    jobs = [{"id": "short", "time_s": {"A": [None, 20]}, "due_s": 0}, {"id": "long", "time_s": {"A": [30]}, "due_s": 0}]
    instance = cluster(jobs, gpus=3, gpu_types={"A": {"node_cost_per_h": [36, 72, 108]}})
    assert proven(instance, formulation).objective == pytest.approx(20 + 30 + 0.4)


@pytest.mark.parametrize("formulation", formulations("geo"))
@pytest.mark.parametrize(
    ("gpus", "run"), [([2, 2, 2], 2), ([2, 1, 2], 1), ([1, 2, 2], 1), ([2, 2, 1], 1), ([2, 0, 2], 0), ([1, 1, 1], 1)]
)
def test_capacity_counts_in_every_slot(formulation: str, gpus: list[int], run: int) -> None:
    """Two jobs of three slots from slot 0 on or never; between their start and their end nothing else happens."""
    instance = geo([{"duration": 3, "slack": 0}] * 2, sites=[{**SITE, "gpus": [*gpus, *(2,) * 7]}], links=[])
    assert len(proven(instance, formulation).schedule.starts) == run


@pytest.mark.parametrize("formulation", formulations("geo"))
def test_what_ends_makes_room(formulation: str) -> None:
    """One GPU, two jobs of two slots in four slots: one after the other, without a slot between."""
    instance = geo([{"slack": 0}, {"slack": 2}], sites=[{**SITE, "gpus": 1}], links=[], horizon=4)
    schedule = proven(instance, formulation).schedule
    assert {(s.job, s.start) for s in schedule.starts} == {("j0", 0), ("j1", 2)}


@pytest.mark.parametrize("formulation", formulations("deferrable"))
@pytest.mark.parametrize(("capacity", "lacking"), [([2, 2, 2], 0), ([2, 1, 2], 1), ([2, 2, 1], 1), ([1, 1, 1], 3)])
def test_overload_counts_in_every_slot(formulation: str, capacity: list[float], lacking: int) -> None:
    """Two cores for three slots earn 6; a core that lacks costs half a unit a slot, or ten, which nothing is worth."""
    job = {"cores": 2, "duration": 3}
    dear, cheap = (deferrable([job], capacity, overload_penalty=price) for price in (10, 0.5))
    assert proven(dear, formulation).objective == pytest.approx(0 if lacking else 6)
    assert proven(cheap, formulation).objective == pytest.approx(6 - 0.5 * lacking)


@pytest.mark.parametrize("formulation", formulations("deferrable"))
@pytest.mark.parametrize(
    ("earliest", "latest", "runs"), [(0, 0, False), (1, 1, False), (0, 2, True), (2, 2, True), (3, 3, False)]
)
def test_starts_are_within_the_window(formulation: str, earliest: int, latest: int, runs: bool) -> None:
    """There is room in slot 2 only, where the one slot of work earns 1 at any delay."""
    job = {"cores": 1, "duration": 1, "earliest": earliest, "latest": latest}
    result = proven(deferrable([job], [0, 0, 1, 0], delay_penalty=0), formulation)
    assert [s.start for s in result.schedule.starts] == [2] * runs


@pytest.mark.parametrize("formulation", formulations("allocation"))
@pytest.mark.parametrize("reading", ["earliest", "cheapest"])
def test_everything_is_paid(formulation: str, reading: str) -> None:
    """At 100 s b, of 40 s and due at 110 s, is 30 s late and takes 0.4; a waits for 2 * 20. The other way round it is 90.3."""
    jobs = [{"id": "a", "time_s": {"A": [30]}, "due_s": 120}, {"id": "b", "time_s": {"A": [40]}, "due_s": 110}]
    instance = cluster(jobs, gpus=1, now_s=100, first_ending=reading)
    result = proven(instance, formulation)
    assert result.components == {
        "tardiness": pytest.approx(30),
        "postponement": pytest.approx(2 * 20),
        "energy": pytest.approx(0.4),
    }
