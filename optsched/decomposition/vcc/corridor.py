"""Windows around a known staircase: free for some hours or all, elsewhere as far from it as the queue's being late there needs.

What guides a beam through one is drawn too: a day's pace decides on which days caps may lack something.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from optsched.decomposition.vcc.fits import Window
from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.problems.vcc import Staircase

LENGTHS, WHOLE = (12, 24, 36, 72), 0.4  # slots, and how often all
REACH = ((2, 1), (4, 2), (6, 4), (12, 6))
FACTORS, PACES = (0.7, 8.0), (0.2, 1.0)


class Corridor(NamedTuple):
    """Slots that are free; how many slots late and early the queue may be elsewhere; what guides a beam, its pace by day."""

    free: slice
    late: int
    early: int
    factor: float
    pace: Floats

    def window(self, stairs: Staircase, whole: Window) -> Window:
        """Of a larger window, which holds the staircase."""
        started = stairs.started
        behind = np.concatenate([np.zeros(self.late, dtype=np.int64), started])[: len(started)]
        ahead = np.concatenate([started, np.full(self.early, started[-1])])[-len(started) :]
        low, high = np.maximum(whole.low, behind), np.minimum(whole.high, ahead)
        low[self.free], high[self.free] = whole.low[self.free], whole.high[self.free]
        return Window(np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1])


def corridors(instance: VccInstance, seed: int = 0) -> Iterator[Corridor]:
    """Without end, and in every run the same."""
    rng, slots, days = np.random.default_rng(seed), instance.horizon, len(instance.asked)
    while True:
        length = slots if rng.random() < WHOLE else int(rng.choice(LENGTHS))
        first = 0 if length == slots else int(rng.integers(-length // 2, slots - length // 2))
        late, early = REACH[int(rng.integers(len(REACH)))]
        factor = float(np.exp(rng.uniform(*np.log(FACTORS))))
        free = slice(max(0, first), max(0, first + length))
        yield Corridor(free, late, early, factor, rng.uniform(*PACES, size=days))
