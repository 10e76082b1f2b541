"""Windows around a known staircase: free for some hours, and elsewhere as far from it as the queue's being late there needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from optsched.decomposition.vcc.fits import Window
from optsched.problems.vcc import Staircase

LENGTHS, REACH = (12, 24, 36, 72), ((2, 1), (4, 2), (6, 4), (12, 6))
FACTORS, PACES = (0.7, 8.0), (0.3, 0.95)


class Corridor(NamedTuple):
    """Slots that are free; how many slots late and early the queue may be elsewhere; what a beam in it is guided by."""

    free: slice
    late: int
    early: int
    factor: float
    pace: float

    def window(self, stairs: Staircase, whole: Window) -> Window:
        """Of a larger window, which holds the staircase."""
        started = stairs.started
        behind = np.concatenate([np.zeros(self.late, dtype=np.int64), started])[: len(started)]
        ahead = np.concatenate([started, np.full(self.early, started[-1])])[-len(started) :]
        low, high = np.maximum(whole.low, behind), np.minimum(whole.high, ahead)
        low[self.free], high[self.free] = whole.low[self.free], whole.high[self.free]
        return Window(np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1])


def corridors(slots: int) -> Iterator[Corridor]:
    """Without end, and in every run the same."""
    rng = np.random.default_rng(0)
    while True:
        length = int(rng.choice(LENGTHS))
        first = int(rng.integers(-length // 2, slots - length // 2))
        late, early = REACH[int(rng.integers(len(REACH)))]
        factor = float(np.exp(rng.uniform(*np.log(FACTORS))))
        yield Corridor(slice(max(0, first), max(0, first + length)), late, early, factor, float(rng.uniform(*PACES)))
