"""Penalties that stand for hard constraints on instances that no backend finishes: nothing exceeds any bound shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import optsched
from optsched.errors import OptschedError
from optsched.instances import Instance
from optsched.solvers import BACKENDS
from tests.oracle.tiny import make
from tests.parts import parts

PENALTIES = [1e3, 1e15, 1e6, 1e9, 1e12]


def deferrable(seed: int, penalty: float, jobs: int) -> Instance:
    """Sixty jobs of a few sizes that want twice the capacity."""
    rng = np.random.default_rng([11, seed])
    slots = 40
    entries = []
    for j in range(jobs):
        duration = int(rng.integers(1, 7))
        earliest = int(rng.integers(0, slots - duration))
        latest = int(min(slots - duration, earliest + rng.integers(0, 12)))
        cores = int(rng.choice([3, 5, 7, 11]))
        entries.append(
            {"id": f"j{j}", "cores": cores, "duration": duration, "earliest": earliest, "latest": latest, "submitted": 0}
        )
    capacity = rng.integers(10, 23, slots).tolist()
    return make("deferrable", slot_s=300, capacity=capacity, delay_penalty=0.3, overload_penalty=penalty, jobs=entries)


def allocation(seed: int, penalty: float, jobs: int) -> Instance:
    """Postponing costs `penalty` times the lateness: whatever can run, must."""
    rng = np.random.default_rng([12, seed])
    kinds: dict[str, Any] = {"A": {"node_cost_per_h": [0.2, 0.3, 0.4, 0.5]}, "B": {"node_cost_per_h": [0.1, 0.15]}}
    nodes = [{"id": f"a{n}", "gpu_type": "A", "gpus": 4} for n in range(4)] + [
        {"id": f"b{n}", "gpu_type": "B", "gpus": 2} for n in range(3)
    ]
    entries = []
    for j in range(jobs):
        base = float(rng.uniform(1000, 9000))
        times = {"A": [base / g**0.8 for g in (1, 2, 3, 4)], "B": [2 * base, 1.2 * base]}
        due, weight = float(rng.uniform(0, 9000)), float(rng.uniform(1e-4, 1e-3))
        entries.append({"id": f"j{j}", "submit_s": 0, "due_s": due, "weight_per_s": weight, "time_s": times})
    fields = {"currency": "EUR", "now_s": 0, "scheduling_interval_s": 300, "gpu_types": kinds, "nodes": nodes}
    return make("allocation", postponement_penalty=penalty, jobs=entries, **fields)


def vcc(seed: int, penalty: float, jobs: int) -> Instance:
    """Work that must be done, and caps that must be given."""
    rng = np.random.default_rng([13, seed])
    slots = 16
    entries = [
        {"id": f"j{j}", "submitted": int(rng.integers(0, 10)), "duration": int(rng.integers(1, 5)), "ncu": round(float(n), 3)}
        for j, n in enumerate(rng.uniform(0.3, 3.0, jobs))
    ]
    return make(
        "vcc",
        capacity_ncu=10.0,
        carbon_kg_per_kwh=np.round(rng.uniform(0.05, 0.5, slots), 3).tolist(),
        inflexible_ncu=np.round(rng.uniform(1, 4, slots), 2).tolist(),
        delay_limit_slots=3,
        delay_penalty_per_ncu_h=penalty,
        unfinished_penalty_per_ncu_h=penalty,
        daily_penalty_per_ncu_h=1.0,
        jobs=entries,
    )


MAKERS = {"deferrable": deferrable, "allocation": allocation, "vcc": vcc}


def attack(instance: Instance, limit: float) -> None:
    """Solve by every backend, formulation and method that takes it; then hold each schedule against each bound."""
    ways: list[dict[str, Any]] = [{"backend": name} for name in BACKENDS] + [{"method": "decomposition"}, {"method": "greedy"}]
    if instance.problem == "allocation":
        ways += [{"backend": name, "formulation": "linearized"} for name in BACKENDS]
    if instance.problem == "deferrable":
        ways += [{"backend": name, "formulation": "cover"} for name in BACKENDS]
    if instance.problem == "vcc":
        ways += [{"method": "fluid"}]
    shown = []
    for way in ways:
        try:
            result = optsched.solve(instance, time_limit=limit, **way)
        except OptschedError as error:
            if "all-integer models only" in str(error) or "cannot be scaled exactly" in str(error):
                continue
            raise
        assert result.verify(instance) == [], way
        shown.append((way, result))
    sign = 1 if instance.sense == "minimize" else -1
    for way, result in shown:
        for other, found in shown:
            if result.bound is not None:
                assert sign * (found.objective - result.bound) >= -1e-9 * abs(found.objective), (way, other)


@pytest.mark.parametrize("family", MAKERS)
@pytest.mark.parametrize("penalty", [1e15])
def test_no_schedule_exceeds_a_bound_in_short(family: str, penalty: float) -> None:
    attack(MAKERS[family](1, penalty, 12), 1.0)


@pytest.mark.parametrize("penalty", [1.0, 1e6, 1e12, 1e15])
def test_a_penalty_of_delay_becomes_the_constraint_that_it_stands_for(penalty: float) -> None:
    """One job of 50 NCU, which fits from slot 2 on, when it is not late yet; left undone it would cost 600, run 210."""
    fields: dict[str, Any] = {"slot_s": 21600, "capacity_ncu": 100, "idle_kw": 10, "kw_per_ncu": 1, "daily_fraction": 0.5}
    instance = make(
        "vcc",
        carbon_kg_per_kwh=[0.5, 0.2, 0.0, 0.7],
        inflexible_ncu=[30.0, 64.0, 0.0, 30.0],
        delay_limit_slots=1,
        delay_penalty_per_ncu_h=penalty,
        unfinished_penalty_per_ncu_h=1.0,
        jobs=[{"id": "j0", "submitted": 1, "duration": 2, "ncu": 50.0}],
        **fields,
    )
    result = optsched.solve(instance, "exact")
    assert (result.solution, result.components["delay"]) == ("optimal", 0.0)
    assert result.objective == pytest.approx(6 * (0.5 * 40 + 0.2 * 74 + 0.0 * 60 + 0.7 * 90))
    assert optsched.solve(instance, "fluid").bound == pytest.approx(436.8)  # it starts in slot 1, which saves 150


def test_a_cost_that_nobody_can_avoid_hides_no_bound() -> None:
    """What can run nowhere is postponed for 1e15 EUR, in units in which solvers tell 1e20 from no bound at all."""
    kinds = {"A": {"node_cost_per_h": [1.0]}, "B": {"node_cost_per_h": [1.0]}}
    job = {"submit_s": 0, "due_s": 1.0, "weight_per_s": 1e6}
    jobs = [{"id": "a", **job, "time_s": {"A": [1.0]}}, {"id": "b", **job, "time_s": {"B": [1.0]}, "due_s": 9.0}]
    fields = {"currency": "EUR", "now_s": 0, "scheduling_interval_s": 1e9, "gpu_types": kinds, "postponement_penalty": 1}
    instance = make("allocation", nodes=[{"id": "n", "gpu_type": "B", "gpus": 1}], jobs=jobs, **fields)
    for method in ("exact", "decomposition", "auto"):
        assert optsched.solve(instance, method).solution == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize("family", MAKERS)
@pytest.mark.parametrize("penalty", parts(PENALTIES, in_ci=2))
def test_no_schedule_exceeds_a_bound(family: str, penalty: float) -> None:
    attack(MAKERS[family](0, penalty, {"deferrable": 60, "allocation": 40, "vcc": 24}[family]), 2.0)
