"""Tiny random instances, seeded. Ties, zeros, nulls, overdue and unknown jobs are frequent on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsched.instances.base import Instance
from optsched.registry import family as family_named
from tests.oracle import enumerate_exact


def make(family: str, **fields: Any) -> Instance:
    """An instance from plain Python data, validated as a file is."""
    from optsched.instances.files import validated

    raw = {"format": "optsched-instance/1", "name": "tiny", **fields}
    return validated(family_named(family).instance, raw, "tiny.json")


def allocation(seed: int) -> Instance:
    """1-4 jobs on 1-3 nodes of 1-3 GPUs; integer or uneven times."""
    rng = np.random.default_rng([1, seed])
    kinds = ["A", "B"][: rng.integers(1, 3)]
    rough = rng.random() < 0.5

    def number(low: float, high: float) -> float:
        x = rng.uniform(low, high)
        return float(np.round(x)) if rough else float(x)

    types = {k: {"node_cost_per_h": np.cumsum(rng.uniform(0.5, 40, 3)).round(3).tolist()} for k in kinds}
    nodes = [
        {"id": f"n{i}", "gpu_type": str(rng.choice(kinds)), "gpus": int(rng.integers(1, 4))} for i in range(rng.integers(1, 4))
    ]
    now = number(0, 60)
    jobs = []
    for j in range(rng.integers(1, 5)):
        times: dict[str, list[float | None]] = {}
        for k in kinds:
            if rng.random() < 0.85:
                listed = [max(1.0, number(5, 100)) for _ in range(rng.integers(1, 4))]
                times[k] = [None if rng.random() < 0.2 else t for t in listed]
        if not any(t is not None for ts in times.values() for t in ts):
            times[kinds[0]] = [number(5, 100)]
        jobs.append(
            {
                "id": f"j{j}",
                "submit_s": now + 5 if rng.random() < 0.1 else 0.0,
                "due_s": number(-20, 220),
                "weight_per_s": float(rng.choice([0.0, 0.001, 0.01, 0.5, rng.uniform(0, 1)])),
                "time_s": times,
            }
        )
    return make(
        "allocation",
        currency="EUR",
        now_s=now,
        scheduling_interval_s=number(0, 50),
        postponement_penalty=float(rng.choice([0, 1, 3, 100])),
        first_ending=str(rng.choice(["earliest", "cheapest"])),
        use_all_nodes=bool(rng.random() < 0.5),
        gpu_types=types,
        nodes=nodes,
        jobs=jobs,
    )


def deferrable(seed: int) -> Instance:
    """1-4 jobs over 3-7 slots; sometimes cores and capacity in halves or tenths."""
    rng = np.random.default_rng([2, seed])
    horizon = int(rng.integers(3, 8))
    unit = float(rng.choice([1.0, 1.0, 0.5, 0.1]))
    jobs = []
    for j in range(rng.integers(1, 5)):
        submitted = int(rng.integers(0, horizon))
        earliest = submitted + int(rng.integers(0, 2))
        jobs.append(
            {
                "id": f"j{j}",
                "cores": round(int(rng.integers(1, 6)) * unit, 6),
                "duration": int(rng.integers(1, 5)),
                "earliest": earliest,
                "latest": earliest + int(rng.integers(0, 4)),
                "submitted": submitted,
            }
        )
    return make(
        "deferrable",
        slot_s=300,
        capacity=[round(int(c) * unit, 6) for c in rng.integers(0, 9, horizon)],
        delay_penalty=float(rng.choice([0, 0.3, 2])),
        overload_penalty=float(rng.choice([0, 0.7, 2, 10])),
        jobs=jobs,
    )


def geo(seed: int) -> Instance:
    """1-4 jobs on 1-3 sites over 4-9 slots, links missing at times, prices negative at times, capacity by slot at times."""
    rng = np.random.default_rng([3, seed])
    sites_n, horizon, per_signal = int(rng.integers(1, 4)), int(rng.integers(4, 10)), int(rng.integers(1, 4))
    signals = -(-horizon // per_signal)
    sites: list[dict[str, Any]] = []
    for n in range(sites_n):
        gpus = int(rng.integers(0, 4))
        sites.append(
            {
                "id": f"s{n}",
                "gpus": gpus if rng.random() < 0.6 else rng.integers(0, 4, horizon).tolist(),
                "pue": float(rng.choice([1, 1.3])),
                "price_usd_per_mwh": rng.uniform(-80, 700, signals).round(2).tolist(),
                "carbon_g_per_kwh": rng.uniform(0, 900, signals).round(1).tolist(),
            }
        )
    links = [
        {
            "from": f"s{a}",
            "to": f"s{b}",
            "throughput_gb_per_s": float(rng.choice([0.01, 0.02, 0.5])),
            "cost_usd_per_gb": float(rng.choice([0, 0.0001, 0.001, 0.002])),
        }
        for a in range(sites_n)
        for b in range(sites_n)
        if a != b and rng.random() < 0.8
    ]
    jobs = [
        {
            "id": f"j{j}",
            "source": f"s{rng.integers(sites_n)}",
            "submitted": int(rng.integers(0, horizon - 1)),
            "gpus": int(rng.integers(1, 4)),
            "duration": int(rng.integers(1, 4)),
            "slack": int(rng.integers(0, 5)),
            "data_gb": float(rng.choice([0, 0.6, 1.2])),
            "model_gb": float(rng.choice([0, 0.6, 1.0])),
        }
        for j in range(rng.integers(1, 5))
    ]
    return make(
        "geo",
        slot_s=60,
        horizon=horizon,
        signal_slot_s=60 * per_signal,
        gpu_revenue_usd_per_h=0.05,
        gpu_power_kw=float(rng.choice([0.07, 0.25])),
        idle_power_ratio=float(rng.choice([0, 0.1])),
        carbon_price_usd_per_t=float(rng.choice([0, 100])),
        network_kwh_per_gb=float(rng.choice([0, 0.06])),
        sites=sites,
        links=links,
        jobs=jobs,
    )


def vcc(seed: int) -> Instance:
    """1-4 jobs over 2-6 slots of an hour, half an hour or half a day; snapshots with load that runs at times."""
    rng = np.random.default_rng([4, seed])
    horizon = int(rng.integers(2, 7))
    unit = float(rng.choice([1.0, 1.0, 0.37]))
    runs = sorted((rng.integers(0, 2, horizon) * unit).tolist(), reverse=True)
    snapshot = {"running_ncu": runs, "allotted_ncu_h": 3.0, "asked_ncu_h": 5.0, "now": 1} if rng.random() < 0.3 else {}
    jobs = [
        {
            "id": f"j{j}",
            "submitted": int(rng.integers(0, horizon)),
            "duration": int(rng.integers(1, 4)),
            "ncu": float(rng.integers(1, 4) * unit),
            "waited": int(rng.integers(0, 3)) if snapshot else 0,
        }
        for j in range(rng.integers(1, 5))
    ]
    return make(
        "vcc",
        slot_s=float(rng.choice([3600, 1800, 43200])),
        capacity_ncu=4.0,
        carbon_kg_per_kwh=rng.random(horizon).round(2).tolist(),
        inflexible_ncu=(rng.integers(0, 4, horizon) * unit).tolist(),
        idle_kw=1.0,
        kw_per_ncu=0.5,
        delay_limit_slots=int(rng.integers(0, 3)),
        delay_penalty_per_ncu_h=float(rng.choice([0, 0.1, 1])),
        daily_penalty_per_ncu_h=float(rng.choice([0, 0.2, 2])),
        unfinished_penalty_per_ncu_h=float(rng.choice([0, 0.3, 3])),
        jobs=jobs,
        **snapshot,
    )


def day_ahead(seed: int) -> Instance:
    """1-3 clusters on 1-2 campuses over 1-5 hours; idle ones, hours without room, contracts that bind or are just enough."""
    rng = np.random.default_rng([5, seed])

    def up(x: float) -> float:
        """No less than x to the digit, so that what just fits does so in fractions as well."""
        return float(np.ceil(x * 1e6 - 1e-3) / 1e6)

    for _ in range(100):  # until there is a schedule
        hours = int(rng.integers(1, 6))
        campuses = [f"c{k}" for k in range(rng.integers(1, 3))]
        power = dict.fromkeys(campuses, 0.0)
        clusters = []
        for k in range(rng.integers(1, 4)):
            usage, ratio = rng.integers(2, 10, hours).astype(float), rng.choice([1.0, 1.0, 1.25, 2.0], hours)
            mean = float(rng.choice([0.0, 1.0, 2.5, np.round(rng.uniform(0, 4), 2)]))
            idle, slope = float(rng.choice([0.0, 3.0])), float(rng.choice([0.0, 1.0, 1.0, 0.3]))
            campus = str(rng.choice(campuses))
            power[campus] += (idle + slope * float(usage.max() + mean * rng.choice([0.3, 0.7, 1.0, 2.0]))) / 1000
            clusters.append(
                {
                    "id": f"k{k}",
                    "campus": campus,
                    "inflexible_ncu": usage.tolist(),
                    "inflexible_high_ncu": (usage + rng.choice([0.0, 0.5])).tolist(),
                    "flexible_ncu_h": mean * hours,
                    "reserved_ncu_h": up(((usage + mean) * ratio).sum()),
                    "reserved_error": float(rng.choice([0.0, 0.0, 0.05])),
                    "reservation_ratio": ratio.tolist(),
                    "carbon_kg_per_kwh": rng.choice([0.0, 0.1, 0.3, 0.3, np.round(rng.random(), 3)], hours).tolist(),
                    "idle_kw": idle,
                    "kw_per_ncu": slope,
                    "capacity_ncu": up(((usage + mean) * ratio).max() * rng.choice([0.9, 1.0, 1.2, 3.0])),
                    "usage_limit_ncu": up(usage.max() + mean * rng.choice([0.8, 1.3, 2.0, 5.0]) + 0.5),
                }
            )
        prices = {"carbon_price": float(rng.choice([40, 1, 0])), "peak_price": float(rng.choice([0, 10, 1000, 20_000]))}
        contracts = [{"id": c, "contract_mw": up(power[c]) or 1.0} for c in campuses]
        fields = {"campuses": contracts, "clusters": clusters, **prices}
        if enumerate_exact.best({"problem": "day_ahead", **fields}).value is not None:  # not what the package says
            return make("day_ahead", **fields)
    raise AssertionError(f"seed {seed} makes no instance")


TINY = {"allocation": allocation, "deferrable": deferrable, "geo": geo, "vcc": vcc}
EVERY = TINY | {"day_ahead": day_ahead}  # that one is a day's plan: no time passes in it
