"""Serial construction on a time-indexed program: jobs in some order, each at its best start that still fits."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.models.time_indexed import Program


def construct(program: Program, order: Ints, wish: Floats | None = None) -> Ints:
    """Chosen options (indices), jobs taken in `order`, each at its most valuable option on what is left.

    Hard capacity: only options that fit in every slot. Priced capacity: value less the added overload. A job without an
    option of positive net value is left out.

    Parameters
    ----------
    wish : what the choice among a job's options of positive value goes by instead, shape (n,); minus infinity forbids.
    """
    places, slots = program.capacity.shape
    left = program.capacity.copy()
    begins = np.searchsorted(program.job, np.arange(len(program.demand) + 1))
    chosen = []
    for j in order.tolist():
        some = slice(int(begins[j]), int(begins[j + 1]))
        if some.start == some.stop:
            continue
        place, start, net = program.place[some], program.start[some], program.value[some]
        end = start + program.duration[j]
        demand = program.demand[j]
        short = np.zeros((places, slots + 1))
        touched = np.unique(place)
        window = slice(int(start.min()), int(end.max()))
        over = np.maximum(0.0, demand - np.maximum(left[touched, window], 0.0))
        short[touched, window.start + 1 : window.stop + 1] = np.cumsum(over, axis=1)
        added = short[place, end] - short[place, start]
        net = net - program.overload_price * added if program.overload_price is not None else _fits(net, added)
        liked = net if wish is None else np.where(net > 0, wish[some], -np.inf)
        best = int(np.argmax(liked))
        if net[best] > 0 and liked[best] > -np.inf:
            chosen.append(some.start + best)
            left[place[best], start[best] : end[best]] -= demand
    return np.array(sorted(chosen), dtype=np.int64)


def _fits(value: Floats, added: Floats) -> Floats:
    return np.where(added > 1e-9, -np.inf, value)


def densest_first(program: Program) -> Ints:
    """Jobs by the value of their best option a unit of demand and slot, the best first."""
    best = np.full(len(program.demand), -np.inf)
    np.maximum.at(best, program.job, program.value)
    return np.argsort(-best / (program.demand * program.duration), kind="stable")
