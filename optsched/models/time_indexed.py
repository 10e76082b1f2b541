"""Time-indexed problems in Pyomo, written in two ways: the load balanced from slot to slot, or a row a slot over all pulses."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import pyomo.core as pyo
from pyomo.core.base.var import VarData

from optsched.instances.base import Bools, Floats, I, Ints
from optsched.models.base import Model
from optsched.models.terms import Terms, rows_of
from optsched.problems.sample import sampled
from optsched.problems.time_indexed import ALMOST, TimeIndexedProblem, windows
from optsched.registry import family_of
from optsched.schedules.base import S

MOST_ROUNDED = 2_000, 8  # options, and sizes: with more options rounded rows cost more than they bring
MOST_ENTRIES = 300_000  # of rows over covering options, for a model that is written so unasked


class TimeIndexed(Model[I, S]):
    """Base of the two ways to write a time-indexed program."""

    program: TimeIndexedProblem
    prunes: ClassVar[bool] = True

    @classmethod
    def whole(cls, instance: I) -> Model[I, S]:
        """Options that are worth nothing are kept."""
        made: Model[I, S] = type(f"Whole{cls.__name__}", (cls,), {"prunes": False})(instance)
        return made

    @abstractmethod
    def options(self) -> TimeIndexedProblem:
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
        keep = full.worthwhile() if self.prunes else np.ones(len(full), dtype=bool)
        self.kept = np.flatnonzero(keep)
        self.program = program = full.where(keep).in_units()
        m = self.pyomo
        m.choice = pyo.Var(range(len(program)), domain=pyo.Binary)
        self.choice = list(m.choice.values())
        self.over: list[VarData] = []
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

    def most(self) -> Floats:
        """The load that no choice exceeds, by place and slot, shape (P * T,), and what sums of decimals may be off it."""
        program = self.program
        rounded = 0.0 if program.integral else ALMOST * float(program.demand.sum())
        return program.reach().ravel() + rounded

    def add_overload(self) -> None:
        """Overload variables by place and slot, where capacity has a price."""
        program, m = self.program, self.pyomo
        if program.overload_price is None:
            return
        most = self.most().tolist()
        m.over = pyo.Var(range(program.capacity.size), bounds=lambda _, i: (0, most[i]))
        self.over = list(m.over.values())
        if program.integral:
            self.implied_integers += self.over


class LoadBalanceForm(TimeIndexed[I, S]):
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
        limit = most = self.most()
        if program.overload_price is None:
            new = np.union1d(np.arange(places) * slots, np.concatenate([begin, end[inside]]))
            limit = np.minimum.reduceat(np.minimum(capacity, most), new) if len(capacity) else capacity
            cell = new
        self.event = cell
        m.level = pyo.Var(range(len(cell)), bounds=lambda _, i: (0, float(limit[i])))
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


class PulseForm(TimeIndexed[I, S]):
    """A row a place and slot over all options that cover it: the textbook form, from whose rows solvers cut knapsacks.

    Under hard capacity rows are left out that a neighbour implies.
    """

    name: ClassVar[str] = "cover"

    @classmethod
    def suits(cls, instance: I) -> bool:
        """Where its rows have few entries: one for every slot that an option covers."""
        program, times = sampled(instance, family_of(instance).time_indexed)
        return times * entries(program) <= MOST_ENTRIES

    def write_loads(self) -> None:
        """Rows of the covering options."""
        program, m = self.program, self.pyomo
        places, slots = program.capacity.shape
        capacity = program.capacity.ravel().tolist()
        duration = program.duration[program.job]
        option, slot = windows(program.start, program.start + duration - 1)
        self.add_overload()
        cell = program.place[option] * slots + slot
        if program.overload_price is None:
            stays = ~implied(program).ravel()[cell]
            option, cell = option[stays], cell[stays]
        rows = np.concatenate([cell, np.arange(len(self.over))])
        picks = np.concatenate([option, len(program) + np.arange(len(self.over))])
        weights = np.concatenate([program.demand[program.job[option]], -np.ones(len(self.over))])
        covered = rows_of(rows, self.choice + self.over, picks, weights, places * slots)
        m.capacity = pyo.Constraint(
            range(places * slots),
            rule=lambda _, i: (None, covered[i], capacity[i]) if len(covered[i].columns) else pyo.Constraint.Skip,
        )
        self.write_rounding(option, cell)

    def write_rounding(self, option: Ints, cell: Ints) -> None:
        """The capacity rows rounded to multiples of each size k that jobs ask for (mixed integer rounding, in whole numbers).

        With r = C mod k: sum of (floor(c / k) (k - r) + max(0, c mod k - r)) x less the overload <= floor(C / k) (k - r).

        Parameters
        ----------
        option, cell
            Which options cover which place and slot, shape (entries,) each.
        """
        program, m = self.program, self.pyomo
        sizes = np.unique(program.demand[program.demand > 1])
        if not program.integral or len(program) > MOST_ROUNDED[0] or len(sizes) > MOST_ROUNDED[1]:
            sizes = sizes[:0]
        kept, limits = list[Terms](), list[float]()
        for size in sizes.tolist():
            rest = program.capacity.ravel() % size
            demand, left = program.demand[program.job[option]], rest[cell]
            weight = demand // size * (size - left) + np.maximum(0.0, demand % size - left)
            some = (left > 0) & (weight > 0)
            new, row = np.unique(cell[some], return_inverse=True)
            priced = np.arange(len(new)) if self.over else np.zeros(0, dtype=np.int64)
            rows = np.concatenate([row, priced])
            picks = np.concatenate([option[some], len(program) + new[priced]])
            weights = np.concatenate([weight[some], -np.ones(len(priced))])
            kept += rows_of(rows, self.choice + self.over, picks, weights, len(new))
            limits += (program.capacity.ravel()[new] // size * (size - rest[new])).tolist()
        m.rounding = pyo.Constraint(range(len(kept)), rule=lambda _, i: (None, kept[i], limits[i]))


def implied(program: TimeIndexedProblem) -> Bools:
    """Capacity rows that a neighbour's implies, shape (places, slots).

    Of two slots, the later's where nothing can start between them and the earlier's where nothing can end, if capacity there is
    no less than the other's: whoever may run in it may run in the other as well.
    """
    needed = np.diff(program.capacity, axis=1, prepend=np.inf) < 0
    needed[program.place, program.start] = True
    place, slot = np.nonzero(needed)
    ends = np.zeros(needed.shape, dtype=np.int64)
    ends[program.place, program.start + program.duration[program.job] - 1] = 1
    before = np.where(slot > 0, np.cumsum(ends, axis=1)[place, slot - 1], 0)
    capacity = program.capacity[place, slot]
    nothing_ends = (np.diff(place) == 0) & (before[1:] == before[:-1])
    earlier = np.flatnonzero(nothing_ends & (capacity[1:] <= capacity[:-1]))
    needed[place[earlier], slot[earlier]] = False
    return ~needed


def entries(program: TimeIndexedProblem) -> int:
    """Of the rows of `PulseForm`, at most."""
    return int(program.duration[program.job].sum())
