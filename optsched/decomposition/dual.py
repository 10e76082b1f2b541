"""Lagrangian dual of a time-indexed program: a price for every unit of capacity by place and slot, and the bound it proves.

With the capacity rows priced the program splits by job: each takes the option of most value less what it pays for capacity. The
prices are moved by the volume algorithm (Barahona and Anbil, Mathematical Programming 87, 2000).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from optsched.decomposition.alike import Alike
from optsched.decomposition.covers import Covers
from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.ranks import Groups
from optsched.problems.time_indexed import TimeIndexedProblem

MANY = 2 * 10**6  # options, from which on jobs that are alike are priced as one
MOST = 0.1  # share of a new choice in the volume at first, at most
GOLDEN = 0.6180339887498949
ROUNDING = 2e-10  # of the sum's largest part: float64 sums of a million terms are far more exact


@dataclass(frozen=True)
class Dual:
    """Prices and what they prove.

    Attributes
    ----------
    prices : objective a unit and slot, shape (P, T), not negative, and not above the overload price where there is one.
    covers : priced besides, if any. few : whether covers prove much more, since places hold few jobs at a time.
    bound : no schedule earns more. iterations : evaluations of the dual.
    latest : of each option, the last iteration in which it was its job's best, 0 if it never was, shape (n,).
    drawn : of each job an option that was its best, or -1, so that all together make about the load that the volume algorithm
        ends with: its fractional solution, rounded, shape (J,).
    """

    prices: Floats
    bound: float
    iterations: int
    latest: Ints
    drawn: Ints
    covers: Covers | None = None
    few: bool = False


class LagrangianSubproblem:
    """A program with its capacity priced; each of its jobs may stand for a `count` of them.

    Attributes
    ----------
    groups : its options by job.
    """

    def __init__(self, program: TimeIndexedProblem, count: Floats | None = None) -> None:
        self.program, self._each = program, count
        self._heavy = program if count is None else replace(program, demand=program.demand * count)
        slots = program.capacity.shape[1] + 1
        self._begin = program.place * slots + program.start
        self._end = self._begin + program.duration[program.job]
        self._demand = program.demand[program.job]
        self.groups = Groups(program.job)
        self._count = None if count is None else count[program.job[self.groups.first]]

    def reduced_values(self, prices: Floats) -> Floats:
        """Value of every option less what it pays for capacity, shape (n,)."""
        paid = np.zeros((prices.shape[0], prices.shape[1] + 1))
        paid[:, 1:] = np.cumsum(prices, axis=1, dtype=np.longdouble)  # rounded once a sum, not at every slot
        flat = paid.ravel()
        return np.asarray(self.program.value - self._demand * (flat[self._end] - flat[self._begin]))

    def __call__(self, prices: Floats) -> tuple[float, Ints]:
        """The dual value, and the best option of each job that earns something."""
        reduced = self.reduced_values(prices)
        rows = self.groups.best_rows(reduced)
        best = reduced[rows]
        return self._value(prices, best), rows[best > 0]

    def look(self, prices: Floats) -> tuple[float, Floats, Floats]:
        """The dual value, what every option is worth, and what the best one of its job is, shape (n,) each; negative too."""
        reduced = self.reduced_values(prices)
        best = self.groups.best(reduced)
        return self._value(prices, best), reduced, best[self.groups.of]

    def load(self, chosen: Ints) -> Floats:
        """Load of chosen options, shape (P, T)."""
        return self._heavy.load(chosen)

    def part(self, keep: Bools) -> Part:
        """The same with only the options in `keep`."""
        return Part(self, keep)

    def _value(self, prices: Floats, best: Floats) -> float:
        gains = np.maximum(best, 0.0)
        earned = float(gains.sum() if self._count is None else gains @ self._count)
        return self.program.constant + earned + float(self.program.rent(prices).sum())


class Part(LagrangianSubproblem):
    """A subproblem with some of its options only: choices and their loads are by the whole's numbers, `look` by its own."""

    def __init__(self, whole: LagrangianSubproblem, keep: Bools) -> None:
        super().__init__(whole.program.where(keep), whole._each)
        self._whole, self._rows = whole, np.flatnonzero(keep)

    def __call__(self, prices: Floats) -> tuple[float, Ints]:
        """The dual value of the part, and the best option of each job that earns something."""
        value, chosen = super().__call__(prices)
        return value, self._rows[chosen]

    def load(self, chosen: Ints) -> Floats:
        """Load of chosen options."""
        return self._whole.load(chosen)


class Drawn:
    """An option a job, drawn from all choices so far as the volume weighs them.

    Whenever a choice is mixed into the volume with some share, that share of the jobs takes its option from it.

    Attributes
    ----------
    option : of each job, -1 for none, shape (J,).
    """

    def __init__(self, program: TimeIndexedProblem, kind: Ints) -> None:
        self._program, self._kind = program, kind
        self.option = np.full(len(kind), -1, dtype=np.int64)

    def mix(self, chosen: Ints, number: int, share: float) -> None:
        """Every so many-th job, from another one on each time."""
        best = np.full(len(self._program.demand) + 1, -1, dtype=np.int64)
        best[self._program.job[chosen]] = chosen
        at = ((np.arange(int(share * len(self._kind)) + 1) + GOLDEN * number % 1.0) / share).astype(np.int64)
        at = at[at < len(self._kind)]
        self.option[at] = best[self._kind[at]]


class Volume:
    """The volume algorithm on the way: prices, what they prove, and a running mean of the loads, nearly feasible in the end.

    Attributes
    ----------
    center, best : prices of least dual value so far, and that value. iterations : so far.
    latest : of each option, the last iteration in which it was its job's best. drawn : options drawn as the volume weighs them.
    most : share of a new choice in the volume, at most.
    """

    def __init__(self, relaxed: LagrangianSubproblem, kind: Ints, start: Floats | None = None) -> None:
        program = relaxed.program
        self._program, self.top = program, max_useful_price(program)
        self.center = np.zeros(program.capacity.shape) if start is None else np.clip(start, 0.0, self.top)
        self.latest = np.zeros(len(program), dtype=np.int64)
        self.drawn = Drawn(program, kind)
        self.iterations, self.most = 0, MOST
        self.drawn.mix(self.begin(relaxed), 0, 1.0)

    def begin(self, relaxed: LagrangianSubproblem, *, goes_on: bool = False) -> Ints:
        """From the center on, with the options of `relaxed`: of the program, or a part of it; the choice at the center."""
        self._relaxed = relaxed
        self.best, chosen = relaxed(self.center)
        if not goes_on:
            self.load = relaxed.load(chosen)
        self._step, self._worse = 0.1, 0
        self._target = self.best - 0.05 * abs(self.best - self._program.constant)
        return chosen

    def onto(self, relaxed: LagrangianSubproblem, center: Floats) -> Volume:
        """From other prices on, with other options of the same jobs: the volume goes on, and with it what is drawn."""
        other, old, new = Volume(relaxed, np.arange(len(relaxed.program.demand)), center), self._program, relaxed.program
        was = self.drawn.option[self.drawn.option >= 0]
        still = new.find(np.column_stack((old.job[was], old.place[was], old.start[was])))
        other.drawn.option[new.job[still]] = still
        other.load = self.load
        return other

    def step(self) -> bool:
        """One iteration; false where there is nothing to be gained."""
        relaxed, program, center, best = self._relaxed, self._program, self.center, self.best
        excess = self.load - program.supply(center)
        excess[((center <= 0) & (excess < 0)) | ((center >= self.top) & (excess > 0))] = 0.0
        norm = float((excess * excess).sum())
        self.iterations += 1
        if norm <= 1e-12:
            return False
        reach = max(best - self._target, 1e-4 * abs(best - program.constant))
        prices = np.clip(center + self._step * reach / norm * excess, 0.0, self.top)
        value, chosen = relaxed(prices)
        self.latest[chosen] = self.iterations
        found = relaxed.load(chosen)
        ascent = float(((found - program.supply(prices)) * excess).sum())
        share = _share(self.load - program.supply(prices), found - self.load, prices, self.most)
        self.load = self.load + share * (found - self.load)
        self.drawn.mix(chosen, self.iterations, share)
        if value < best:
            self.best, self.center, self._worse = value, prices, 0
            self._step = min(2.0, 1.1 * self._step) if ascent > 0 else self._step
            least = 0.005 * abs(value - program.constant)
            self._target = min(self._target, value - least) if value - self._target < least else self._target
        else:
            self._worse += 1
            if self._worse == 5:
                self._step, self._worse = self._step / 2, 0
        return True


def solve_dual(
    program: TimeIndexedProblem,
    *,
    iterations: int = 400,
    start: Floats | None = None,
    watch: Callable[[Dual], bool] | None = None,
) -> Dual:
    """Prices of small dual value.

    Parameters
    ----------
    start : prices to begin with, shape (P, T); zero if not given.
    watch : called before each iteration with the best so far; true ends it.
    """
    relaxed = Relaxed(program)
    volume = Volume(relaxed.subproblem, relaxed.kind, start)
    margin = relaxed.margin

    def found() -> Dual:
        return Dual(volume.center, volume.best + margin(volume.center), volume.iterations, volume.latest, volume.drawn.option)

    while volume.iterations < iterations and not (watch and watch(found())) and volume.step():
        if volume.iterations % 100 == 0:
            volume.most = max(0.001, 0.7 * volume.most)
    return relaxed.told(found())


class Relaxed:
    """A program whose alike jobs are priced as one, if it is large.

    Attributes
    ----------
    subproblem : of those that stand for the others. kind : of each job which of them stands for it, shape (J,).
    """

    def __init__(self, program: TimeIndexedProblem) -> None:
        self.program, self._largest = program, float(program.value.max(initial=0.0))
        self._alike = Alike.of(program) if len(program) > MANY else None
        if self._alike is None:
            self.subproblem, self.kind = LagrangianSubproblem(program), np.arange(len(program.demand))
        else:
            self.subproblem, self.kind = LagrangianSubproblem(self._alike.program, self._alike.count), self._alike.kind

    def margin(self, prices: Floats) -> float:
        """Of a dual value, for its rounding."""
        return margin(self.program, prices, self._largest)

    def told(self, dual: Dual) -> Dual:
        """Options as those of the whole program."""
        alike = self._alike
        return dual if alike is None else replace(dual, latest=alike.spread(dual.latest), drawn=alike.rows(dual.drawn))


def margin(program: TimeIndexedProblem, prices: Floats, largest: float) -> float:
    """What rounding may hide of a dual value: of what jobs earn, an option `largest` at most, and of what they pay.

    What an option pays is the difference of two sums of prices times its demand, however little the option is worth.
    """
    rent, paid = float(program.rent(prices).sum()), float(program.demand.sum()) * float(prices.sum(axis=1).max(initial=0.0))
    return ROUNDING * max(abs(program.constant), rent, largest * len(program.demand)) + 4 * _summed(program) * paid


def _rent(program: TimeIndexedProblem, prices: Floats, covers: Covers) -> float:
    """The most that loads earn at prices of capacity, and by what covers let in for them, less their overload."""
    earned = float((prices * program.within).sum())
    if program.dearer is None or program.overload_price is None:
        return earned
    step = program.step * prices
    np.add.at(step, (covers.place, covers.slot), covers.price * covers.slopes(program))
    steps = np.maximum(0.0, np.ceil((program.reach() - program.within) / program.step))
    all_of_them = steps * step - program.dearer - (steps - 1) * program.step * program.overload_price
    return earned + float(np.where(steps > 0, np.maximum(0.0, np.maximum(step - program.dearer, all_of_them)), 0.0).sum())


def _summed(program: TimeIndexedProblem) -> float:
    """Relative: what a sum over slots, and a difference of two, may be off by."""
    return float(program.capacity.shape[1] * np.finfo(np.longdouble).eps + 4 * np.finfo(float).eps)


def max_useful_price(program: TimeIndexedProblem) -> float:
    """The price at which no job uses a slot, or overload is cheaper: a higher one proves nothing more, and costs digits."""
    most = float((program.value / program.demand[program.job]).max(initial=0.0))
    return most if program.overload_price is None else min(most, program.overload_price)


def bound_of(program: TimeIndexedProblem, prices: Floats) -> float:
    """What any prices (not negative, not above the overload price) prove: their dual value and a margin for its rounding."""
    relaxed = Relaxed(program)
    return relaxed.subproblem(prices)[0] + relaxed.margin(prices)


def bound_with(program: TimeIndexedProblem, prices: Floats, covers: Covers) -> float:
    """What any prices of capacity and of covers prove together (none is negative), with a margin likewise."""
    subproblem, largest = LagrangianSubproblem(program), float(program.value.max(initial=0.0))
    earned = np.maximum(0.0, subproblem.groups.best(subproblem.reduced_values(prices) - covers.paid(program))).sum()
    value = program.constant + float(earned) + _rent(program, prices, covers) + covers.rent
    paid = len(program.demand) * float(covers.price @ covers.count.max(axis=1, initial=1.0))
    return value + margin(program, prices, largest) + ROUNDING * covers.rent + 4 * _summed(program) * paid


def _share(excess: Floats, change: Floats, prices: Floats, most: float) -> float:
    """How much of the new loads to mix in: what leaves the least violation, between a tenth of `most` and `most`."""
    binding = (prices > 0) | (excess > 0)
    along = float((change * change)[binding].sum())
    return most if along <= 0 else float(np.clip(-float((excess * change)[binding].sum()) / along, most / 10, most))
