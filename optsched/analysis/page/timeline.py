"""What a family shows over time, as typed data: curves in panels and the bars of a Gantt chart. The page draws it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from optsched.analysis.time_axis import TimeAxis
from optsched.instances.base import Floats, Ints

MOST_PLACES = 12  # sites or clusters with a panel each
MOST_BARS = 100_000  # more make a page that no browser likes

Role = Literal[
    "load", "other", "fixed", "over", "capacity", "cap", "before", "after", "carbon", "price", "queue", "running",
    "cost", "objective", "bound", "gap", "job", "run", "window", "left", "late",
]  # fmt: skip
"""What a colour stands for; the page has one for each, on light and on dark."""


@dataclass(frozen=True)
class Curve:
    """A step curve: `values[i]` from `edges_s[i]` to `edges_s[i + 1]`.

    Attributes
    ----------
    edges_s
        Shape (n + 1,), seconds of the axis.
    values
        Shape (n,), as they are told; NaN where not known.
    base
        What they stand on, shape (n,); None for 0.
    fill
        Whether the area is filled.
    series
        Which of several curves of one role it is, by which it gets a colour and dashes of its own; None for the role's.
    """

    name: str
    role: Role
    edges_s: Floats
    values: Floats
    base: Floats | None = None
    fill: bool = False
    series: int | None = None


@dataclass(frozen=True)
class Panel:
    """Curves on one axis; `px` is its height, `log` a logarithmic axis on which 0 is drawn at `least`."""

    title: str
    unit: str
    curves: tuple[Curve, ...]
    px: int = 150
    log: bool = False
    least: float = 1e-4
    from_zero: bool = True


@dataclass(frozen=True)
class Column:
    """A property of every job or bar.

    Attributes
    ----------
    values
        Texts; or numbers, of which None and NaN are not told.
    kind
        ``"time"``: seconds of the axis; ``"span"``: a length in seconds.
    """

    label: str
    values: Sequence[str] | Sequence[float | None] | Floats | Ints
    kind: Literal["text", "number", "time", "span"] = "number"


@dataclass(frozen=True)
class Mark:
    """Moments on rows, such as due dates; shapes (m,)."""

    name: str
    at_s: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Bars:
    """The bars of a Gantt chart; rows count from the top.

    Attributes
    ----------
    kinds
        Name and role of what a bar can be; those drawn first come first.
    kind, job, begin_s, end_s, low, high
        Of each bar: index of its kind and of its job, seconds, and the rows that it covers; shape (n,).
    jobs
        Of each job, the first column its id.
    own
        Of each bar, where bars of a job differ.
    rows
        (top, bottom, name) of each row or band of rows.
    """

    title: str
    kinds: tuple[tuple[str, Role], ...]
    kind: Ints
    job: Ints
    begin_s: Floats
    end_s: Floats
    low: Floats
    high: Floats
    jobs: tuple[Column, ...]
    rows: tuple[tuple[float, float, str], ...]
    own: tuple[Column, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Timeline:
    """All of a schedule over time, from 0 to `end_s`.

    Attributes
    ----------
    decided
        What the schedule does, in a few words.
    notes
        What is left out, a sentence each.
    """

    time: TimeAxis
    end_s: float
    decided: str
    bars: Bars | None
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()


Piece = tuple[int, int, float, float, float, float]
"""Of a bar: index of its kind and of its job, begin, end (seconds), low and high (rows)."""


def columns(pieces: Sequence[Piece]) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats]:
    """The columns kind, job, begin_s, end_s, low and high of `Bars`."""
    kind, job, *rest = np.array(pieces, dtype=float).reshape(-1, 6).T
    begin, end, low, high = rest
    return kind.astype(np.int64), job.astype(np.int64), begin, end, low, high


def slot_edges(slots: int, slot_s: float) -> Floats:
    """Seconds at which slots begin, and the last one ends, shape (slots + 1,)."""
    return np.asarray(np.arange(slots + 1) * slot_s, dtype=float)


def lanes(begin: Sequence[float], end: Sequence[float]) -> tuple[list[int], int]:
    """The lowest lane for each interval in which it overlaps no earlier one, and how many lanes that takes."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    lane, count = [0] * len(begin), 0
    for i in sorted(range(len(begin)), key=lambda i: (begin[i], end[i])):
        while busy and busy[0][0] <= begin[i]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane[i] = heapq.heappop(free)
        else:
            lane[i], count = count, count + 1
        heapq.heappush(busy, (end[i], lane[i]))
    return lane, count


def spared(timeline: Timeline) -> Timeline:
    """The same without a Gantt chart that has more bars than a browser likes."""
    if timeline.bars is None or len(timeline.bars.kind) <= MOST_BARS:
        return timeline
    count = f"{len(timeline.bars.kind):,} bars are too many for a Gantt chart in a page ({MOST_BARS:,} at most)"
    return replace(timeline, bars=None, notes=(*timeline.notes, count))
