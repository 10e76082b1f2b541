"""Ejection (Glover, Discrete Applied Mathematics 65, 1996): who is in the way of a job that the prices want elsewhere.

What runs in one slot is a small part of what is in the way of a long job: room is made in every slot that it needs.
"""

from __future__ import annotations

import numpy as np

from optsched.decomposition.pricing import Pricing
from optsched.instances.base import Bools, Ints
from optsched.problems.packing import Packing

MOST = 80  # jobs out for one
TIE = 1e-3  # of a job's worth, for being moved at all
SPREAD = 0.5  # of what a job costs, by lot
ALMOST = 1e-9  # what a slot may lack, as in a packing


def in_the_way(
    pricing: Pricing, packing: Packing, option: int, runs: Bools, begin: Ints, end: Ints, most: float, rng: np.random.Generator
) -> Ints | None:
    """Jobs that leave for an option of a job that is left out: in the slots that lack most, whoever loses least a slot.

    Parameters
    ----------
    runs, begin, end
        Who may leave, all of the option's place, and in which slots they run, shape (J,) each.
    most
        What they may lose by the prices.

    Returns
    -------
    Their numbers; None if it takes too many, or they lose more.
    """
    p = pricing.program
    job, first = int(p.job[option]), int(p.start[option])
    last, demand = first + int(p.duration[job]), float(p.demand[job])
    lack = demand - packing.residual_capacity[p.place[option], first:last]
    there = np.flatnonzero(runs & (begin < last) & (end > first))
    start, stop = np.maximum(begin[there], first) - first, np.minimum(end[there], last) - first
    upto = np.concatenate([[0], np.cumsum(lack > ALMOST)])
    slots = upto[stop] - upto[start]
    helps = slots > 0
    there, start, stop, slots = there[helps], start[helps], stop[helps], slots[helps]
    loses = np.maximum(0.0, pricing.reduced[packing.option[there]]) + TIE * np.abs(pricing.worth[there])
    loses *= rng.uniform(1 - SPREAD, 1 + SPREAD, len(there))
    gives = np.minimum(p.demand[there], demand)
    each = loses / (slots * gives)
    stays = np.ones(len(there), dtype=bool)
    for t in np.argsort(-lack, kind="stable").tolist():
        while lack[t] > ALMOST:
            here = np.flatnonzero(stays & (start <= t) & (t < stop))
            out = int(here[each[here].argmin()]) if len(here) else -1
            if p.overload_price is not None and (out < 0 or p.overload_price * lack[t] <= each[out] * gives[out]):
                break  # overload is cheaper
            most -= loses[out] if out >= 0 else np.inf
            if most < 0 or len(there) - np.count_nonzero(stays) >= MOST:
                return None
            stays[out] = False
            lack[start[out] : stop[out]] -= p.demand[there[out]]
    return np.asarray(there[~stays])
