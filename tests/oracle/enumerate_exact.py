"""Exact optima of tiny instances by enumeration (day_ahead: by its convexity), in fractions, from the documents alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm, nextafter
from typing import Any

from tests.oracle import exact_referee as referee
from tests.oracle.exact_referee import ZERO, Json, excess, num


@dataclass(frozen=True)
class Best:
    """The optimum (None: no schedule is feasible), its largest component, and a schedule that has it (day_ahead: none).

    `rounding` is what a schedule of floats may lose against it, and `slack` what it may gain where rows hold to 1e-11 only.
    """

    value: Fraction | None
    largest: Fraction = ZERO
    rounding: Fraction = ZERO
    slack: Fraction = ZERO
    schedule: Json | None = None


def best(instance: Json) -> Best:
    return OPTIMA[instance["problem"]](instance)


def integers(values: list[Fraction]) -> tuple[list[int], int]:
    """The values over one common denominator."""
    scale = lcm(*(v.denominator for v in values)) if values else 1
    return [v.numerator * (scale // v.denominator) for v in values], scale


def judged(instance: Json, schedule: Json | None, value: Fraction) -> Best:
    """The best schedule found, once more through the referee."""
    if schedule is None:
        return Best(None)
    broken, parts = referee.JUDGES[instance["problem"]](instance, schedule)
    if broken or sum(parts.values(), ZERO) != value:
        raise AssertionError(f"the oracle contradicts itself: {broken} {sum(parts.values(), ZERO)} {value}")
    return Best(value, max((abs(v) for v in parts.values()), default=ZERO), schedule=schedule)


def allocation(instance: Json) -> Best:
    jobs, nodes = list(referee.known_jobs(instance).values()), instance["nodes"]
    most = referee.most_nodes(instance) if instance.get("use_all_nodes", True) else 0
    cheapest = instance.get("first_ending", "earliest") == "cheapest"
    waits = [referee.postponed(instance, job) for job in jobs]
    plain: list[list[tuple[int, int, Fraction, Any, Fraction]]] = []
    for job in jobs:
        rows = []
        for n, node in enumerate(nodes):
            for g, (time, pi) in referee.configurations(instance, job, node).items():
                rows.append((n, g, referee.tardiness(instance, job, time), (ZERO if cheapest else time, pi), pi))
        plain.append(sorted(rows, key=lambda r: r[2]))
    flat, scale = integers(waits + [r[k] for rows in plain for r in rows for k in (2, 4)])
    wait, rest = flat[: len(waits)], iter(flat[len(waits) :])
    options = [[(n, g, next(rest), key, next(rest)) for n, g, _, key, _ in rows] for rows in plain]
    least = [0] * (len(jobs) + 1)
    for j in reversed(range(len(jobs))):
        least[j] = least[j + 1] + min([wait[j], *(o[2] for o in options[j])])
    free, first = [node["gpus"] for node in nodes], [None] * len(nodes)
    record: list[Any] = [None, None]

    def place(j: int, cost: int, in_use: int, chosen: list[Any]) -> None:
        if in_use + len(jobs) - j < most or (record[0] is not None and cost + least[j] >= record[0]):
            return
        if j == len(jobs):
            total = cost + sum(f[1] for f in first if f)
            if record[0] is None or total < record[0]:
                record[:] = total, list(chosen)
            return
        for n, g, late, key, pi in options[j]:
            if g <= free[n]:
                old = first[n]
                free[n] -= g
                first[n] = (key, pi) if old is None or (key, pi) < old else old  # type: ignore[call-overload]
                place(
                    j + 1,
                    cost + late,
                    in_use + (old is None),
                    [*chosen, {"job": jobs[j]["id"], "node": nodes[n]["id"], "gpus": g}],
                )
                first[n] = old
                free[n] += g
        place(j + 1, cost + wait[j], in_use, chosen)

    place(0, 0, 0, [])
    return judged(instance, {"assignments": record[1]}, Fraction(record[0], scale))


def deferrable(instance: Json) -> Best:
    jobs, slots = instance["jobs"], len(instance["capacity"])
    numbers = [num(j["cores"]) for j in jobs] + [num(c) for c in instance["capacity"]]
    flat, size = integers(numbers)
    cores, capacity = flat[: len(jobs)], flat[len(jobs) :]
    (late, over), price = integers([num(instance["delay_penalty"]) * size, num(instance["overload_penalty"])])
    record: list[Any] = [None, None]
    reach = [0] * (len(jobs) + 1)
    for j in reversed(range(len(jobs))):
        reach[j] = reach[j + 1] + price * cores[j] * jobs[j]["duration"]

    def place(j: int, value: int, load: list[int], chosen: list[Json]) -> None:
        now = value - over * sum(max(0, a - c) for a, c in zip(load, capacity, strict=True))
        if record[0] is not None and now + reach[j] <= record[0]:
            return
        if j == len(jobs):
            record[:] = now, chosen
            return
        job = jobs[j]
        for s in range(job["earliest"], min(job["latest"], slots - job["duration"]) + 1):
            more = [a + cores[j] * (s <= t < s + job["duration"]) for t, a in enumerate(load)]
            gain = price * cores[j] * job["duration"] - late * (s - job["earliest"] + job.get("waited", 0))
            place(j + 1, value + gain, more, [*chosen, {"job": job["id"], "start": s}])
        place(j + 1, value, load, chosen)

    place(0, 0, [0] * slots, [])
    return judged(instance, {"starts": record[1]}, Fraction(record[0], size * price))


def geo_options(instance: Json, job: Json, ways: dict[Any, Any]) -> list[tuple[Fraction, Json]]:
    """Every site and start of a job with its share of the utility, at the cheapest departure."""
    latest, horizon, found = job["submitted"] + job["slack"], instance["horizon"], []
    size, model = num(job["data_gb"]) + num(job["model_gb"]), num(job["model_gb"])
    for site in instance["sites"]:
        name, moved = site["id"], site["id"] != job["source"]
        way, back = ways.get((job["source"], name)), ways.get((name, job["source"]))
        if moved and (way is None or back is None):
            continue
        there = referee.transfer_slots(instance, way, size) if moved else 0
        home = referee.transfer_slots(instance, back, model) if moved else 0
        leave = []  # cost and slot of the departures so far
        for s in range(job["submitted"] + there, min(latest - home, horizon - job["duration"]) + 1):
            value, departure = ZERO, None
            for t in range(s, s + job["duration"]):
                on = referee.site_parts(instance, site, t, job["gpus"])
                off = referee.site_parts(instance, site, t, 0)
                value += (on[0] - on[1] - on[2]) - (off[0] - off[1] - off[2])
            if moved:
                leave.append((referee.transfer_cost(instance, way, size, s - there), s - there))
                cost, departure = min(leave)
                value -= cost + referee.transfer_cost(instance, back, model, min(s + job["duration"], horizon - 1))
            found.append((value, {"job": job["id"], "site": name, "start": s, "departure": departure}))
    return sorted(found, key=lambda o: -o[0])


def geo(instance: Json) -> Best:
    ways, jobs = referee.paths(instance), instance["jobs"]
    total = {
        s["id"]: s["gpus"] if isinstance(s["gpus"], list) else [s["gpus"]] * instance["horizon"] for s in instance["sites"]
    }
    constant = referee.objective(instance, {"starts": []})
    options = [[o for o in geo_options(instance, job, ways) if o[0] > 0] for job in jobs]
    flat, scale = integers([constant] + [o[0] for rows in options for o in rows])
    rest = iter(flat[1:])
    whole = [[(next(rest), row) for _, row in rows] for rows in options]
    reach = [0] * (len(jobs) + 1)
    for j in reversed(range(len(jobs))):
        reach[j] = reach[j + 1] + max((o[0] for o in whole[j]), default=0)
    record: list[Any] = [None, None]

    def place(j: int, value: int, free: dict[str, list[int]], chosen: list[Json]) -> None:
        if record[0] is not None and value + reach[j] <= record[0]:
            return
        if j == len(jobs):
            record[:] = value, chosen
            return
        for gain, row in whole[j]:
            slots = range(row["start"], row["start"] + jobs[j]["duration"])
            if all(free[row["site"]][t] >= jobs[j]["gpus"] for t in slots):
                less = [a - jobs[j]["gpus"] * (t in slots) for t, a in enumerate(free[row["site"]])]
                place(j + 1, value + gain, {**free, row["site"]: less}, [*chosen, row])
        place(j + 1, value, free, chosen)

    place(0, flat[0], total, [])
    return judged(instance, {"starts": record[1]}, Fraction(record[0], scale))


def vcc(instance: Json) -> Best:
    """All staircases, each under its best cap: the infimum, since a cap must stay below what would start the next job."""
    if instance.get("preempt", False):
        return Best(None)
    jobs, slots = referee.queue_order(instance), len(instance["carbon_kg_per_kwh"])
    capacity, ncu = num(instance["capacity_ncu"]), [num(j["ncu"]) for j in jobs]
    rooms = [capacity - num(v) for v in instance["inflexible_ncu"]]
    given = [referee.given_load(instance, t) for t in range(slots)]
    record: list[Any] = [None, ZERO, {}]

    def finish(starts: list[int], loads: list[Fraction], caps: list[tuple[Fraction, bool]]) -> None:
        parts = [
            sum((referee.vcc_carbon(instance, t, v) for t, v in enumerate(loads)), ZERO),
            sum((referee.vcc_delay(instance, job, s) for job, s in zip(jobs, starts, strict=False)), ZERO),
            referee.vcc_daily(instance, [cap for cap, _ in caps]),
            sum(
                (
                    referee.vcc_unfinished(instance, j, j["duration"] - min(j["duration"], slots - s))
                    for j, s in zip(jobs, starts, strict=False)
                ),
                ZERO,
            )
            + sum((referee.vcc_unfinished(instance, j, j["duration"]) for j in jobs[len(starts) :]), ZERO),
        ]
        if record[0] is None or sum(parts) < record[0]:
            record[:] = sum(parts, ZERO), max(map(abs, parts)), {"cap": caps, "starts": starts}

    def step(t: int, starts: list[int], loads: list[Fraction], caps: list[tuple[Fraction, bool]]) -> None:
        if t == slots:
            finish(starts, loads, caps)
            return
        load = given[t] + sum((ncu[i] for i, s in enumerate(starts) if s + jobs[i]["duration"] > t), ZERO)
        while True:
            head = len(starts)
            waiting = head < len(jobs) and jobs[head]["submitted"] <= t
            fits = waiting and load + ncu[head] <= min(capacity, rooms[t])
            step(
                t + 1, starts, [*loads, load], [*caps, ((load + ncu[head]) / capacity, True) if fits else (Fraction(1), False)]
            )
            if not fits:
                return
            load += ncu[head]
            starts = [*starts, t]

    step(0, [], [], [])
    asked = num(instance.get("daily_penalty_per_ncu_h", 0.0)) * capacity * num(instance.get("slot_s", 3600.0)) / 3600 * slots
    rows = [{"job": job["id"], "start": s} for job, s in zip(jobs, record[2]["starts"], strict=False)]
    schedule = {"cap": [below(c) if strict else 1.0 for c, strict in record[2]["cap"]], "starts": rows}
    parts = referee.components(instance, schedule)
    if referee.check(instance, schedule) or not 0 <= sum(parts.values()) - record[0] <= asked * 2 / 10**15:
        raise AssertionError("the oracle contradicts itself")
    return Best(record[0], record[1], asked * 2 / 10**15, schedule=schedule)


def below(cap: Fraction) -> float:
    """The largest float whose decimal is below a cap."""
    value = float(cap)
    while num(value) >= cap:
        value = nextafter(value, 0)
    return value


def filled(cluster: Json, tau: Fraction, peak: Fraction) -> Fraction | None:
    """Least carbon (kg) of the flexible usage under a peak in MW; None where it does not fit."""
    slope, rest, carbon = num(cluster["kw_per_ncu"]), tau, ZERO
    rows = []
    for h, (limit, base) in enumerate(bounds(cluster)):
        if peak < base:
            return None
        room = limit if slope == 0 else min(limit, (peak - base) * 1000 / slope)
        if room < 0:
            return None
        rows.append((num(cluster["carbon_kg_per_kwh"][h]), room))
    for eta, room in sorted(rows):
        carbon += eta * slope * min(room, rest)
        rest -= min(room, rest)
    return carbon if rest == 0 else None


def bounds(cluster: Json) -> list[tuple[Fraction, Fraction]]:
    """By hour: the most flexible usage that (8) and (11) allow, and the power in MW without any."""
    rows = []
    for h, usage in enumerate(map(num, cluster["inflexible_ncu"])):
        most = num(cluster["capacity_ncu"]) / num(cluster["reservation_ratio"][h]) - usage
        power = num(cluster["idle_kw"]) + num(cluster["kw_per_ncu"]) * usage
        limit = min(most, num(cluster["usage_limit_ncu"]) - num(cluster["inflexible_high_ncu"][h]))
        rows.append((excess(limit), power / 1000))  # where the inflexible usage alone is above a limit, nothing is added
    return rows


def curve(instance: Json, cluster: Json) -> list[tuple[Fraction, Fraction]]:
    """The cluster's least cost over its peak: the corners of a convex piecewise linear function, from its least peak on."""
    tau, limits = referee.flexible_usage(cluster), bounds(cluster)
    slope = num(cluster["kw_per_ncu"])
    floor = max([base for _, base in limits])
    order = sorted(range(len(limits)), key=lambda h: num(cluster["carbon_kg_per_kwh"][h]))
    corners = (
        {floor}
        | {base + max(limit, ZERO) * slope / 1000 for limit, base in limits}
        | {base + tau * slope / 1000 for _, base in limits}
    )
    corners = {y for y in corners if y >= floor}
    for k in range(1, len(order) + 1):  # where the first k hours by carbon begin to hold all of tau
        part = [limits[h] for h in order[:k]]

        def held(y: Fraction, part: list[tuple[Fraction, Fraction]] = part) -> Fraction:
            return sum((min(limit, (y - base) * 1000 / slope) if slope else limit for limit, base in part), ZERO)

        points = sorted(corners)
        for low, high in pairwise(points):
            a, b = held(low), held(high)
            if a < tau <= b:
                corners.add(low + (high - low) * (tau - a) / (b - a))
    price, peak_price = num(instance.get("carbon_price", 40.0)), num(instance.get("peak_price", 10.0))
    found = [(y, filled(cluster, tau, y)) for y in sorted(corners)] if tau >= 0 else []
    return [(y, price * kg + peak_price * y) for y, kg in found if kg is not None]


def day_ahead(instance: Json) -> Best:
    total, largest, slack, price = ZERO, ZERO, ZERO, num(instance.get("carbon_price", 40.0))
    for campus in instance["campuses"]:
        left, steps = num(campus["contract_mw"]), []
        for cluster in (c for c in instance["clusters"] if c["campus"] == campus["id"]):
            if not (corners := curve(instance, cluster)):
                return Best(None)
            eta = [num(v) for v in cluster["carbon_kg_per_kwh"]]
            base = sum((1000 * power * e for (_, power), e in zip(bounds(cluster), eta, strict=True)), ZERO)
            total += price * base + corners[0][1]
            left -= corners[0][0]
            largest = max(largest, price * base + corners[0][1])
            steps += [((b[1] - a[1]) / (b[0] - a[0]), b[0] - a[0]) for a, b in pairwise(corners)]
            slack += row_slack(instance, cluster, max(eta), corners[-1][0])
        if left < 0:
            return Best(None)
        for rate, width in sorted(steps):
            if rate < 0:
                total += rate * min(width, left)
                slack += -rate * num(campus["contract_mw"]) * referee.ROW if width > left else ZERO
                left -= min(width, left)
    return Best(total, largest, ZERO, slack)


def row_slack(instance: Json, cluster: Json, eta: Fraction, peak: Fraction) -> Fraction:
    """What rows that hold to 1e-11 only may be worth, to first order: a generous estimate."""
    tau = referee.flexible_usage(cluster)
    moved = tau + sum(
        (
            num(cluster["usage_limit_ncu"]) + num(cluster["capacity_ncu"]) / num(cluster["reservation_ratio"][h])
            for h, (m, _) in enumerate(bounds(cluster))
            if m < tau
        ),
        ZERO,
    )
    carbon = num(instance.get("carbon_price", 40.0)) * num(cluster["kw_per_ncu"]) * eta * excess(moved)
    return 2 * referee.ROW * (carbon + num(instance.get("peak_price", 10.0)) * peak)


OPTIMA = {"allocation": allocation, "deferrable": deferrable, "geo": geo, "vcc": vcc, "day_ahead": day_ahead}
