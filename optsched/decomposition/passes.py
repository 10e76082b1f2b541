"""Prices of many options by a pool of them: passes over all prove the bound, and find what belongs to the pool.

Column generation in the dual: the volume algorithm moves the prices as if there were the pool only, which costs a twentieth;
a pass prices all options, and those that come nearest to their jobs' best join the pool. It begins with thinned starts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optsched.decomposition import ranks
from optsched.decomposition.dual import MOST, Dual, Relaxed, Volume, solve_dual
from optsched.instances.base import Bools, Floats
from optsched.problems.time_indexed import TimeIndexedProblem

MANY = 120_000  # options, from which on there is a pool
POOL, POOL_PER_JOB = 40_000, 4  # options that join it in a pass, at most; or so many times the jobs, if that is more
FIRST, AGAIN = 800, 200  # iterations on thinned starts, and on the pool after every pass
HASTE = 0.5  # of the volume's largest share, after a hundred of the first
PASSES = 30
KEEP = 0.3  # of the best prices so far, mixed into those of the pool (Wentges, European Journal of OR 98, 1997)
FADE, LEAST = 0.8, 0.003  # of the volume's largest share, after every pass
LOSES = 0.05  # of an option's value: what its job may lose at best for it to be in the pool
CLOSED = 4e-6  # relative: pool and bound, and what three passes have gained


def dual_bound(program: TimeIndexedProblem) -> float:
    """What no choice exceeds."""
    return (solve_dual(program) if len(program) < MANY else solve_by_pool(program)).bound


def solve_by_pool(
    program: TimeIndexedProblem,
    *,
    start: Floats | None = None,
    watch: Callable[[Dual], object] = lambda dual: None,
    over: Callable[[], bool] = lambda: False,
) -> Dual:
    """Prices of small dual value, and what they prove of all options.

    Parameters
    ----------
    start : prices to begin with, shape (P, T).
    watch : called with the best so far, at first and after each pass. over : called before each iteration; true ends it.
    """
    relaxed = Relaxed(program)
    whole = relaxed.subproblem
    options, jobs = len(whole.program), len(whole.program.demand)
    volume = Volume(whole, relaxed.kind, start)
    least, center, marks = volume.best, volume.center, list[float]()
    pool = np.zeros(options, dtype=bool)

    def told() -> Dual:
        dual = Dual(center, least + relaxed.margin(center), volume.iterations, volume.latest, volume.drawn.option)
        best = relaxed.told(dual)
        watch(best)
        return best

    best = told()
    if start is None:
        volume.begin(whole.part(_thinned(whole.program, max(2, options // MANY))))
        for _ in range(FIRST // 100):
            if not over():
                _go_on(volume, 100, over)
                volume.most = HASTE * volume.most
        volume.most = MOST
    prices = volume.center
    while not over() and len(marks) < PASSES:
        value, reduced, earned = whole.look(prices)
        if value < least:
            least, center = value, prices
        marks.append(least)
        best = told()
        small = CLOSED * abs(least)
        if len(marks) > 3 and marks[-4] - least <= small and least - volume.best <= small:
            break
        _join(pool, whole.program.value, reduced, earned, max(POOL, POOL_PER_JOB * jobs))
        volume.center = center
        volume.begin(whole.part(pool), goes_on=True)
        _go_on(volume, AGAIN, over)
        volume.most = max(LEAST, FADE * volume.most)
        prices = KEEP * center + (1 - KEEP) * volume.center
    return best


def _go_on(volume: Volume, iterations: int, over: Callable[[], bool]) -> None:
    for _ in range(iterations):
        if over() or not volume.step():
            return


def _thinned(program: TimeIndexedProblem, k: int) -> Bools:
    """Every `k`-th option of each job at each place, the first among them."""
    return np.asarray(ranks.rank(program.job * len(program.capacity) + program.place) % k == 0)


def _join(pool: Bools, value: Floats, reduced: Floats, earned: Floats, most: int) -> None:
    """Those that come nearest to what their jobs earn at best, where these earn something or nearly do."""
    near = np.flatnonzero((value > 0) & (earned > -LOSES * value))
    behind = (earned[near] - reduced[near]) / value[near]
    pool[near[ranks.least(behind, most)]] = True
