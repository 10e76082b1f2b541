"""Ejection (Glover, Discrete Applied Mathematics 65, 1996): who is in the way of a job that the prices want elsewhere.

What runs in one slot is a small part of what is in the way of a long job: room is made in every slot that it needs.
"""

from __future__ import annotations

import numpy as np

from optsched.decomposition.pricing import Pricing
from optsched.instances.base import Bools, Ints
from optsched.problems.packing import Packing
from optsched.problems.time_indexed import ALMOST

MOST = 80  # jobs out for one
TIE = 1e-3  # of a job's worth, for being moved at all
SPREAD = 0.5  # of what a job costs, by lot


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
    loses = np.maximum(0.0, pricing.reduced[packing.option[there]]) + TIE * pricing.worth[there]
    loses *= rng.uniform(1 - SPREAD, 1 + SPREAD, len(there))
    each = loses / (slots * np.minimum(p.demand[there], demand))
    order = np.argsort(each, kind="stable")
    there, start, stop, loses, each = there[order], start[order], stop[order], loses[order], each[order]
    gives = p.demand[there]
    stays = np.ones(len(there), dtype=bool)
    gone = 0
    for t in np.argsort(-lack, kind="stable").tolist():
        if lack[t] <= ALMOST:
            continue
        for out in np.flatnonzero(stays & (start <= t) & (t < stop)).tolist():
            added = min(float(lack[t]), demand)
            if p.overload_price is not None and p.overload_price * added <= each[out] * min(gives[out], demand):
                break  # overload is cheaper
            gone, most = gone + 1, most - loses[out]
            if most < 0 or gone > MOST:
                return None
            stays[out] = False
            lack[start[out] : stop[out]] -= gives[out]
            if lack[t] <= ALMOST:
                break
        if p.overload_price is None and lack[t] > ALMOST:
            return None
    return np.asarray(there[~stays])
