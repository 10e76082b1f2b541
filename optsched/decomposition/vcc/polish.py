"""Staircases next to one: for some hours the queue is hurried on, or held."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.problems.vcc import Staircase

LENGTHS = (1, 2, 3, 6, 12, 24, 96)  # slots


def moves(instance: VccInstance) -> Iterator[tuple[int, int, bool]]:
    """Over and over: from which slot on, for how many, and whether the queue is hurried on."""
    while True:
        for length in LENGTHS:
            for t in range(0, instance.horizon, max(1, length // 4)):
                yield t, length, True
                yield t, length, False


def moved(stairs: Staircase, move: tuple[int, int, bool]) -> Floats | None:
    """Jobs wanted to have been started by the end of each slot, shape (T,); None if the move changes nothing."""
    t, length, hurried = move
    wanted = stairs.started.astype(float)
    here = slice(t, t + length)
    before = wanted[here].copy()
    wanted[here] = stairs.instance.arrived[here] if hurried else wanted[t - 1] if t else 0.0
    return None if (wanted[here] == before).all() else np.asarray(wanted)
