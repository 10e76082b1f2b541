"""From shares of options to a choice: what a vertex of the relaxation, or the volume of prices, says of who runs where."""

from __future__ import annotations

import numpy as np

from optsched.decomposition.pricing import Pricing
from optsched.decomposition.restricted_mip import relax
from optsched.errors import OptschedError
from optsched.heuristics.serial_sgs import fitting, place, serial_sgs
from optsched.instances.base import Bools, Floats, Ints
from optsched.monitor import Monitor
from optsched.problems.packing import NONE, Packing
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Spare

WHOLE = 1e-6  # of an option: what a solver may lack
HALF = 0.5  # where overload has a price, most of a job is all of it


def vertex(program: TimeIndexedProblem, pool: Bools, monitor: Monitor, seconds: float | None) -> Floats | None:
    """The linear relaxation over a pool of options, shape (n,); None where that takes too long."""
    share = np.zeros(len(pool))
    try:
        share[pool] = relax(program.where(pool), monitor, seconds)
    except OptschedError:
        return None
    return share


def rounded(share: Floats, pricing: Pricing, spare: Spare) -> Ints:
    """What is chosen as a whole, and the others in the order of what they earn, where they earn most."""
    p = pricing.program
    packing = Packing(p, fitting(p, np.flatnonzero(share > (HALF if p.overload_price is not None else 1 - WHOLE))))
    order = pricing.order()
    place(packing, order[packing.option[order] == NONE].tolist(), pricing.reduced, spare)
    return packing.chosen


def around(share: Floats, pricing: Pricing) -> Bools:
    """What a vertex uses, and what is near the best of jobs that it parts (RENS, Berthold 2014), shape (n,)."""
    job, used = pricing.program.job, share > WHOLE
    parted = np.zeros(len(pricing.program.demand), dtype=bool)
    parted[job[used & (share < 1 - WHOLE)]] = True
    return np.asarray(used | (pricing.close & parted[job]))


def drawn(option: Ints, pricing: Pricing, spare: Spare) -> Ints:
    """What the prices' volume has drawn of each job, the densest first; who does not fit goes where it earns most."""
    score = pricing.reduced.copy()
    score[option[option >= 0]] += float(np.ptp(score)) + 1.0
    return serial_sgs(pricing.program, pricing.order(), score, spare)
