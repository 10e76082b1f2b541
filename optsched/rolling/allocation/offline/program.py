"""The best plan for an order of arrivals and completions: a linear program, by column generation.

Between two edges the same jobs may run, so that all that counts is how long which subset of them does (Lawler and Labetoulle
1978, for one job a machine). When a job is done is a variable, between the edges before and after it. Columns are subsets
with what their nodes cost; those that are missing are found by the prices of work and of each interval's time.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np

from optsched.instances.base import Floats
from optsched.rolling.allocation.offline.order import Order
from optsched.rolling.allocation.offline.subsets import Subset, Subsets
from optsched.rolling.allocation.offline.timetable import Lateness, Piece, Timetable
from optsched.solvers.columns import ColumnProgram
from optsched.solvers.csr import CsrMatrix
from optsched.stop import Spare

EXACT = 1e-9  # of a row
FIRST, ROUNDS = 30, (3, 12)  # of column generation: of an order to begin with, of others, and of others more thoroughly
LOOKED_BACK, WORTH_IT = 4, 1e-4  # rounds, in which the cost must fall by as much of itself
NEIGHBOURS = 2  # intervals on either side, whose columns are tried
KEPT = 1e-5  # reduced cost of a column that is kept, of what all costs
NONE = 1e-9  # of all a job's work: a column that does no more is rounding
SHORT = 1e4  # times what all costs, for a job's work left undone: rounding may leave no room for all of it


Columns = list[set[Subset]]  # by interval


class OrderedProgram:
    """A part of a timetable, from edge `first` to edge `last`, which stay where they are if others follow.

    Attributes
    ----------
    found
        What the part costs, but for a constant: the optimum of the last run, of the columns that it had.
    """

    found: float | None = None

    def __init__(self, subsets: Subsets, lateness: Lateness, table: Timetable, columns: Columns, first: int, last: int) -> None:
        self.subsets, self.table, self.columns, self.first, self.last = subsets, table, columns, first, last
        self.interval, self.job = table.order.present(first, last)
        need = 1.0 - table.done(subsets, 0, first) - table.done(subsets, last, None)
        missing = need - table.done(subsets, first, last)  # what rounding has left
        kept = need[self.job] > max(EXACT, 2 * float(np.abs(missing).max()))
        self.interval, self.job = self.interval[kept] - first, self.job[kept]
        self.jobs = np.unique(self.job)
        self.need = need[self.jobs]
        self.row = np.full(len(need), -1)
        self.row[self.jobs] = np.arange(len(self.jobs))
        count = last - first
        self.second = max(float(table.at_s[last] - table.at_s[first]), 1e-300) / count  # the unit of time
        self._edges(lateness, table.order)
        self.cost = max(self._cost(), 1e-300)  # the unit of costs
        limit = np.diff(self.base) / self.second
        self.program = ColumnProgram(len(self.jobs), limit, EXACT)
        self._add_edges()
        self.listed: list[tuple[int, Subset]] = []
        self.have: Columns = [set() for _ in range(count)]
        self._add(self._known())

    def run(self, rounds: int, spare: Spare | None = None) -> tuple[Timetable, Columns] | None:
        """The timetable, and the columns that are worth keeping.

        None where HiGHS has found nothing, or there was no time.
        """
        costs: list[float] = []
        used = reduced = np.zeros(0)
        for _ in range(rounds):
            left_s = inf if spare is None else spare.left_s()
            if (spare is not None and not spare()) or (solved := self.program.solve(left_s)) is None:
                break
            costs.append(solved[0])
            used, reduced = self.program.columns()
            slow = len(costs) > LOOKED_BACK and costs[-1 - LOOKED_BACK] - costs[-1] < WORTH_IT * abs(costs[-1])
            worth, least = self._prices(solved[1])
            if slow or len(costs) == rounds or not self._add(self.subsets.worth_more(worth, self.interval, self.job, least)):
                break
        self.found = costs[-1] * self.cost if costs else None
        return self._read(used, reduced) if costs else None

    def _edges(self, lateness: Lateness, order: Order) -> None:
        """Where edges are at least, and what each second costs by which they are later, shape (I + 1,)."""
        edges = np.arange(self.first, self.last + 1)
        job, at = order.job[edges], self.table.at_s[edges]
        due = np.maximum(lateness.due_s[job], self.table.at_s[order.begin[job]])
        self.free = order.done[edges] & (due < lateness.far_s)
        self.free[0] = False
        if self.last < len(order.job) - 1:
            self.free[-1] = False
        self.base = np.where(self.free, due, at)
        self.late = np.where(self.free, lateness.weight_per_s[job], 0.0)

    def _cost(self) -> float:
        """Of the timetable as it is."""
        late = float(self.late @ (self.table.at_s[self.first : self.last + 1] - self.base))
        run = (t * self.subsets.cost_per_s(s) for some in self.table.pieces[self.first : self.last] for t, s in some)
        return late + sum(run)

    def _add_edges(self) -> None:
        """A later edge gives time to the interval before, and takes it from the one after; then what is left undone."""
        edges, none = np.flatnonzero(self.free), len(self.jobs)
        rows = np.repeat(np.arange(len(edges)), 2)
        at = none + np.stack([edges - 1, edges], axis=1).reshape(-1)
        inside = at < none + self.last - self.first
        values = np.tile([-1.0, 1.0], len(edges))
        shape = (len(edges), none + self.last - self.first)
        columns = CsrMatrix.at(rows[inside], at[inside], values[inside], shape)
        self.program.add(self.late[edges] * self.second / self.cost, columns)
        self.program.add(np.full(none, SHORT), CsrMatrix.identity(none, none + self.last - self.first))

    def _known(self) -> list[tuple[int, Subset]]:
        """What runs, and what has been of use in an interval or near it."""
        begin, end = self.table.order.begin, self.table.order.end
        found = []
        for i in range(self.first, self.last):
            near = range(max(self.first, i - NEIGHBOURS), min(self.last, i + NEIGHBOURS + 1))
            some = {s for _, s in self.table.pieces[i]}.union(*(self.columns[k] for k in near))
            present = ((begin <= i) & (i < end) & (self.row >= 0)).tolist()
            here = {Subsets.only(subset, present) for subset in some}
            found += [(i - self.first, subset) for subset in sorted(here) if subset]
        return found

    def _add(self, found: Iterable[tuple[int, Subset]]) -> bool:
        """New columns; whether there are any."""
        new = [(i, s) for i, s in found if s not in self.have[i]]
        for i, subset in new:
            self.have[i].add(subset)
        if not new:
            return False
        self.listed += new
        row, at, value = [], [], []
        for n, (i, subset) in enumerate(new):
            for group in subset:
                for job, way in group:
                    row.append(n)
                    at.append(int(self.row[job]))
                    value.append(self.second / float(self.subsets.time[job, way]) / float(self.need[self.row[job]]))
            row.append(n)
            at.append(len(self.jobs) + i)
            value.append(1.0)
        shape = (len(new), len(self.jobs) + self.last - self.first)
        cost = np.array([self.subsets.cost_per_s(subset) for _, subset in new])
        self.program.add(cost * self.second / self.cost, CsrMatrix.at(np.array(row), np.array(at), np.array(value), shape))
        return True

    def _prices(self, duals: Floats) -> tuple[Floats, Floats]:
        """What each job's whole work is worth, shape (J,), and a second of each interval, shape (I,)."""
        worth = np.zeros(len(self.row))
        worth[self.jobs] = np.maximum(0.0, duals[: len(self.jobs)]) * self.cost / self.need
        least = np.maximum(0.0, -duals[len(self.jobs) :]) * self.cost / self.second
        return worth, least * (1 + 1e-6) + 1e-9 * self.cost / self.second

    def _read(self, value: Floats, reduced: Floats) -> tuple[Timetable, Columns]:
        """The timetable with this part as the program wants it."""
        edges = np.flatnonzero(self.free)
        own = self.base.copy()
        own[edges] += np.maximum(0.0, value[: len(edges)]) * self.second
        at = self.table.at_s.copy()
        at[self.first : self.last + 1] = own
        fixed = np.where(np.isin(np.arange(len(at)) - self.first, edges), np.inf, at)
        at = np.minimum(np.maximum.accumulate(at), np.minimum.accumulate(fixed[::-1])[::-1])
        pieces: list[list[Piece]] = [[] for _ in range(self.last - self.first)]
        columns = list(self.columns)
        columns[self.first : self.last] = [set() for _ in pieces]
        others = len(edges) + len(self.jobs)
        solved = self.listed[: len(value) - others]
        for (i, subset), used, more in zip(solved, value[others:], reduced[others:], strict=True):
            works = used * self.second > NONE * min(self.subsets.time[job, way] for group in subset for job, way in group)
            if works:
                pieces[i].append((float(used) * self.second, subset))
            if works or more < KEPT:
                columns[self.first + i].add(subset)
        for i, some in enumerate(pieces):
            room, taken = at[self.first + i + 1] - at[self.first + i], sum(seconds for seconds, _ in some)
            if taken > room:
                pieces[i] = [(seconds * float(room / taken), subset) for seconds, subset in some]
        whole = list(self.table.pieces)
        whole[self.first : self.last] = [tuple(some) for some in pieces]
        return Timetable(self.table.order, at, tuple(whole)), columns
