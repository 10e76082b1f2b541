"""Referee of allocation: the paper's proxy, eqs. (1) and (3), and the rules of (4a)-(4v) as read in docs/errata.md."""

from __future__ import annotations

from collections import defaultdict
from math import fsum
from typing import ClassVar, Literal

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Counting, Data
from optsched.instances.grid import beyond
from optsched.schedules.base import Evaluation, Schedule, Violation, entry, job_violations

SIGNS = {"tardiness": 1, "postponement": 1, "energy": 1}


class Assignment(Data):
    """A job that runs now, on a node, with a number of GPUs."""

    job: str
    node: str
    gpus: Counting


class AllocationSchedule(Schedule):
    """Jobs that run now; every other known job is postponed."""

    objective_kind: ClassVar[Literal["proxy", "realised"] | None] = "proxy"

    assignments: tuple[Assignment, ...]


def evaluate(instance: AllocationInstance, schedule: AllocationSchedule) -> Evaluation:
    """Components in the instance's currency: tardiness, postponement (worst case), energy of the first-ending jobs.

    Raises
    ------
    OptschedError : an assignment names an unknown job or node, or a configuration without execution time or cost.
    """
    jobs = {job.id: j for j, job in enumerate(instance.known_jobs)}
    nodes = {node.id: n for n, node in enumerate(instance.nodes)}
    now = instance.now_s
    ran: list[tuple[float, float, float]] = []  # weight, due, time
    ends: dict[str, list[tuple[float, float]]] = defaultdict(list)
    running = set()
    for assignment in schedule.assignments:
        job = instance.known_jobs[entry(jobs, assignment.job, "job")]
        node = instance.nodes[entry(nodes, assignment.node, "node")]
        time = _time(instance, job.id, job.time_s.get(node.gpu_type, ()), node.gpu_type, assignment.gpus)
        rate = instance.gpu_types[node.gpu_type].node_cost_per_h[assignment.gpus - 1]
        ran.append((job.weight_per_s, job.due_s, time))
        ends[node.id].append((time, time * rate / 3600))
        running.add(job.id)
    weight, due, time_s = np.array(ran).reshape(-1, 3).T
    tardiness = weight * beyond(due, now, time_s)
    left = [(job.weight_per_s, job.due_s, job.longest_s) for job in instance.known_jobs if job.id not in running]
    weight, due, time_s = np.array(left).reshape(-1, 3).T
    late = weight * beyond(due, now, instance.scheduling_interval_s, time_s)
    postponement = instance.postponement_penalty * late
    first = _cheapest if instance.first_ending == "cheapest" else _earliest
    return Evaluation.of(
        {
            "tardiness": fsum(tardiness),
            "postponement": fsum(postponement),
            "energy": fsum(first(on_node) for on_node in ends.values()),
        },
        SIGNS,
    )


def _earliest(ends: list[tuple[float, float]]) -> float:
    return min(ends)[1]  # by time, ties by cost


def _cheapest(ends: list[tuple[float, float]]) -> float:
    return min(cost for _, cost in ends)


def _time(instance: AllocationInstance, job: str, times: tuple[float | None, ...], kind: str, gpus: int) -> float:
    time = times[gpus - 1] if gpus <= len(times) else None
    if time is None or gpus > len(instance.gpu_types[kind].node_cost_per_h):
        raise OptschedError(f"job {job!r} has no execution time or cost with {gpus} GPUs of type {kind!r}")
    return time


def check(instance: AllocationInstance, schedule: AllocationSchedule) -> list[Violation]:
    """Every violated rule, empty for a feasible schedule."""
    jobs = {job.id: job for job in instance.known_jobs}
    nodes = {node.id: node for node in instance.nodes}
    found = list(job_violations((a.job for a in schedule.assignments), set(jobs)))
    used: dict[str, int] = defaultdict(int)
    for assignment in schedule.assignments:
        node, job = nodes.get(assignment.node), jobs.get(assignment.job)
        if node is None:
            found.append(Violation("unknown node", job=assignment.job, place=assignment.node))
            continue
        used[node.id] += assignment.gpus
        times = job.time_s.get(node.gpu_type, ()) if job else (1.0,) * assignment.gpus
        priced = len(instance.gpu_types[node.gpu_type].node_cost_per_h)
        if assignment.gpus > min(len(times), priced) or times[assignment.gpus - 1] is None:
            detail = f"with {assignment.gpus} GPUs of type {node.gpu_type!r}"
            found.append(Violation("job cannot run so", assignment.job, node.id, instance.now_s, detail=detail))
    for node_id, gpus in used.items():
        over = gpus - nodes[node_id].gpus
        if over > 0:
            found.append(Violation("GPUs above the node's", place=node_id, time=instance.now_s, amount=over))
    missing = instance.nodes_to_use - len(used) if instance.use_all_nodes else 0
    if missing > 0:
        detail = f"({len(used)} of {instance.nodes_to_use} that can be)"
        found.append(Violation("too few nodes in use", time=instance.now_s, amount=missing, detail=detail))
    return found
