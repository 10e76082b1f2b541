"""Time-indexed problems: at most one (place, start) option a job under a capacity profile, hard or with an overload price."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import TypeVar

import numpy as np

from optsched.instances.base import Bools, Floats, I, Ints
from optsched.instances.grid import Grid
from optsched.problems.ranks import begins

T = TypeVar("T")

MOST_UNITS = 1e9  # in all: with more, a solver's tolerance of 1e-6 on integers would be units
USUAL_UNITS = 1e6
CHUNK = 10**7  # numbers worked out at once
ROUNDING = 4e-16  # relative, of a number or a sum of two
ALMOST = 1e-9  # what may be lacking of a hard capacity
SAFE = 1e-9  # relative: an option worth its own overload but for rounding is kept


def built_once(build: Callable[[I], T]) -> Callable[[I], T]:
    """Keep what is built of an instance with it, as its columns are: a solve asks for it up to three times."""

    @wraps(build)
    def built(instance: I) -> T:
        key = f"{build.__module__}.{build.__qualname__}"
        if key not in instance.__dict__:
            instance.__dict__[key] = build(instance)
        found: T = instance.__dict__[key]
        return found

    return built


@dataclass(frozen=True)
class TimeIndexedProblem:
    """Options as columns, sorted by job, place and start; slots count from 0.

    Attributes
    ----------
    job, place, start : shape (n,). value : objective of choosing the option, shape (n,).
    demand, duration : by job, shape (J,). capacity : by place and slot, shape (P, T).
    overload_price : per unit and slot above capacity; None if the capacity is hard.
    constant : objective of the empty schedule.
    """

    job: Ints
    place: Ints
    start: Ints
    value: Floats
    demand: Floats
    duration: Ints
    capacity: Floats
    overload_price: float | None
    constant: float
    name: str = "program"

    def __len__(self) -> int:
        return len(self.job)

    @property
    def integral(self) -> bool:
        """Whether every load is an integer in every schedule."""
        return bool(np.all(self.demand % 1 == 0) and np.all(self.capacity % 1 == 0))

    @cached_property
    def step(self) -> float:
        """What every load is a multiple of; 0 where demands are no whole numbers."""
        some = self.demand[:1].size > 0 and bool(np.all(self.demand % 1 == 0)) and float(self.demand.max()) <= MOST_UNITS
        return float(np.gcd.reduce(self.demand.astype(np.int64))) if some else 0.0

    @property
    def pair(self) -> Ints:
        """Job and place of each option as one number, in order, shape (n,)."""
        return np.asarray(self.job * len(self.capacity) + self.place)

    @cached_property
    def kinds(self) -> tuple[Floats, Ints]:
        """The demands that there are, in order, shape (K,), and which of them each job has, shape (J,)."""
        demands, kind = np.unique(self.demand, return_inverse=True)
        return demands, kind

    @cached_property
    def spans(self) -> tuple[Ints, Ints]:
        """The first slot in which each job may run and the one after its last, shape (J,) each; 0 and 0 without an option."""
        first, last = np.zeros((2, len(self.demand)), dtype=np.int64)
        own = begins(self.job)
        if len(own):
            some = self.job[own]
            first[some] = np.minimum.reduceat(self.start, own)
            last[some] = np.maximum.reduceat(self.start, own) + self.duration[some]
        return first, last

    @cached_property
    def within(self) -> Floats:
        """The most load that exceeds no capacity, shape (P, T); not less than that by rounding."""
        if self.step == 0:
            return self.capacity
        near = ALMOST if self.overload_price is None else 0.0
        return np.asarray(np.floor((self.capacity + near) / self.step) * self.step)

    @cached_property
    def dearer(self) -> Floats | None:
        """What one step of load more costs at least, shape (P, T); None where it is forbidden, or loads have no steps.

        Capacities are read as decimals elsewhere, and overload may cost 1e15: what is nothing but rounding costs nothing.
        """
        if self.overload_price is None or self.step == 0:
            return None
        above = self.within + self.step
        over = np.maximum(0.0, above - self.capacity - ROUNDING * (above + self.capacity))
        return np.asarray(self.overload_price * over)

    def rent(self, prices: Floats) -> Floats:
        """The most that a load earns at these prices, less its overload, shape (P, T): what capacity adds to the dual value.

        Prices are not negative, and not above the overload price.
        """
        return prices * self.within + (0.0 if self.dearer is None else np.maximum(0.0, self.step * prices - self.dearer))

    def supply(self, prices: Floats) -> Floats:
        """The load that earns the most, shape (P, T)."""
        return self.within if self.dearer is None else self.within + self.step * (self.step * prices > self.dearer)

    def in_units(self) -> TimeIndexedProblem:
        """The same in whole units of the grid of its demands and capacities, where these are few enough for a solver."""
        whole = float(self.demand.sum())
        capacity = np.minimum(self.capacity, math.ceil(whole))  # more than all jobs together is no limit
        grid = Grid.of(self.demand, capacity.ravel())
        if not grid.wide and 10.0**grid.digits * whole <= MOST_UNITS:
            unit = 10.0**-grid.digits
            demand, capacity = (np.asarray(grid.whole(column), dtype=float) for column in (self.demand, capacity))
        else:  # at least, no demand is lost among a solver's tolerances because it is counted in too large a unit
            unit = 2.0 ** math.floor(math.log2(whole / USUAL_UNITS)) if whole > 0 else 1.0
            demand, capacity = self.demand / unit, capacity / unit
        price = None if self.overload_price is None else self.overload_price * unit
        return replace(self, demand=demand, capacity=capacity, overload_price=price)

    def where(self, keep: Bools) -> TimeIndexedProblem:
        """The program with only the options in `keep`."""
        return replace(self, job=self.job[keep], place=self.place[keep], start=self.start[keep], value=self.value[keep])

    def worthwhile(self) -> Bools:
        """Which options can be part of a best schedule: they fit, and are worth more than the overload that each alone causes.

        Leaving a job out is never worse than an option of no value; with other jobs beside it an option causes no less.
        """
        keep = self.value > 0
        sizes, size = np.unique(self.demand, return_inverse=True)
        pair = self.place[keep] * len(sizes) + size[self.job[keep]]
        used = np.flatnonzero(np.bincount(pair))  # places and sizes that occur: sorting millions of options would take seconds
        row, (place, kind) = np.searchsorted(used, pair), np.divmod(used, max(1, len(sizes)))
        lacks = np.empty(len(pair))
        start, end = self.start[keep], (self.start + self.duration[self.job])[keep]
        for some in np.array_split(np.arange(len(used)), max(1, len(used) * self.capacity.shape[1] // CHUNK)):
            need, has = sizes[kind[some], None], self.capacity[place[some]]
            over = np.maximum(0.0, need - has - ROUNDING * (need + has))  # no more than it is: in doubt an option is kept
            upto = np.concatenate([np.zeros((len(some), 1)), np.cumsum(over, axis=1)], axis=1)
            mine = np.flatnonzero((row >= some[:1].sum()) & (row < some[:1].sum() + len(some)))
            at = row[mine] - some[:1].sum()
            lacks[mine] = upto[at, end[mine]] * (1 - ROUNDING * upto.shape[1]) - upto[at, start[mine]]
        price = self.overload_price
        keep[keep] = lacks <= 0 if price is None else self.value[keep] > price * lacks * (1 - SAFE)
        return keep

    def load(self, chosen: Ints) -> Floats:
        """Load of the chosen options, shape (P, T)."""
        return self._summed(chosen, self.start[chosen] + self.duration[self.job[chosen]])

    def reach(self) -> Floats:
        """Load if every job ran wherever and whenever any of its options does, shape (P, T): no choice has more."""
        first = begins(self.pair)
        last = np.append(first[1:], len(self))[: len(first)] - 1
        return self._summed(first, self.start[last] + self.duration[self.job[last]])

    def _summed(self, options: Ints, end: Ints) -> Floats:
        """The demands of these options, each from its start to that end, shape (P, T)."""
        places, slots = self.capacity.shape
        change = np.zeros((places, slots + 1))
        asked = self.demand[self.job[options]]
        np.add.at(change, (self.place[options], self.start[options]), asked)
        np.subtract.at(change, (self.place[options], end), asked)
        return np.asarray(np.maximum(0.0, np.cumsum(change, axis=1)[:, :-1]))  # rounding may leave less than nothing

    def objective(self, chosen: Ints) -> float:
        """Objective of the chosen options, at most one a job; `overload_price` pays for what exceeds the capacity."""
        total = self.constant + float(self.value[chosen].sum())
        if self.overload_price is None:
            return total
        return total - self.overload_price * float(np.maximum(0.0, self.load(chosen) - self.capacity).sum())

    def find(self, selected: Iterable[tuple[int, int, int]]) -> Ints:
        """Indices of the options (job, place, start), those that are not there left out."""
        wanted = np.array(list(selected), dtype=np.int64).reshape(-1, 3)
        keys = self.keys(self.job, self.place, self.start)
        asked = self.keys(*wanted.T)
        at = np.minimum(np.searchsorted(keys, asked), max(0, len(keys) - 1))
        return np.sort(at[keys[at] == asked]) if len(keys) else np.zeros(0, dtype=np.int64)

    def keys(self, job: Ints, place: Ints, start: Ints) -> Ints:
        """Options (job, place, start) as one number each, in the order of options, shape (k,)."""
        places, slots = self.capacity.shape
        return np.asarray((job * places + place) * slots + start)


def windows(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Row and slot of every slot in the windows first..last (empty where last < first), row by row."""
    length = np.maximum(0, last - first + 1)
    row = np.repeat(np.arange(len(first)), length)
    slot = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length) + first[row]
    return row, slot
