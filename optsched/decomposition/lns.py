"""Windows: some jobs chosen anew, exactly, all others as they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from optsched.decomposition.pricing import NEAR, Pricing
from optsched.decomposition.restricted_mip import Formulation, solve_restricted_mip
from optsched.decomposition.share import Share
from optsched.instances.base import Bools, Floats, Ints
from optsched.monitor import Monitor
from optsched.problems.packing import NONE, Packing
from optsched.problems.ranks import least
from optsched.problems.time_indexed import ALMOST, TimeIndexedProblem
from optsched.stop import Clock

GAP, NODES = 1e-4, 1
FEWEST = 10  # jobs of a window
NOTHING = np.zeros(0, dtype=np.int64)
MOST_ENTRIES = 100_000  # of a strip's rows
LOSS = 0.2  # of a chosen job's mean value: what a start that is flush may be behind the job's best
OPTIONS = 1.5  # a job of a strip, in the mean
LEAST_OPTIONS = 600  # of a strip of few jobs, that many can be chosen from in a second


class Windows(ABC):
    """Windows one after the other, larger where they bring nothing.

    Attributes
    ----------
    begin : share of the time after which they are worth solving: before, what they gain is lost again.
    cold : share of the time after which ruins keep hardly anything that is worse.
    between : slots at which there are ruins before each. first : jobs in a window at first.
    worth, patience : of the objective, what one has to gain; windows without, after which they are twice as large.
    """

    begin: ClassVar[float]
    cold: ClassVar[float]
    between: ClassVar[int]
    first: ClassVar[int]
    worth: ClassVar[float]
    patience: ClassVar[int]

    def __init__(self, pricing: Pricing, rng: np.random.Generator, jobs: int | None = None) -> None:
        self.pricing, self.rng = pricing, rng
        self.jobs, self._idle = jobs or self.first, 0

    def __call__(self, packing: Packing, slot: int, outer: Monitor, share: Share, seconds: float | None = None) -> None:
        """Choose the options of jobs at a slot anew, within a share; half as many from then on where that takes too long."""
        p, before, clock = self.pricing.program, packing.value, Clock()
        rows, has = self.options(packing, slot, share)
        if not len(rows):
            return
        self._choose(packing, rows, has, outer, seconds)
        if seconds is not None and clock.elapsed_s() > seconds:
            self.jobs, self._idle = max(FEWEST, min(self.jobs, len(np.unique(p.job[rows]))) // 2), 0
            return
        self._idle = self._idle + 1 if packing.value - before < self.worth * abs(packing.value) else 0
        if self._idle == self.patience:
            self.jobs, self._idle = min(2 * self.jobs, len(p.demand)), 0

    @abstractmethod
    def options(self, packing: Packing, slot: int, share: Share) -> tuple[Ints, Ints]:
        """Options to choose from, with those that the jobs have, and these; in order."""

    def formulation(self, part: TimeIndexedProblem) -> Formulation:
        """Of a window's program."""
        return "state"

    def _choose(self, packing: Packing, rows: Ints, has: Ints, outer: Monitor, seconds: float | None) -> None:
        p = self.pricing.program
        free = _free(packing, has)
        first, last = int(p.start[rows].min()), int((p.start[rows] + p.duration[p.job[rows]]).max())
        renamed, job = np.unique(p.job[rows], return_inverse=True)
        part = replace(
            p,
            job=job,
            place=p.place[rows],
            start=p.start[rows] - first,
            value=p.value[rows],
            demand=p.demand[renamed],
            duration=p.duration[renamed],
            capacity=free[:, first:last],
            constant=0.0,
        )
        start = np.searchsorted(rows, has)
        found = solve_restricted_mip(part, start, GAP, NODES, outer, self.formulation(part), seconds).chosen
        gained = part.objective(found) - part.objective(start)
        if gained <= 1e-12 * abs(packing.value):
            return
        value = packing.value + gained
        for option in has.tolist():
            packing.remove(int(p.job[option]))
        for option in rows[found].tolist():
            packing.insert(option, 0.0)
        packing.value = value


def windows(pricing: Pricing, rng: np.random.Generator, jobs: int | None = None) -> Windows:
    """Those that suit a program: where overload has a price jobs need not be flush, and strips of time are chosen anew.

    So they are where places hold few jobs at a time: there HiGHS's cuts are worth more than thousands of ruins, and early.
    """
    if pricing.program.overload_price is not None:
        return Strips(pricing, rng, jobs)
    return (CrowdedStrips if pricing.few else Flush)(pricing, rng, jobs)


class Flush(Windows):
    """Jobs nearest to a slot, with starts and ends that are flush with others' (normal patterns) besides their pool."""

    begin, cold, between = 0.8, 1.0, 10
    first, worth, patience = 25, 5e-5, 20

    def options(self, packing: Packing, slot: int, share: Share) -> tuple[Ints, Ints]:
        """Of the pool, or flush; in the share's places."""
        p = self.pricing.program
        jobs = _near(self.pricing, packing, slot, self.jobs, self.rng, share)
        has = packing.option[jobs]
        has = np.sort(has[has != NONE])
        theirs = np.concatenate([NOTHING, *(packing.rows(job) for job in np.sort(jobs).tolist())])
        wanted = _flush(self.pricing, packing, theirs, has, _free(packing, has))
        return np.union1d(has, theirs[wanted & np.isin(p.place[theirs], share.places)]), has


class Strips(Windows):
    """All jobs that run, or could run, in a strip of time and nowhere else: what they have, and what is least behind by price.

    How wide the strip is follows from how many jobs are to be in it: those whose runs reach least far from the slot.
    """

    begin, cold, between = 0.3, 0.3, 2
    first, worth, patience = 200, 1e-6, 10

    def __init__(self, pricing: Pricing, rng: np.random.Generator, jobs: int | None = None) -> None:
        super().__init__(pricing, rng, jobs)
        p = pricing.program
        self._pool = np.flatnonzero(pricing.pool & (pricing.reduced > -NEAR * p.value))
        self._behind = (pricing.earns[p.job] - pricing.reduced)[self._pool]

    def formulation(self, part: TimeIndexedProblem) -> Formulation:
        """In cover form while its rows are short."""
        from optsched.models.time_indexed import entries

        return "cover" if entries(part) <= MOST_ENTRIES else "state"

    def options(self, packing: Packing, slot: int, share: Share) -> tuple[Ints, Ints]:
        """Of the pool, inside the strip."""
        p, has = self.pricing.program, packing.option
        runs = has != NONE
        open_ = share.jobs[p.job[self._pool]] & np.isin(p.place[self._pool], share.places)
        pool, behind = self._pool[open_], self._behind[open_]
        far = np.maximum(slot - p.start[pool], p.start[pool] + p.duration[p.job[pool]] - slot)
        reach = np.full(len(has), np.inf)
        idle = ~runs[p.job[pool]]
        np.minimum.at(reach, p.job[pool[idle]], far[idle])
        start = p.start[has[runs]]
        reach[runs] = np.maximum(slot - start, start + p.duration[runs] - slot)
        reach[~share.jobs] = np.inf
        could = int(np.isfinite(reach).sum())
        most = min(self.jobs, max(10, could // 2), could)  # a window of all jobs would be the same every time
        inside = np.zeros(len(has), dtype=bool)
        inside[np.argsort(reach, kind="stable")[:most]] = True
        width = reach[inside].max(initial=0.0)
        wanted = np.flatnonzero((far <= width) & inside[p.job[pool]])
        wanted = wanted[least(behind[wanted], max(int(OPTIONS * most), LEAST_OPTIONS))]
        mine = np.sort(has[runs & inside])
        return np.union1d(mine, pool[wanted]), mine


class CrowdedStrips(Strips):
    """The same where capacity is hard and a place holds few jobs at a time."""

    begin = 0.1


def _free(packing: Packing, has: Ints) -> Floats:
    """What is left when these leave; what others overload is paid whatever they do."""
    free = packing.residual_capacity + packing.program.load(has)
    return free if packing.program.overload_price is None else np.maximum(free, 0.0)


def _near(pricing: Pricing, packing: Packing, slot: int, most: int, rng: np.random.Generator, share: Share) -> Ints:
    """Jobs that could pay, the nearest to the slot in their own lengths first; of several places one's, and those that lose."""
    p = pricing.program
    pays = pricing.some & share.jobs & (pricing.density * p.duration * p.demand > -NEAR * pricing.worth)
    runs = packing.option != NONE
    if len(p.capacity) > 1:
        there = runs & (p.place[packing.option] == rng.choice(share.places))
        pays &= (pricing.regret(packing) > 0) | there
    could = np.flatnonzero(pays)
    option = packing.option[could]
    begin = np.where(option != NONE, p.start[option], pricing.first[could])
    end = np.where(option != NONE, begin + p.duration[could], pricing.last[could])
    away = np.maximum(0, np.maximum(begin - slot, slot - end)) + np.abs((begin + end) / 2 - slot) / 4
    away = away * rng.uniform(0.5, 1.5, len(could))
    half = max(10, len(could) // 2)  # a window of all jobs would be the same every time
    return could[np.argsort(away, kind="stable")[: min(most, half)]]


def _flush(pricing: Pricing, packing: Packing, rows: Ints, has: Ints, free: Floats) -> Bools:
    """Which of these options fit beside the others and are of the pool, or begin or end where others, or they, do."""
    p = pricing.program
    job, place, start = p.job[rows], p.place[rows], p.start[rows]
    end = start + p.duration[job]
    edge = np.ones((len(free), free.shape[1] + 1), dtype=bool)
    edge[:, 1:-1] = np.diff(packing.residual_capacity, axis=1) != 0
    edge[p.place[has], p.start[has]] = edge[p.place[has], p.start[has] + p.duration[p.job[has]]] = True
    mean = abs(packing.value - p.constant) / max(1, int((packing.option != NONE).sum()))
    behind = pricing.earns[job] - pricing.reduced[rows]
    keep = pricing.pool[rows] | ((behind <= LOSS * mean) & (edge[place, start] | edge[place, end]))
    return np.asarray(keep & _fits(free, p.demand[job], place, start, end))


def _fits(free: Floats, demand: Floats, place: Ints, start: Ints, end: Ints) -> Bools:
    fits = np.ones(len(demand), dtype=bool)
    lacks = np.zeros((len(free), free.shape[1] + 1), dtype=np.int64)
    for asked in np.unique(demand):
        mine = demand == asked
        np.cumsum(free < asked - ALMOST, axis=1, out=lacks[:, 1:])
        fits[mine] = lacks[place[mine], end[mine]] == lacks[place[mine], start[mine]]
    return fits
