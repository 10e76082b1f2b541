"""Tiny instances made to break a scheduler: near fits, exact ties, zeros, huge and minute numbers; one seed, one instance."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.oracle import enumerate_exact
from tests.oracle import exact_referee as referee

Json = dict[str, Any]
NEAR = [0.0, 1e-12, -1e-12, 1e-10, -1e-10, 1e-9, -1e-9, 1e-8, -1e-8, 1e-7, -1e-7, 1e-6, -1e-6, 1e-5, -1e-5, 1e-4, -1e-4]
DECIMALS = [0.1, 0.2, 0.3, 0.7, 1.1, 0.30000000000000004, 0.09999999999999998, 1 / 3, 2 / 3]
PENALTIES = [0, 0.05, 0.3, 1, 1.7, 100, 1e3, 1e6, 1e9, 1e12]


def harsh(family: str, seed: int) -> Json:
    """The seed's instance; draws again where the contract leaves the answer open."""
    rng = Random(f"{family} {seed}")
    while True:
        instance = {"format": "optsched-instance/1", "problem": family, "name": f"harsh-{seed}", **MAKERS[family](rng)}
        try:
            if family == "geo":
                referee.paths(instance)
            if family == "day_ahead" and any(room < 0 for c in instance["clusters"] for room, _ in enumerate_exact.bounds(c)):
                raise referee.Ambiguous("whether (8) and (11) bind an hour whose inflexible usage alone is above them")
        except referee.Ambiguous:
            continue
        return instance


def near(rng: Random, value: float) -> float:
    """The value, or one a hair beside it."""
    return value * (1 + rng.choice(NEAR))


def money(rng: Random) -> float:
    """A penalty: mild mostly, sometimes so large that it stands for a rule."""
    return rng.choice(PENALTIES) if rng.random() < 0.6 else round(rng.uniform(0, 5), 3)


def allocation(rng: Random) -> Json:
    small = rng.choice([1.0, 1.0, 1.0, 1e-6, 1e-9, 1e6])
    now = rng.choice([0, 0, 1000, 0.1, 1e9])
    base = [rng.choice([600.0, 1000.0, rng.uniform(100, 5000), 0.1, 0.2, 0.3]) * small for _ in range(2)]
    types = {
        f"T{k}": {"node_cost_per_h": [rng.choice([0, 0.1, 0.3, 1, 10.135, rng.random() * 3]) for _ in range(4)]}
        for k in range(2)
    }
    nodes = [
        {"id": f"n{k}", "gpu_type": rng.choice(list(types)), "gpus": rng.choice([1, 1, 2, 2, 3, 4])}
        for k in range(rng.choice([1, 2, 2, 3]))
    ]

    def time() -> float | None:
        roll = rng.random()
        if roll < 0.1:
            return None
        if roll < 0.15:
            return rng.choice([1e10, 1e-9, 1e12])
        return near(rng, rng.choice(base)) * rng.choice([1, 1, 2, 0.5]) if roll < 0.7 else rng.uniform(0.01, 3) * base[0]

    jobs: list[Json] = []
    for k in range(rng.choice([0, 1, 2, 2, 3, 3, 3, 4])):
        if jobs and rng.random() < 0.25:
            jobs.append({**jobs[-1], "id": f"j{k}"})
            continue
        rows = {name: [time() for _ in range(rng.choice([1, 2, 4]))] for name in types if rng.random() < 0.8}
        rows = rows or {"T0": [base[0]]}
        if all(t is None for row in rows.values() for t in row) and rng.random() < 0.9:
            next(iter(rows.values()))[0] = base[0]
        times = [t for row in rows.values() for t in row if t is not None] or [0]
        due = rng.choice([0, -1e3, now, now + near(rng, rng.choice(times)), now + rng.uniform(0, 3) * base[1], 1e12, -1e9])
        weight = rng.choice([0, 1e-9, 1e-3, 0.1, 0.3, 1, rng.random(), 1e4 if rng.random() < 0.3 else 1])
        submit = now + rng.choice([1, 1e-9]) if rng.random() < 0.08 else rng.choice([0, now])
        jobs.append({"id": f"j{k}", "submit_s": submit, "due_s": due, "weight_per_s": weight, "time_s": rows})
    return {
        "currency": "EUR", "now_s": now, "scheduling_interval_s": rng.choice([0, 300, 0.1, 1e6]),
        "postponement_penalty": rng.choice([0, 1, 100, 100, 1e6, 1e9]), "first_ending": rng.choice(["earliest", "cheapest"]),
        "use_all_nodes": rng.random() < 0.5, "gpu_types": types, "nodes": nodes, "jobs": jobs,
    }  # fmt: skip


def deferrable(rng: Random) -> Json:
    slots, small = rng.choice([1, 2, 3, 4, 5]), rng.choice([1, 1, 1, 1e-6, 1e-9, 1e6, 1e9])
    pool = [1, 2, 3, 0.1, 0.2, 0.3, 0.7, 1 / 3, rng.random() * 4]
    jobs: list[Json] = []
    for k in range(rng.choice([0, 1, 2, 3, 3, 4])):
        if jobs and rng.random() < 0.25:
            jobs.append({**jobs[-1], "id": f"j{k}"})
            continue
        earliest = rng.randrange(slots + (rng.random() < 0.1))
        cores = near(rng, rng.choice(pool)) * small if rng.random() < 0.95 else rng.choice([1e-9, 1e9])
        latest = earliest + rng.choice([0, 0, 1, 2, 9])
        duration = rng.choice([1, 1, 2, 3, rng.randint(1, slots + 1)])
        row = {
            "id": f"j{k}",
            "cores": cores,
            "duration": duration,
            "earliest": earliest,
            "latest": latest,
            "submitted": rng.randint(0, earliest),
        }
        jobs.append(row | ({"waited": rng.choice([1, 3])} if rng.random() < 0.05 else {}))

    def room() -> float:
        if rng.random() < 0.15 or not jobs:
            return 0
        return min(1e12, near(rng, sum(j["cores"] for j in rng.sample(jobs, rng.randint(1, min(3, len(jobs)))))))

    return {
        "slot_s": rng.choice([300, 0.1, 3600]), "capacity": [room() for _ in range(slots)],
        "delay_penalty": rng.choice([0, 0.1, 2, 1e-9, 1e3, 1e12, 0.3 * small]), "overload_penalty": money(rng), "jobs": jobs,
    }  # fmt: skip


def geo(rng: Random) -> Json:
    horizon, slot = rng.choice([1, 2, 3, 4, 5]), rng.choice([60, 60, 0.1, 3600, 7.5])
    signal = round(slot * rng.choice([1, 2, 3]), 9) if rng.random() < 0.9 else rng.choice([3600, round(slot * 0.7, 9)])
    small = rng.choice([1, 1, 1, 1e-6, 1e6])
    values = int(horizon * slot / signal) + 2
    sites = [
        {
            "id": f"s{k}",
            "gpus": rng.choice([0, 1, 2, 3, [rng.randint(0, 3) for _ in range(horizon)]]),
            "pue": rng.choice([1, 1.1, 1.3]),
            "price_usd_per_mwh": [rng.choice([0, -50, 30, 100.1, 1e4, -1e3, rng.uniform(-50, 200)]) for _ in range(values)],
            "carbon_g_per_kwh": [rng.choice([0, 100, 300.3, 1e5, rng.uniform(0, 800)]) for _ in range(values)],
        }
        for k in range(rng.choice([1, 2, 3, 3]))
    ]
    names = [s["id"] for s in sites]
    links = [
        {"from": a, "to": b, "throughput_gb_per_s": rng.choice([0.02, 0.1, 0.3, 0.7, 1e-3, 1e3]),
         "cost_usd_per_gb": rng.choice([0, 0.02, 0.1, 0.2, 0.3, 0.30000000000000004, 1e-9, 5])}
        for a in names for b in names if a != b and rng.random() < 0.7
    ]  # fmt: skip
    if len(names) == 3 and rng.random() < 0.4:  # the detour costs just what the direct way does, or a hair more or less
        costs, speed = [0.1, 0.2, rng.choice([0.3, 0.30000000000000004, 0.3, 0.29999999999999993])], rng.choice([0.02, 0.1])
        for (a, b), cost in zip([("s0", "s1"), ("s1", "s2"), ("s0", "s2")], costs, strict=True):
            links = [link for link in links if (link["from"], link["to"]) not in ((a, b), (b, a))]
            links += [{"from": a, "to": b, "throughput_gb_per_s": speed * rng.choice([1, 2, 4]), "cost_usd_per_gb": cost}]
            links += [{**links[-1], "from": b, "to": a}]

    def size() -> float:
        if links and rng.random() < 0.6:  # a whole number of slots, or a hair beside it
            return near(rng, rng.choice([1, 1, 2, 0.5, 1 / 3]) * slot * rng.choice(links)["throughput_gb_per_s"])
        return rng.choice([0, 0, 0.1, 0.2, 0.3, 1, 1e-9, rng.random() * 3])

    jobs: list[Json] = []
    for k in range(rng.choice([0, 1, 2, 3, 3, 4])):
        if jobs and rng.random() < 0.25:
            jobs.append({**jobs[-1], "id": f"j{k}"})
            continue
        jobs.append({
            "id": f"j{k}", "source": rng.choice(names), "submitted": rng.randrange(horizon), "gpus": rng.randint(1, 4),
            "duration": rng.choice([1, 1, 2, 3]), "slack": rng.choice([0, 1, 2, 3, 9]), "data_gb": size(), "model_gb": size(),
        })  # fmt: skip
    return {
        "slot_s": slot, "horizon": horizon, "signal_slot_s": signal,
        "gpu_revenue_usd_per_h": rng.choice([0, 0.05, 0.3, 1e-9, 1e4]) * small,
        "gpu_power_kw": rng.choice([0, 0.07, 0.25, 1]), "idle_power_ratio": rng.choice([0, 0.1, 1]),
        "carbon_price_usd_per_t": rng.choice([0, 100, 1e6]),
        "network_kwh_per_gb": rng.choice([0, 0.06, 1e3]), "sites": sites, "links": links, "jobs": jobs,
    }  # fmt: skip


def vcc(rng: Random) -> Json:
    slots, capacity = (
        rng.choice([1, 2, 2, 3, 4, 5]),
        rng.choice([10.0, 10.0, 1.0, 0.3, 100.0, 1e6, 1e-6, 1e9, 123.45678901234567]),
    )
    inflexible = [capacity * rng.choice([0, 0, 0.5, 0.75, 0.9, 1, 0.1, 1 / 3, 1 - 1e-9, rng.random()]) for _ in range(slots)]
    inflexible = [min(near(rng, v), 1e12) if rng.random() < 0.3 else v for v in inflexible]
    rooms = [capacity - v for v in inflexible if v < capacity] or [capacity]
    jobs: list[Json] = []
    while len(jobs) < rng.choice([0, 1, 2, 3, 3, 4, 4]):
        room, parts = rng.choice(rooms) * rng.choice([1, 1, 1, 0.5]), rng.choice([1, 1, 2, 3])
        share = rng.choice([[1 / parts] * parts, [1 / parts] * parts, [0.1, 0.2, 0.7][:parts]])
        for part in share:
            ncu = near(rng, room * part) if rng.random() < 0.9 else capacity * rng.choice([1e-7, 1e-9, 2, rng.random()])
            row = {
                "submitted": rng.choice([0, 0, rng.randrange(slots)]),
                "duration": rng.choice([1, 1, 2, 3]),
                "ncu": max(ncu, 1e-12),
            }
            jobs.append({"id": f"j{len(jobs)}", **row})
    jobs = jobs[:5]
    extra: Json = {}
    if rng.random() < 0.15:
        extra["preempt"] = True
    if rng.random() < 0.15:
        extra["running_ncu"] = [rng.choice(rooms) * rng.choice([0, 0.5, 0.1, 1]) for _ in range(slots)]
        for job in (j for j in jobs if j["submitted"] == 0 and rng.random() < 0.5):
            job |= {"waited": rng.choice([1, 3])} | ({"evicted": True} if "preempt" in extra and rng.random() < 0.5 else {})
        extra |= {
            "allotted_ncu_h": rng.choice([0, capacity]),
            "asked_ncu_h": rng.choice([0, capacity / 3]),
            "now": rng.choice([0, 5, 23]),
        }
    return {
        "slot_s": rng.choice([3600, 3600, 3600, 43200, 86400, 900]), "capacity_ncu": capacity,
        "carbon_kg_per_kwh": [rng.choice([0, 0.1, 0.5, 2, 1e-9, 1e3, rng.random()]) for _ in range(slots)],
        "inflexible_ncu": inflexible, "idle_kw": rng.choice([0, 0, 1, 1e3]),
        "kw_per_ncu": rng.choice([1, 0.01, 0, 0.3]), "delay_limit_slots": rng.choice([0, 0, 1, 24]),
        "delay_penalty_per_ncu_h": money(rng),
        "daily_fraction": rng.choice([0.97, 1, 0, 0.5]), "daily_penalty_per_ncu_h": money(rng),
        "unfinished_penalty_per_ncu_h": money(rng),
        **extra, "jobs": jobs,
    }  # fmt: skip


def near_fit(seed: int) -> Json:
    """vcc where nearly everything is decided in the last digits: rooms, sums of two or three jobs, caps that count."""
    rng = Random(f"near-fit {seed}")
    slots, capacity = rng.choice([1, 2, 3]), rng.choice([10.0, 1.0, 0.3, 100.0, 7.7])
    inflexible = [rng.choice([0.0, 0.5, 0.75, 0.1]) * capacity for _ in range(slots)]
    jobs = []
    for _ in range(rng.choice([1, 1, 2])):
        parts, room = rng.choice([1, 2, 3]), capacity - rng.choice(inflexible)
        jobs += [near(rng, room / parts) for _ in range(parts)]
    return {
        "format": "optsched-instance/1", "problem": "vcc", "name": f"near-{seed}", "capacity_ncu": capacity,
        "inflexible_ncu": inflexible, "kw_per_ncu": rng.choice([0.01, 1]), "delay_limit_slots": 0,
        "carbon_kg_per_kwh": [rng.choice([0, 0, 0.5, 2]) for _ in range(slots)],
        "delay_penalty_per_ncu_h": rng.choice([0, 0.1]), "daily_penalty_per_ncu_h": rng.choice([0, 1, 1]),
        "unfinished_penalty_per_ncu_h": rng.choice([0, 1, 5]), "daily_fraction": rng.choice([0.97, 1]),
        "jobs": [{"id": f"j{k}", "submitted": rng.choice([0, 0, slots - 1]), "duration": rng.choice([1, 1, 2]), "ncu": v}
                 for k, v in enumerate(jobs[:4])],
    }  # fmt: skip


def day_ahead(rng: Random) -> Json:
    hours, small = rng.choice([1, 2, 3, 4] * 8 + [24]), rng.choice([1, 1, 1e-6, 1e6, 1e-3])
    campuses = [{"id": f"c{k}", "contract_mw": 1.0} for k in range(rng.choice([1, 1, 2]))]
    clusters, power = [], dict.fromkeys([c["id"] for c in campuses], 0.0)
    for k in range(rng.choice([1, 2, 3])):
        usage = [rng.choice([100.0, 70.1, rng.uniform(20, 100)]) * small for _ in range(hours)]
        ratio = [rng.choice([1.0, 1.2, 1.1, 0.3]) for _ in range(hours)]
        tau = rng.choice([0.0, 24.0, 240.0, 600.0, rng.random() * 2400]) * small
        asked = sum((u + tau / hours) * r for u, r in zip(usage, ratio, strict=True))
        high = [near(rng, u * 1.04) for u in usage]
        most = max(usage) + tau / hours
        limit = rng.choice([max(h + tau / hours for h in high), max(high) + tau / hours * 2, max(high) * 1e3, max(high) + tau])
        top = max((u + tau / hours) * r for u, r in zip(usage, ratio, strict=True))
        slope = rng.choice([0, 1, 1, 0.3, 1e-3, 1e3])
        campus = rng.choice(campuses)["id"]
        idle = rng.choice([0, 50.0, 1e3]) * small
        power[campus] += (idle + slope * most) / 1000 * rng.choice([1.0, 0.999999, 1.05, 1.3])
        clusters.append({
            "id": f"k{k}", "campus": campus, "inflexible_ncu": usage, "inflexible_high_ncu": high,
            "flexible_ncu_h": rng.choice([max(tau, 1e-9), tau, 1.0]), "reserved_ncu_h": asked,
            "reserved_error": 0 if tau else rng.choice([0, 0.03]),
            "reservation_ratio": ratio,
            "carbon_kg_per_kwh": [rng.choice([0, 0.1, 0.3, 0.3, 1e-9, rng.random(), 10]) for _ in range(hours)],
            "idle_kw": idle, "kw_per_ncu": slope, "capacity_ncu": near(rng, top * rng.choice([1, 1, 1.2, 2, 1e3])),
            "usage_limit_ncu": near(rng, limit),
        })  # fmt: skip
    for c in campuses:
        c["contract_mw"] = min(1e12, max(1e-9, near(rng, power[str(c["id"])] * rng.choice([1, 1, 2, 1e3]))))
    return {
        "carbon_price": rng.choice([40, 0.04, 0, 1]),
        "peak_price": rng.choice([10, 0, 1e4, 1e6]),
        "campuses": campuses,
        "clusters": clusters,
    }


MAKERS = {"allocation": allocation, "deferrable": deferrable, "geo": geo, "vcc": vcc, "day_ahead": day_ahead}
