"""How jobs were served: when each was ready, began and ended, and what there was for them. Metrics are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from optsched.instances.base import Floats, Instance, Ints
from optsched.schedules.base import Schedule


@dataclass(frozen=True)
class Served:
    """What became of the jobs that were run, and the capacity for them; times in seconds of the instance.

    Attributes
    ----------
    ready_s
        When each could have begun: its submission, or later where it may not begin before; shape (R,).
    start_s, end_s
        When it first began, and when it ended for good; shape (R,).
    run_s
        For how long it ran in between, interruptions not counted; shape (R,).
    pieces
        (start, end, units) of all that ran, shape (P, 3): units are GPUs, cores or NCU.
    edges_s, capacity
        Units that jobs may use, shape (K,), from each edge to the next, shape (K + 1,).
    """

    ready_s: Floats
    start_s: Floats
    end_s: Floats
    run_s: Floats
    pieces: Floats
    edges_s: Floats
    capacity: Floats


@singledispatch
def served(instance: Instance, schedule: Schedule) -> Served | None:
    """How a schedule serves an instance's jobs; None where jobs do not wait, or nothing is realised.

    A family registers its own by the class of its instance, in its package of `optsched.rolling`.
    """
    return None


Column = Ints | Floats


def in_slots(ready: Column, start: Column, end: Column, run: Column, pieces: Column, capacity: Floats, slot_s: float) -> Served:
    """The same from slots; capacity by slot, shape (T,)."""
    ready_s, start_s, end_s, run_s = (np.asarray(column * slot_s, dtype=float) for column in (ready, start, end, run))
    return Served(
        ready_s=ready_s,
        start_s=start_s,
        end_s=end_s,
        run_s=run_s,
        pieces=np.asarray(pieces * np.array([slot_s, slot_s, 1.0]), dtype=float).reshape(-1, 3),
        edges_s=np.asarray(np.arange(len(capacity) + 1) * slot_s, dtype=float),
        capacity=np.asarray(np.maximum(0.0, capacity), dtype=float),
    )
