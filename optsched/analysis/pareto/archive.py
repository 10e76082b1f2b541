"""The schedules found so far, of which only those stay that no other one dominates, and the open cells between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

from optsched.analysis.pareto.axes import Pair
from optsched.schedules.base import Schedule

SAME = 1e-9  # of the extent: costs that close are one cost


@dataclass(frozen=True)
class Found:
    """A schedule and what it costs on both axes."""

    costs: Pair
    schedule: Schedule


@dataclass(frozen=True)
class Cell:
    """Between two neighbours, or beyond an end: what is new there is cheaper than `corner` on both axes.

    Attributes
    ----------
    left, right
        The neighbours: the left one is cheaper on the first axis. None beyond an end.
    """

    corner: Pair
    left: Found | None
    right: Found | None


@dataclass
class Archive:
    """Found schedules by the first cost, then falling in the second."""

    points: list[Found] = field(default_factory=list)
    everything: list[Found] = field(default_factory=list)

    def offer(self, found: Found) -> bool:
        """Keep what no other one matches or beats; whether it was kept."""
        self.everything.append(found)
        if any(_covers(kept.costs, found.costs) for kept in self.points):
            return False
        self.points = [kept for kept in self.points if not _covers(found.costs, kept.costs)] + [found]
        self.points.sort(key=lambda kept: kept.costs)
        return True

    @property
    def unit(self) -> Pair:
        """Extent of the front on both axes; of its costs, or one, where it has none."""
        first, second = ([kept.costs[k] for kept in self.points] for k in (0, 1))
        return _extent(first), _extent(second)

    @property
    def cells(self) -> list[Cell]:
        """Where there may be more."""
        if not self.points:
            return []
        first, last = self.points[0], self.points[-1]
        between = [Cell((b.costs[0], a.costs[1]), a, b) for a, b in pairwise(self.points)]
        return [Cell((first.costs[0], inf), None, first), *between, Cell((inf, last.costs[1]), last, None)]


def _extent(costs: list[float]) -> float:
    if not costs:
        return 1.0
    wide, size = max(costs) - min(costs), max(map(abs, costs))
    return wide if wide > SAME * size else size or 1.0


def _covers(a: Pair, b: Pair) -> bool:
    """Whether a is as cheap as b on both axes; two figures as near as rounding brings them are the same."""
    return all(x <= y + SAME * max(abs(x), abs(y)) for x, y in zip(a, b, strict=True))
