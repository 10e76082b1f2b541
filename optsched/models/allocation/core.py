"""The core of an allocation: the ways that prices leave open, all other jobs as they are (Balas and Zemel 1980)."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np
import pyomo.core as pyo

from optsched.instances.base import Bools, Floats, Ints
from optsched.models.base import PyomoModel, paused_gc
from optsched.models.terms import Terms, rows_of
from optsched.problems.allocation.slots import Cell, SlotProgram


class SlotCore(PyomoModel):
    """Slots taken are slots offered, over some ways and some cells.

    Rows in this order: a way for each job that has several, slots beside firsts by kind, firsts by kind, nodes in use, nodes of
    each class. With a `box` slots may be bought and sold, so that the rows' prices lie in it (Marsten, Hogan and Blankenship
    1975) and there is always a point.

    Parameters
    ----------
    program : of which this is a part. kept : ways, shape (W,); each job has one. cells : of nodes.
    box : the least and the highest price of each shared row, shape (2 K + 1,) each, or None.
    """

    name: ClassVar[str] = "slots"

    def __init__(self, program: SlotProgram, kept: Bools, cells: list[Cell], box: tuple[Floats, Floats] | None = None) -> None:
        self.program, self.cells, self.implied_integers = program, cells, []
        ways = np.flatnonzero(kept)
        several = (np.bincount(program.job[ways], minlength=len(program.jobs)) > 1)[program.job[ways]]
        self.fixed, self.ways = ways[~several], ways[several]
        self.pyomo = pyo.ConcreteModel(name=self.name)
        with paused_gc():
            self._build(box)

    def _build(self, box: tuple[Floats, Floats] | None) -> None:
        p, m, kinds = self.program, self.pyomo, self.program.kinds
        nodes = p.nodes.tolist()
        m.way = pyo.Var(range(len(self.ways)), domain=pyo.Binary)
        m.count = pyo.Var(
            range(len(self.cells)), domain=pyo.NonNegativeIntegers, bounds=lambda _, i: (0, nodes[self.cells[i][0]])
        )
        both = list(m.way.values()) + list(m.count.values())
        jobs, row = np.unique(p.job[self.ways], return_inverse=True)
        self._open = len(jobs)
        once = rows_of(row, both, np.arange(len(row)), np.ones(len(row)), self._open)
        m.once = pyo.Constraint(range(self._open), rule=lambda _, r: (1, once[r], 1))

        at, picks, weight = self._taken()
        count, cost, every = self._shared, p.cost[self.ways], both
        if box is not None:
            m.bought, m.sold = pyo.Var(range(count), bounds=(0, None)), pyo.Var(range(count), bounds=(0, None))
            every = both + list(m.bought.values()) + list(m.sold.values())
            at = np.concatenate([at, np.tile(np.arange(count), 2)])
            picks = np.concatenate([picks, len(both) + np.arange(2 * count)])
            weight = np.concatenate([weight, np.repeat([-1.0, 1.0], count)])
            cost = np.concatenate([cost, np.zeros(len(self.cells)), box[1][:count], -box[0][:count]])
        taken = np.bincount(p.kind[self.fixed], minlength=2 * kinds + 1)[: 2 * kinds]
        side = [*(-taken).tolist(), taken[kinds:].sum() - (p.wanted or 0.0)]
        terms = rows_of(at, every, picks, weight, count)
        m.shared = pyo.Constraint(range(count), rule=lambda _, r: (side[r] if r >= kinds else None, terms[r], side[r]))
        of_class = np.array([cell[0] for cell in self.cells], dtype=np.int64)
        within = rows_of(of_class, both, len(self.ways) + np.arange(len(self.cells)), np.ones(len(self.cells)), len(nodes))
        m.nodes = pyo.Constraint(range(len(nodes)), rule=lambda _, k: (None, within[k], nodes[k]))
        offset = p.offset + float(p.cost[self.fixed].sum())
        m.objective = pyo.Objective(expr=Terms(every, np.arange(len(cost)), cost, offset))

    @property
    def _shared(self) -> int:
        return 2 * self.program.kinds + (self.program.wanted is not None)

    def _taken(self) -> tuple[Ints, Ints, Floats]:
        """Row, column and coefficient of the shared rows: what ways take less what cells offer; nodes wanted less firsts."""
        p, kinds = self.program, self.program.kinds
        kind = p.kind[self.ways]
        slot, lead = np.flatnonzero(kind < 2 * kinds), np.flatnonzero((kind >= kinds) & (kind < 2 * kinds))
        offered = [
            (row, len(self.ways) + i, count)
            for i, cell in enumerate(self.cells)
            for row, count in [*p.offers(cell), (kinds + int(p.begin[cell[0]]) + cell[1], 1)]
        ]
        row, column, count = np.array(offered, dtype=np.int64).reshape(-1, 3).T
        if p.wanted is None:
            lead = lead[:0]
        rows = np.concatenate([kind[slot], row, np.full(len(lead), 2 * kinds)])
        return rows, np.concatenate([slot, column, lead]), np.concatenate([np.ones(len(slot)), -count, -np.ones(len(lead))])

    def begin(self, way: Ints, cells: list[Cell]) -> None:
        """A point to begin from: a way of each job, and the cell of each node in use, all of which are in the core."""
        for var, taken in zip(self.pyomo.way.values(), np.isin(self.ways, way).tolist(), strict=True):
            var.value = float(taken)
        count = Counter(cells)
        for var, cell in zip(self.pyomo.count.values(), self.cells, strict=True):
            var.value = float(count[cell])

    def prices(self, multipliers: Floats) -> Floats:
        """Of the shared rows, from the multipliers of all rows, shape (2 K + 1,)."""
        found = np.zeros(2 * self.program.kinds + 1)
        found[: self._shared] = -multipliers[self._open : self._open + self._shared]
        return found

    def chosen(self) -> tuple[Ints, list[tuple[Cell, int]]]:
        """The way of each job, and how many nodes have which cell."""
        taken = self.ways[[(way.value or 0) > 0.5 for way in self.pyomo.way.values()]]
        counts = [round(count.value or 0) for count in self.pyomo.count.values()]
        return np.concatenate([self.fixed, taken]), [(cell, n) for cell, n in zip(self.cells, counts, strict=True) if n]
