"""The trade's figures of merit, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optsched.analysis.metrics import METRICS, metrics
from optsched.instances.generators import andreas
from optsched.rolling.loop import replay
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule, Run
from optsched.schedules.deferrable import DeferrableSchedule
from optsched.schedules.deferrable import Start as DeferrableStart
from optsched.schedules.geo import GeoSchedule
from optsched.schedules.geo import Start as GeoStart
from optsched.schedules.vcc import Start as VccStart
from optsched.schedules.vcc import VccSchedule
from tests.oracle import tiny


def found(instance: Any, schedule: Any) -> list[float]:
    values = metrics(instance, schedule)
    assert values is not None
    assert tuple(values) == METRICS
    return list(values.values())


def allocation() -> Any:
    """a runs for 100 s, b for 2 s, on two nodes of two GPUs."""
    jobs = [
        {"id": "a", "submit_s": 5, "due_s": 50, "weight_per_s": 1, "time_s": {"A": [100, 60]}},
        {"id": "b", "submit_s": 10, "due_s": 500, "weight_per_s": 1, "time_s": {"A": [2]}},
    ]
    return tiny.make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=10,
        postponement_penalty=1,
        gpu_types={"A": {"node_cost_per_h": [36, 54]}},
        nodes=[{"id": n, "gpu_type": "A", "gpus": 2} for n in "mn"],
        jobs=jobs,
    )


def test_allocation() -> None:
    """a waits for 5 s and is preempted from 60 to 70; b waits for 8 s: 10 s instead of 2, which count as 10."""
    runs = [("a", "m", 1, 10, 60), ("b", "n", 1, 18, 20), ("a", "n", 1, 70, 120)]
    history = AllocationHistory(
        runs=tuple(Run(job=job, node=node, gpus=gpus, start_s=start, end_s=end) for job, node, gpus, start, end in runs)
    )
    wait, p95, slowdown, bounded, makespan, used = found(allocation(), history)
    assert [wait, p95] == pytest.approx([6.5, 5 + 0.95 * 3])
    assert slowdown == pytest.approx((115 / 100 + 10 / 2) / 2)
    assert bounded == pytest.approx((115 / 100 + 1) / 2)
    assert makespan == 115
    assert used == pytest.approx((50 + 50 + 2) / (4 * 115))


def test_a_snapshot_says_nothing_of_waiting() -> None:
    assert metrics(allocation(), AllocationSchedule(assignments=())) is None
    assert metrics(allocation(), AllocationHistory(runs=())) is None
    assert metrics(allocation(), None) is None


def test_deferrable() -> None:
    """Slots of 5 s. x may start in slot 1, has waited for 2 and starts in 2: 15 s; y at once. 2 * 3 + 4 of 4 + 3 * 8 cores."""
    jobs = [
        {"id": "x", "cores": 2.0, "duration": 3, "earliest": 1, "latest": 4, "submitted": 0, "waited": 2},
        {"id": "y", "cores": 4.0, "duration": 1, "earliest": 1, "latest": 4, "submitted": 0},
        {"id": "z", "cores": 4.0, "duration": 1, "earliest": 0, "latest": 0, "submitted": 0},
    ]
    capacity = [9.0, 4.0, 8.0, 8.0, 8.0, 9.0]
    instance = tiny.make("deferrable", slot_s=5, capacity=capacity, delay_penalty=1, overload_penalty=1, jobs=jobs)
    starts = (DeferrableStart(job="x", start=2), DeferrableStart(job="y", start=1))
    wait, p95, slowdown, bounded, makespan, used = found(instance, DeferrableSchedule(starts=starts))
    assert [wait, p95] == pytest.approx([7.5, 0.95 * 15])
    assert slowdown == pytest.approx((6 / 3 + 1) / 2)
    assert bounded == pytest.approx((30 / 15 + 1) / 2)
    assert makespan == 30  # from slot -1, when x was ready, to the end of slot 4
    assert used == pytest.approx((6 + 4) / (9 + 4 + 24))


def test_geo() -> None:
    """Slots of 60 s, two sites of 2 and 1 GPUs: x waits for two slots and runs for two, beyond which nothing counts."""
    site = {"pue": 1, "price_usd_per_mwh": [1.0] * 6, "carbon_g_per_kwh": [0.0] * 6}
    job = {"source": "a", "slack": 4, "data_gb": 0.0, "model_gb": 0.0}
    instance = tiny.make(
        "geo",
        slot_s=60,
        signal_slot_s=60,
        horizon=6,
        gpu_revenue_usd_per_h=60,
        gpu_power_kw=0,
        idle_power_ratio=0,
        carbon_price_usd_per_t=0,
        network_kwh_per_gb=0,
        sites=[{"id": "a", "gpus": 2, **site}, {"id": "b", "gpus": 1, **site}],
        links=[],
        jobs=[{"id": "x", "submitted": 1, "gpus": 2, "duration": 2, **job}],
    )
    starts = (GeoStart(job="x", site="a", start=3, departure=None),)
    assert found(instance, GeoSchedule(starts=starts, lost=())) == pytest.approx([120, 120, 2, 2, 240, 4 / 12])


def test_vcc() -> None:
    """Slots of an hour, 4 NCU of which 1 is inflexible. x is evicted after one slot and goes on in slot 3, past the horizon."""
    jobs = [
        {"id": "x", "submitted": 0, "duration": 3, "ncu": 2.0, "waited": 1},
        {"id": "y", "submitted": 1, "duration": 1, "ncu": 3.0},
    ]
    instance = tiny.make(
        "vcc", slot_s=3600, capacity_ncu=4, carbon_kg_per_kwh=[0.1] * 4, inflexible_ncu=[1.0] * 4, preempt=True, jobs=jobs
    )
    starts = (VccStart(job="x", start=0, until=1), VccStart(job="y", start=1), VccStart(job="x", start=3))
    wait, p95, slowdown, bounded, makespan, used = found(instance, VccSchedule(cap=(1.0,) * 4, starts=starts))
    assert [wait, p95] == pytest.approx([1800, 0.95 * 3600])
    assert slowdown == bounded == pytest.approx((6 / 3 + 1) / 2)
    assert makespan == 6 * 3600
    assert used == pytest.approx((2 + 3 + 2) / 12)


@pytest.mark.parametrize("family", tiny.TINY)
def test_every_replay_has_them(family: str) -> None:
    for seed in range(8):
        instance = andreas(1, 2, jobs=5, seed=seed) if family == "allocation" else tiny.TINY[family](seed)
        schedule: Any = replay(instance, "greedy", on_failure="fallback").schedule
        values = metrics(instance, schedule)
        assert (values is None) == (schedule.jobs_run == 0)
        if values is not None:
            assert np.isfinite(list(values.values())).all()
            assert min(values["mean_wait_s"], values["utilisation"]) >= 0
            assert 1 - 1e-9 <= values["mean_bounded_slowdown"] <= values["mean_slowdown"] + 1e-9


def test_a_family_without_waiting_jobs() -> None:
    assert metrics(tiny.day_ahead(0), DeferrableSchedule(starts=())) is None
