"""What colours and hatches mean in every picture, and bars drawn by the thousand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

# Okabe and Ito's colours, told apart also by the colour-blind
BLUE, SKY, GREEN, ORANGE, VERMILLION, PURPLE = "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"
# Tol's light scheme, for the jobs of a Gantt chart: black letters stay legible on all of it
FILLS = ("#77AADD", "#EEDD88", "#44BB99", "#FFAABB", "#99DDFF", "#BBCC33", "#EE8866", "#DDDDDD", "#AAAA00")


class Edge(TypedDict, total=False):
    """How a bar or an area is bounded and hatched, in matplotlib's words."""

    edgecolor: str
    hatch: str
    lw: float


class Style(Edge, total=False):
    """The same, with its fill."""

    facecolor: str


# no fill means anything, so what is late is hatched
LATE: Style = {"facecolor": "none", "edgecolor": "0.1", "hatch": "////", "lw": 0.0}
TOO_MUCH: Style = {"facecolor": VERMILLION, "edgecolor": "white", "hatch": "////", "lw": 0.0}

LEGEND: dict[str, object] = {
    "loc": "lower right",
    "bbox_to_anchor": (1, 1),
    "fontsize": 8,
    "frameon": False,
    "borderaxespad": 0.1,
}
CHARACTER_IN = 0.075  # width of a character of a label


def bars(
    axes: Axes,
    left: ArrayLike,
    width: ArrayLike,
    row: ArrayLike,
    height: ArrayLike = 0.8,
    *,
    gid: str,
    facecolor: str | Sequence[str],
    **edge: Unpack[Edge],
) -> PolyCollection:
    """Horizontal bars as one collection, which takes ten thousand; each about its row. Shapes (n,) or scalars."""
    columns = np.broadcast_arrays(*(np.asarray(column, dtype=float) for column in (left, width, row, height)))
    begin, length, middle, high = (column.reshape(-1) for column in columns)
    ends, low, top = begin + length, middle - high / 2, middle + high / 2
    corners = np.stack([np.stack(pair, 1) for pair in ((begin, low), (ends, low), (ends, top), (begin, top))], 1)
    made = PolyCollection(list(corners), gid=gid, facecolor=facecolor, **edge)
    axes.add_collection(made, autolim=False)
    return made


def late_bars(axes: Axes, left: ArrayLike, width: ArrayLike, row: ArrayLike, height: ArrayLike = 0.8) -> PolyCollection:
    """The hatching over what runs after its due date."""
    return bars(axes, left, width, row, height, gid="late", **LATE)


def fill_of(index: int) -> str:
    """The colour of a job by its place among the jobs."""
    return FILLS[index % len(FILLS)]


def legible(width: float, label: str) -> bool:
    """Whether a label fits into so many inches."""
    return width > CHARACTER_IN * len(label) + 0.04


def late_key(label: str = "after its due date") -> Patch:
    """What stands for hatching in a legend."""
    return Patch(facecolor="white", edgecolor="0.1", hatch="////", lw=0.5, label=label)


def run_key(label: str) -> Patch:
    """What stands for the bars of jobs, whatever their colour, in a legend."""
    return Patch(facecolor=FILLS[0], edgecolor="0.25", lw=0.5, label=label)


def due_key(label: str = "due") -> Line2D:
    """What stands for a due date in a legend."""
    return Line2D([], [], color="black", lw=0, marker="|", ms=10, mew=1.8, label=label)


def rows_high(count: int, most_px: float = 900.0) -> float:
    """Height of a bar among so many rows: where rows are thinner than a pixel a bar is as high as that, to be seen."""
    return max(0.8, count / most_px)
