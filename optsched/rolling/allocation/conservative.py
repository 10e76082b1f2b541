"""Conservative backfilling: every job has a reservation from its submission on, and nobody delays one that is there."""

from __future__ import annotations

from math import inf, ulp
from typing import NamedTuple

from optsched.instances.allocation import AllocationInstance, Job
from optsched.rolling.allocation.backfilling import Backfilling, Held
from optsched.rolling.allocation.timeline import Timeline
from optsched.rolling.memory import recalled
from optsched.schedules.allocation import Assignment

SAME, ULPS = 1e-6, 8  # s, and last digits of a time: two times closer than that are one event


class Booking(NamedTuple):
    """GPUs of a node from a time to another, in seconds."""

    node: int
    gpus: int
    start_s: float
    end_s: float


class Booked(Held):
    """And what is reserved, by job, and which nodes there were; None where that was not kept."""

    booked: dict[str, Booking]
    nodes: tuple[str, ...] | None = None


class ConservativeBackfilling(Backfilling):
    """A job gets the earliest time that delays no earlier job, on whichever node that is; there it starts (Mu'alem, 2001).

    Attributes
    ----------
    booked : where and when each job that waits or runs has its GPUs; kept until it ends. nodes : those that bookings number.
    """

    def reset(self, seed: int) -> None:
        """Forget what runs and what is reserved."""
        super().reset(seed)
        self.booked: dict[str, Booking] = {}
        self.lines: list[Timeline] | None = None
        self.nodes: tuple[str, ...] | None = None

    def started(self, snapshot: AllocationInstance, queue: list[Job], ends: dict[str, float]) -> list[Assignment]:
        """Jobs whose time has come; first, what has been submitted is given a time."""
        now = snapshot.now_s
        alive = {job.id for job in queue} | ends.keys()
        gone = [b.end_s for job, b in self.booked.items() if job not in alive]
        self.booked = {job: b for job, b in self.booked.items() if job in alive}
        early = any(end > now and not same(end, now) for end in gone)  # cancelled, or done sooner than was believed
        if early:
            self.lines = None
        nodes = tuple([node.id for node in snapshot.nodes])
        moved = self.nodes not in (None, nodes)
        if moved or any(job not in self.booked or not same(end, self.booked[job].end_s) for job, end in ends.items()):
            self._again(snapshot, ends)  # somebody else has decided in between, or nodes have come or gone
        self.nodes = nodes
        self._draw(snapshot)
        if early:
            self._compress(snapshot, queue)
        for job in queue:
            if job.id not in self.booked:
                self._book(snapshot, job)
        free = self.free(snapshot)
        begun = []
        for job in queue:
            if (b := self.booked.get(job.id)) is None:
                continue
            name = snapshot.nodes[b.node].id
            if (b.start_s <= now or same(b.start_s, now)) and b.gpus <= free[name]:
                free[name] -= b.gpus
                begun.append(Assignment(job=job.id, node=name, gpus=b.gpus))
        return begun

    def _compress(self, snapshot: AllocationInstance, queue: list[Job]) -> None:
        """Who waits moves forward where that delays nobody, one after the other, until nobody can (Mu'alem, 2001)."""
        assert self.lines is not None
        moved = True
        while moved:
            moved = False
            for job in queue:
                if (b := self.booked.pop(job.id, None)) is None:
                    continue
                self.lines[b.node].book(b.start_s, b.end_s, -b.gpus)
                self._book(snapshot, job)
                begin_s = self.booked[job.id].start_s
                moved |= begin_s < b.start_s and not same(begin_s, b.start_s)

    def _again(self, snapshot: AllocationInstance, ends: dict[str, float]) -> None:
        """Forget all reservations but of what runs, which ends as it ends now."""
        index = {node.id: n for n, node in enumerate(snapshot.nodes)}
        held = self.held
        self.booked = {j: Booking(index[held[j].node], held[j].gpus, snapshot.now_s, end) for j, end in ends.items()}
        self.lines = None

    def _draw(self, snapshot: AllocationInstance) -> None:
        """The nodes' timelines, from the bookings where there are none."""
        if self.lines is None:
            self.lines = [Timeline(snapshot.now_s, node.gpus) for node in snapshot.nodes]
            for b in self.booked.values():
                self.lines[b.node].book(b.start_s, b.end_s, b.gpus)
        for line in self.lines:
            line.forget(snapshot.now_s)

    def _book(self, snapshot: AllocationInstance, job: Job) -> None:
        """The earliest time; of several places the type that is liked best, then the node with the least room."""
        assert self.lines is not None
        gpus, times = self.request(snapshot, job)
        liking = {kind: rank for rank, kind in enumerate(times)}
        best = (inf, 0, 0, 0)
        for n, node in enumerate(snapshot.nodes):
            if node.gpu_type in times and node.gpus >= gpus:
                found = self.lines[n].earliest(gpus, times[node.gpu_type], best[0])
                if found is not None:
                    best = min(best, (found[0], liking[node.gpu_type], found[1], n))
        start_s, _, _, n = best
        if start_s == inf:
            return  # the nodes that it asks for are away
        end_s = start_s + times[snapshot.nodes[n].gpu_type]
        self.booked[job.id] = Booking(n, gpus, start_s, end_s)
        self.lines[n].book(start_s, end_s, gpus)

    def state(self) -> dict[str, object]:
        """What runs, and all bookings."""
        return Booked(held=tuple(self.held.values()), booked=self.booked, nodes=self.nodes).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on with them."""
        kept = recalled(Booked, state)
        self.held, self.booked = {a.job: a for a in kept.held}, kept.booked
        self.nodes = () if kept.nodes is None and kept.booked else kept.nodes  # bookings of nobody knows which are made again
        self.lines = None


def same(a: float, b: float) -> bool:
    """Whether two times are one, whatever the sums that led to them."""
    return abs(a - b) <= SAME + ULPS * ulp(max(abs(a), abs(b)))
