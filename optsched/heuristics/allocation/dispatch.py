"""First-principle dispatch rules: jobs in an order, each in the configuration that it likes best among those that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from optsched.heuristics.allocation.configurations import preferences, pressure
from optsched.heuristics.allocation.nodes import Nodes
from optsched.heuristics.allocation.occupy_idle import occupy_idle_nodes
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats
from optsched.problems.allocation.options import Options
from optsched.schedules.allocation import AllocationSchedule, Assignment
from optsched.stop import Spare

EVERY = 64  # jobs: how often it is asked whether there is time
Order = Callable[[AllocationInstance], Floats]


def dispatch(
    instance: AllocationInstance,
    order: Order,
    held: Mapping[str, Assignment] | None = None,
    spare: Spare | None = None,
) -> AllocationSchedule:
    """Place jobs by ascending `order` (ties by the file's order), back-filling past those that do not fit.

    Parameters
    ----------
    held : assignments that stand, of jobs that run already (non-preemptive rules).
    """
    liked = preferences(instance)
    wishes = [[o for o in row if o >= 0] for row in liked.option.tolist()]
    ranked = np.argsort(order(instance), kind="stable")
    return fill(instance, liked.listed, ranked.tolist(), wishes.__getitem__, held, spare)


def fill(
    instance: AllocationInstance,
    listed: Options,
    order: Sequence[int],
    wishes: Callable[[int], list[int]],
    held: Mapping[str, Assignment] | None = None,
    spare: Spare | None = None,
) -> AllocationSchedule:
    """Jobs in order, each at the first of its wishes (options, the best first) that fits, on the node with least room.

    Where time is out, the jobs placed so far are the schedule.
    """
    free = {node.id: node.gpus for node in instance.nodes}
    placed = dict(held or {})
    for a in placed.values():
        free[a.node] -= a.gpus
    names = [node.id for node in instance.nodes]
    rooms = [Nodes(c.gpus, [(max(0, free[names[n]]), n) for n in c.nodes]) for c in instance.node_classes]
    unused = sum(max(0, left) for left in free.values())
    kind, size = listed.node_class.tolist(), listed.gpus.tolist()
    for i, j in enumerate(order):
        if spare is not None and i and i % EVERY == 0 and not spare():
            break
        job = instance.known_jobs[j]
        if job.id in placed:
            continue
        for o in wishes(j):
            k, gpus = kind[o], size[o]
            found = rooms[k].take(gpus)  # best fit
            if found is None:
                continue
            left, node = found
            rooms[k].put(left - gpus, node)
            unused -= gpus
            placed[job.id] = Assignment(job=job.id, node=names[node], gpus=gpus)
            break
        if not unused:
            break
    return AllocationSchedule(assignments=tuple(placed.values()))


def submission(instance: AllocationInstance) -> Floats:
    """First in, first out."""
    return instance.columns.submit_s


def due_date(instance: AllocationInstance) -> Floats:
    """Earliest due date first."""
    return instance.columns.due_s


def priority(instance: AllocationInstance) -> Floats:
    """Largest tardiness weight first."""
    return np.asarray(-instance.columns.weight_per_s, dtype=float)


def slack(instance: AllocationInstance) -> Floats:
    """Least time to spare first, were the job run at its fastest."""
    return -pressure(instance)


def weighted_shortest(instance: AllocationInstance) -> Floats:
    """Weighted shortest processing time: largest weight a second of the fastest configuration first."""
    shortest = pressure(instance) - instance.now_s + instance.columns.due_s
    weight = np.asarray(-instance.columns.weight_per_s, dtype=float)
    found = np.divide(weight, shortest, out=np.full(len(weight), -np.inf), where=shortest > 0)  # what takes no time, first
    return np.asarray(found)


RULES: dict[str, tuple[Order, bool]] = {
    "fifo": (submission, False),
    "edf": (due_date, False),
    "ps": (priority, False),
    "preemptive-edf": (due_date, True),
    "least-slack": (slack, True),
    "wspt": (weighted_shortest, True),
}
"""Name -> (order, whether running jobs may be preempted)."""


def rule(name: str) -> Callable[..., AllocationSchedule]:
    """The rule as a heuristic on a single snapshot."""
    order, preemptive = RULES[name]

    def placed(instance: AllocationInstance, seed: int = 0, *, spare: Spare | None = None) -> AllocationSchedule:
        return occupy_idle_nodes(instance, dispatch(instance, order, spare=spare))

    kind = "running jobs may be preempted" if preemptive else "configurations stay as started"
    placed.__doc__ = f"{(order.__doc__ or '').strip().rstrip('.')}; in a replay {kind}."
    return placed
