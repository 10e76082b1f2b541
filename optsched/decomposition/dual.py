"""Lagrangian dual of a time-indexed program: a price for every unit of capacity by place and slot, and the bound it proves.

With the capacity rows priced the program splits by job: each takes the option of most value less what it pays for capacity. The
prices are moved by the volume algorithm (Barahona and Anbil, Mathematical Programming 87, 2000).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from optsched.decomposition.alike import Alike
from optsched.instances.base import Floats, Ints
from optsched.problems.time_indexed import TimeIndexedProblem

MANY = 2 * 10**6  # options, from which on jobs that are alike are priced as one
GOLDEN = 0.6180339887498949
ROUNDING = 2e-10  # of the sum's largest part: float64 sums of a million terms are far more exact


@dataclass(frozen=True)
class Dual:
    """Prices and what they prove.

    Attributes
    ----------
    prices : objective a unit and slot, shape (P, T), not negative, and not above the overload price where there is one.
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


class LagrangianSubproblem:
    """A program with its capacity priced; each of its jobs may stand for a `count` of them."""

    def __init__(self, program: TimeIndexedProblem, count: Floats | None = None) -> None:
        self.program = program
        self._heavy = program if count is None else replace(program, demand=program.demand * count)
        self._count = None if count is None else count[np.unique(program.job)]
        slots = program.capacity.shape[1] + 1
        self._begin = program.place * slots + program.start
        self._end = self._begin + program.duration[program.job]
        self._demand = program.demand[program.job]
        self._first = np.flatnonzero(np.diff(program.job, prepend=-1))
        self._group = np.repeat(np.arange(len(self._first)), np.diff(np.append(self._first, len(program))))

    def reduced_values(self, prices: Floats) -> Floats:
        """Value of every option less what it pays for capacity, shape (n,)."""
        paid = np.zeros((prices.shape[0], prices.shape[1] + 1))
        np.cumsum(prices, axis=1, out=paid[:, 1:])
        flat = paid.ravel()
        return np.asarray(self.program.value - self._demand * (flat[self._end] - flat[self._begin]))

    def __call__(self, prices: Floats) -> tuple[float, Ints]:
        """The dual value, and the best option of each job that earns something."""
        reduced = self.reduced_values(prices)
        if not len(reduced):
            return self.program.constant + float(self.program.rent(prices).sum()), np.zeros(0, dtype=np.int64)
        best = np.maximum.reduceat(reduced, self._first)
        hits = np.flatnonzero(reduced == best[self._group])
        _, first = np.unique(self._group[hits], return_index=True)
        gains = np.maximum(best, 0.0)
        earned = float(gains.sum() if self._count is None else gains @ self._count)
        rent = float(self.program.rent(prices).sum())
        return self.program.constant + earned + rent, hits[first][best > 0]

    def load(self, chosen: Ints) -> Floats:
        """Load of chosen options, shape (P, T)."""
        return self._heavy.load(chosen)


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
    alike = Alike.of(program) if len(program) > MANY else None
    relaxed = LagrangianSubproblem(program) if alike is None else LagrangianSubproblem(alike.program, alike.count)
    drawn = Drawn(relaxed.program, np.arange(len(program.demand)) if alike is None else alike.kind)
    top, largest = max_useful_price(program), _largest(program)
    center = np.zeros(program.capacity.shape) if start is None else np.clip(start, 0.0, top)
    best, chosen = relaxed(center)
    drawn.mix(chosen, 0, 1.0)
    latest = np.zeros(len(relaxed.program), dtype=np.int64)
    load = relaxed.load(chosen)  # the volume: a running mean of the loads, nearly feasible in the end
    step, most, worse, k = 0.1, 0.1, 0, 0
    target = best - 0.05 * abs(best - program.constant)
    while k < iterations and not (
        watch and watch(Dual(center, best + _margin(program, center, largest), k, latest, drawn.option))
    ):
        k += 1
        excess = load - program.supply(center)
        excess[((center <= 0) & (excess < 0)) | ((center >= top) & (excess > 0))] = 0.0
        norm = float((excess * excess).sum())
        if norm <= 1e-12:
            break
        reach = max(best - target, 1e-4 * abs(best - program.constant))
        prices = np.clip(center + step * reach / norm * excess, 0.0, top)
        value, chosen = relaxed(prices)
        latest[chosen] = k
        found = relaxed.load(chosen)
        ascent = float(((found - program.supply(prices)) * excess).sum())
        share = _share(load - program.supply(prices), found - load, prices, most)
        load = load + share * (found - load)
        drawn.mix(chosen, k, share)
        if value < best:
            best, center, worse = value, prices, 0
            step = min(2.0, 1.1 * step) if ascent > 0 else step
            least = 0.005 * abs(best - program.constant)
            target = min(target, best - least) if best - target < least else target
        else:
            worse += 1
            if worse == 5:
                step, worse = step / 2, 0
        if k % 100 == 0:
            most = max(0.001, 0.7 * most)
    ended, rows = (latest, drawn.option) if alike is None else (alike.spread(latest), alike.rows(drawn.option))
    return Dual(center, best + _margin(program, center, largest), k, ended, rows)


def max_useful_price(program: TimeIndexedProblem) -> float:
    """The price at which no job uses a slot, or overload is cheaper: a higher one proves nothing more, and costs digits."""
    most = float((program.value / program.demand[program.job]).max(initial=0.0))
    return most if program.overload_price is None else min(most, program.overload_price)


def bound_of(program: TimeIndexedProblem, prices: Floats) -> float:
    """What any prices (not negative, not above the overload price) prove: their dual value and a margin for its rounding."""
    alike = Alike.of(program) if len(program) > MANY else None
    relaxed = LagrangianSubproblem(program) if alike is None else LagrangianSubproblem(alike.program, alike.count)
    return relaxed(prices)[0] + _margin(program, prices, _largest(program))


def _largest(program: TimeIndexedProblem) -> float:
    return float(program.value.max(initial=0.0))


def _margin(program: TimeIndexedProblem, prices: Floats, largest: float) -> float:
    rent = float(program.rent(prices).sum())
    return ROUNDING * max(abs(program.constant), rent, largest * len(program.demand))


def _share(excess: Floats, change: Floats, prices: Floats, most: float) -> float:
    """How much of the new loads to mix in: what leaves the least violation, between a tenth of `most` and `most`."""
    binding = (prices > 0) | (excess > 0)
    along = float((change * change)[binding].sum())
    return most if along <= 0 else float(np.clip(-float((excess * change)[binding].sum()) / along, most / 10, most))
