"""A plan made better: the best one for its order of events, then for orders in which events that coincide change places.

Whoever is done when somebody else comes or is done might be done before or after: with the two exchanged the plan is still
one, and the linear program can only find a better one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Bools, Ints
from optsched.rolling.allocation.offline.program import FIRST, ROUNDS, Columns, OrderedProgram
from optsched.rolling.allocation.offline.subsets import Subsets
from optsched.rolling.allocation.offline.timetable import Lateness, Timetable
from optsched.schedules.allocation import AllocationHistory
from optsched.schedules.allocation.history import check
from optsched.starts import better
from optsched.stop import Spare

WHOLE, SIZE = 40_000, 10_000  # pairs of a job and an interval: up to which all is one program, and of a part else
LEAST = 4  # intervals of a part
IDLE = 4  # exchanges in turn, back and forth, that bring nothing, after which a part is done
GAIN = 1e-4  # of its cost, that something must bring
TOGETHER = 1e-6  # of a mean interval: edges that coincide

Part = tuple[int, int]  # edges from where to where


class Improvement:
    """A history on its way to a better one; moves must lose no work."""

    def __init__(self, instance: AllocationInstance, history: AllocationHistory) -> None:
        self.instance, self.history, self.subsets = instance, history, Subsets(instance)
        self.lateness = Lateness.of(instance, history)
        self.table = Timetable.of(instance, self.subsets, self.lateness, history)
        self.columns: Columns = [set() for _ in self.table.pieces]

    def __call__(self, spare: Spare | None = None) -> Iterator[AllocationHistory]:
        """Better and better histories, while there is time."""
        parts = self._parts()
        for part in parts:
            if len(parts) > 1 and not self._late()[part[0] : part[1]].any():
                continue  # what is left to be had there is a little energy
            for rounds in ROUNDS:
                if (cost := self._solve(part, FIRST, spare)) is None:
                    break
                yield self._kept()
                better_ones = 0
                for _ in self._exchanges(part, rounds, cost, spare):
                    better_ones += 1
                    yield self._kept()
                if not better_ones:
                    break

    def _exchanges(self, part: Part, rounds: int, cost: float, spare: Spare | None) -> Iterator[float]:
        """The costs of better and better orders."""
        idle = 0
        for later in cycle((False, True)):
            if idle == IDLE:
                return
            idle += 1
            if self._exchange(part, later=later):
                if (now := self._solve(part, rounds, spare)) is None:
                    return
                if now < cost * (1 - GAIN):
                    idle = 0
                    yield now
                cost = now

    def _kept(self) -> AllocationHistory:
        """The better one of the last and that of the timetable, if the referee accepts it."""
        found = self.table.history(self.instance, self.subsets)
        if not check(self.instance, found):
            self.history = better(self.instance, self.history, found)
        return self.history

    def _parts(self) -> list[Part]:
        """Everything if that is not too large, else parts that overlap by half."""
        order, edges = self.table.order, len(self.table.at_s) - 1
        interval, _ = order.present(0, edges)
        if len(interval) <= WHOLE:
            return [(0, edges)]
        upto = np.concatenate([[0], np.cumsum(np.bincount(interval, minlength=edges))])
        parts, first, last = [], 0, 0
        while last < edges:
            last = min(edges, max(int(np.searchsorted(upto, upto[first] + SIZE, side="right")) - 1, first + LEAST))
            parts.append((first, last))
            first = (first + last) // 2
        return parts

    def _solve(self, part: Part, rounds: int, spare: Spare | None) -> float | None:
        """What the best plan for the order costs there."""
        program = OrderedProgram(self.subsets, self.lateness, self.table, self.columns, *part)
        if (found := program.run(rounds, spare)) is None:
            return None
        cost, self.table, self.columns = found
        return cost

    def _exchange(self, part: Part, *, later: bool) -> bool:
        """Late completions change places with what coincides before them, or all with what does after; whether any has."""
        at, order = self.table.at_s, self.table.order
        inner = np.arange(part[0] + 1, part[1] - (part[1] < len(at) - 1))  # others follow a part's last edge, which stays
        close = inner[(at[inner + 1] - at[inner] <= self._soon()) & (order.job[inner] != order.job[inner + 1])]
        edges = _apart(close[order.done[close]][::-1] if later else close[self._late()[close + 1]])
        if not len(edges):
            return False
        self.table = replace(self.table, order=order.exchanged(edges))
        for i in edges.tolist():
            self.columns[i] = set().union(*self.columns[i - 1 : i + 2 : 2])
        return True

    def _late(self) -> Bools:
        """Where a job is done late, shape (E,)."""
        order = self.table.order
        return np.asarray(order.done & (self.table.at_s > self.lateness.due_s[order.job] + self._soon()))

    def _soon(self) -> float:
        """Edges so close to each other coincide."""
        at = self.table.at_s
        return float(TOGETHER * (at[-1] - at[0]) / len(at))


def _apart(edges: Ints) -> Ints:
    """Of edges in turn those that are not next to one that counts."""
    kept: list[int] = []
    for edge in edges.tolist():
        if not kept or abs(edge - kept[-1]) > 1:
            kept.append(edge)
    return np.array(kept, dtype=np.int64)
