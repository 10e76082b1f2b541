"""Which assignment of a node is its first-ending one: shared by the formulations' start values."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from optsched.instances.allocation import AllocationInstance
from optsched.schedules.allocation import AllocationSchedule


@dataclass(frozen=True)
class Placed:
    """A job of the schedule on a node, all as indices (`gpus` as a number)."""

    job: int
    node: int
    gpus: int
    time_s: float
    energy: float


def by_node(instance: AllocationInstance, schedule: AllocationSchedule) -> dict[int, list[Placed]]:
    """Jobs of each node in use, the one that counts as first in front (earliest, ties cheapest; or the cheapest)."""
    jobs = {job.id: j for j, job in enumerate(instance.known_jobs)}
    nodes = {node.id: n for n, node in enumerate(instance.nodes)}
    placed: dict[int, list[Placed]] = defaultdict(list)
    for a in schedule.assignments:
        j, n = jobs[a.job], nodes[a.node]
        kind = instance.nodes[n].gpu_type
        time = instance.known_jobs[j].time_s[kind][a.gpus - 1]
        if time is None:
            continue
        rate = instance.gpu_types[kind].node_cost_per_h[a.gpus - 1]
        placed[n].append(Placed(j, n, a.gpus, time, time * rate / 3600))
    cheapest = instance.first_ending == "cheapest"
    for on_node in placed.values():
        on_node.sort(key=lambda p: (p.energy, p.time_s) if cheapest else (p.time_s, p.energy))
    return placed
