"""A plan made better: the best one for its order of events, then for orders in which events that coincide change places.

Whoever is done when somebody else comes or is done might be done before or after: with the two exchanged the plan is still
one, and the linear program can only find a better one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Bools, Ints
from optsched.referee import evaluate
from optsched.rolling.allocation.offline.program import FIRST, ROUNDS, Columns, OrderedProgram
from optsched.rolling.allocation.offline.subsets import Subsets
from optsched.rolling.allocation.offline.timetable import Lateness, Timetable
from optsched.schedules.allocation import AllocationHistory
from optsched.schedules.allocation.history import check
from optsched.stop import Spare

log = logging.getLogger(__name__)
WHOLE, SIZE = 40_000, 10_000  # pairs of a job and an interval: up to which all is one program, and of a part else
LEAST = 4  # intervals of a part
IDLE = 4  # exchanges in turn, back and forth, that bring nothing, after which a part is done
GAIN = 1e-4  # of its cost, that something must bring
MOST = 200  # exchanges of a part
TOGETHER = 1e-6  # of a mean interval, and of the shortest job: edges that coincide

Part = tuple[int, int]  # edges from where to where


class Improvement:
    """A history on its way to a better one; moves must lose no work."""

    def __init__(self, instance: AllocationInstance, history: AllocationHistory) -> None:
        self.instance, self.history, self.subsets = instance, history, Subsets(instance)
        self.objective = evaluate(instance, history).objective
        self.lateness = Lateness.of(instance, history)
        self.table = Timetable.of(instance, self.subsets, self.lateness, history)
        self.columns: Columns = [set() for _ in self.table.pieces]
        self.good = self.table, self.columns
        shortest = float(self.subsets.time.min(initial=np.inf))
        mean = float(self.table.at_s[-1] - self.table.at_s[0]) / len(self.table.at_s)
        self.soon = TOGETHER * min(mean, shortest)

    def __call__(self, spare: Spare | None = None) -> Iterator[AllocationHistory]:
        """Better and better histories, while there is time."""
        parts = self._parts()
        for part in parts:
            if len(parts) > 1 and not self._late()[part[0] : part[1]].any():
                continue  # what is left to be had there is a little energy
            for rounds in ROUNDS:
                before = self.objective
                if self._solved(part, FIRST, spare):
                    yield self.history
                for _ in self._exchanges(part, rounds, spare):
                    yield self.history
                if not _gains(before, self.objective) or (spare is not None and not spare()):
                    break

    def _exchanges(self, part: Part, rounds: int, spare: Spare | None) -> Iterator[None]:
        """Orders in which what coincides has changed places, whenever one of them is better than all before."""
        idle = 0
        for exchanges, later in enumerate(cycle((False, True))):
            if idle == IDLE or exchanges == MOST or (spare is not None and not spare()):
                return
            idle += 1
            if self._exchange(part, later=later) and self._solved(part, rounds, spare):
                idle = 0
                yield

    def _solved(self, part: Part, rounds: int, spare: Spare | None) -> bool:
        """Whether the best plan for the order is better than all before; one that is worse is forgotten."""
        if self.objective <= 0:
            return False
        found = OrderedProgram(self.subsets, self.lateness, self.table, self.columns, *part).run(rounds, spare)
        if found is None:
            self.table, self.columns = self.good
            return False
        self.table, self.columns = found
        history = self.table.history(self.instance, self.subsets)
        broken = check(self.instance, history)
        judged = evaluate(self.instance, history)
        if broken or _gains(judged.objective, self.objective):
            log.debug("a plan of %g is forgotten: %r", judged.objective, broken[0] if broken else "worse than the last")
            self.table, self.columns = self.good
            return False
        if _gains(self._charged(), judged.components["tardiness"]):  # jobs are done before the edges that say so
            self.table = Timetable.of(self.instance, self.subsets, self.lateness, history)
        better = _gains(self.objective, judged.objective)
        if judged.objective <= self.objective:
            self.history, self.objective = history, judged.objective
            self.good = self.table, self.columns
        return better

    def _charged(self) -> float:
        """The tardiness that the program pays."""
        late = np.maximum(0.0, self.table.at_s[self.table.order.end] - self.lateness.due_s)
        return float(self.lateness.weight_per_s @ late)

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

    def _exchange(self, part: Part, *, later: bool) -> bool:
        """Late completions change places with what coincides before them, or all with what does after; whether any has."""
        at, order = self.table.at_s, self.table.order
        inner = np.arange(part[0] + 1, part[1] - (part[1] < len(at) - 1))  # others follow a part's last edge, which stays
        close = inner[(at[inner + 1] - at[inner] <= self.soon) & (order.job[inner] != order.job[inner + 1])]
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
        return np.asarray(order.done & (self.table.at_s > self.lateness.due_s[order.job] + self.soon))


def _gains(before: float, after: float) -> bool:
    """Whether that much less is worth another try."""
    return before - after > GAIN * abs(before)


def _apart(edges: Ints) -> Ints:
    """Of edges in turn those that are not next to one that counts."""
    kept: list[int] = []
    for edge in edges.tolist():
        if not kept or abs(edge - kept[-1]) > 1:
            kept.append(edge)
    return np.array(kept, dtype=np.int64)
