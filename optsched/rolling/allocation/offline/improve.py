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
from optsched.instances.base import Ints
from optsched.rolling.allocation.offline.program import FIRST, ROUNDS, Columns, OrderedProgram
from optsched.rolling.allocation.offline.subsets import Subsets
from optsched.rolling.allocation.offline.timetable import Lateness, Timetable
from optsched.schedules.allocation import AllocationHistory
from optsched.schedules.allocation.history import check
from optsched.starts import better
from optsched.stop import Spare

SIZE = 40_000  # jobs times intervals of a part
IDLE = 4  # exchanges in turn, back and forth, that bring nothing, after which a part is done
GAIN = 1e-4  # of its cost, that something must bring
TOGETHER = 1e-6  # of a mean interval: edges that coincide


class Improvement:
    """A history on its way to a better one; moves must lose no work."""

    def __init__(self, instance: AllocationInstance, history: AllocationHistory) -> None:
        self.instance, self.history, self.subsets = instance, history, Subsets(instance)
        self.lateness = Lateness.of(instance, history)
        self.table = Timetable.of(instance, self.subsets, self.lateness, history)
        self.columns: Columns = [set() for _ in self.table.pieces]

    def __call__(self, spare: Spare | None = None) -> Iterator[AllocationHistory]:
        """Better and better histories, while there is time."""
        for first, last in self._parts():
            for rounds in ROUNDS:  # of others
                cost, idle = self._solve(first, last, FIRST, spare), 0
                if cost is not None:
                    yield self._kept()
                for later in cycle((False, True)):
                    if cost is None or idle == IDLE:
                        break
                    idle += 1
                    if self._exchange(first, last, later=later):
                        before, cost = cost, self._solve(first, last, rounds, spare)
                        if cost is not None and cost < before * (1 - GAIN):
                            idle = 0
                            yield self._kept()
            if spare is not None and not spare():
                return

    def _kept(self) -> AllocationHistory:
        """The better one of the last and that of the timetable, if the referee accepts it."""
        found = self.table.history(self.instance, self.subsets)
        if not check(self.instance, found):
            self.history = better(self.instance, self.history, found)
        return self.history

    def _parts(self) -> list[tuple[int, int]]:
        """Edges from where to where: everything if that is not too large, else parts that overlap by half."""
        order, edges = self.table.order, len(self.table.at_s) - 1
        interval, _ = order.present(0, edges)
        upto = np.concatenate([[0], np.cumsum(np.bincount(interval, minlength=edges))])
        parts, first = [], 0
        while True:
            last = int(np.searchsorted(upto, upto[first] + SIZE, side="right")) - 1
            last = min(edges, max(last, first + 4))
            parts.append((first, last))
            if last == edges:
                return parts
            first = (first + last) // 2

    def _solve(self, first: int, last: int, rounds: int, spare: Spare | None) -> float | None:
        program = OrderedProgram(self.subsets, self.lateness, self.table, self.columns, first, last)
        if (found := program.run(rounds, spare)) is None:
            return None
        cost, self.table, self.columns = found
        return cost

    def _exchange(self, first: int, last: int, *, later: bool) -> bool:
        """Late completions change places with what coincides before them, or all with what does after; whether any has."""
        at, order = self.table.at_s, self.table.order
        inner, soon = np.arange(first + 1, last - 1), TOGETHER * (at[last] - at[first]) / (last - first)
        close = inner[(at[inner + 1] - at[inner] <= soon) & (order.job[inner] != order.job[inner + 1])]
        late = order.done & (at > self.lateness.due_s[order.job] + soon)
        edges = _apart(close[order.done[close]][::-1] if later else close[late[close + 1]])
        if not len(edges):
            return False
        self.table = replace(self.table, order=order.exchanged(edges))
        for i in edges.tolist():
            self.columns[i] = self.columns[i - 1] | self.columns[i + 1]
        return True


def _apart(edges: Ints) -> Ints:
    """Of edges in turn those that are not next to one that counts."""
    kept: list[int] = []
    for edge in edges.tolist():
        if not kept or abs(edge - kept[-1]) > 1:
            kept.append(edge)
    return np.array(kept, dtype=np.int64)
