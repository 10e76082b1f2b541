"""What a FIFO queue can do at all: how many jobs have been started by the end of each slot, and the highest cap for that.

The schedules that some cap reaches are the staircases that never run ahead of the arrivals and keep the whole load within the
data centre where something starts. The daily penalty wants high caps, so of all caps with the same starts the highest is best:
1 where the queue is empty or its head does not fit into the data centre anyway, else just too little for the head.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.instances.grid import Whole, tally, zeros_like
from optsched.instances.vcc import VccInstance
from optsched.schedules.vcc import Start, VccSchedule, lacks

JUST_BELOW = 1 - 2.0**-50  # a few roundings below what the head needs, so that its decimals are below it too


@dataclass(frozen=True)
class Staircase:
    """Jobs started by the end of each slot, shape (T,): not falling, at most `instance.arrived`."""

    instance: VccInstance
    started: Ints

    @cached_property
    def start(self) -> Ints:
        """The slot in which each started job starts, in the order of the queue."""
        return np.repeat(np.arange(len(self.started)), np.diff(self.started, prepend=0))

    @cached_property
    def units(self) -> Whole:
        """Load of the started jobs by slot, without what ran before, shape (T,), in whole units."""
        count, slots = len(self.start), self.instance.horizon
        ncu, end = self.instance.units.ncu[:count], self.start + self.instance.columns.duration[:count]
        change = tally(self.start, ncu, slots + 1) - tally(np.minimum(end, slots), ncu, slots + 1)
        return np.cumsum(change)[:slots]

    @cached_property
    def load(self) -> Floats:
        """The same in NCU."""
        return self.instance.units.grid.value(self.units)

    @cached_property
    def empty(self) -> Bools:
        """Whether the queue is empty after each slot's starts."""
        return np.asarray(self.started == self.instance.arrived)

    @cached_property
    def wanted(self) -> Whole:
        """Load and the job at the head, if there is one, after each slot's starts, shape (T,), in whole units."""
        units = self.instance.units
        return self.units + units.running + np.where(self.empty, 0, np.append(units.ncu, 0)[self.started])

    @cached_property
    def head(self) -> Floats:
        """NCU of the job at the head after each slot's starts, 0 where there is none."""
        return np.where(self.empty, 0.0, np.append(self.instance.columns.ncu, 0.0)[self.started])

    @cached_property
    def blocked(self) -> Bools:
        """Whether the head does not fit into the data centre, so that any cap starts no more."""
        return np.asarray(~self.empty & (self.wanted > self.instance.units.room), dtype=bool)

    @cached_property
    def cap(self) -> Floats:
        """The highest cap that starts no more, but for a few roundings, as a fraction, shape (T,)."""
        capacity = self.instance.units.capacity
        below = np.asarray(self.wanted / capacity, dtype=float) * JUST_BELOW
        return np.where(self.empty | self.blocked, 1.0, np.clip(below, 0.0, 1.0))

    @property
    def filled(self) -> Floats:
        """NCU-hours by day of the caps in the slots that leave the queue waiting, shape (D,)."""
        caps = np.where(self.empty, 0.0, self.cap * self.instance.capacity_ncu * self.instance.slot_h)
        return np.bincount(self.instance.day, caps, minlength=len(self.instance.asked)).astype(float)

    def schedule(self) -> VccSchedule:
        """Caps and starts."""
        names = [self.instance.jobs[j].id for j in self.instance.queue[: len(self.start)].tolist()]
        starts = (Start(job=n, start=s) for n, s in zip(names, self.start.tolist(), strict=True))
        return VccSchedule.model_construct(cap=tuple(self.cap.tolist()), starts=tuple(starts))

    def cost(self) -> float:
        """What the referee will say of its schedule."""
        instance, h = self.instance, self.instance.slot_h
        jobs = instance.columns
        power = instance.idle_kw + instance.kw_per_ncu * (instance.inflexible + instance.running + self.load)
        late = np.maximum(0, self.start - instance.due[: len(self.start)])
        waited = (late * jobs.ncu[: len(self.start)]).sum()  # `@` over all jobs wakes threads
        undone = instance.work - float(self.load.sum())
        return float(
            instance.carbon_price * h * (power @ instance.carbon)
            + instance.delay_penalty_per_ncu_h * h * waited
            + instance.daily_penalty_per_ncu_h * lacks(instance, self.cap).sum()
            + instance.unfinished_penalty_per_ncu_h * h * undone
        )


def round_down_to_feasible(instance: VccInstance, wanted: Floats, like: Staircase | None = None, until: int = 0) -> Staircase:
    """The staircase nearest below a wanted one: by each slot at most `wanted` jobs (rounded), and no more than fit.

    Parameters
    ----------
    wanted : jobs to have started by the end of each slot, shape (T,); may be fractional, as from a relaxation.
    like : a staircase that fits, and that is what is wanted in the slots before `until`.
    """
    slots, ncu = instance.horizon, instance.units.ncu
    upto = instance.units.upto
    may = np.minimum(instance.arrived, np.floor(np.maximum.accumulate(wanted) + 0.5).astype(np.int64)).tolist()
    room = (instance.units.room - instance.units.running).tolist()
    duration = np.minimum(instance.columns.duration, slots)
    leaves = zeros_like(ncu, 2 * slots + 1)
    started, k, load = np.zeros(slots, dtype=np.int64), 0, 0
    if like is not None and until:
        started[:until] = like.started[:until]
        k, load = int(started[until - 1]), like.units[until - 1]
        end = like.start[:k] + duration[:k]
        leaves += np.where(np.arange(len(leaves)) < until, 0, tally(end, ncu[:k], len(leaves)))
    for t in range(until, slots):
        load -= leaves[t]
        if may[t] > k and room[t] > load:
            to = bisect_right(upto, upto[k] + room[t] - load, k, may[t] + 1) - 1
            if to > k:
                gone = tally(duration[k:to], ncu[k:to], int(duration[k:to].max()) + 1)
                leaves[t : t + len(gone)] += gone
                load += upto[to] - upto[k]
                k = to
        started[t] = k
    return Staircase(instance, started)


def from_schedule(instance: VccInstance, schedule: VccSchedule) -> Staircase:
    """The staircase of a schedule."""
    slots = np.array([start.start for start in schedule.starts], dtype=np.int64)
    return Staircase(instance, np.cumsum(np.bincount(slots, minlength=instance.horizon))[: instance.horizon])
