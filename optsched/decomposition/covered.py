"""The linear relaxation with lifted covers, found as they are violated, and the bound that its multipliers prove.

What prices of capacity cannot see is that jobs do not fit by halves. On sites that hold few jobs at a time this is most of the
gap. The multipliers count, not the solver's word: prices of capacity and of covers are a Lagrangian dual of all options.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optsched.decomposition.covers import Covers, together, violated
from optsched.decomposition.dual import Dual, bound_of
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.shadow_prices import written
from optsched.errors import OptschedError
from optsched.instances.base import Bools, Floats
from optsched.monitor import Monitor
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Spare

ROUNDS, MOST = 30, 3000  # of covers, and covers of a round
MOST_STEPS = 400  # of a capacity that may be exceeded: what covers let in then is worked out for each
MUCH = 2e-4  # relative: what a round is worth
LACKING, EXTENDED = 1e-4, 3  # relative: what options outside of the pool add to the bound; how often they are let in
SCALE = 1e3  # of the dearest option: HiGHS holds reduced costs to 1e-7


def pool_of(program: TimeIndexedProblem, pool: Bools, most: int, share: Floats | None) -> Bools:
    """Options of the relaxation, shape (n,): all, the pool if these are too many; none where covers are of no use.

    Parameters
    ----------
    share
        A vertex without covers, shape (n,), if there is one.
    """
    whole = program.value > 0
    among = whole if int(whole.sum()) <= most else pool
    few = program.step > 0 and (program.overload_price is None or program.within.max(initial=0) <= MOST_STEPS * program.step)
    if not few or int(among.sum()) > most or (share is not None and violated(program, share, 1) is None):
        return np.zeros(len(program), dtype=bool)
    return among


def with_covers(
    program: TimeIndexedProblem, pool: Bools, dual: Dual, monitor: Monitor, spare: Spare, seconds: float | None
) -> tuple[Dual, Floats] | None:
    """Prices of capacity and covers, and a choice by shares, shape (n,); None where no cover is violated, or time is too short.

    Parameters
    ----------
    pool : options of the relaxation, shape (n,); others are let in where they earn more than their job's best.
    dual : prices of capacity alone.
    spare : whether there is time left.
    seconds : for HiGHS, at most.
    """
    pool, covers, best, share = pool.copy(), None, dual, np.zeros(len(program))
    for _ in range(EXTENDED):
        relaxation = Relaxation(program.where(pool), monitor, seconds)
        try:
            value, covers = _cut(relaxation, covers, spare)
        except OptschedError:
            break
        if covers is None:
            return None
        priced = replace(covers, price=written(relaxation.prices_of_covers))
        found = replace(dual, prices=written(relaxation.prices), covers=priced.where(priced.price > 0))
        found = replace(found, bound=bound_of(program, found.prices, found.covers))
        if found.covers and found.bound < best.bound:
            best, share = found, np.zeros(len(program))
            share[pool] = relaxation.share
        more = _missing(program, found, pool)
        if found.bound - value <= LACKING * abs(value) or not more.any() or not spare():
            break
        pool |= more
    return (best, share) if best.covers is not None else None


def _cut(relaxation: Relaxation, covers: Covers | None, spare: Spare) -> tuple[float, Covers | None]:
    """The value with all covers that are worth it, and these."""
    if covers is not None:
        relaxation.add(covers)
    value = relaxation.solve()
    for _ in range(ROUNDS):
        more = violated(relaxation.program, relaxation.share, MOST)
        if more is None or not spare():
            break
        relaxation.add(more)
        before = value
        try:
            value = relaxation.solve()
        except OptschedError:  # time is over: what was before it holds
            break
        covers = more if covers is None else together([covers, more])
        if before - value <= MUCH * abs(value):
            break
    return value, covers


def _missing(program: TimeIndexedProblem, dual: Dual, pool: Bools) -> Bools:
    """Options outside of the pool that are their job's best at these prices, or as good as those inside, shape (n,)."""
    pricing = Pricing(program, dual)
    inside = np.zeros(len(program.demand))
    np.maximum.at(inside, program.job[pool], pricing.reduced[pool])
    return ~pool & (pricing.reduced > inside[program.job])


class Relaxation:
    """Shares of options, at most one a job, under the capacity of each place and slot and covers, in HiGHS.

    Attributes
    ----------
    share : of each option, shape (n,), once solved. prices : of capacity, shape (P, T). prices_of_covers : shape (C,).
    """

    def __init__(self, program: TimeIndexedProblem, monitor: Monitor, seconds: float | None) -> None:
        from optsched.solvers.highs import Incremental

        self.program = program
        places, slots = program.capacity.shape
        options, loads = len(program), places * slots
        begin = program.place * slots + program.start
        end = program.start + program.duration[program.job]
        inside = np.flatnonzero(end < slots)
        asked, rows = program.demand[program.job], np.arange(loads)
        goes_on = rows[rows % slots > 0]
        jobs, job = np.unique(program.job, return_inverse=True)
        self._options, self._loads, self._jobs = options, loads, len(jobs)
        self._scale = SCALE / float(program.value.max(initial=1e-300))
        # columns: options, loads, the first step of overload, and more; rows: loads by slot, limits of loads, jobs
        first, more = options + loads, options + 2 * loads
        row = [begin, (program.place * slots + end)[inside], rows, goes_on, *[loads + rows] * 3, 2 * loads + job]
        column = [np.arange(options), inside, options + rows, options + goes_on - 1, options + rows, first + rows, more + rows]
        column.append(np.arange(options))
        entry = [-asked, asked[inside], np.ones(loads), -np.ones(len(goes_on)), np.ones(loads), *[-np.ones(loads)] * 2]
        entry.append(np.ones(options))
        soft = program.dearer is not None and program.overload_price is not None
        dear = np.zeros(2 * loads)
        if program.dearer is not None and program.overload_price is not None:
            dear = np.append(program.dearer.ravel() / program.step, np.full(loads, program.overload_price))
        most = np.append(np.full(loads, program.step), np.full(loads, np.inf)) if soft else np.zeros(2 * loads)
        below = np.append(np.zeros(loads), np.full(loads + len(jobs), -np.inf))
        above = np.concatenate([np.zeros(loads), program.within.ravel(), np.ones(len(jobs))])
        self._highs = Incremental(
            cost=self._scale * np.concatenate([-program.value, np.zeros(loads), dear]),
            upper=np.concatenate([np.ones(options), np.full(loads, np.inf), most]),
            rows=(np.concatenate(row), np.concatenate(column), np.concatenate(entry)),
            limits=(below, above),
            monitor=monitor,
            seconds=seconds,
        )

    def add(self, covers: Covers) -> None:
        """Rows for these."""
        begins, columns, entries = covers.rows(self.program)
        at, slope = covers.place * self.program.capacity.shape[1] + covers.slot, covers.slopes(self.program)
        over = self._options + self._loads + np.column_stack([at, at + self._loads])
        if slope.any():
            where = np.repeat(begins[1:], 2)
            columns = np.insert(columns, where, over.ravel())
            entries = np.insert(entries, where, np.repeat(-slope / self.program.step, 2))
            begins = begins + 2 * np.arange(len(begins))
        self._highs.add(begins, columns, entries, covers.limit)

    def solve(self) -> float:
        """The value.

        Raises
        ------
        OptschedError : HiGHS was stopped, or finds no optimum.
        """
        value, x, duals = self._highs.solve()
        self.share = np.clip(x[: self._options], 0.0, 1.0)
        multipliers = np.maximum(0.0, -duals / self._scale)
        self.prices = multipliers[self._loads : 2 * self._loads].reshape(self.program.capacity.shape)
        self.prices_of_covers = multipliers[2 * self._loads + self._jobs :]
        return self.program.constant - value / self._scale
