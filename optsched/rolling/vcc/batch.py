"""Many data centres at once, slot by slot in step: what agents are trained in.

The queues are those of `queue` (a test holds both to the same costs), counted for all at once; what an agent sees of carbon
does not depend on what it does and is made once a case. The reward tells at once what a decision is worth: holding a job of
NCU n and d slots back for a slot saves n (c_t - c_{t+d}), for it then runs in the slots t+1 .. t+d and not in t .. t+d-1; an
hour beyond the horizon costs one unfinished. And what a day will lack is charged as soon as no cap can make up for it. Over an
episode both, and what comes late, add up to minus the objective, but for a constant of the case.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optsched.decomposition.vcc.relaxation import StaircaseRelaxation
from optsched.errors import OptschedError
from optsched.instances.base import Bools, Floats, Ints
from optsched.instances.vcc import VccInstance
from optsched.problems.vcc import JUST_BELOW, round_down_to_feasible
from optsched.rl.vcc.carbon import Regression
from optsched.rl.vcc.observation import LONGEST, REMEMBERED_DAYS, Queues, beyond, days_asked, outlook, shares
from optsched.rolling.forecast import forecast as named_forecast
from optsched.rolling.vcc.beliefs import believed_carbon

ROUNDING = 1e-9  # of a share


@dataclass(frozen=True)
class Case:
    """What an episode needs of an instance, without its jobs' names, and what an agent sees of its carbon.

    Attributes
    ----------
    ncu, units, duration, due
        Of the jobs in the order of the queue, shape (J,); durations within the horizon.
    arrived, submitted
        Jobs, and NCU-hours of them, by slot, shape (T,).
    room, free
        What the inflexible load leaves, in whole units and NCU, shape (T,).
    carbon, ends_day
        By slot, shape (T,).
    whole, unit, capacity
        The capacity in units, NCU of a unit, the capacity in NCU.
    priced, delay, limit, daily, unfinished, fraction, end
        Prices of an NCU in a slot and a unit of carbon, of a slot's delay beyond the limit, of an NCU-hour that the day lacks
        or that is not run; the share of a day's work that is demanded; an unfinished NCU-hour in carbon.
    work, fixed, scale
        NCU-slots; what the inflexible load costs; what a slot of the flexible load costs in the mean, the unit of rewards.
    numbers, path
        Of the outlook of each slot, shapes (T, OUTLOOK) and (T, PATH).
    plan
        Jobs that are started by the end of each slot where everything is known, shape (T,); None where nobody has planned.
    """

    ncu: Floats
    units: Ints
    duration: Ints
    due: Ints
    arrived: Ints
    submitted: Floats
    room: Ints
    free: Floats
    carbon: Floats
    ends_day: Bools
    whole: int
    unit: float
    capacity: float
    priced: float
    delay: float
    limit: int
    daily: float
    unfinished: float
    fraction: float
    end: float
    work: float
    fixed: float
    scale: float
    day: int
    h: float
    numbers: Floats
    path: Floats
    plan: Ints | None = None


def views(instance: VccInstance, forecast: str = "fitted", carbon: Regression | None = None) -> tuple[Floats, Floats]:
    """`numbers` and `path` of a case, of what `carbon` foretells where it is given."""
    believe, slots = named_forecast(forecast), instance.horizon
    beliefs = [believed_carbon(instance, t, believe, 0) for t in range(slots)]
    seen, day, end = np.array([row[0] for row in beliefs]), instance.day_slots, beyond(instance)
    past = [seen[max(0, t - REMEMBERED_DAYS * day + 1) : t + 1] for t in range(slots)]
    if carbon is not None:
        beliefs = [carbon.foretold(past[t], beliefs[t], t % day) for t in range(slots)]
    found = [outlook(past[t], beliefs[t], t % day, day, end) for t in range(slots)]
    return np.array([view.numbers for view in found], np.float32), np.array([view.path for view in found])


def case(instance: VccInstance, forecast: str = "fitted", planned: bool = False, carbon: Regression | None = None) -> Case:
    """Of an instance from its first slot on, whose jobs are never evicted; agents believe what `carbon` foretells, if given.

    Raises
    ------
    OptschedError : jobs may be evicted, or some run already.
    """
    begun = instance.now or instance.running.any() or instance.asked_ncu_h or instance.allotted_ncu_h
    if instance.preempt or begun:
        raise OptschedError("agents learn from instances without evictions, and from the first slot on")
    if instance.delay_limit_slots < 1:
        raise OptschedError("agents learn from instances whose jobs may wait for a slot")
    jobs, units, h = instance.columns, instance.units, instance.slot_h
    numbers, path = views(instance, forecast, carbon)
    priced = instance.carbon_price * instance.kw_per_ncu * h
    idle = instance.carbon_price * h * (instance.idle_kw + instance.kw_per_ncu * instance.inflexible)
    mean = priced * float(instance.carbon.mean()) * instance.work / instance.horizon
    return Case(
        ncu=jobs.ncu,
        units=units.ncu.astype(np.int64),
        duration=np.minimum(jobs.duration, instance.horizon),
        due=instance.due,
        arrived=instance.arrived,
        submitted=np.bincount(jobs.submitted, instance.fresh_ncu_h, instance.horizon).astype(float),
        room=units.room.astype(np.int64),
        free=np.maximum(0.0, instance.capacity_ncu - instance.inflexible),
        carbon=instance.carbon,
        ends_day=instance.ends_day,
        whole=units.capacity,
        unit=float(units.grid.value(1)),
        capacity=instance.capacity_ncu,
        priced=priced,
        delay=instance.delay_penalty_per_ncu_h * h,
        limit=max(1, instance.delay_limit_slots),
        daily=instance.daily_penalty_per_ncu_h,
        unfinished=instance.unfinished_penalty_per_ncu_h,
        fraction=instance.daily_fraction,
        end=beyond(instance),
        work=instance.work,
        fixed=float(idle @ instance.carbon),
        scale=max(mean, 1e-12),
        day=instance.day_slots,
        h=h,
        numbers=numbers,
        path=path,
        plan=cheapest(instance) if planned else None,
    )


def cheapest(instance: VccInstance) -> Ints:
    """Jobs started by the end of each slot in the cheapest staircase where nothing binds but the day's demand."""
    relaxed = StaircaseRelaxation(instance)
    cost = relaxed.lacking(relaxed.range[0][:, 0])
    path = relaxed.with_daily(np.zeros(instance.horizon), cost)
    return round_down_to_feasible(instance, path.started.astype(float)).started


class Batch:
    """Queues of B cases of the same horizon and slots, all in the same slot.

    Attributes
    ----------
    cost
        What each has cost so far without its inflexible load, shape (B,).
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.slots, self.size = len(cases[0].carbon), len(cases)
        self.day, self.h, self.ends_day = cases[0].day, cases[0].h, cases[0].ends_day
        self.upto = [[0, *np.cumsum(held.units).tolist()] for held in cases]
        self.arrived = np.array([held.arrived for held in cases])
        jobs = max(len(held.ncu) for held in cases)

        def columns(part: str, kind: type) -> np.ndarray:
            found: np.ndarray = np.zeros((self.size, jobs), kind)
            for b, held in enumerate(cases):
                found[b, : len(held.ncu)] = getattr(held, part)
            return found

        def by(part: str) -> np.ndarray:
            return np.array([getattr(held, part) for held in cases])

        self.ncu, self.units = columns("ncu", float), columns("units", np.int64)
        self.duration, self.due = columns("duration", np.int64), columns("due", np.int64)
        self.unit, self.room, self.whole, self.capacity = by("unit"), by("room"), by("whole"), by("capacity")
        self.free, self.priced, self.carbon, self.delay = by("free"), by("priced"), by("carbon"), by("delay")
        after = np.repeat(by("end")[:, None], self.slots + 1, axis=1)
        self.dear = self.priced[:, None] * np.concatenate([self.carbon, after], axis=1)
        self.limit, self.daily, self.unfinished, self.fraction = by("limit"), by("daily"), by("unfinished"), by("fraction")
        self.submitted, self.work, self.scale = by("submitted"), by("work"), by("scale")
        ends = np.flatnonzero(self.ends_day)
        begins = np.concatenate([[0], ends[:-1] + 1])
        whole_day = np.add.reduceat(self.submitted, begins, axis=1)
        self.demand = self.fraction[:, None] * np.repeat(whole_day, ends - begins + 1, axis=1)
        self.after = np.repeat(ends, ends - begins + 1) - np.arange(self.slots)
        self.numbers, self.path = by("numbers"), by("path")
        self.last, self.most = map(np.array, zip(*(days_asked(held.submitted, self.day) for held in cases), strict=True))
        self.reset()

    def reset(self) -> Floats:
        """Slot 0; what is seen there, shape (B, SIZE)."""
        size = self.size
        self.now = 0
        self.started = np.zeros(size, np.int64)
        self.come = self.arrived[:, 0].copy()
        self.load = np.zeros(size, np.int64)
        self.leaving = np.zeros((size, 2 * self.slots + 2), np.int64)
        self.waiting = np.zeros((size, self.slots + 1))  # NCU by duration
        self.allotted, self.asked = np.zeros(size), self.submitted[:, 0].copy()
        self.cost, self.done = np.zeros(size), np.zeros(size)
        self._count(np.zeros(size, np.int64), self.come, 1.0)
        return self.seen()

    def _count(self, first: Ints, to: Ints, sign: float) -> tuple[Ints, Ints]:
        """Jobs from `first` to before `to` join (1) or leave (-1) what waits; where they are in the columns."""
        counts = to - first
        row = np.repeat(np.arange(self.size), counts)
        column = np.arange(int(counts.sum())) + np.repeat(first - np.cumsum(counts) + counts, counts)
        width = self.waiting.shape[1]
        index = row * width + self.duration[row, column]
        self.waiting += sign * np.bincount(index, self.ncu[row, column], self.size * width).reshape(self.size, width)
        np.maximum(self.waiting, 0.0, out=self.waiting)
        if sign < 0:
            self.waiting[to == self.come] = 0.0  # exactly, whatever the rounding
        return row, column

    def seen(self) -> Floats:
        """What each agent sees, shape (B, SIZE)."""
        t, slot = self.now, self.now % self.day
        waiting = np.zeros((self.size, LONGEST))
        upto = min(LONGEST, self.waiting.shape[1] - 1)
        waiting[:, :upto] = self.waiting[:, 1 : upto + 1]
        waiting[:, LONGEST - 1] += self.waiting[:, LONGEST + 1 :].sum(axis=1)
        head = np.minimum(self.started, self.duration.shape[1] - 1)
        waited = t - (self.due[np.arange(self.size), head] - self.limit)
        queues = Queues(
            waiting,
            self.load * self.unit,
            self.free[:, t],
            self.capacity,
            self.asked,
            self.allotted,
            self.last[:, t],
            self.most[:, t],
            self.fraction,
            np.full(self.size, (self.day - slot) * self.h),
            np.where(self.come > self.started, waited / self.limit, 0.0),
        )
        return np.concatenate([self.numbers[:, t], shares(queues, self.path[:, t])], axis=1).astype(np.float32)

    def step(self, share: Floats) -> tuple[Floats, bool]:
        """Start these shares of what waits, shape (B,); the rewards, and whether the horizon is over."""
        t, count = self.now, self.size
        to, cap = self.started.copy(), np.ones(count)
        for b in range(count):
            k, end, upto = int(self.started[b]), int(self.come[b]), self.upto[b]
            if k == end:
                continue
            base, running = upto[k], int(self.load[b])
            part = share[b] * (upto[end] - base) * (1 + ROUNDING)
            wanted = end if share[b] >= 1 else bisect_right(upto, base + part, k, end + 1) - 1
            if wanted < end:
                cap[b] = min(1.0, (running + upto[wanted + 1] - base) / self.whole[b] * JUST_BELOW)
            to[b] = max(k, min(wanted, bisect_right(upto, base + int(self.room[b, t]) - running, k, end + 1) - 1))
        row, column = self._count(self.started, to, -1.0)
        units, lasts = self.units[row, column], self.duration[row, column]
        np.add.at(self.leaving, (row, t + lasts), units)
        late = np.bincount(row, self.ncu[row, column] * np.maximum(0, t - self.due[row, column]), count)
        self.load += np.bincount(row, units, count).astype(np.int64)
        self.started = to
        before = self._lost(t, int(self.after[t]) + 1)
        self.allotted += cap * self.capacity * self.h
        lost = self._lost(t, int(self.after[t]))
        running = self.load * self.unit
        self.done += running
        later = self.dear[:, t : t + 1] - self.dear[:, t + 1 : t + 1 + self.slots]
        saved = (self.waiting[:, 1:] * later).sum(axis=1)
        self.cost += self.delay * late + self.priced * running * self.carbon[:, t]
        fines = self.delay * late + self.daily * (lost - before)
        if self.ends_day[t]:
            self.cost += self.daily * lost
            self.allotted, self.asked = np.zeros(count), np.zeros(count)
        self.now += 1
        over = self.now == self.slots
        if over:
            self.cost += self.unfinished * self.h * (self.work - self.done)
        else:
            self.load -= self.leaving[:, self.now]
            come = self.arrived[:, self.now]
            self._count(self.come, come, 1.0)
            self.come = come.copy()
            self.asked += self.submitted[:, self.now]
        return (saved - fines) / self.scale, over

    def _lost(self, t: int, left: int) -> Floats:
        """NCU-hours that the day of slot `t` will lack even with cap 1 in so many slots to come, shape (B,)."""
        return np.asarray(np.maximum(0.0, self.demand[:, t] - self.allotted - self.capacity * self.h * left))

    def planned(self) -> Floats:
        """The shares that the cases' plans start next, shape (B,)."""
        share = np.ones(self.size)
        for b, held in enumerate(self.cases):
            assert held.plan is not None
            k, end, upto = int(self.started[b]), int(self.come[b]), self.upto[b]
            if end > k:
                to = min(end, max(k, int(held.plan[self.now])))
                share[b] = (upto[to] - upto[k]) / (upto[end] - upto[k])
        return share
