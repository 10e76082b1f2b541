"""The errata of OSDEC and MASAC, by hand."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import optsched
from optsched.models import formulations
from optsched.schedules.deferrable import DeferrableSchedule
from optsched.schedules.deferrable import Start as SlotStart
from optsched.schedules.geo import GeoSchedule, Start, check, evaluate
from tests.oracle.tiny import deferrable as make_tiny
from tests.oracle.tiny import make

SITE = {"gpus": 2, "pue": 1.5, "price_usd_per_mwh": [100, 200], "carbon_g_per_kwh": [400, 100]}


def deferrable(jobs: list[dict[str, Any]], capacity: list[float], **changes: Any) -> Any:
    fields = {"slot_s": 300, "delay_penalty": 2, "overload_penalty": 10} | changes
    full = [{"id": f"j{i}", "submitted": 0, "earliest": 0, "latest": 0, **job} for i, job in enumerate(jobs)]
    return make("deferrable", capacity=capacity, jobs=full, **fields)


@pytest.mark.parametrize("formulation", formulations("deferrable"))
def test_osdec_a_job_of_d_slots_loads_d_slots(formulation: str) -> None:
    """The printed sum from t - d to t has d + 1 slots: it would charge slot 2 as well, 3 cores above 0 for 30."""
    instance = deferrable([{"cores": 3, "duration": 2}], [3, 3, 0])
    result = optsched.solve(instance, "exact", formulation=formulation)
    assert result.objective == pytest.approx(6)
    optimum = {first: max(0, 6 - 10 * overload(instance, {"j0": 0}, first)) for first in (0, 1)}
    assert optimum == {0: 0, 1: pytest.approx(result.objective)}  # by the print nothing would run


def overload(instance: Any, starts: dict[str, int], first: int) -> float:
    """Core-slots above the capacity, where slot t holds what starts from t - d + `first` to t: 1 as read, 0 as printed."""
    jobs = {job.id: job for job in instance.jobs}
    return sum(
        max(0.0, sum(jobs[j].cores for j, s in starts.items() if t - jobs[j].duration + first <= s <= t) - capacity)
        for t, capacity in enumerate(instance.capacity)
    )


def test_osdec_the_referee_counts_as_read_not_as_printed() -> None:
    """On schedules at random: by our reading always what the referee says, by the print often more."""
    more = 0
    for seed in range(200):
        instance: Any = make_tiny(seed)
        rng = Random(seed)
        fits = {j.id: min(j.latest, instance.horizon - j.duration) for j in instance.jobs}
        starts = {j.id: rng.randint(j.earliest, fits[j.id]) for j in instance.jobs if j.earliest <= fits[j.id]}
        schedule = DeferrableSchedule(starts=tuple(SlotStart(job=j, start=s) for j, s in starts.items()))
        assert optsched.check(instance, schedule) == []
        charged = optsched.evaluate(instance, schedule).components["overload"]
        assert charged == pytest.approx(instance.overload_penalty * overload(instance, starts, first=1)), seed
        more += overload(instance, starts, first=0) > overload(instance, starts, first=1) + 1e-9
    assert more > 60


@pytest.mark.parametrize("formulation", formulations("deferrable"))
def test_osdec_the_window_is_the_jobs_own(formulation: str) -> None:
    """Each job has its own latest slot l_i; l_t, the latest slot by time index, would let j1 wait for capacity."""
    jobs = [{"cores": 1, "duration": 1, "latest": 1}, {"cores": 1, "duration": 1, "latest": 0}]
    instance = deferrable(jobs, [0, 1])
    result = optsched.solve(instance, formulation=formulation, options={})
    # j0 waits one slot: 1 - 2 < 0, so nothing is worth running; with a free delay it is
    assert result.objective == 0
    free = optsched.solve(deferrable(jobs, [0, 1], delay_penalty=0), formulation=formulation)
    assert free.objective == 1
    assert [s.job for s in free.schedule.starts] == ["j0"]
    late = DeferrableSchedule(starts=(SlotStart(job="j1", start=1),))
    assert [v.rule for v in optsched.check(instance, late)] == ["starts after its latest slot"]


@pytest.mark.parametrize("formulation", formulations("deferrable"))
def test_osdec_nothing_is_earned_past_the_horizon(formulation: str) -> None:
    instance = deferrable([{"cores": 1, "duration": 3, "latest": 5}], [1, 1])
    assert optsched.solve(instance, formulation=formulation).objective == 0
    past = DeferrableSchedule(starts=(SlotStart(job="j0", start=0),))
    assert [v.rule for v in optsched.check(instance, past)] == ["runs past the horizon"]


def test_osdec_by_hand() -> None:
    """4 cores x 2 slots, 1 slot late, 1 core above capacity in one slot: 8 - 2 - 10."""
    instance = deferrable([{"cores": 4, "duration": 2, "latest": 1}], [0, 4, 3])
    judged = optsched.evaluate(instance, DeferrableSchedule(starts=(SlotStart(job="j0", start=1),)))
    assert judged.components == {"work": 8, "delay": 2, "overload": 10}
    assert judged.objective == -4


def geo(jobs: list[dict[str, Any]], **changes: Any) -> Any:
    fields: dict[str, Any] = {
        "slot_s": 60,
        "horizon": 10,
        "signal_slot_s": 300,
        "gpu_revenue_usd_per_h": 0.6,
        "gpu_power_kw": 0.5,
        "idle_power_ratio": 0.1,
        "carbon_price_usd_per_t": 100,
        "network_kwh_per_gb": 0.06,
        "sites": [{"id": "A", **SITE}, {"id": "B", **SITE, "price_usd_per_mwh": [50, 50]}],
        "links": [
            {"from": "A", "to": "B", "throughput_gb_per_s": 0.02, "cost_usd_per_gb": 0.001},
            {"from": "B", "to": "A", "throughput_gb_per_s": 0.01, "cost_usd_per_gb": 0.002},
        ],
    } | changes
    full = [
        {
            "id": f"j{i}",
            "source": "A",
            "submitted": 0,
            "gpus": 1,
            "duration": 2,
            "slack": 4,
            "data_gb": 1,
            "model_gb": 0.6,
            **j,
        }
        for i, j in enumerate(jobs)
    ]
    return make("geo", jobs=full, **fields)


def test_masac_every_term_by_hand() -> None:
    """One GPU for two slots at B, away from A. Everything spelt out from eqs. (2)-(6)."""
    instance = geo([{}])
    start = Start(job="j0", site="B", start=2, departure=0)
    assert check(instance, GeoSchedule(starts=(start,))) == []
    h, alpha, pue, rho, beta, mu = 1 / 60, 0.6, 1.5, 0.5, 0.1, 100e-6
    price = {"A": [100] * 5 + [200] * 5, "B": [50] * 10}
    carbon = [400] * 5 + [100] * 5
    used = {"A": [0] * 10, "B": [0, 0, 1, 1] + [0] * 6}
    u1 = sum(used[n][t] * h * (alpha - pue * rho * price[n][t] / 1000) for n in "AB" for t in range(10))
    u2 = sum((2 - used[n][t]) * h * pue * beta * rho * price[n][t] / 1000 for n in "AB" for t in range(10))
    u3 = sum(mu * pue * rho * h * ((1 - beta) * used[n][t] + beta * 2) * carbon[t] for n in "AB" for t in range(10))
    u4 = 1.6 * 0.001 + mu * 0.06 * 1.6 * 400  # leaves in slot 0
    u5 = 0.6 * 0.002 + mu * 0.06 * 0.6 * 400  # done in slot 4, still at 400 g/kWh
    judged = evaluate(instance, GeoSchedule(starts=(start,)))
    assert list(judged.components.values()) == pytest.approx([u1, u2, u3, u4, u5], rel=1e-12)
    assert judged.objective == pytest.approx(u1 - u2 - u3 - u4 - u5, rel=1e-12)


@pytest.mark.parametrize("formulation", formulations("geo"))
def test_masac_eq_1_runs_for_d_not_for_the_slack(formulation: str) -> None:
    """Duration 2, slack 4: the print would hold the GPU for 4 slots and earn for 4."""
    instance = geo([{}], links=[])
    result = optsched.solve(instance, formulation=formulation)
    earned = result.components["profit"] + 2 / 60 * 1.5 * 0.5 * 0.1
    assert earned == pytest.approx(2 / 60 * 0.6)


@pytest.mark.parametrize(
    ("slack", "start", "rules"),
    [
        (3, 2, []),  # 1.6 GB at 0.02 GB/s: 80 s, two slots; back 0.6 GB at 0.01 GB/s: one slot; 2 + 1 <= 3
        (
            2,
            2,
            ["its result returns after its slack"],
        ),  # (7b) with D' of the way out alone would pass 2 <= 0 + 2
        (4, 1, ["starts before it has arrived"]),
    ],
)
def test_masac_7b_counts_both_ways(slack: int, start: int, rules: list[str]) -> None:
    schedule = GeoSchedule(starts=(Start(job="j0", site="B", start=start, departure=0),))
    assert [v.rule for v in check(geo([{"slack": slack}]), schedule)] == rules


def test_masac_cheapest_path_then_fastest() -> None:
    """A to C: direct costs more than over B; two ways over B and D cost the same, D is faster."""
    sites = [{"id": n, **SITE} for n in "ABCD"]
    links = [
        ("A", "C", 1, 0.01),
        ("A", "B", 0.02, 0.002),
        ("B", "C", 0.02, 0.002),
        ("A", "D", 0.04, 0.002),
        ("D", "C", 0.04, 0.002),
    ]
    instance = geo(
        [],
        sites=sites,
        links=[dict(zip(("from", "to", "throughput_gb_per_s", "cost_usd_per_gb"), link, strict=True)) for link in links],
    )
    path = instance.paths[0, 2]
    assert path.sites == (0, 3, 2)
    assert path.cost_usd_per_gb == pytest.approx(0.004)
    assert path.delay_slots((1.2,), 60) == 1  # 30 s + 30 s: one slot, not two by a rounding error
    assert (2, 0) not in instance.paths


def test_masac_result_returns_within_the_horizon_clamp() -> None:
    """A job that ends with the horizon is charged the last slot's carbon."""
    instance = geo([{"slack": 20}])
    schedule = GeoSchedule(starts=(Start(job="j0", site="B", start=8, departure=6),))
    assert check(instance, schedule) == []
    assert evaluate(instance, schedule).components["retrieval"] == pytest.approx(0.6 * 0.002 + 1e-4 * 0.06 * 0.6 * 100)
