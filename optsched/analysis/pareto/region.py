"""What is proven that no schedule reaches: half-planes and corners of the plane of two costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import inf, isfinite

from optsched.analysis.pareto.axes import Pair


@dataclass(frozen=True)
class HalfPlane:
    """Every schedule has ``weights[0] * cost 0 + weights[1] * cost 1 >= bound``; weights are not negative."""

    weights: Pair
    bound: float

    def least(self, axis: int, other: float) -> float:
        """What a schedule costs at least on an axis, if it costs at most `other` on the other one."""
        mine, its = self.weights[axis], self.weights[1 - axis]
        if mine <= 0 or (its > 0 and not isfinite(other)):
            return -inf
        return (self.bound - (its * other if its else 0.0)) / mine

    def depth(self, corner: Pair, unit: Pair) -> float:
        """How many units below a corner the excluded part begins; infinite where it never does."""
        rate = self.weights[0] * unit[0] + self.weights[1] * unit[1]
        height = -self.bound
        for weight, cost in zip(self.weights, corner, strict=True):
            height += weight * cost if weight else 0.0
        return max(0.0, height / rate) if rate > 0 else inf


@dataclass(frozen=True)
class Corner:
    """Every schedule that costs at most `limit` on axis ``1 - axis`` costs at least `bound` on `axis`."""

    axis: int
    limit: float
    bound: float

    def least(self, axis: int, other: float) -> float:
        """As of `HalfPlane`; what costs less than `bound` on `axis` costs more than `limit` on the other one."""
        if axis == self.axis:
            return self.bound if other <= self.limit else -inf
        return self.limit if other < self.bound else -inf

    def depth(self, corner: Pair, unit: Pair) -> float:
        """As of `HalfPlane`."""
        along, across = corner[self.axis] - self.bound, corner[1 - self.axis] - self.limit
        if across == -inf or self.limit == inf:
            across = 0.0
        return max(0.0, along / unit[self.axis], across / unit[1 - self.axis])


@dataclass
class Region:
    """All that has been proven; the part of the plane that is left open is closed upwards."""

    parts: list[HalfPlane | Corner] = field(default_factory=list)

    def least(self, axis: int, other: float = inf) -> float:
        """What a schedule costs at least on an axis, if it costs at most `other` on the other one."""
        return max((part.least(axis, other) for part in self.parts), default=-inf)

    def depth(self, corner: Pair, unit: Pair) -> float:
        """By how many units on both axes at once a schedule may be below a corner: 0 where none is."""
        return min((part.depth(corner, unit) for part in self.parts), default=inf)

    def beaten_by(self, costs: Pair, margin: Pair) -> HalfPlane | Corner | None:
        """What is proven wrong by a schedule of such costs, if anything is by more than a margin."""
        raised = (costs[0] + margin[0], costs[1] + margin[1])
        for part in self.parts:
            if isinstance(part, HalfPlane):
                if part.weights[0] * raised[0] + part.weights[1] * raised[1] < part.bound:
                    return part
            elif raised[1 - part.axis] <= part.limit and raised[part.axis] < part.bound:
                return part
        return None

    def outline(self, box: tuple[Pair, Pair], also: Iterable[float] = ()) -> Iterator[Pair]:
        """The edge of what is excluded, from left to right between the corners of a box, as points of a line.

        Parameters
        ----------
        box
            Least and most of each cost.
        also
            First costs at which to say it too.
        """
        (left, low), (right, high) = box
        breaks = {left, right, *also}
        planes = [part for part in self.parts if isinstance(part, HalfPlane) and part.weights[1] > 0]
        for part in self.parts:
            if isinstance(part, Corner):
                breaks.add(part.bound if part.axis == 0 else part.limit)
                level = part.limit if part.axis == 0 else part.bound
                breaks |= {(p.bound - p.weights[1] * level) / p.weights[0] for p in planes if p.weights[0] and isfinite(level)}
            elif part.weights[0] > 0 and not part.weights[1]:
                breaks.add(part.bound / part.weights[0])
        for i, a in enumerate(planes):
            for b in planes[:i]:
                cross = a.weights[0] * b.weights[1] - b.weights[0] * a.weights[1]
                if cross:
                    breaks.add((a.bound * b.weights[1] - b.bound * a.weights[1]) / cross)
        xs = sorted(x for x in breaks if left <= x <= right)
        nudge = 1e-9 * (right - left)
        for x in xs:  # just before and just after, for where it falls steeply
            for at in (x - nudge, x, x + nudge):
                if left <= at <= right:
                    yield at, min(high, max(low, self._height(at)))

    def _height(self, first: float) -> float:
        """The least second cost of what costs just so much on the first axis."""
        if first < self.least(0):
            return inf
        return self.least(1, first)
