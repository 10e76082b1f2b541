"""Time-indexed programs: at most one (place, start) option a job under a capacity profile, hard or with an overload price."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyomo.environ as pyo

from optsched.instances.base import Bools, Floats, Ints
from optsched.instances.grid import Grid
from optsched.models.base import I, Model, S
from optsched.models.terms import Terms, rows_of

MOST_UNITS = 1e9  # in all: with more, a solver's tolerance of 1e-6 on integers would be units
USUAL_UNITS = 1e6
CHUNK = 10**7  # numbers worked out at once
ROUNDING = 4e-16  # relative, of a number or a sum of two
SAFE = 1e-9  # relative: an option worth its own overload but for rounding is kept


@dataclass(frozen=True)
class Program:
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

    def in_units(self) -> Program:
        """The same in whole units of the grid of its demands and capacities, where these are few enough for a solver."""
        whole = float(self.demand.sum())
        capacity = np.minimum(self.capacity, math.ceil(whole))  # more than all jobs together is no limit
        grid = Grid.of(self.demand, capacity.ravel())
        if not grid.wide and 10.0**grid.digits * whole <= MOST_UNITS:
            unit, demand, capacity = 10.0**-grid.digits, grid.whole(self.demand), grid.whole(capacity)
        else:  # at least, no demand is lost among a solver's tolerances because it is counted in too large a unit
            unit = 2.0 ** math.floor(math.log2(whole / USUAL_UNITS)) if whole > 0 else 1.0
            demand, capacity = self.demand / unit, capacity / unit
        price = None if self.overload_price is None else self.overload_price * unit
        return replace(self, demand=demand, capacity=capacity, overload_price=price)

    def where(self, keep: Bools) -> Program:
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
        places, slots = self.capacity.shape
        change = np.zeros((places, slots + 1))
        job = self.job[chosen]
        np.add.at(change, (self.place[chosen], self.start[chosen]), self.demand[job])
        np.subtract.at(change, (self.place[chosen], self.start[chosen] + self.duration[job]), self.demand[job])
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
        keys = self._keys(self.job, self.place, self.start)
        asked = self._keys(*wanted.T)
        at = np.minimum(np.searchsorted(keys, asked), max(0, len(keys) - 1))
        return np.sort(at[keys[at] == asked]) if len(keys) else np.zeros(0, dtype=np.int64)

    def _keys(self, job: Ints, place: Ints, start: Ints) -> Ints:
        places, slots = self.capacity.shape
        return np.asarray((job * places + place) * slots + start)


def windows(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Row and slot of every slot in the windows first..last (empty where last < first), row by row."""
    length = np.maximum(0, last - first + 1)
    row = np.repeat(np.arange(len(first)), length)
    slot = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length) + first[row]
    return row, slot


class TimeIndexed(Model[I, S]):
    """Base of the two ways to write a time-indexed program."""

    program: Program

    @abstractmethod
    def options(self) -> Program:
        """The instance's program."""

    @abstractmethod
    def schedule(self, chosen: Ints) -> S:
        """The schedule of chosen options (indices into `self.program`)."""

    @abstractmethod
    def selected(self, schedule: S) -> list[tuple[int, int, int]]:
        """(job, place, start) of a schedule's entries."""

    @abstractmethod
    def write_loads(self) -> None:
        """Link `self.choice` to the loads and limit those."""

    def build(self) -> None:
        """Binary choices, at most one a job, the loads, and the objective."""
        full = self.options()
        keep = full.worthwhile()
        self.kept = np.flatnonzero(keep)
        self.program = program = full.where(keep).in_units()
        m = self.pyomo
        m.choice = pyo.Var(range(len(program)), domain=pyo.Binary)
        self.choice = list(m.choice.values())
        self.over: list[Any] = []
        jobs, rows = np.unique(program.job, return_inverse=True)
        every = np.arange(len(program))
        once = rows_of(rows, self.choice, every, np.ones(len(program)), len(jobs))
        m.once = pyo.Constraint(range(len(jobs)), rule=lambda _, r: (None, once[r], 1))
        self.write_loads()
        prices = np.full(len(self.over), -(program.overload_price or 0.0))
        priced = self.choice + self.over
        value = Terms(priced, np.arange(len(priced)), np.concatenate([program.value, prices]), program.constant)
        m.objective = pyo.Objective(expr=value, sense=pyo.maximize)

    def encode(self, schedule: S) -> None:
        """Set choices, loads and overloads."""
        chosen = self.program.find(self.selected(schedule))
        for variable in self.choice:
            variable.set_value(0, skip_validation=True)
        for o in chosen.tolist():
            self.choice[o].set_value(1, skip_validation=True)
        self.encode_loads(self.program.load(chosen))

    def encode_loads(self, load: Floats) -> None:
        """Set the variables of the loads."""
        over = np.maximum(0.0, load - self.program.capacity).ravel()
        for variable, value in zip(self.over, over.tolist(), strict=False):
            variable.set_value(value, skip_validation=True)

    def decode(self) -> S:
        """The schedule of the choices that are (nearly) one."""
        values = np.array([variable.value or 0.0 for variable in self.choice])
        return self.schedule(np.flatnonzero(values > 0.5))

    def add_overload(self) -> None:
        """Overload variables by place and slot, where capacity has a price."""
        program, m = self.program, self.pyomo
        if program.overload_price is None:
            return
        most = program.demand.sum()
        m.over = pyo.Var(range(program.capacity.size), bounds=(0, most))
        self.over = list(m.over.values())
        if program.integral:
            self.implied_integers += self.over


class StateForm(TimeIndexed[I, S]):
    """load_t = load_(t-1) + starts - ends: three non-zeros an option instead of one for every slot that it covers."""

    name: ClassVar[str] = "state"

    def write_loads(self) -> None:
        """Loads as variables, a balance row for each, capacity as their bound or as a priced excess.

        Between two events (a start or an end at the place) a load is constant: under hard capacity it has one variable, limited
        by the least capacity till the next event.
        """
        program, m = self.program, self.pyomo
        places, slots = program.capacity.shape
        capacity = program.capacity.ravel()
        begin = program.place * slots + program.start
        end = begin + program.duration[program.job]
        inside = program.start + program.duration[program.job] < slots
        cell = np.arange(places * slots)
        most = float(program.demand.sum())
        if program.overload_price is None:
            new = np.union1d(np.arange(places) * slots, np.concatenate([begin, end[inside]]))
            limit = np.minimum(np.minimum.reduceat(capacity, new), most) if len(capacity) else capacity
            cell = new
        self.event = cell
        m.level = pyo.Var(
            range(len(cell)), bounds=lambda _, i: (0, float(limit[i]) if program.overload_price is None else most)
        )
        level = self.level = list(m.level.values())
        if program.integral:
            self.implied_integers += level
        demand = program.demand[program.job]
        row = np.arange(len(cell))
        follows = cell % slots > 0
        ending, before = np.flatnonzero(inside), row[follows] - 1
        balance = rows_of(
            np.concatenate([np.searchsorted(cell, begin), np.searchsorted(cell, end[inside]), row, row[follows]]),
            self.choice + level,
            np.concatenate([np.arange(len(program)), ending, len(program) + row, len(program) + before]),
            np.concatenate([demand, -demand[inside], -np.ones(len(row)), np.ones(len(before))]),
            len(row),
        )
        m.balance = pyo.Constraint(range(len(row)), rule=lambda _, i: (0, balance[i], 0))
        self.add_overload()
        if self.over:
            rows = np.tile(row, 2)
            signs = np.repeat([1.0, -1.0], len(row))
            excess = rows_of(rows, level + self.over, np.arange(2 * len(row)), signs, len(row))
            m.capacity = pyo.Constraint(range(len(row)), rule=lambda _, i: (None, excess[i], float(capacity[i])))

    def encode_loads(self, load: Floats) -> None:
        """Set levels and overloads."""
        super().encode_loads(load)
        for variable, value in zip(self.level, load.ravel()[self.event].tolist(), strict=True):
            variable.set_value(value, skip_validation=True)


class CoverForm(TimeIndexed[I, S]):
    """One row a place and slot over all options that cover it: the textbook form, for small instances and cross-checks."""

    name: ClassVar[str] = "cover"

    def write_loads(self) -> None:
        """Rows of the covering options."""
        program, m = self.program, self.pyomo
        places, slots = program.capacity.shape
        capacity = program.capacity.ravel().tolist()
        duration = program.duration[program.job]
        option, slot = windows(program.start, program.start + duration - 1)
        self.add_overload()
        rows = np.concatenate([program.place[option] * slots + slot, np.arange(len(self.over))])
        picks = np.concatenate([option, len(program) + np.arange(len(self.over))])
        weights = np.concatenate([program.demand[program.job[option]], -np.ones(len(self.over))])
        covered = rows_of(rows, self.choice + self.over, picks, weights, places * slots)
        m.capacity = pyo.Constraint(
            range(places * slots),
            rule=lambda _, i: (None, covered[i], capacity[i]) if len(covered[i].picks) else pyo.Constraint.Skip,
        )
