"""Backfilling: jobs in order of submission, later ones in the holes that earlier ones leave (the rules of batch systems).

Jobs are rigid (`Requests`), run on one node each and are never moved; their run times are known, so that a reservation holds
to the second. References: D. A. Lifka, The ANL/IBM SP scheduling system, JSSPP 1995 (EASY); A. W. Mu'alem and
D. G. Feitelson, Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with
backfilling, IEEE Transactions on Parallel and Distributed Systems 12(6), 2001 (EASY and conservative, section 2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from math import inf
from typing import NamedTuple

from optsched.heuristics.allocation.nodes import Nodes
from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Data
from optsched.rolling.allocation.holding import going_on
from optsched.rolling.allocation.requests import Request, Requests
from optsched.rolling.memory import recalled
from optsched.schedules.allocation import AllocationSchedule, Assignment


class Held(Data):
    """What a rule remembers: what runs, in the order in which it was started."""

    held: tuple[Assignment, ...]


class Backfilling(ABC):
    """What the rules have in common: what runs goes on where it is, the rest waits in the order of submission."""

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget what runs; nothing is drawn."""
        self.held: dict[str, Assignment] = {}
        self.request = Requests()

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        """What runs, and what starts now."""
        known = {job.id: job for job in snapshot.known_jobs}
        self.held, away = going_on(self.held, snapshot)
        kinds = {node.id: node.gpu_type for node in snapshot.nodes}
        ends = {}
        for job, a in self.held.items():
            left = known[job].time_s[kinds[a.node]][a.gpus - 1]
            assert left is not None
            ends[job] = snapshot.now_s + left
        queue = sorted((job for job in known.values() if job.id not in self.held), key=lambda job: job.submit_s)
        self.held |= {a.job: a for a in self.started(snapshot, queue, ends)}
        decision = AllocationSchedule(assignments=tuple(self.held.values()))
        self.held |= away
        return decision

    @abstractmethod
    def started(self, snapshot: AllocationInstance, queue: list[Job], ends: dict[str, float]) -> list[Assignment]:
        """What of the queue starts now; `ends` says when each job that is held will end, in seconds."""

    def state(self) -> dict[str, object]:
        """What runs."""
        return Held(held=tuple(self.held.values())).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on with that."""
        self.held = {a.job: a for a in recalled(Held, state).held}

    def free(self, snapshot: AllocationInstance) -> dict[str, int]:
        """GPUs by node that nothing runs on now."""
        free = {node.id: node.gpus for node in snapshot.nodes}
        for a in self.held.values():
            free[a.node] -= a.gpus
        return free


class Reservation(NamedTuple):
    """Of the first job that waits: when (s), where, and how many GPUs will be free there then beyond what it asks for."""

    time_s: float
    spare: int
    node: int


class EasyBackfilling(Backfilling):
    """EASY: only the first job that has to wait has a reservation; a later one may start if it does not delay that.

    The reservation is on the node that has enough free GPUs first. A later job starts on another node where it can (best fit),
    else on that one if it ends by then or leaves the GPUs that are reserved.
    """

    def started(self, snapshot: AllocationInstance, queue: list[Job], ends: dict[str, float]) -> list[Assignment]:
        """Jobs from the head while they fit, then those that do not delay the first that does not."""
        now, nodes = snapshot.now_s, snapshot.nodes
        free = list(self.free(snapshot).values())
        kinds = [node.gpu_type for node in nodes]
        room = {kind: _room(snapshot, free, kind) for kind in sorted(set(kinds))}
        idle, begun, waiting = sum(free), [], iter(queue)

        def start(job: Job, asked: Request, n: int) -> None:
            nonlocal idle
            idle -= asked.gpus
            free[n] -= asked.gpus
            begun.append(Assignment(job=job.id, node=nodes[n].id, gpus=asked.gpus))
            ends[job.id] = now + asked.time_s[kinds[n]]

        while idle and (job := next(waiting, None)) is not None:
            asked = self.request(snapshot, job)
            n = _fitting(room, asked)
            if n is None:
                head = asked
                break
            start(job, asked, n)
        else:
            return begun
        kept = reserve(snapshot, head, free, chain(self.held.values(), begun), ends)
        where, spare = kinds[kept.node], kept.spare
        if kept.node >= 0:  # else the nodes that it asks for are away, and nobody can delay it
            room[where] = _room(snapshot, free, where, kept.node)
        for job in waiting:
            if not idle:
                break
            asked = self.request(snapshot, job)
            n = _fitting(room, asked)
            if n is None and kept.node >= 0 and where in asked.time_s and asked.gpus <= free[kept.node]:
                in_time = now + asked.time_s[where] <= kept.time_s
                if in_time or asked.gpus <= spare:
                    n, spare = kept.node, spare if in_time else spare - asked.gpus
            if n is not None:
                start(job, asked, n)
        return begun


def reserve(
    snapshot: AllocationInstance,
    asked: Request,
    free: list[int],
    running: Iterable[Assignment],
    ends: dict[str, float],
) -> Reservation:
    """The earliest time at which a node has what is asked for, the node with the least to spare of several; -1 for none.

    Parameters
    ----------
    free : GPUs free now, by node.
    running : what runs. ends : when, in seconds, by job.
    """
    leaving: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for a in running:
        leaving[a.node].append((ends[a.job], a.gpus))
    best = Reservation(inf, 0, -1)
    for n, node in enumerate(snapshot.nodes):
        if node.gpu_type not in asked.time_s or node.gpus < asked.gpus:
            continue
        left, time = free[n], snapshot.now_s
        for end, gpus in sorted(leaving[node.id]):
            if left >= asked.gpus and end > time:
                break
            left, time = left + gpus, end
        best = min(best, Reservation(time, left - asked.gpus, n))
    return best


def _room(snapshot: AllocationInstance, free: list[int], kind: str, without: int | None = None) -> Nodes:
    found = [(left, n) for n, left in enumerate(free) if snapshot.nodes[n].gpu_type == kind and n != without and left > 0]
    return Nodes(max(node.gpus for node in snapshot.nodes if node.gpu_type == kind), found)


def _fitting(room: dict[str, Nodes], asked: Request) -> int | None:
    """Take a node that fits now, of the type that is liked best, with the least room."""
    for kind in asked.time_s:
        found = room[kind].take(asked.gpus) if kind in room else None
        if found is not None:
            left, node = found
            room[kind].put(left - asked.gpus, node)
            return node
    return None
