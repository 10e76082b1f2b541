"""The optimum by enumerating every schedule; feasible ones are those that the referee passes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from optsched.instances.base import Instance
from optsched.rooms import room
from optsched.schedules import check, evaluate
from optsched.schedules.base import Schedule
from optsched.schedules.vcc import VccSchedule, played


def allocation(instance: Any) -> Iterator[list[dict[str, Any]]]:
    """Every set of (job, node, gpus)."""
    ways = [
        [None]
        + [
            {"job": job.id, "node": node.id, "gpus": g + 1}
            for node in instance.nodes
            for g in range(node.gpus)
            if g < len(job.time_s.get(node.gpu_type, ())) and job.time_s[node.gpu_type][g] is not None
        ]
        for job in instance.jobs
        if job.submit_s <= instance.now_s
    ]
    return ([a for a in choice if a] for choice in product(*ways))


def deferrable(instance: Any) -> Iterator[list[dict[str, Any]]]:
    """Every set of (job, start)."""
    ways = [[None, *({"job": job.id, "start": s} for s in range(instance.horizon))] for job in instance.jobs]
    ways = [[w for w in way if w is None or not _broken(instance, [w])] for way in ways]
    return ([a for a in choice if a] for choice in product(*ways))


def geo(instance: Any) -> Iterator[list[dict[str, Any]]]:
    """Every set of (job, site, start, departure)."""
    ways = []
    for job in instance.jobs:
        way: list[Any] = [None]
        for site in instance.sites:
            for start in range(instance.horizon):
                departures = [None] if site.id == job.source else range(job.submitted, start + 1)
                way += [{"job": job.id, "site": site.id, "start": start, "departure": d} for d in departures]
        alone = [w for w in way if w is None or not _broken(instance, [w])]
        ways.append(_undominated(instance, alone))
    return ([a for a in choice if a] for choice in product(*ways))


def _undominated(instance: Any, way: list[Any]) -> list[Any]:
    """Of entries that differ in their departure only, the best: departures do not interact."""
    best: dict[Any, Any] = {}
    for w in way:
        key = None if w is None else (w["site"], w["start"])
        value = evaluate(instance, schedule(instance, [w] if w else [])).objective
        if key not in best or value > best[key][0]:
            best[key] = (value, w)
    return [w for _, w in best.values()]


def vcc(instance: Any) -> Iterator[list[dict[str, Any]]]:
    """Every cap that matters: in each slot the highest that starts so many more of the queue, found by playing it."""

    def caps(so_far: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
        if len(so_far) == instance.horizon:
            yield so_far
            return
        seen = set()
        for cap in levels:
            begun = tuple(s.job for s in played(instance, (*so_far, cap)).starts)
            if begun not in seen:  # a lower cap that starts the same is no better
                seen.add(begun)
                yield from caps((*so_far, cap))

    sizes = [job.ncu for job in instance.jobs]
    loads = {sum(s for s, take in zip(sizes, taken, strict=True) if take) for taken in product((0, 1), repeat=len(sizes))}
    levels = sorted({1.0} | {min(1.0, (x + r) / instance.capacity_ncu - 2e-9) for x in loads for r in instance.running})
    levels = [cap for cap in reversed(levels) if cap >= 0] + [0.0]
    for cap in caps(()):
        yield [{"cap": cap, "starts": played(instance, cap).starts}]


ENUMERATE = {"allocation": allocation, "deferrable": deferrable, "geo": geo, "vcc": vcc}


def schedule(instance: Instance, entries: list[dict[str, Any]]) -> Schedule:
    """Entries as a schedule of the instance's family."""
    model = room("schedules", instance.problem).SCHEDULES[0]
    if instance.problem == "vcc":
        return VccSchedule(**entries[0])
    field = next(iter(model.model_fields))
    (item,) = model.model_fields[field].annotation.__args__[:1]
    made: Schedule = model(**{field: tuple(item(**e) for e in entries)})
    return made


def _broken(instance: Instance, entries: list[dict[str, Any]]) -> bool:
    return bool(check(instance, schedule(instance, entries)))


def optimum(instance: Instance) -> float:
    """The best objective of all feasible schedules."""
    better = min if instance.sense == "minimize" else max
    candidates = (schedule(instance, entries) for entries in ENUMERATE[instance.problem](instance))
    return better(evaluate(instance, s).objective for s in candidates if not check(instance, s))
