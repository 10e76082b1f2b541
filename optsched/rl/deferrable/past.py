"""What the auxiliary tasks look back on: a row a decision, of the capacity, the jobs and what was started."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsched.instances.base import Floats
from optsched.rl.deferrable.state import MOST, Seen

BACK = 12
"""Decisions that are looked back on."""
ROW = 6
"""Numbers a decision; the first four are what the auxiliary tasks predict of the next one."""
TARGETS = 4


class Past:
    """The last decisions, relative to what was seen first.

    A row: capacity left, mean cores and duration of the open jobs, capacity short of what had been believed, cores started, and
    how many jobs were open.
    """

    def __init__(self, rows: Sequence[Sequence[float]] = (), scale: Sequence[float] = (), due: float = 0.0) -> None:
        self.rows, self.scale, self.due = [list(row) for row in rows], list(scale), due

    def copied(self) -> Past:
        """The same so far."""
        return Past(self.rows, self.scale, self.due)

    def seen(self) -> Floats:
        """Shape (`BACK`, `ROW`), the latest last, zeros where nothing was yet."""
        table = np.zeros((BACK, ROW))
        if self.rows:
            table[-len(self.rows) :] = self.rows
        return table

    def look(self, seen: Seen) -> Floats:
        """The targets, as they are now, shape (`TARGETS`,)."""
        if not self.scale:
            mean = [float(seen.cores.mean()), float(seen.duration.mean())] if len(seen.cores) else [1.0, 1.0]
            self.scale, self.due = [max(1e-9, float(seen.left.mean())), *mean], float(seen.left[0])
        ready = seen.open
        cores, duration = (float(c[ready].mean()) if ready.any() else 0.0 for c in (seen.cores, seen.duration))
        short = max(0.0, self.due - float(seen.left[0]))
        room, size, length = self.scale
        return np.clip([float(seen.left[0]) / room, cores / size, duration / length, short / room], 0, MOST)

    def add(self, seen: Seen, begun: Sequence[int]) -> None:
        """A decision that was made."""
        row = self.look(seen)
        started = float(seen.cores[list(begun)].sum())
        done = [min(MOST, started / self.scale[0]), float(np.log1p(int(seen.open.sum()))) / 4]
        self.rows = [*self.rows, [*row.tolist(), *done]][-BACK:]
        going_on = [j for j in begun if seen.duration[j] > 1]
        later = float(seen.left[1]) if len(seen.left) > 1 else 0.0
        self.due = later - float(seen.cores[going_on].sum())
