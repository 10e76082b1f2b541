"""Prices of many options by a pool of them: passes over all prove the bound, and find what belongs to the pool.

Column generation in the dual: the volume algorithm moves the prices as if there were the pool only, which costs a twentieth;
a pass prices all options, and those that come nearest to their jobs' best join the pool. It begins with thinned starts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optsched.decomposition.dual import MOST, Dual, Relaxed, Volume, solve_dual
from optsched.instances.base import Bools, Floats
from optsched.problems import ranks
from optsched.problems.time_indexed import TimeIndexedProblem

MANY = 120_000  # options, from which on there is a pool
POOL, POOL_PER_JOB = 40_000, 4  # options that join it in a pass, at most; or so many times the jobs, if that is more
FIRST, LEG = 800, 50  # iterations on thinned starts, at most, and after how many all options are looked at
GAINED = 3e-3  # relative: what that must bring to go on
AGAIN = 50  # iterations on the pool after the first pass
GROWS, MOST_AGAIN = 1.3, 200  # with every pass; iterations at most
HASTE = 0.7  # of the volume's largest share, after a leg of the first
PASSES = 40
KEEP = 0.3  # of the best prices so far, mixed into those of the pool (Wentges, European Journal of OR 98, 1997)
FADE, LEAST = 0.8, 0.003  # of the volume's largest share, after so many iterations on pools
STALLS, STALLED = 1e-4, 0.5  # relative gain on a pool that is next to none, and by how much the share fades then
SETTLED = 0.01  # largest share at which that may be the end
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
    early: Callable[[], bool] = lambda: False,
    over: Callable[[], bool] = lambda: False,
) -> Dual:
    """Prices of small dual value, and what they prove of all options.

    Parameters
    ----------
    start : prices to begin with, shape (P, T).
    watch : called with the best so far, at first and after each pass. over : called before each iteration; true ends it.
    early : asked in the same way; true ends the thinned starts.
    """
    relaxed = Relaxed(program)
    whole = relaxed.subproblem
    options, jobs = len(whole.program), len(whole.program.demand)
    volume = Volume(whole, relaxed.kind, start)
    center, marks = volume.center, list[float]()
    least = volume.best + relaxed.margin(center)
    pool = np.zeros(options, dtype=bool)

    def told() -> Dual:
        dual = Dual(center, least, volume.iterations, volume.latest, volume.drawn.option)
        best = relaxed.told(dual)
        watch(best)
        return best

    best = told()
    if start is None:
        volume.begin(whole.part(thinned(whole.program, max(2, options // MANY))))
        for _ in range(FIRST // LEG):
            go_on(volume, LEG, lambda: early() or over())
            volume.most = HASTE * volume.most
            value, _ = whole(volume.center)
            gained = least - (proven := value + relaxed.margin(volume.center))
            if gained > 0:
                least, center = proven, volume.center
                best = told()
            if gained < GAINED * abs(least) or early() or over():
                break
        volume.most = MOST
    prices, again = center, float(AGAIN)
    while True:
        value, reduced, earned = whole.look(prices)
        proven = value + relaxed.margin(prices)
        if proven < least:
            least, center = proven, prices
        marks.append(least)
        best = told()
        small = CLOSED * abs(least)
        settled = volume.most <= SETTLED and len(marks) > 3 and marks[-4] - least <= small and least - volume.best <= small
        if settled or over() or len(marks) >= PASSES:  # asked after the look: time that is over leaves no prices without one
            return best
        _join(pool, whole.program.value, reduced, earned, max(POOL, POOL_PER_JOB * jobs))
        volume.center = center
        volume.begin(whole.part(pool), goes_on=True)
        begun = volume.best
        go_on(volume, int(again), over)
        fade = FADE ** (again / MOST_AGAIN) if begun - volume.best > STALLS * abs(begun) else STALLED
        volume.most = max(LEAST, fade * volume.most)
        again = min(float(MOST_AGAIN), GROWS * again)
        prices = KEEP * center + (1 - KEEP) * volume.center


def go_on(volume: Volume, iterations: int, over: Callable[[], bool]) -> None:
    """So many iterations, fewer where it is over or nothing is left to be gained."""
    for _ in range(iterations):
        if over() or not volume.step():
            return


def thinned(program: TimeIndexedProblem, k: int) -> Bools:
    """Every `k`-th option of each job at each place, the first among them, shape (n,)."""
    return np.asarray(ranks.rank(program.pair) % k == 0)


def _join(pool: Bools, value: Floats, reduced: Floats, earned: Floats, most: int) -> None:
    """Those that come nearest to what their jobs earn at best, where these earn something or nearly do."""
    near = np.flatnonzero((value > 0) & (earned > -LOSES * value))
    behind = (earned[near] - reduced[near]) / value[near]
    pool[near[ranks.least(behind, most)]] = True
