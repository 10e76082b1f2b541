"""Serial construction on a time-indexed program: jobs in some order, each at its best start that still fits."""

from __future__ import annotations

import numpy as np

from optsched.decomposition.packing import Packing
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
    packing = Packing(program)
    for job in order.tolist():
        packing.insert(job, None if wish is None else wish[packing.options(job)])
    return packing.chosen


def densest_first(program: Program) -> Ints:
    """Jobs by the value of their best option a unit of demand and slot, the best first."""
    best = np.full(len(program.demand), -np.inf)
    np.maximum.at(best, program.job, program.value)
    return np.argsort(-best / (program.demand * program.duration), kind="stable")
