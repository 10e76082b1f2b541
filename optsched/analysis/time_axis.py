"""Time on the horizontal axis: dates where an instance says when it starts, else minutes, hours or days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.ticker import MaxNLocator, MultipleLocator
from numpy.typing import ArrayLike

from optsched.instances.base import Floats, Instance

DAY_S = 86400.0
MOST_TICKS = 13
# up to so many seconds: the unit, its length, and the steps between ticks
UNITS = (
    (5400.0, "minutes", 60.0, (1, 2, 5, 10, 15)),
    (4 * DAY_S, "hours", 3600.0, (0.25, 0.5, 1, 2, 3, 6, 12)),
    (np.inf, "days", DAY_S, (0.5, 1, 2, 7, 14, 28)),
)


@dataclass(frozen=True)
class TimeAxis:
    """Where a second of an instance lies on the axis, and what is written under it.

    Attributes
    ----------
    label
        Of the axis, with its unit.
    scale_s
        Seconds for one unit of the axis.
    origin
        Of second 0, in units of the axis; not 0 only where these are dates.
    step
        Units between ticks; None leaves them to the locator.
    dated
        Whether ticks are dates.
    """

    label: str
    scale_s: float
    origin: float = 0.0
    step: float | None = None
    dated: bool = False

    @classmethod
    def of(cls, instance: Instance, length_s: float, *, now_s: float = 0.0, relative: bool = False) -> TimeAxis:
        """The axis of so many seconds.

        Parameters
        ----------
        instance
            Its ``meta["start"]``, a date and time of ISO 8601 (UTC unless it names a zone), is second 0 of the whole instance.
        length_s
            Seconds to be shown.
        now_s
            Second of the whole instance that 0 on this axis is, in a snapshot.
        relative
            Whether 0 is the present rather than the start.
        """
        begin = start_of(instance)
        if begin is not None:
            zone = begin.tzname() or "UTC"
            origin = float(date2num(begin.replace(tzinfo=None))) + now_s / DAY_S
            return cls(f"date and time ({zone})", DAY_S, origin, dated=True)
        unit, scale, steps = next((u, s, steps) for most, u, s, steps in UNITS if length_s <= most)
        step = next((s for s in steps if length_s / scale / s <= MOST_TICKS), None)
        return cls(f"{unit} from now" if relative else unit, scale, step=step)

    def at(self, seconds: ArrayLike) -> Floats:
        """Seconds in units of the axis."""
        return np.asarray(self.origin + np.asarray(seconds, dtype=float) / self.scale_s)

    def frame(self, axes: Axes, end_s: float, *, spare: float = 0.0) -> None:
        """Limits from 0 to `end_s` and a share `spare` of it, ticks and label."""
        low, high = self.at([0.0, end_s * (1 + spare)]).tolist()
        axes.set_xlim(low, high)
        if self.dated:
            locator = AutoDateLocator(minticks=4, maxticks=9)
            axes.xaxis.set_major_locator(locator)
            axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        else:
            axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS - 1) if self.step is None else MultipleLocator(self.step))
        axes.set_xlabel(self.label)


def start_of(instance: Instance) -> datetime | None:
    """When second 0 is, from ``meta["start"]``; None where that is missing or no date."""
    told = instance.meta.get("start")
    try:
        return datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        return None
