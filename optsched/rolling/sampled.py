"""Prices of sampled futures: each has its own, and what counts is their mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from optsched.decomposition.dual import solve_dual
from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rolling.slotted import SlottedJob

FIRST = 200  # iterations of the dual where there are no prices yet
STARTS = 200  # a future job's starts are thinned out to about so many a horizon

J = TypeVar("J", bound=SlottedJob)


@dataclass(frozen=True)
class Futures(Generic[J]):
    """Jobs that may come.

    Attributes
    ----------
    jobs
        Of all futures.
    guessed
        Whether the duration of each is a guess.
    of
        The number of its future.
    count
        How many futures there are.
    every
        How many jobs each stands for.
    """

    jobs: list[J]
    guessed: list[bool]
    of: list[int]
    count: int
    every: int


def mean_prices(program: TimeIndexedProblem, future: Ints, futures: int, iterations: int, start: Floats | None) -> Floats:
    """The mean over futures of the prices of the known jobs and of each future's, shape (P, T).

    Parameters
    ----------
    program
        Known and drawn jobs.
    future
        The number of each job's future, -1 of those that are known, shape (J,).
    futures
        How many there are, those in which nobody comes too.
    iterations
        Of each dual from the prices `start`, shape (P, T); without them of all but the first, which has `FIRST`.
    start
        Prices of before.
    """
    kept = _thinned(program, future >= 0)
    has = future[program.job[kept]]
    each = np.append(np.unique(has[has >= 0]), -1)  # those in which nobody can run are alike
    weight = np.append(np.ones(len(each) - 1), futures - len(each) + 1)
    found = list[Floats]()
    for k in each[weight > 0].tolist():
        part = program.where(kept & ((future < 0) | (future == k))[program.job])
        found.append(solve_dual(part, iterations=FIRST if start is None else iterations, start=start).prices)
        start = found[0] if start is None else start
    return np.asarray(np.average(found, axis=0, weights=weight[weight > 0]))


def levels(mean: float, spread: float, count: int, rng: np.random.Generator) -> Floats:
    """How many jobs come in each of so many futures, as multiples of what is usual, shape (count,).

    They are gamma distributed with that coefficient of variation, and their mean is as given.
    """
    found = rng.gamma(1.0 / spread**2, size=count)
    return np.asarray(found * (mean / found.mean()))


def variation(program: TimeIndexedProblem, drawn: Bools, share: Floats) -> float | None:
    """Of the load of all places its coefficient of variation, the mean over slots, by load; None where nobody comes.

    As if jobs came independently of each other (a compound Poisson process) and started at once.

    Parameters
    ----------
    program
        Known and drawn jobs.
    drawn
        Which jobs come, shape (J,).
    share
        How many jobs of one future each drawn one stands for, shape (J,).
    """
    first = np.flatnonzero(drawn[program.job] & (np.diff(program.job, prepend=-1) != 0))
    mean = replace(program, demand=program.demand * share).load(first).sum(axis=0)
    variance = replace(program, demand=program.demand**2 * share).load(first).sum(axis=0)
    return float(np.sqrt(variance).sum() / mean.sum()) if mean.sum() > 0 else None


def _thinned(program: TimeIndexedProblem, drawn: Bools) -> Bools:
    """Options to keep: of value, and for drawn jobs only every so manieth start and the first at each place."""
    every = max(1, program.capacity.shape[1] // STARTS)
    first = np.diff(program.pair, prepend=-1) != 0
    return np.asarray((program.value > 0) & (~drawn[program.job] | first | (program.start % every == 0)))
