"""A front as a picture: the schedules found, and the region of the plane that is proven empty."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from optsched.analysis.heading import short
from optsched.analysis.marks import BLUE, ORANGE, VERMILLION
from optsched.analysis.pareto.axes import Axis, Pair
from optsched.analysis.pareto.front import Front, Point
from optsched.report import percent
from optsched.schedules.base import PROVEN

MARGIN = 0.07  # of the extent, around all that is drawn
SEEN = 1e-4  # of the picture: an area that small is none
SHADE = "0.82"


def draw(front: Front) -> Figure:
    """Either axis with its unit, points, the region that is proven empty, and what is open between the two.

    Parameters
    ----------
    front
        With at least one point.
    """
    figure = Figure(figsize=(8, 5.6), layout="constrained")
    axes = figure.subplots()
    first, second = front.traded.axes
    signs = np.array([first.sign, second.sign], dtype=float)
    box = _box(front, signs)
    steps_at = (signs[0] * np.array([p.values[0] for p in front.points])).tolist()
    if front.region.parts:
        x, below = np.array(list(front.region.outline(box, steps_at))).T
        steps = _staircase(front, signs, x, box[1][1])
        low = np.full(len(x), box[0][1])
        axes.fill_between(
            signs[0] * x, signs[1] * low, signs[1] * below, color=SHADE, lw=0, label="proven: no schedule", zorder=1
        )
        between = np.maximum(0.0, steps - below)
        area = float((np.diff(x) * (between[1:] + between[:-1]) / 2).sum())
        if area > SEEN * (box[1][0] - box[0][0]) * (box[1][1] - box[0][1]):
            axes.fill_between(
                signs[0] * x,
                signs[1] * below,
                signs[1] * np.maximum(below, steps),
                color=ORANGE,
                alpha=0.35,
                lw=0,
                label="open: neither found nor excluded",
                zorder=1,
            )
        axes.plot(signs[0] * x, signs[1] * below, color="0.35", lw=1.0, zorder=2)
    _points(axes, front)
    axes.set_xlabel(_label(first), parse_math=False, fontsize=9)
    axes.set_ylabel(_label(second), parse_math=False, fontsize=9)
    (left, bottom), (right, top) = ((signs * np.array(corner)).tolist() for corner in box)
    axes.set_xlim(min(left, right), max(left, right))
    axes.set_ylim(min(bottom, top), max(bottom, top))
    axes.tick_params(labelsize=8)
    axes.grid(color="0.93", lw=0.6, zorder=0)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    figure.suptitle(
        f"{short(front.instance.name)}: {front.axes[0]} against {front.axes[1]}\n{words(front)}", fontsize=10, parse_math=False
    )
    return figure


def _label(axis: Axis) -> str:
    """Name, unit and direction, and what it is where the name does not say so."""
    return axis.label if axis.says.replace(" ", "") == axis.name else f"{axis.label}\n{axis.says}"


def words(front: Front) -> str:
    """How many points, and what is proven of them all."""
    count = f"{len(front.points)} point{'s' * (len(front.points) != 1)}"
    if front.complete:
        return f"{count}, proven complete"
    found = "" if front.exact or not front.traded.priced.discrete else ", supported points only"
    gap = "nothing bounds them" if front.gap is None else f"none is beaten by more than {percent(front.gap)} of the extent"
    return f"{count}{found}; {gap}"


def _points(axes: Axes, front: Front) -> None:
    """Filled where no schedule is better on one axis and as good on the other; the objective's own optimum marked."""
    proven = [p for p in front.points if is_proven(p)]
    others = [p for p in front.points if not is_proven(p)]
    for points, fill, label in ((proven, BLUE, "schedule, proven efficient"), (others, "white", "schedule")):
        if points:
            columns = np.array([p.values for p in points]).T
            axes.plot(*columns, "o", ms=6, mfc=fill, mec=BLUE, mew=1.2, label=label, zorder=4, clip_on=False)
    own = front.traded.own
    if own is not None and not front.traded.left_out:
        best = (min if front.instance.sense == "minimize" else max)(front.points, key=lambda p: p.objective)
        axes.plot(*best.values, "*", ms=13, mfc=VERMILLION, mec="white", label="best objective", zorder=5, clip_on=False)


def is_proven(point: Point) -> bool:
    """Whether no schedule is better on one axis and as good on the other, to 1e-6 of the values."""
    return all(
        bound is not None and abs(bound - value) <= 1e3 * PROVEN * max(1e-12, abs(value))
        for value, bound in zip(point.values, point.bounds, strict=True)
    )


def _box(front: Front, signs: np.ndarray) -> tuple[Pair, Pair]:
    """Least and most cost of what is drawn: all points, and the ends of what is proven."""
    costs = signs * np.array([p.values for p in front.points])
    low, high = costs.min(axis=0), costs.max(axis=0)
    least = np.array([front.region.least(0), front.region.least(1)])
    wide = np.where(high > low, high - low, np.maximum(1e-9, np.abs(high)))
    near = np.where(np.isfinite(least), np.clip(least, low - 0.5 * wide, low), low)
    span = np.where(high > near, high - near, wide)
    (a, b), (c, d) = (near - MARGIN * span).tolist(), (high + MARGIN * span).tolist()
    return (a, b), (c, d)


def _staircase(front: Front, signs: np.ndarray, x: np.ndarray, top: float) -> np.ndarray:
    """The least second cost of a found schedule that costs at most x on the first axis."""
    costs = signs * np.array([p.values for p in front.points])
    reach = costs[None, :, 0] <= x[:, None] * (1 + 1e-12) + 1e-300
    found = np.where(reach, costs[None, :, 1], np.inf).min(axis=1)
    return np.asarray(np.where(np.isfinite(found), found, top))
