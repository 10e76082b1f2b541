"""Serial construction on a time-indexed program: jobs in some order, each at its best start that still fits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.problems.packing import Packing
from optsched.problems.time_indexed import ALMOST, TimeIndexedProblem
from optsched.stop import Spare

EVERY = 64  # jobs: how often it is asked whether there is time


def serial_sgs(program: TimeIndexedProblem, order: Ints, score: Floats | None = None, spare: Spare | None = None) -> Ints:
    """Chosen options (indices), jobs taken in `order`, each at its most valuable option on what is left.

    Hard capacity: only options that fit in every slot. Priced capacity: value less the added overload. A job without an
    option of positive net value is left out.

    Parameters
    ----------
    score : what the choice among a job's options of positive value goes by instead, shape (n,); minus infinity forbids.
    spare : where time is out, the jobs placed so far are the choice.
    """
    packing = Packing(program)
    place(packing, order.tolist(), score, spare)
    return packing.chosen


def place(packing: Packing, order: Iterable[int], score: Floats | None, spare: Spare | None) -> None:
    """Jobs in order into a packing, as `serial_sgs` does."""
    for i, job in enumerate(order):
        if spare is not None and i and i % EVERY == 0 and not spare():
            return
        packing.insert_best(job, None if score is None else score[packing.options(job)])


def filled(program: TimeIndexedProblem, chosen: Ints) -> Ints:
    """A choice (indices) and on what it leaves whoever else still adds something, the densest first."""
    packing, order = Packing(program, chosen), densest_first(program)
    place(packing, order[~np.isin(order, program.job[chosen])].tolist(), None, None)
    return packing.chosen


def fitting(program: TimeIndexedProblem, chosen: Ints) -> Ints:
    """A choice of a solver (indices): as it is where it fits, else its dearest that do; tolerances may be whole jobs."""
    if program.overload_price is not None or not (program.load(chosen) > program.capacity + ALMOST).any():
        return chosen
    among = np.zeros(len(program), dtype=bool)
    among[chosen] = True
    part = program.where(among)
    return np.flatnonzero(among)[serial_sgs(part, part.job[np.argsort(-part.value, kind="stable")])]


def density(program: TimeIndexedProblem) -> Floats:
    """Value of each job's best option a unit of demand and slot, shape (J,); minus infinity for a job without options."""
    best = np.full(len(program.demand), -np.inf)
    np.maximum.at(best, program.job, program.value)
    return np.asarray(best / (program.demand * program.duration))


def densest_first(program: TimeIndexedProblem) -> Ints:
    """Jobs by the value of their best option a unit of demand and slot, the best first."""
    return np.argsort(-density(program), kind="stable")
