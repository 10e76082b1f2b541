"""A front as it is handed on: points by the referee, what is proven around them, a table, a picture, files."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Literal

from optsched.analysis.pareto.axes import Pair, Traded
from optsched.analysis.pareto.region import HalfPlane, Region
from optsched.instances.base import Instance
from optsched.schedules.base import Schedule

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

NOTHING = 1e-5  # of the front's extent: a gap that small is none, of several schedules that close one is told
Ended = Literal["complete", "points", "gap_limit", "supported", "time_limit", "interrupted"]
ENDED: dict[Ended, str] = {
    "complete": "complete: every schedule is matched or beaten by one of these",
    "points": "as many points as were asked for",
    "gap_limit": "within the gap that was asked for",
    "supported": "supported points only: what lies between them no weighting of the axes finds",
    "time_limit": "the time limit",
    "interrupted": "interrupted",
}


@dataclass(frozen=True)
class Point:
    """A schedule of a front.

    Attributes
    ----------
    values
        On both axes, by the referee on the instance as it is given.
    bounds
        On both axes: no schedule that is as good on the other axis is better than that; None where nothing is proven.
    gap
        By how much a schedule may be better on both axes at once, as a share of the front's extent; None where unbounded.
    objective
        Of the instance itself.
    schedule
        What was decided.
    """

    values: Pair
    bounds: tuple[float | None, float | None]
    gap: float | None
    objective: float
    schedule: Schedule


@dataclass(frozen=True)
class Front:
    """Schedules none of which is better than another on both axes, and the region that is proven empty.

    Attributes
    ----------
    traded
        The instance and the two axes.
    points
        By the first axis, the best first.
    region
        What no schedule reaches, in costs: where more is better, values have the other sign.
    gap
        No schedule is better than the whole front by more than this, as a share of its extent on both axes at once; None
        where nothing bounds it.
    ended
        Why it stopped: ``complete``, ``points``, ``gap_limit``, ``supported``, ``time_limit`` or ``interrupted``.
    exact
        Whether limits on an axis were solved exactly; if not, only points that some weighting of the axes prefers are found.
    solves
        How many programs were solved.
    seconds
        Wall time.
    """

    traded: Traded
    points: tuple[Point, ...]
    region: Region
    gap: float | None
    ended: Ended
    exact: bool
    solves: int
    seconds: float

    @property
    def instance(self) -> Instance:
        """What was given."""
        return self.traded.instance

    @property
    def axes(self) -> tuple[str, str]:
        """Names of the axes."""
        first, second = self.traded.axes
        return first.name, second.name

    @property
    def complete(self) -> bool:
        """Whether every schedule is proven to be matched or beaten by a point."""
        return self.ended == "complete"

    @property
    def says(self) -> str:
        """Why it ended, in a few words."""
        return ENDED[self.ended]

    @property
    def found_by(self) -> str:
        """What kind of points can be missing, in a few words."""
        if self.exact:
            return "limits on an axis solved exactly"
        if self.traded.priced.discrete:
            return "weighted sums only: what no weighting prefers is not found"
        return "weighted sums; whatever lies between two points is a mix of their schedules"

    def to_frame(self) -> pd.DataFrame:
        """A row a point.

        Returns
        -------
        pandas.DataFrame
            Columns: either axis by its name, its bound as ``NAME bound``, ``gap``, ``objective``.
        """
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=self.columns())

    def columns(self) -> list[str]:
        """Names of the columns of `to_frame`."""
        first, second = self.axes
        return [first, f"{first} bound", second, f"{second} bound", "gap", "objective"]

    def rows(self) -> list[dict[str, float | None]]:
        """The rows of `to_frame`."""
        return [
            dict(
                zip(
                    self.columns(),
                    (p.values[0], p.bounds[0], p.values[1], p.bounds[1], p.gap, p.objective),
                    strict=True,
                )
            )
            for p in self.points
        ]

    def to_dict(self) -> dict[str, object]:
        """The front as a JSON object: axes, points with their schedules, and what is proven, in the values' own signs."""
        traded = self.traded
        axes = [{"name": a.name, "says": a.says, "unit": a.unit, "better": "more" if a.earned else "less"} for a in traded.axes]
        points = [
            {
                "values": list(p.values),
                "bounds": list(p.bounds),
                "gap": p.gap,
                "objective": p.objective,
                "schedule": p.schedule.to_dict(),
            }
            for p in self.points
        ]
        about = {"name": self.instance.name, "sha256": self.instance.sha256}
        told: dict[str, object] = {"instance": about, "axes": axes, "points": points, "proven": self._proven()}
        return told | {
            "ended": self.ended,
            "gap": self.gap,
            "exact": self.exact,
            "solves": self.solves,
            "seconds": self.seconds,
        }

    def _proven(self) -> list[dict[str, object]]:
        """Inequalities that every schedule fulfils."""
        found: list[dict[str, object]] = []
        signs = [axis.sign for axis in self.traded.axes]
        for part in self.region.parts:
            if isinstance(part, HalfPlane):
                weights = [sign * weight for sign, weight in zip(signs, part.weights, strict=True)]
                found.append({"weights": weights, "at_least": part.bound})
                continue
            other = 1 - part.axis
            bound = {"axis": self.axes[part.axis], "no_better_than": signs[part.axis] * part.bound}
            limit = signs[other] * part.limit if isfinite(part.limit) else None
            found.append(bound | ({"where": self.axes[other], "as_good_as": limit} if limit is not None else {}))
        return found

    def plot(self) -> Figure:
        """Points, bounds, and the region that is proven empty."""
        from optsched.analysis.pareto.picture import draw

        return draw(self)
