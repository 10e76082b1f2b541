"""The queue under its cap, slot by slot: the one truth of replays and of the Gymnasium environment.

Jobs are counted, not listed. In FIFO order the queue is a range of jobs, so that a slot starts a prefix of it: prefix sums
and a bisection find which. Sizes are whole units, as for the referee, so that both decide alike what fits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.grid import share_of, tally, zeros_like
from optsched.instances.vcc import VccInstance
from optsched.schedules.vcc import Start, VccSchedule


class Costs(NamedTuple):
    """What a slot has cost, priced as in the objective."""

    carbon: float
    delay: float
    daily: float
    unfinished: float


class CappedQueue(ABC):
    """A queue of flexible jobs between two slots: what has ended has left, what is submitted has joined, the cap is to come.

    Attributes
    ----------
    now : the slot to come. units : flexible load that runs on, whole (an int where floats would round).
    waiting : jobs in the queue. cap : fractions so far.
    """

    def __init__(self, instance: VccInstance) -> None:
        self.instance = instance
        h = instance.slot_h
        self.capacity = instance.capacity_ncu
        units = instance.units
        self.whole, self.ncu, self.unit = units.capacity, units.ncu, float(units.grid.value(1))
        self.horizon = instance.horizon
        priced = instance.carbon_price * h * instance.carbon
        self.base_cost: list[float] = (priced * (instance.idle_kw + instance.kw_per_ncu * instance.inflexible)).tolist()
        self.load_cost: list[float] = (priced * instance.kw_per_ncu).tolist()
        self.room: list[float] = units.room.tolist()
        self.work: float = (units.ncu * instance.columns.duration).sum()
        self.due: Ints = instance.due
        self.ends_day: list[bool] = instance.ends_day.tolist()
        self.asked: list[float] = (instance.daily_fraction * instance.asked).tolist()
        self.day: list[int] = instance.day.tolist()
        self.delay_price = instance.delay_penalty_per_ncu_h * h
        self.daily_price, self.unfinished_price = instance.daily_penalty_per_ncu_h, instance.unfinished_penalty_per_ncu_h
        self.h, self.given = h, units.running.tolist()
        self.reset()

    def reset(self) -> None:
        """Back to slot 0."""
        self.now = -1
        self.units: float = 0
        self.done: float = 0
        self.allotted = self.instance.allotted_ncu_h
        self.cap: list[float] = []
        self.leaving = zeros_like(self.ncu, 2 * self.horizon + 2)
        # what runs already enters, and leaves, as the instance says
        self.leaving[: self.horizon] -= np.diff(self.instance.units.running, prepend=0)
        self.empty()
        self._next()

    def _next(self) -> None:
        self.now += 1
        self.units -= self.leaving.item(self.now)
        self.join()

    @property
    def load(self) -> float:
        """Flexible load that runs on, NCU."""
        return float(self.units * self.unit)

    @property
    def ended(self) -> bool:
        """Whether the horizon is over."""
        return self.now >= self.horizon

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Jobs in the queue."""

    @property
    @abstractmethod
    def starts(self) -> int:
        """How often a job has been started."""

    @abstractmethod
    def empty(self) -> None:
        """Forget all jobs."""

    @abstractmethod
    def join(self) -> None:
        """Jobs submitted in this slot enter the queue."""

    @abstractmethod
    def serve(self, limit: int, most: float) -> float:
        """Evict above `limit` if the instance says so, start from the head up to `most`; unit-slots beyond the delay limit."""

    @abstractmethod
    def pieces(self) -> list[Start]:
        """What has been started."""

    @abstractmethod
    def queued(self) -> list[tuple[int, int, bool]]:
        """(index in the order of the queue, slots left, whether evicted) of the waiting jobs."""

    def step(self, cap: float) -> Costs:
        """Carry a slot out under a cap from 0 to 1, and go to the next."""
        t, h, unit = self.now, self.h, self.unit
        limit, room = share_of(cap, self.whole), self.room[t]
        late = self.serve(limit, limit if limit < room else room)
        self.cap.append(cap)
        units = self.units
        self.allotted += cap * self.capacity * h
        self.done += units - self.given[t]
        daily = unfinished = 0.0
        if self.ends_day[t]:
            daily = self.daily_price * max(0.0, self.asked[self.day[t]] - self.allotted)
            self.allotted = 0.0
        if t + 1 == self.horizon:
            unfinished = self.unfinished_price * float(self.work - self.done) * unit * h
            self.now += 1
        else:
            self._next()
        carbon = self.base_cost[t] + self.load_cost[t] * (units * unit)
        return Costs(carbon, self.delay_price * (late * unit), daily, unfinished)

    def history(self) -> VccSchedule:
        """The caps so far, 1 to come, and what they have started."""
        cap = (*self.cap, *(1.0,) * (self.horizon - len(self.cap)))
        return VccSchedule.model_construct(cap=cap, starts=tuple(self.pieces()))

    def runs_on(self) -> Floats:
        """Load of what runs now in the slots to come, shape (T - now,), if nothing is started or evicted."""
        ahead = self.leaving[self.now + 1 : self.horizon]
        return self.instance.units.grid.value(self.units - np.append(0, np.cumsum(ahead)))


class FifoQueue(CappedQueue):
    """Running jobs keep running: the queue is the range `started` .. `come` of the jobs."""

    def __init__(self, instance: VccInstance) -> None:
        self.duration = np.minimum(instance.columns.duration, instance.horizon)
        self.upto = instance.units.upto
        self.arrived: list[int] = instance.arrived.tolist()
        super().__init__(instance)
        self.soonest: list[int] = [*np.minimum.accumulate(self.due[::-1])[::-1].tolist(), 2**62]

    def empty(self) -> None:
        """Nobody has come."""
        self.started = self.come = 0
        self.upto_slot: list[tuple[int, int]] = []  # (started so far, slot) where something started

    @property
    def waiting(self) -> int:
        """Jobs in the queue."""
        return self.come - self.started

    @property
    def starts(self) -> int:
        """Once each."""
        return self.started

    def join(self) -> None:
        """The queue grows at its tail."""
        self.come = self.arrived[self.now]

    def serve(self, limit: int, most: float) -> float:
        """Start the longest prefix that fits."""
        k, t = self.started, self.now
        if k == self.come:
            return 0
        upto = self.upto
        to = bisect_right(upto, upto[k] + most - self.units, k, self.come + 1) - 1
        if to <= k:
            return 0
        ncu, duration = self.ncu[k:to], self.duration[k:to]
        leaves = tally(duration, ncu, int(duration.max()) + 1)
        part = self.leaving[t : t + leaves.size]
        np.add(part, leaves, part)
        self.units += upto[to] - upto[k]
        self.upto_slot.append((to, t))
        self.started = to
        return (np.maximum(0, t - self.due[k:to]) * ncu).sum() if t > self.soonest[k] else 0

    def pieces(self) -> list[Start]:
        """Starts in the order of the queue."""
        names = [self.instance.jobs[j].id for j in self.instance.queue[: self.started].tolist()]
        upto = np.array(self.upto_slot, dtype=np.int64).reshape(-1, 2)
        slots = np.repeat(upto[:, 1], np.diff(upto[:, 0], prepend=0))
        pairs = zip(names, slots.tolist(), strict=True)
        return [Start(job=name, start=slot) for name, slot in pairs]

    def queued(self) -> list[tuple[int, int, bool]]:
        """The range."""
        left = self.instance.columns.duration[self.started : self.come].tolist()
        return [(self.started + i, slots, False) for i, slots in enumerate(left)]


class EvictingQueue(CappedQueue):
    """Load above the cap is evicted, last started first, to the head of the queue, with its remaining duration."""

    def empty(self) -> None:
        """Nobody has come."""
        self.come = 0
        self.line: list[tuple[int, int, bool]] = []  # the head last
        self.running: list[tuple[int, int, int]] = []  # index, start, end
        self.over: list[tuple[int, int, int | None]] = []  # index, start, slot of eviction

    @property
    def waiting(self) -> int:
        """Jobs in the queue."""
        return len(self.line)

    @property
    def starts(self) -> int:
        """Of what runs, has ended or was evicted."""
        return len(self.running) + len(self.over)

    def join(self) -> None:
        """What has ended is forgotten; what is submitted goes to the tail."""
        self.over += [(i, start, None) for i, start, end in self.running if end <= self.now]
        self.running = [run for run in self.running if run[2] > self.now]
        come = int(self.instance.arrived[self.now])
        jobs = [self.instance.jobs[j] for j in self.instance.queue[self.come : come].tolist()]
        fresh = [(self.come + i, job.duration, job.evicted) for i, job in enumerate(jobs)]
        self.line = fresh[::-1] + self.line
        self.come = come

    def serve(self, limit: int, most: float) -> float:
        """Evict, then start from the head while it fits."""
        t, ncu = self.now, self.ncu
        late: float = 0
        while self.running and self.units > limit:
            i, start, end = self.running.pop()
            self.over.append((i, start, t))
            self.line.append((i, end - t, True))
            self.units -= ncu.item(i)
            self.leaving[min(end, self.horizon)] -= ncu[i]
        while self.line and self.units + ncu.item(self.line[-1][0]) <= most:
            i, left, evicted = self.line.pop()
            self.running.append((i, t, t + left))
            self.units += ncu.item(i)
            self.leaving[min(t + left, self.horizon)] += ncu[i]
            if not evicted:
                late += ncu.item(i) * max(0, t - int(self.due[i]))
        return late

    def pieces(self) -> list[Start]:
        """Runs by start, then by the order of the queue."""
        every = sorted([*self.over, *((i, start, None) for i, start, _ in self.running)], key=lambda run: (run[1], run[0]))
        names = [self.instance.jobs[j].id for j in self.instance.queue.tolist()]
        return [Start(job=names[i], start=start, until=until) for i, start, until in every]

    def queued(self) -> list[tuple[int, int, bool]]:
        """From the head on."""
        return self.line[::-1]


def queue(instance: VccInstance) -> CappedQueue:
    """The queue of an instance."""
    return EvictingQueue(instance) if instance.preempt else FifoQueue(instance)
