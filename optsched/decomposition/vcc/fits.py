"""What the data centre allows, whatever the history: how far a staircase can have come, and how much one slot can start.

The queue is first in, first out, and starting later never frees anything earlier: by induction over the slots, no staircase is
ahead of the one that starts all that fits, and no job starts before it does there. So of the first k jobs those are surely
running in a slot that would still run had they started as early as any staircase of the window starts them; what starts in the
slot has to fit beside them. Sizes are compared with a tolerance that lets pass more than rounding can hide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.vcc import VccInstance

TOLERANCE = 1e-9  # of the capacity
MOST_EDGES = 12_000_000  # states for which edges are kept, 4 bytes each


@dataclass(frozen=True)
class Window:
    """Between how many started jobs a staircase better than a known one may be after each slot, shape (T,) each."""

    low: Ints
    high: Ints


def sizes(instance: VccInstance) -> tuple[Floats, Floats]:
    """NCU of the first 0, 1, ... jobs, shape (J + 1,), and the room for started jobs by slot, a little enlarged, shape (T,)."""
    ncu = instance.columns.ncu
    upto = np.concatenate([[0.0], np.cumsum(ncu)])
    slack = TOLERANCE * instance.capacity_ncu + 4.0 * float(np.finfo(float).eps) * len(upto) * float(upto[-1])
    return upto, instance.capacity_ncu - instance.inflexible - instance.running + slack


def reachable(instance: VccInstance, window: Window) -> Window:
    """The window without what lies ahead of starting all that fits."""
    upto, room = sizes(instance)
    slots, ncu, duration = instance.horizon, instance.columns.ncu, instance.columns.duration
    ends = np.zeros(slots + 1)
    high, k, gone = np.zeros(slots, dtype=np.int64), 0, 0.0
    for t in range(slots):
        gone += float(ends[t])
        fit = int(np.searchsorted(upto, room[t] + gone, side="right")) - 1 if room[t] > 0 else k
        to = min(max(k, fit), int(window.high[t]))
        if to > k:
            ends += np.bincount(np.minimum(slots, t + duration[k:to]), ncu[k:to], slots + 1)
            k = to
        high[t] = k
    return Window(np.minimum(window.low, high), high)


def left_edges(instance: VccInstance, window: Window) -> list[Ints | None] | None:
    """For each slot and state from the window's last low on: at least so many jobs were started before, relative to that low.

    None for a slot in which nothing is ruled out, and instead of the list where it would be too large.
    """
    slots, ncu = instance.horizon, instance.columns.ncu
    before = np.concatenate([[0], window.low[:-1]])
    if int((window.high - before + 1).sum()) > MOST_EDGES:
        return None
    upto, room = sizes(instance)
    first = np.searchsorted(window.high, np.arange(1, len(ncu) + 1))
    end = np.minimum(first + instance.columns.duration, slots + 1)
    behind = np.zeros(slots + 2)  # NCU of the jobs below `done` by the slot in which they can have ended
    done, edges = 0, list[Ints | None]()
    gone = 0.0
    for t, (a, b) in enumerate(zip(before.tolist(), window.high.tolist(), strict=True)):
        gone += float(behind[t])
        if a > done:
            added = np.bincount(np.maximum(t, end[done:a]), ncu[done:a], slots + 2)
            gone += float(added[t])
            added[t] = 0.0
            behind += added
            done = a
        ended = gone + np.concatenate([[0.0], np.cumsum(np.where(end[a:b] <= t, ncu[a:b], 0.0))])
        index = np.arange(b - a + 1)
        edge = np.minimum(np.searchsorted(ended, upto[a : b + 1] - room[t]), index)
        edges.append(edge.astype(np.int32) if edge.any() else None)
    return edges
