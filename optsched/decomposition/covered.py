"""The linear relaxation with lifted covers, found as they are violated, and the bound that its multipliers prove.

What prices of capacity cannot see is that jobs do not fit by halves. On sites that hold few jobs at a time this is most of the
gap. The multipliers count, not the solver's word: prices of capacity and of covers are a Lagrangian dual of all options.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from optsched.decomposition.covers import Covers, any_violated, suit, together, violated
from optsched.decomposition.dual import Dual, bound_with
from optsched.decomposition.shadow_prices import written
from optsched.errors import OptschedError
from optsched.instances.base import Floats
from optsched.monitor import Monitor
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Spare

if TYPE_CHECKING:
    from optsched.solvers.csr import CsrMatrix

ROUNDS, MOST = 30, 3000  # of covers, and covers of a round
MUCH = 1e-3  # relative: what a round is worth
AN_OPTION_S = 1e-4  # that the relaxation may take: with less time it would end with nothing
FEW = 5e-3  # of what prices prove, that covers take off where places hold few jobs at a time
SCALE = 1e3  # of the dearest option: HiGHS holds reduced costs to 1e-7


def with_covers(
    program: TimeIndexedProblem, dual: Dual, vertex: Floats | None, monitor: Monitor, spare: Spare
) -> tuple[Dual, Floats] | None:
    """Prices of capacity and covers that prove more than `dual`, and a choice by shares, shape (n,).

    None where no cover is of use, or time is too short.

    Parameters
    ----------
    dual : prices of capacity alone.
    vertex : of the relaxation without covers, shape (n,), if there is one.
    spare : whether there is time left.
    """
    some = program.value > 0
    if not suit(program) or int(some.sum()) * AN_OPTION_S > spare.left_s():
        return None
    if not some.any() or (vertex is not None and not any_violated(program, vertex, spare)):
        return None
    relaxation = Relaxation(program.where(some), monitor, spare.left_s())
    try:
        covers = _cut(relaxation, spare)
    except OptschedError:
        return None
    priced = replace(covers, price=written(relaxation.prices_of_covers))
    priced, prices = priced.where(priced.price > 0), written(relaxation.prices)
    bound = bound_with(program, prices, priced)
    share = np.zeros(len(program))
    share[some] = relaxation.share
    if not priced or bound >= dual.bound:
        return None
    few = dual.bound - bound > FEW * abs(dual.bound - program.constant)
    return replace(dual, prices=prices, covers=priced, bound=bound, few=few), share


def _cut(relaxation: Relaxation, spare: Spare) -> Covers:
    """All covers that are worth it.

    Raises
    ------
    OptschedError : there was no time for the relaxation, or none is violated.
    """
    value, covers = relaxation.solve(), list[Covers]()
    for _ in range(ROUNDS):
        more = violated(relaxation.program, relaxation.share, MOST, spare)
        if more is None or not spare():
            break
        relaxation.add(more)
        before = value
        try:
            value = relaxation.solve()
        except OptschedError:  # time is over: what was before it holds
            break
        covers.append(more)
        if before - value <= MUCH * abs(value):
            break
    if not covers:
        raise OptschedError("no cover is violated")
    return together(covers)


class Relaxation:
    """Shares of options, at most one a job, under the capacity of each place and slot and covers, in HiGHS.

    Attributes
    ----------
    share : of each option, shape (n,), once solved. prices : of capacity, shape (P, T). prices_of_covers : shape (C,).
    """

    def __init__(self, program: TimeIndexedProblem, monitor: Monitor, seconds: float) -> None:
        from optsched.solvers.highs import Incremental

        self.program = program
        self._options, self._loads, self._jobs = len(program), program.capacity.size, int(program.job[-1]) + 1
        self._scale = SCALE / float(program.value.max())
        dearer, loads = program.dearer, self._loads
        free = np.zeros(2 * loads)  # the first step of overload, and more
        dear = free if dearer is None else np.append(dearer.ravel() / program.step, np.full(loads, program.overload_price))
        most = free if dearer is None else np.append(np.full(loads, program.step), np.full(loads, np.inf))
        self._highs = Incremental(
            cost=self._scale * np.concatenate([-program.value, np.zeros(loads), dear]),
            upper=np.concatenate([np.ones(len(program)), np.full(loads, np.inf), most]),
            rows=self._rows(),
            below=np.append(np.zeros(loads), np.full(loads + self._jobs, -np.inf)),
            above=np.concatenate([np.zeros(loads), program.within.ravel(), np.ones(self._jobs)]),
            monitor=monitor,
            seconds=seconds,
        )

    def _rows(self) -> CsrMatrix:
        """Loads from slot to slot, their limits, and jobs; over options, loads, the first step of overload, and more."""
        from optsched.solvers.csr import CsrMatrix

        p, options, loads = self.program, self._options, self._loads
        slots, slot, each = p.capacity.shape[1], np.arange(loads), np.arange(options)
        end, asked = p.start + p.duration[p.job], p.demand[p.job]
        inside, goes_on = np.flatnonzero(end < slots), slot[slot % slots > 0]
        balance = [
            (p.place * slots + p.start, each, -asked),
            ((p.place * slots + end)[inside], inside, asked[inside]),
            (slot, options + slot, np.ones(loads)),
            (goes_on, options + goes_on - 1, -np.ones(len(goes_on))),
        ]
        limits = [(loads + slot, options + k * loads + slot, np.full(loads, (1.0, -1.0, -1.0)[k])) for k in range(3)]
        terms = [*balance, *limits, (2 * loads + p.job, each, np.ones(options))]
        row, column, entry = (np.concatenate(part) for part in zip(*terms, strict=True))
        return CsrMatrix.at(row, column, entry, (2 * loads + self._jobs, options + 3 * loads))

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
