"""Instances that are just complete, and those that lack one value: the boundary of each length and count."""

from __future__ import annotations

from typing import Any

import pytest

from optsched.errors import InputError
from tests.oracle.tiny import make


def geo(values: int, gpus: Any = 1, now: int = 0, carbon: int | None = None) -> Any:
    """Seven slots in signals of three; `now` slots of the first signal slot have passed."""
    signals = {"price_usd_per_mwh": [1.0] * values, "carbon_g_per_kwh": [1.0] * (values if carbon is None else carbon)}
    return make(
        "geo",
        slot_s=60,
        horizon=7,
        signal_slot_s=180,
        now=now,
        gpu_revenue_usd_per_h=1,
        gpu_power_kw=1,
        idle_power_ratio=0,
        carbon_price_usd_per_t=0,
        network_kwh_per_gb=0,
        sites=[{"id": "a", "gpus": gpus, "pue": 1, **signals}],
        links=[],
        jobs=[],
    )


@pytest.mark.parametrize(("now", "needed"), [(0, 3), (2, 3), (3, 3), (4, 3), (5, 3), (302, 3)])
def test_signals_of_geo_reach_the_horizon(now: int, needed: int) -> None:
    """From the signal slot of `now` on: 7 slots and up to two before them are three signal slots."""
    assert geo(needed, now=now).price.shape == (1, 7)
    with pytest.raises(InputError, match=f"price_usd_per_mwh: {needed - 1} values, the horizon needs {needed}"):
        geo(needed - 1, now=now)
    with pytest.raises(InputError, match=f"carbon_g_per_kwh: {needed - 1} values"):
        geo(needed, now=now, carbon=needed - 1)


def test_gpus_of_geo_by_slot_reach_the_horizon() -> None:
    assert geo(3, [1] * 7).capacity.shape == (1, 7)
    with pytest.raises(InputError, match="6 values, the horizon needs 7"):
        geo(3, [1] * 6)


def cluster(gpus: int, priced: int, **changes: Any) -> Any:
    job = {"id": "j", "submit_s": 5.0, "due_s": 9, "weight_per_s": 1, "time_s": {"A": [3.0]}}
    fields: dict[str, Any] = {
        "currency": "EUR",
        "now_s": 5.0,
        "scheduling_interval_s": 1,
        "postponement_penalty": 1,
        "gpu_types": {"A": {"node_cost_per_h": [1.0] * priced}},
        "nodes": [{"id": "n", "gpu_type": "A", "gpus": gpus}],
        "jobs": [job],
    }
    return make("allocation", **(fields | changes))


def test_every_gpu_of_a_node_has_a_price() -> None:
    assert cluster(2, 2).nodes[0].gpus == 2
    with pytest.raises(InputError, match=r"3 GPUs, but gpu_types\.A\.node_cost_per_h has costs for 1\.\.2"):
        cluster(3, 2)


@pytest.mark.parametrize(("now_s", "known"), [(4.999, 0), (5.0, 1)])
def test_a_job_is_known_from_its_submission_on(now_s: float, known: int) -> None:
    instance = cluster(1, 1, now_s=now_s)
    assert (len(instance.known_jobs), len(instance.columns.index)) == (known, known)


def deferrable(**job: Any) -> Any:
    fields = {"id": "j", "cores": 1.0, "duration": 1, "earliest": 2, "latest": 2, "submitted": 2} | job
    return make("deferrable", slot_s=60, capacity=[1.0], delay_penalty=0.0, overload_penalty=0.0, jobs=[fields])


def test_the_window_of_a_deferrable_job() -> None:
    assert deferrable().jobs[0].latest == 2
    with pytest.raises(InputError, match=r"jobs\[0\]\.latest: is 1, before earliest = 2"):
        deferrable(latest=1)
    with pytest.raises(InputError, match=r"jobs\[0\]\.earliest: is 1, before submitted = 2"):
        deferrable(earliest=1)


def vcc(slots: int, **job: Any) -> Any:
    fields = {"id": "j", "submitted": 2, "duration": 1, "ncu": 4.0} | job
    return make("vcc", capacity_ncu=4.0, carbon_kg_per_kwh=[0.1] * 3, inflexible_ncu=[0.0] * slots, jobs=[fields])


def test_a_job_of_vcc_fits_into_the_whole_and_the_horizon() -> None:
    assert vcc(3).horizon == 3
    with pytest.raises(InputError, match="inflexible_ncu: has 2 entries, carbon_kg_per_kwh has 3"):
        vcc(2)
    with pytest.raises(InputError, match=r"jobs\[0\]\.submitted: is 3, beyond the horizon of 3 slots"):
        vcc(3, submitted=3)
    with pytest.raises(InputError, match=r"jobs\[0\]\.ncu: is 4\.01, more than the capacity of 4"):
        vcc(3, ncu=4.01)
