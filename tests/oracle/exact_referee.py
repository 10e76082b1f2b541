"""A second referee, written from the documents alone: plain JSON in, exact fractions out, nothing of the package imported.

Every number is the decimal that the file shows, and every yes or no is decided without a tolerance; only `day_ahead`, whose
schedules are floats, has one: 1e-11 of a row's own magnitude.
"""

from __future__ import annotations

from collections import Counter, deque
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

Json = dict[str, Any]
Parts = dict[str, Fraction]
ZERO = Fraction(0)
ROW = Fraction(1, 10**11)


class Ambiguous(Exception):
    """The contract does not say which of two answers is right here."""


def num(value: float) -> Fraction:
    """The decimal that JSON shows, exactly."""
    return Fraction(repr(value))


def excess(value: Fraction) -> Fraction:
    return max(ZERO, value)


def components(instance: Json, schedule: Json) -> Parts:
    """The terms of the objective, with their signs: the objective is their sum."""
    return JUDGES[instance["problem"]](instance, schedule)[1]


def objective(instance: Json, schedule: Json) -> Fraction:
    return sum(components(instance, schedule).values(), ZERO)


def check(instance: Json, schedule: Json) -> list[str]:
    """Every broken rule; empty when the schedule is feasible."""
    return JUDGES[instance["problem"]](instance, schedule)[0]


# allocation: a snapshot by the proxy


def configurations(instance: Json, job: Json, node: Json) -> dict[int, tuple[Fraction, Fraction]]:
    """GPUs -> time and energy cost of the job alone on the node, (4k): the job's own GPUs count."""
    rates = instance["gpu_types"][node["gpu_type"]]["node_cost_per_h"]
    times = job["time_s"].get(node["gpu_type"], [])
    found = {}
    for g, (time, rate) in enumerate(zip(times[: node["gpus"]], rates, strict=False), 1):
        if time is not None:
            found[g] = (num(time), num(time) * num(rate) / 3600)
    return found


def known_jobs(instance: Json) -> dict[str, Json]:
    return {j["id"]: j for j in instance["jobs"] if num(j["submit_s"]) <= num(instance["now_s"])}


def tardiness(instance: Json, job: Json, time: Fraction) -> Fraction:
    return num(job["weight_per_s"]) * excess(num(instance["now_s"]) + time - num(job["due_s"]))


def postponed(instance: Json, job: Json) -> Fraction:
    times = [num(t) for row in job["time_s"].values() for t in row if t is not None]
    worst = num(instance["scheduling_interval_s"]) + max(times, default=ZERO)
    return num(instance["postponement_penalty"]) * tardiness(instance, job, worst)


def most_nodes(instance: Json) -> int:
    """A maximum matching of jobs to nodes, by augmenting paths."""
    jobs = list(known_jobs(instance).values())
    edges = [[n for n, node in enumerate(instance["nodes"]) if configurations(instance, j, node)] for j in jobs]
    owner: dict[int, int] = {}

    def place(job: int, seen: set[int]) -> bool:
        for node in edges[job]:
            if node not in seen:
                seen.add(node)
                if node not in owner or place(owner[node], seen):
                    owner[node] = job
                    return True
        return False

    return sum(place(j, set()) for j in range(len(jobs)))


def allocation(instance: Json, schedule: Json) -> tuple[list[str], Parts]:
    jobs, nodes = known_jobs(instance), {n["id"]: n for n in instance["nodes"]}
    broken: list[str] = []
    busy: Counter[str] = Counter()
    runs: dict[str, list[tuple[Fraction, Fraction]]] = {}
    late, seen = ZERO, set()
    for row in schedule["assignments"]:
        job, node, gpus = row["job"], row["node"], row["gpus"]
        if job not in jobs or node not in nodes or job in seen:
            broken.append(f"{job} on {node}: unknown, not yet submitted, or twice")
            continue
        seen.add(job)
        busy[node] += gpus
        if (found := configurations(instance, jobs[job], nodes[node]).get(gpus)) is None:
            broken.append(f"{job} on {node}: no time with {gpus} GPUs")
            continue
        late += tardiness(instance, jobs[job], found[0])
        runs.setdefault(node, []).append(found)
    broken += [f"{node}: {count} GPUs in use" for node, count in busy.items() if count > nodes[node]["gpus"]]
    if instance.get("use_all_nodes", True) and len(busy) < (most := most_nodes(instance)):
        broken.append(f"{len(busy)} nodes in use, {most} can be")
    cheapest = instance.get("first_ending", "earliest") == "cheapest"
    energy = sum((min(pi for _, pi in run) if cheapest else min(run)[1] for run in runs.values()), ZERO)
    waits = sum((postponed(instance, job) for name, job in jobs.items() if name not in seen), ZERO)
    return broken, {"tardiness": late, "postponement": waits, "energy": energy}


# deferrable


def deferrable(instance: Json, schedule: Json) -> tuple[list[str], Parts]:
    jobs, slots = {j["id"]: j for j in instance["jobs"]}, len(instance["capacity"])
    broken: list[str] = []
    load = [ZERO] * slots
    work, delay, seen = ZERO, 0, set()
    for row in schedule["starts"]:
        name, start = row["job"], row["start"]
        if name not in jobs or name in seen:
            broken.append(f"{name}: unknown or twice")
            continue
        seen.add(name)
        job = jobs[name]
        if not job["earliest"] <= start <= job["latest"]:
            broken.append(f"{name}: starts in {start}, outside its window")
        if start < 0 or start + job["duration"] > slots:
            broken.append(f"{name}: runs outside the horizon")
        for t in range(max(0, start), min(slots, start + job["duration"])):
            load[t] += num(job["cores"])
        work += num(job["cores"]) * job["duration"]
        delay += start - job["earliest"] + job.get("waited", 0)
    over = sum((excess(used - num(c)) for used, c in zip(load, instance["capacity"], strict=True)), ZERO)
    return broken, {
        "work": work,
        "delay": -num(instance["delay_penalty"]) * delay,
        "over": -num(instance["overload_penalty"]) * over,
    }


# geo

Path = tuple[Fraction, Fraction, tuple[str, ...]]


def paths(instance: Json) -> dict[tuple[str, str], Path]:
    """Of every pair: sum of psi, sum of 1/throughput, and the sites on the way; all simple paths are looked at."""
    best: dict[tuple[str, str], Path] = {}

    def walk(psi: Fraction, slowness: Fraction, way: tuple[str, ...]) -> None:
        if len(way) > 1:
            old = best.get((way[0], way[-1]))
            if old and old[:2] == (psi, slowness) and old[2] != way:
                ties.add((way[0], way[-1], psi, slowness))
            if old is None or (psi, slowness) < old[:2]:
                best[way[0], way[-1]] = (psi, slowness, way)
        for link in instance["links"]:
            if link["from"] == way[-1] and link["to"] not in way:
                walk(psi + num(link["cost_usd_per_gb"]), slowness + 1 / num(link["throughput_gb_per_s"]), (*way, link["to"]))

    ties: set[tuple[str, str, Fraction, Fraction]] = set()
    for site in instance["sites"]:
        walk(ZERO, ZERO, (site["id"],))
    if any(best[a, b][:2] == (psi, slowness) for a, b, psi, slowness in ties):
        raise Ambiguous("two paths of equal cost and delay")
    return best


def transfer_slots(instance: Json, path: Path, size: Fraction) -> int:
    late = size * path[1] / num(instance["slot_s"]) - Fraction(1, 10**9)  # a billionth of a slot is the stated quantum
    return max(0, ceil(late))


def signal(instance: Json, site: Json, key: str, slot: int) -> Fraction:
    ratio, now = num(instance["slot_s"]) / num(instance["signal_slot_s"]), instance.get("now", 0)
    return num(site[key][floor((now + slot) * ratio) - floor(now * ratio)])


def transfer_cost(instance: Json, path: Path, size: Fraction, slot: int) -> Fraction:
    sites = {s["id"]: s for s in instance["sites"]}
    carbon = [signal(instance, sites[name], "carbon_g_per_kwh", slot) for name in path[2]]
    per_g = num(instance["carbon_price_usd_per_t"]) / 10**6 * num(instance["network_kwh_per_gb"])
    return size * path[0] + per_g * size * sum(((a + b) / 2 for a, b in pairwise(carbon)), ZERO)


def site_parts(instance: Json, site: Json, slot: int, used: int) -> tuple[Fraction, Fraction, Fraction]:
    """Profit, idle energy and carbon of a site in a slot."""
    h, beta, power = (
        num(instance["slot_s"]) / 3600,
        num(instance["idle_power_ratio"]),
        num(site["pue"]) * num(instance["gpu_power_kw"]),
    )
    total = site["gpus"][slot] if isinstance(site["gpus"], list) else site["gpus"]
    price = signal(instance, site, "price_usd_per_mwh", slot) / 1000
    grams = power * h * ((1 - beta) * used + beta * total) * signal(instance, site, "carbon_g_per_kwh", slot)
    profit = used * h * (num(instance["gpu_revenue_usd_per_h"]) - power * price)
    return profit, (total - used) * h * beta * power * price, num(instance["carbon_price_usd_per_t"]) / 10**6 * grams


def geo(instance: Json, schedule: Json) -> tuple[list[str], Parts]:
    jobs, sites = {j["id"]: j for j in instance["jobs"]}, {s["id"]: s for s in instance["sites"]}
    horizon, ways = instance["horizon"], paths(instance)
    broken: list[str] = []
    used: Counter[tuple[str, int]] = Counter()
    migration, retrieval, seen = ZERO, ZERO, set()
    for row in schedule["starts"]:
        name, place, start, departure = row["job"], row["site"], row["start"], row.get("departure")
        if name not in jobs or place not in sites or name in seen:
            broken.append(f"{name} at {place}: unknown or twice")
            continue
        seen.add(name)
        job = jobs[name]
        latest = job["submitted"] + job["slack"]
        if start < job["submitted"] or start + job["duration"] > horizon:
            broken.append(f"{name}: starts in {start}, before it is submitted or too late for the horizon")
        used.update((place, t) for t in range(start, start + job["duration"]) for _ in range(job["gpus"]))
        if place == job["source"]:
            if departure is not None or start > latest:
                broken.append(f"{name}: departs from its source to its source, or starts after its slack")
            continue
        way, back = ways.get((job["source"], place)), ways.get((place, job["source"]))
        if departure is None or way is None or back is None:
            broken.append(f"{name}: cannot get to {place} and back, or never departed")
            continue
        size, model = num(job["data_gb"]) + num(job["model_gb"]), num(job["model_gb"])
        if departure < job["submitted"] or departure + transfer_slots(instance, way, size) > start:
            broken.append(f"{name}: departs too early, or starts before it arrives")
        if start + transfer_slots(instance, back, model) > latest:
            broken.append(f"{name}: its result returns after its slack")
        migration += transfer_cost(instance, way, size, min(max(departure, 0), horizon - 1))
        retrieval += transfer_cost(instance, back, model, min(max(start + job["duration"], 0), horizon - 1))
    profit = idle = carbon = ZERO
    for name, site in sites.items():
        for t in range(horizon):
            total = site["gpus"][t] if isinstance(site["gpus"], list) else site["gpus"]
            if used[name, t] > total:
                broken.append(f"{name}: {used[name, t]} GPUs in use in slot {t}, of {total}")
            a, b, c = site_parts(instance, site, t, used[name, t])
            profit, idle, carbon = profit + a, idle + b, carbon + c
    return broken, {"profit": profit, "idle": -idle, "carbon": -carbon, "migration": -migration, "retrieval": -retrieval}


# vcc


def queue_order(instance: Json) -> list[Json]:
    return sorted(instance["jobs"], key=lambda j: j["submitted"])


def day(instance: Json, slot: int) -> int:
    return floor((instance.get("now", 0) + slot) * num(instance.get("slot_s", 3600.0)) / 86400)


def simulate(instance: Json, cap: list[Fraction]) -> tuple[list[list[Any]], list[Fraction], dict[str, int]]:
    """What the queue does under the cap: rows of job, start, eviction or None; the flexible load; what is left of each job."""
    capacity, jobs = num(instance["capacity_ncu"]), {j["id"]: j for j in instance["jobs"]}
    ncu, left = {name: num(job["ncu"]) for name, job in jobs.items()}, {name: job["duration"] for name, job in jobs.items()}
    running: list[list[Any]] = []
    starts: list[list[Any]] = []
    queue: deque[str] = deque()
    loads = []
    for t, fraction in enumerate(cap):
        running = [row for row in running if left[row[0]]]
        load = given_load(instance, t) + sum((ncu[row[0]] for row in running), ZERO)
        while instance.get("preempt", False) and running and load > fraction * capacity:
            row = running.pop()
            row[2] = t
            queue.appendleft(row[0])
            load -= ncu[row[0]]
        queue.extend(j["id"] for j in queue_order(instance) if j["submitted"] == t)
        room = min(fraction * capacity, capacity - num(instance["inflexible_ncu"][t]))
        while queue and load + ncu[queue[0]] <= room:
            load += ncu[queue[0]]
            running.append([queue.popleft(), t, None])
            starts.append(running[-1])
        for row in running:
            left[row[0]] -= 1
        loads.append(load)
    return starts, loads, left


def given_load(instance: Json, slot: int) -> Fraction:
    """Flexible load of what ran before the snapshot."""
    return num(instance["running_ncu"][slot]) if instance.get("running_ncu") else ZERO


def vcc_carbon(instance: Json, slot: int, flexible: Fraction) -> Fraction:
    h, kw = num(instance.get("slot_s", 3600.0)) / 3600, num(instance.get("kw_per_ncu", 1.0))
    power = num(instance.get("idle_kw", 0.0)) + kw * (num(instance["inflexible_ncu"][slot]) + flexible)
    return num(instance.get("carbon_price", 1.0)) * power * h * num(instance["carbon_kg_per_kwh"][slot])


def vcc_delay(instance: Json, job: Json, start: int) -> Fraction:
    if job.get("evicted", False):
        return ZERO
    late = max(0, start - job["submitted"] + job.get("waited", 0) - instance.get("delay_limit_slots", 24))
    return (
        num(instance.get("delay_penalty_per_ncu_h", 0.0)) * num(job["ncu"]) * num(instance.get("slot_s", 3600.0)) / 3600 * late
    )


def vcc_daily(instance: Json, caps: list[Fraction]) -> Fraction:
    """Jobs that waited before the snapshot were asked for earlier, and are in `asked_ncu_h` where that was today."""
    h = num(instance.get("slot_s", 3600.0)) / 3600
    lack = {day(instance, t): ZERO for t in range(len(caps))}
    fraction, first = num(instance.get("daily_fraction", 0.97)), day(instance, 0)
    for job in instance["jobs"]:
        if day(instance, job["submitted"]) in lack and not job.get("waited", 0) and not job.get("evicted", False):
            lack[day(instance, job["submitted"])] += fraction * num(job["ncu"]) * job["duration"] * h
    lack[first] += fraction * num(instance.get("asked_ncu_h", 0.0)) - num(instance.get("allotted_ncu_h", 0.0))
    for t, cap in enumerate(caps):
        lack[day(instance, t)] -= cap * num(instance["capacity_ncu"]) * h
    return num(instance.get("daily_penalty_per_ncu_h", 0.0)) * sum((excess(v) for v in lack.values()), ZERO)


def vcc_unfinished(instance: Json, job: Json, slots: int) -> Fraction:
    h = num(instance.get("slot_s", 3600.0)) / 3600
    return num(instance.get("unfinished_penalty_per_ncu_h", 0.0)) * num(job["ncu"]) * h * slots


def vcc(instance: Json, schedule: Json) -> tuple[list[str], Parts]:
    slots, cap = len(instance["carbon_kg_per_kwh"]), [num(c) for c in schedule["cap"]]
    if len(cap) != slots or not all(0 <= c <= 1 for c in cap):
        return ["cap: not one number of [0, 1] a slot"], {}
    starts, loads, left = simulate(instance, cap)
    said = Counter((row["job"], row["start"], row.get("until")) for row in schedule["starts"])
    happens = Counter(map(tuple, starts))
    broken = [f"{job}: start {start}, evicted {until}: listed, does not happen" for job, start, until in said - happens]
    broken += [f"{job}: start {start}, evicted {until}: happens, is not listed" for job, start, until in happens - said]
    jobs, first = {j["id"]: j for j in instance["jobs"]}, {job: start for job, start, _ in reversed(starts)}
    return broken, {
        "carbon": sum((vcc_carbon(instance, t, load) for t, load in enumerate(loads)), ZERO),
        "delay": sum((vcc_delay(instance, jobs[name], start) for name, start in first.items()), ZERO),
        "daily": vcc_daily(instance, cap),
        "unfinished": sum((vcc_unfinished(instance, job, left[name]) for name, job in jobs.items()), ZERO),
    }


# day_ahead


def flexible_usage(cluster: Json) -> Fraction:
    """tau: the daily flexible usage, inflated until the reservations are what is expected; 0 where they are more without it."""
    ratio, usage = [num(r) for r in cluster["reservation_ratio"]], [num(u) for u in cluster["inflexible_ncu"]]
    theta = num(cluster["reserved_ncu_h"]) * (1 + num(cluster.get("reserved_error", 0.0)))
    inflexible = sum((u * r for u, r in zip(usage, ratio, strict=True)), ZERO)
    # a billionth of the reservations is the stated quantum: less is none
    real = num(cluster["flexible_ncu_h"]) and theta - inflexible > theta / 10**9
    return (theta - inflexible) * len(ratio) / sum(ratio) if real else ZERO


def day_ahead(instance: Json, schedule: Json) -> tuple[list[str], Parts]:
    clusters = {c["id"]: c for c in instance["clusters"]}
    broken: list[str] = []
    carbon = peaks = ZERO
    drawn: Counter[str] = Counter()
    curves = {row["cluster"]: row for row in schedule["curves"]}
    if len(curves) != len(schedule["curves"]) or curves.keys() != clusters.keys():
        return ["curves: not one for each cluster"], {}
    for name, cluster in clusters.items():
        delta, tau = [num(d) for d in curves[name]["delta"]], flexible_usage(cluster)
        hours = len(cluster["inflexible_ncu"])
        if len(delta) != hours:
            return [f"{name}: not one delta an hour"], {}
        if abs(sum(delta)) > ROW * sum(max(1, abs(d)) for d in delta):
            broken.append(f"{name}: (7) the deviations do not add up to zero")
        peak = ZERO
        for h, d in enumerate(delta):
            flexible, high, ratio = (
                (1 + d) * tau / hours,
                num(cluster["inflexible_high_ncu"][h]),
                num(cluster["reservation_ratio"][h]),
            )
            usage = num(cluster["inflexible_ncu"][h]) + flexible
            power = num(cluster["idle_kw"]) + num(cluster["kw_per_ncu"]) * usage
            carbon += num(instance.get("carbon_price", 40.0)) * num(cluster["carbon_kg_per_kwh"][h]) * power
            peak = max(peak, power / 1000)
            limit, capacity = num(cluster["usage_limit_ncu"]), num(cluster["capacity_ncu"])
            if d < -1 - ROW:
                broken.append(f"{name}: delta below -1 in hour {h}")
            # (8) and (11) bound what is decided: where the inflexible usage alone is above a limit, nothing is added to it
            for row, most in (("(8)", limit - high), ("(11)", capacity / ratio - (usage - flexible))):
                if flexible - excess(most) > ROW * max(tau / hours, abs(flexible), abs(most)):
                    broken.append(f"{name}: {row} above the limit of usage in hour {h}")
        stated = num(curves[name]["peak_mw"])
        if peak - stated > ROW * peak:
            broken.append(f"{name}: the stated peak is too low")
        drawn[cluster["campus"]] += max(stated, peak)
        peaks += max(stated, peak)
    limits = {campus["id"]: num(campus["contract_mw"]) for campus in instance["campuses"]}
    broken += [f"{name}: (9) above its contract" for name, limit in limits.items() if drawn[name] > limit * (1 + ROW)]
    return broken, {"carbon": carbon, "peak": num(instance.get("peak_price", 10.0)) * peaks}


JUDGES = {"allocation": allocation, "deferrable": deferrable, "geo": geo, "vcc": vcc, "day_ahead": day_ahead}
