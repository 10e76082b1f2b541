"""The optimum by enumerating every schedule, one by one, and asking the second referee: no bound, no pruning, no package.

What `enumerate_exact` finds with bounds is compared with this in `test_oracle.py`; tests of the package use `optimum`, which
is the former's, for it is exact and quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from optsched.instances.base import Instance
from tests.oracle import enumerate_exact
from tests.oracle import exact_referee as referee
from tests.oracle.exact_referee import ZERO, Json, num

MAXIMISED = ("deferrable", "geo")


def plain(instance: Instance) -> Json:
    """The instance as a file has it, defaults spelt out: what the second referee reads."""
    return instance.model_dump(mode="json", by_alias=True) | {"problem": instance.problem}


def optimum(instance: Instance) -> float:
    """The best objective of all feasible schedules; in `vcc` and `day_ahead` the infimum."""
    value = enumerate_exact.best(plain(instance)).value
    assert value is not None, "no schedule is feasible"
    return float(value)


def allocation(raw: Json) -> Iterator[Json]:
    """Every set of (job, node, gpus)."""
    ways: list[list[Any]] = []
    for name, job in referee.known_jobs(raw).items():
        rows = [{"job": name, "node": n["id"], "gpus": g} for n in raw["nodes"] for g in referee.configurations(raw, job, n)]
        ways.append([None, *rows])
    return ({"assignments": rows} for rows in chosen(ways))


def deferrable(raw: Json) -> Iterator[Json]:
    """Every set of (job, start)."""
    ways = [[{"job": job["id"], "start": s} for s in range(len(raw["capacity"]))] for job in raw["jobs"]]
    return ({"starts": rows} for rows in chosen([[None, *alone(raw, way)] for way in ways]))


def geo(raw: Json) -> Iterator[Json]:
    """Every set of (job, site, start, departure); of rows that differ in the departure only, the best, for it binds nobody."""
    ways: list[list[Any]] = []
    for job in raw["jobs"]:
        best: dict[Any, tuple[Fraction, Json]] = {}
        for site, start in product((s["id"] for s in raw["sites"]), range(raw["horizon"])):
            departures = [None] if site == job["source"] else range(job["submitted"], start + 1)
            for row in alone(raw, [{"job": job["id"], "site": site, "start": start, "departure": d} for d in departures]):
                value = referee.objective(raw, {"starts": [row]})
                if (site, start) not in best or value > best[site, start][0]:
                    best[site, start] = value, row
        ways.append([None, *(row for _, row in best.values())])
    return ({"starts": rows} for rows in chosen(ways))


def vcc(raw: Json) -> Iterator[Json]:
    """Every cap that matters: in each slot the highest that starts so many more of the queue, found by playing it."""
    sizes, capacity = [num(job["ncu"]) for job in raw["jobs"]], num(raw["capacity_ncu"])
    loads = {
        sum((s for s, take in zip(sizes, taken, strict=True) if take), ZERO) for taken in product((0, 1), repeat=len(sizes))
    }
    runs = {referee.given_load(raw, t) for t in range(len(raw["carbon_kg_per_kwh"]))}
    levels = sorted({enumerate_exact.below((x + r) / capacity) for x in loads for r in runs if 0 < x + r <= capacity})
    levels = [1.0, *reversed(levels), 0.0]

    def caps(so_far: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
        if len(so_far) == len(raw["carbon_kg_per_kwh"]):
            yield so_far
            return
        seen = set()
        for cap in levels:
            begun = tuple(job for job, _, _ in played((*so_far, cap)))
            if begun not in seen:  # a lower cap that starts the same is no better
                seen.add(begun)
                yield from caps((*so_far, cap))

    def played(cap: tuple[float, ...]) -> list[list[Any]]:
        return referee.simulate(raw, [num(c) for c in cap])[0]

    for cap in caps(()):
        yield {"cap": list(cap), "starts": [{"job": job, "start": start, "until": until} for job, start, until in played(cap)]}


EVERY = {"allocation": allocation, "deferrable": deferrable, "geo": geo, "vcc": vcc}


def chosen(ways: list[list[Any]]) -> Iterator[list[Json]]:
    """One of each list, without the Nones."""
    return ([row for row in rows if row] for rows in product(*ways))


def alone(raw: Json, rows: list[Json]) -> list[Json]:
    """Those that break no rule by themselves."""
    return [row for row in rows if not referee.check(raw, {"starts": [row]})]


def best(raw: Json) -> tuple[Fraction, int]:
    """The best objective of all feasible schedules, and how many there are."""
    values = []
    for schedule in EVERY[raw["problem"]](raw):
        broken, parts = referee.JUDGES[raw["problem"]](raw, schedule)
        if not broken:
            values.append(sum(parts.values(), ZERO))
    return (max if raw["problem"] in MAXIMISED else min)(values), len(values)
