"""The GPUs of an allocation: nodes as rows of lanes where they are few, all in use over time where they are many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes

from optsched.analysis.heading import BESIDE, short
from optsched.analysis.marks import LEGEND, SKY, TOO_MUCH
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.allocation import Node

MOST_LANES = 64  # GPUs, up to which each has a lane
TALLEST_IN = 12.0

Span = tuple[float, float, int]
"""From, to (seconds) and GPUs."""


def lanes_in(lanes: int) -> float:
    """Inches for so many lanes."""
    return max(1.2, min(TALLEST_IN, 0.34 * lanes))


def shade_nodes(axes: Axes, nodes: Sequence[Node]) -> None:
    """A band and a label a node, a lane a GPU, from the top."""
    base, middles, labels = 0, [], []
    for n, node in enumerate(nodes):
        axes.axhspan(base, base + node.gpus, color="0.94" if n % 2 else "0.985", zorder=0)
        middles.append(base + node.gpus / 2)
        labels.append(f"{short(node.id, BESIDE)} ({node.gpus} x {short(node.gpu_type, BESIDE)})")
        base += node.gpus
    axes.set_yticks(middles, labels, fontsize=8, parse_math=False)
    axes.set_ylim(max(1, base), 0)
    axes.set_ylabel("GPUs by node")


def draw_in_use(axes: Axes, gpus: int, early: Iterable[Span], late: Iterable[Span], time: TimeAxis) -> None:
    """GPUs in use by jobs before and after their due dates, against all there are."""
    spans = [(begin, end, n, after) for after, rows in enumerate((early, late)) for begin, end, n in rows if end > begin]
    times = np.unique([0.0, *(moment for begin, end, _, _ in spans for moment in (begin, end))])
    change = np.zeros((2, len(times)))
    for begin, end, n, after in spans:
        change[after, np.searchsorted(times, begin)] += n
        change[after, np.searchsorted(times, end)] -= n
    if len(times) > 1:
        used = np.cumsum(change, axis=1)[:, :-1]
        edges = time.at(times)
        axes.stairs(used[1], edges, fill=True, label="after due date", **TOO_MUCH)
        axes.stairs(used.sum(axis=0), edges, baseline=used[1], fill=True, color=SKY, label="before due date")
    axes.axhline(gpus, color="black", lw=1.2, label="all GPUs")
    axes.set_ylim(0, 1.06 * max(1, gpus))
    axes.set_ylabel("GPUs in use")
    axes.legend(ncols=3, **LEGEND)
