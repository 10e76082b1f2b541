"""The search for a front: its ends, then where most is open (Aneja and Nair 1979; Hamacher, Pedersen and Ruzika 2007).

Every program proves something of the whole plane: a weighted sum a half-plane, a limit on one axis a corner. The next program
is about the cell between two neighbours that these leave open the deepest.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, isfinite

from optsched.analysis.pareto.archive import Archive, Cell, Found
from optsched.analysis.pareto.axes import Pair, Traded, read_axes
from optsched.analysis.pareto.epsilon import EpsilonConstraint
from optsched.analysis.pareto.front import NOTHING, Ended, Front, Point
from optsched.analysis.pareto.provers import Answer, WeightedSums
from optsched.analysis.pareto.region import Corner, HalfPlane, Region
from optsched.errors import CertificateError, OptschedError
from optsched.instances.base import Instance
from optsched.interrupts import asked
from optsched.judging import expect_instance
from optsched.quantities import read_gap, read_seconds, read_seed
from optsched.referee import check, evaluate
from optsched.registry import family_of
from optsched.schedules.base import PROVEN, Schedule
from optsched.starts import best_start
from optsched.stop import Clock

POINTS = 12
FAINT = 1e-3  # of the other axis in what is minimised for an end of the front, so that the end is no worse on it than need be
STEP = 1e-6  # of the extent: points are sought that are better by so much
MOST_LOAD = 1.0  # of an exact model in which limits on an axis are worth trying
LEAST_S = 0.05  # left, for another program to begin

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """What is known of a front at a moment: seconds since the start, points, and the gap, or None."""

    seconds: float
    points: int
    gap: float | None


def pareto(
    instance: Instance,
    axes: str | Iterable[str] | None = None,
    *,
    points: int = POINTS,
    time_limit: float | str | None = 60.0,
    gap: float | str | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Front:
    """Trade two parts of the objective: schedules none of which is better on both, each with what is proven around it.

    Parameters
    ----------
    instance
        What is given.
    axes
        Two terms of the objective as ``"cost,carbon"``, or as two names; sums of terms are joined by ``+``. By default the
        family's own two. What is on neither axis does not count.
    points
        How many at most; the front is complete where it has fewer and `Front.complete` says so.
    time_limit
        Seconds of wall time in all, or text as ``"5m"``; None for none.
    gap
        Stop where no schedule can be better than the front by more than this share of its extent, e.g. 0.01 or ``"1%"``.
    seed
        Of whatever is drawn.
    progress
        Called after every program.

    Returns
    -------
    Front
        With `points`, `to_frame`, `plot`, and the `region` that is proven empty.

    Raises
    ------
    OptschedError
        There are no such axes, or a limit that cannot be used.
    CertificateError
        A schedule lies where it was proven that none can be.

    Notes
    -----
    Ctrl-C ends the search, not the program: the front has the points so far, and `ended` is ``interrupted``.

    Examples
    --------
    >>> import optsched
    >>> front = optsched.pareto(optsched.load("instances/armida-snapshot.json"), points=5)
    >>> front.axes
    ('energy', 'tardiness+postponement')
    """
    expect_instance(instance)
    traded = read_axes(instance, axes)
    seconds, wanted = read_seconds(time_limit), None if gap is None else read_gap(gap)
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise OptschedError(f"points must be a whole number from 2 on, got {points!r:.40}")
    if seconds is not None and not 0 < seconds < inf:
        raise OptschedError(f"time limit must be a positive number of seconds, got {seconds:g}")
    return _Search(traded, points, seconds, wanted, read_seed(seed), progress)()


class _Stopped(Exception):
    """The search is over, for a reason."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended)
        self.ended: Ended = ended


class _Search:
    def __init__(
        self,
        traded: Traded,
        points: int,
        seconds: float | None,
        gap: float | None,
        seed: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.traded, self.most, self.seconds, self.wanted, self.seed = traded, points, seconds, gap, seed
        self.progress, self.clock = progress, Clock()
        self.archive, self.region = Archive(), Region()
        self.sums = WeightedSums(traded, seed=seed)
        self.limits: EpsilonConstraint | None = None
        self.solves = 0
        self.tried: set[tuple[object, ...]] = set()

    def __call__(self) -> Front:
        """Search until the front is complete, or as long as the limits allow."""
        self._offer(best_start(self.traded.instance, None, self.seconds))
        ended: Ended = "supported"
        try:
            self._begin()
            while (cell := self._next()) is not None:
                self._explore(cell)
        except _Stopped as stopped:
            ended = stopped.ended
        except KeyboardInterrupt:
            ended = "interrupted"
        if ended != "interrupted" and (gap := self._gap()) is not None and gap <= NOTHING and self.archive.points:
            ended = "complete"
        self._certify()
        return Front(
            traded=self.traded,
            points=tuple(self._point(found) for found in self.archive.points),
            region=self.region,
            gap=self._gap(),
            ended=ended,
            exact=self.limits is not None,
            solves=self.solves,
            seconds=self.clock.elapsed_s(),
        )

    # programs

    def _begin(self) -> None:
        """The instance's own optimum, where it lies on the front, then both ends."""
        self._weigh(self.traded.own or self._balanced())
        self.limits = self._exactly()
        for axis in (0, 1):
            if self.limits is not None:
                self._lexicographic(axis, inf, self._best(axis).schedule)
            if self.limits is None:
                self._weigh((1.0 - axis, float(axis)))
                faint, unit = [1.0, 1.0], self._sizes()
                faint[1 - axis] = FAINT
                self._weigh((faint[0] / unit[0], faint[1] / unit[1]))
        if self.limits is not None:  # the front's extent is known by now
            self.limits.unit = self.archive.unit

    def _exactly(self) -> EpsilonConstraint | None:
        """The exact model, where it is small enough and its columns say what the referee says."""
        family, traded = family_of(self.traded.instance), self.traded
        if not (traded.priced.discrete and family.has_formulations):
            return None
        size = family.exact_size(traded.instance)
        if size is not None and size.load > MOST_LOAD:
            return None
        try:
            made = EpsilonConstraint(traded, self._sizes(), self.seed)
        except (OptschedError, AssertionError) as error:
            log.info("no limits on an axis: %s", error)
            return None
        if all(made.agrees(found.schedule) for found in self.archive.everything):
            return made
        log.info("no limits on an axis: in floating point the columns do not say what the referee says")
        return None

    def _explore(self, cell: Cell) -> None:
        """One more program about a cell."""
        left, right = cell.left, cell.right
        assert left is not None
        assert right is not None
        if self.limits is not None and not self._seen("limit", cell):
            unit, top = self.archive.unit, cell.corner[1]
            low = max(right.costs[1], self.region.least(1, cell.corner[0] - STEP * unit[0]))
            limit = (low + top) / 2
            if top - low <= unit[1] / self.most:  # too little for another point in the middle: whatever is left, if anything
                limit = top - STEP * unit[1]
                self.tried.add(self._key("limit", cell))
            elif (*self._key("limit", cell), limit) in self.tried:  # what the time did not suffice for
                self.tried.add(self._key("limit", cell))
            self.tried.add((*self._key("limit", cell), limit))
            self._lexicographic(0, limit, right.schedule)
            return
        self.tried.add(self._key("limit", cell))
        weights = (left.costs[1] - right.costs[1], right.costs[0] - left.costs[0])
        again = self._seen(
            "from a neighbour", cell
        )  # both neighbours may be best for these weights, and what is between them too
        self.tried.add(self._key("afresh" if again else "from a neighbour", cell))
        self._weigh(weights, afresh=again)

    def _lexicographic(self, axis: int, limit: float, start: Schedule) -> None:
        """The least on an axis under a limit on the other one; of all schedules with that, the least on the other one."""
        known = self.traded.costs(start)[axis]
        answer = self._limited(axis, limit, start)
        if answer is None or answer.schedule is None:
            return
        cost = self.traded.costs(answer.schedule)[axis]
        if isfinite(limit) and cost >= known - STEP * self.archive.unit[axis]:
            return  # the neighbour that is known already
        self._limited(1 - axis, cost, answer.schedule)

    def _limited(self, axis: int, limit: float, start: Schedule) -> Answer | None:
        """The least on an axis under a limit; None, and weighted sums from there on, where the solver refuses the numbers."""
        assert self.limits is not None
        share = self._share()
        try:
            answer = self.limits(axis, limit, start, share)
        except CertificateError:
            raise
        except OptschedError as error:
            log.info("no limits on an axis any more: %s", error)
            self.limits = None
            return None
        self._take(answer)
        if answer.bound is not None:
            self.region.parts.append(Corner(axis, limit, answer.bound))
        self._tell()
        return answer

    def _weigh(self, weights: Pair, afresh: bool = False) -> None:
        """The least weighted sum, from the best known schedule or from none."""
        best = min(self.archive.points, key=lambda found: weights[0] * found.costs[0] + weights[1] * found.costs[1])
        answer = self._take(self.sums(weights, None if afresh else best.schedule, self._share()))
        if answer.bound is not None:
            self.region.parts.append(HalfPlane(weights, answer.bound))
        self._tell()

    def _take(self, answer: Answer) -> Answer:
        self.solves += 1
        if answer.schedule is not None:
            self._offer(answer.schedule)
        if answer.interrupted or asked():
            raise _Stopped("interrupted")
        return answer

    def _offer(self, schedule: Schedule) -> None:
        """Keep a schedule, by what the referee says of it on the instance itself.

        Raises
        ------
        CertificateError
            It breaks a rule.
        """
        if broken := check(self.traded.instance, schedule):
            raise CertificateError(f"a schedule of the front breaks a rule: {broken[0]}")
        self.archive.offer(Found(self.traded.costs(schedule), schedule))

    # where next

    def _next(self) -> Cell | None:
        """The deepest open cell that is worth another program."""
        if len(self.archive.points) >= self.most:
            raise _Stopped("points")
        gap = self._gap()
        if self.wanted is not None and gap is not None and gap <= self.wanted:
            raise _Stopped("gap_limit")
        unit = self.archive.unit
        cells = [(self.region.depth(cell.corner, unit), cell) for cell in self.archive.cells if cell.left and cell.right]
        cells = [(depth, cell) for depth, cell in cells if depth > 2 * STEP and not self._seen("afresh", cell)]
        return max(cells, key=lambda pair: pair[0])[1] if cells else None

    def _seen(self, kind: str, cell: Cell) -> bool:
        return self._key(kind, cell) in self.tried

    @staticmethod
    def _key(kind: str, cell: Cell) -> tuple[object, ...]:
        return (kind, cell.left and cell.left.costs, cell.right and cell.right.costs)

    def _share(self) -> float | None:
        """Seconds of the next program: an equal share of what is left for all that may still come.

        Raises
        ------
        _Stopped
            Nothing is left.
        """
        if self.seconds is None:
            return None
        left = self.seconds - self.clock.elapsed_s()
        if left <= LEAST_S:
            raise _Stopped("time_limit")
        return max(LEAST_S, left / max(2, self.most - len(self.archive.points) + 1))

    def _best(self, axis: int) -> Found:
        return min(self.archive.points, key=lambda found: found.costs[axis])

    def _sizes(self) -> Pair:
        """What costs are like on both axes."""
        first, second = (max(abs(found.costs[k]) for found in self.archive.everything) or 1.0 for k in (0, 1))
        return first, second

    def _balanced(self) -> Pair:
        first, second = self._sizes()
        return 1 / first, 1 / second

    # what is known

    def _gap(self) -> float | None:
        """The deepest of all cells, as a share of the extent."""
        unit = self.archive.unit
        deepest = max((self.region.depth(cell.corner, unit) for cell in self.archive.cells), default=inf)
        return deepest if isfinite(deepest) else None

    def _point(self, found: Found) -> Point:
        """A found schedule with what is proven around it."""
        unit, bounds = self.archive.unit, []
        for axis, cost in enumerate(found.costs):
            least = self.region.least(axis, found.costs[1 - axis])
            least = cost if cost - least <= PROVEN * (unit[axis] + abs(cost)) else least
            least = 0.0 if -PROVEN * unit[axis] <= least < 0 else least
            bounds.append(self.traded.axes[axis].sign * least + 0.0 if isfinite(least) else None)
        depth = self.region.depth(found.costs, unit)
        objective = evaluate(self.traded.instance, found.schedule).objective
        gap = 0.0 if depth <= PROVEN else depth
        shown = self.traded.shown(found.costs)
        return Point(shown, (bounds[0], bounds[1]), gap if isfinite(gap) else None, objective, found.schedule)

    def _certify(self) -> None:
        """Whatever a schedule was found to cost is not proven impossible.

        Raises
        ------
        CertificateError
            It is: a bound is wrong.
        """
        unit = self.archive.unit
        for found in self.archive.everything:
            margin = (PROVEN * (unit[0] + abs(found.costs[0])), PROVEN * (unit[1] + abs(found.costs[1])))
            if part := self.region.beaten_by(found.costs, margin):
                raise CertificateError(f"a schedule costs {found.costs!r}, which {part!r} says is impossible")

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(Progress(self.clock.elapsed_s(), len(self.archive.points), self._gap()))
