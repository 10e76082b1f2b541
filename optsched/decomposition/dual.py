"""Lagrangian dual of a time-indexed program: a price for every unit of capacity by place and slot, and the bound it proves.

With the capacity rows priced the program splits by job: each takes the option of most value less what it pays for capacity. The
prices are moved by the volume algorithm (Barahona and Anbil, Mathematical Programming 87, 2000).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.problems.time_indexed import TimeIndexedProblem

ROUNDING = 2e-10  # of the sum's largest part: float64 sums of a million terms are far more exact


@dataclass(frozen=True)
class Dual:
    """Prices and what they prove.

    Attributes
    ----------
    prices : objective a unit and slot, shape (P, T), not negative, and not above the overload price where there is one.
    bound : no schedule earns more. iterations : evaluations of the dual.
    latest : of each option, the last iteration in which it was its job's best, 0 if it never was, shape (n,).
    """

    prices: Floats
    bound: float
    iterations: int
    latest: Ints


class LagrangianSubproblem:
    """A program with its capacity priced."""

    def __init__(self, program: TimeIndexedProblem) -> None:
        self.program = program
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
            return self.program.constant + float((prices * self.program.capacity).sum()), np.zeros(0, dtype=np.int64)
        best = np.maximum.reduceat(reduced, self._first)
        hits = np.flatnonzero(reduced == best[self._group])
        _, first = np.unique(self._group[hits], return_index=True)
        earned, rent = float(np.maximum(best, 0.0).sum()), float((prices * self.program.capacity).sum())
        return self.program.constant + earned + rent, hits[first][best > 0]


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
    relaxed = LagrangianSubproblem(program)
    top, largest = max_useful_price(program), _largest(program)
    center = np.zeros(program.capacity.shape) if start is None else np.clip(start, 0.0, top)
    best, chosen = relaxed(center)
    latest = np.zeros(len(program), dtype=np.int64)
    load = program.load(chosen)  # the volume: a running mean of the loads, nearly feasible in the end
    step, most, worse, k = 0.1, 0.1, 0, 0
    target = best - 0.05 * abs(best - program.constant)
    while k < iterations and not (watch and watch(Dual(center, best + _margin(program, center, largest), k, latest))):
        k += 1
        excess = load - program.capacity
        excess[((center <= 0) & (excess < 0)) | ((center >= top) & (excess > 0))] = 0.0
        norm = float((excess * excess).sum())
        if norm <= 1e-12:
            break
        reach = max(best - target, 1e-4 * abs(best - program.constant))
        prices = np.clip(center + step * reach / norm * excess, 0.0, top)
        value, chosen = relaxed(prices)
        latest[chosen] = k
        found = program.load(chosen)
        ascent = float(((found - program.capacity) * excess).sum())
        load = load + _share(load - program.capacity, found - load, prices, most) * (found - load)
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
    return Dual(center, best + _margin(program, center, largest), k, latest)


def max_useful_price(program: TimeIndexedProblem) -> float:
    """The price at which no job uses a slot, or overload is cheaper: a higher one proves nothing more, and costs digits."""
    most = float((program.value / program.demand[program.job]).max(initial=0.0))
    return most if program.overload_price is None else min(most, program.overload_price)


def bound_of(program: TimeIndexedProblem, prices: Floats) -> float:
    """What any prices (not negative, not above the overload price) prove: their dual value and a margin for its rounding."""
    return LagrangianSubproblem(program)(prices)[0] + _margin(program, prices, _largest(program))


def _largest(program: TimeIndexedProblem) -> float:
    return float(program.value.max(initial=0.0))


def _margin(program: TimeIndexedProblem, prices: Floats, largest: float) -> float:
    rent = float((prices * program.capacity).sum())
    return ROUNDING * max(abs(program.constant), rent, largest * len(program.demand))


def _share(excess: Floats, change: Floats, prices: Floats, most: float) -> float:
    """How much of the new loads to mix in: what leaves the least violation, between a tenth of `most` and `most`."""
    binding = (prices > 0) | (excess > 0)
    along = float((change * change)[binding].sum())
    return most if along <= 0 else float(np.clip(-float((excess * change)[binding].sum()) / along, most / 10, most))
