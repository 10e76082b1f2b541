"""A very large program by a pool of its options: passes over all of them prove the bound, and find what belongs to the pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from optsched.decomposition.dual import Dual, solve_dual
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.search import Search
from optsched.decomposition.shadow_prices import written
from optsched.decomposition.shards import Listed, Shards, merged
from optsched.errors import OptschedError
from optsched.instances.base import Floats, Ints
from optsched.monitor import Monitor
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.problems.view import TimeIndexedView
from optsched.schedules.base import Schedule
from optsched.stop import Stop

SAMPLED = 2_000_000  # options of the jobs whose prices come first
FIRST, AGAIN = 600, 400  # iterations of the dual on the sample, and on the pool after every pass
PASSES = 12  # at most
SHARE, SAMPLE_SHARE = 0.5, 0.1  # of the time, for all passes, and for the sample
CLOSED = 1e-4  # relative: what a further pass could gain at most
KEEP = 0.3  # of the best prices so far, mixed into those of the pool (Wentges, European Journal of OR 98, 1997)


def priced_pool(shards: Shards, options: int, monitor: Monitor, stop: Stop) -> tuple[TimeIndexedProblem, Dual, Ints]:
    """The options worth looking at, with prices and the bound that these prove for all options.

    Parameters
    ----------
    options
        How many there are, about.

    Returns
    -------
    The options as a program, prices and bound, and what the jobs were scheduled at as rows of the program.

    Raises
    ------
    OptschedError
        The time is over before the first pass is.
    """

    def late(share: float) -> Callable[[], bool]:
        until = None if stop.seconds is None else share * stop.seconds
        return lambda: monitor.stopping is not None or (until is not None and monitor.clock.elapsed_s() > until)

    over, ended, early = late(1.0), late(SHARE), late(SAMPLE_SHARE)
    sample = shards.sample(max(1, options // SAMPLED))
    prices = _told(shards, solve_dual(sample, iterations=FIRST, watch=lambda dual: early()).prices)
    kept: Listed | None = None
    best: Dual | None = None
    for number in range(PASSES):
        found = shards(prices, ended if number else over)
        if found is None:
            break
        kept = found.kept if kept is None else merged(kept, found.kept)
        selected = found.selected
        if best is None or found.bound < best.bound:
            best = Dual(prices, found.bound, number + 1, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
            monitor.bounded(-found.bound)
        program = shards.pooled(kept, found)
        dual = solve_dual(program, iterations=AGAIN, start=best.prices, watch=lambda dual: ended())
        if best.bound - dual.bound <= CLOSED * abs(best.bound) or ended():
            break
        prices = _told(shards, KEEP * best.prices + (1 - KEEP) * dual.prices)
    if best is None:
        raise OptschedError("the time is over before all options have been looked at once")
    return program, replace(best, latest=dual.latest, drawn=dual.drawn), program.find(selected)


def _told(shards: Shards, prices: Floats) -> Floats:
    """Prices as they are written, which prove what they do only up to the price of overload."""
    most = shards.empty.overload_price
    return written(prices) if most is None else np.minimum(written(prices), most)


def pool_view(shards: Shards, program: TimeIndexedProblem) -> TimeIndexedView[Schedule]:
    """The pool as a view of the instance."""

    def schedule(chosen: Ints) -> Schedule:
        return shards.schedule(Listed(program.job[chosen], program.place[chosen], program.start[chosen], program.value[chosen]))

    return TimeIndexedView(problem=program, places=shards.places, schedule=schedule, selected=lambda schedule: ())


class PooledSearch(Search):
    """The search on a pool, whose prices and bound are those of all options."""

    def __init__(
        self, program: TimeIndexedProblem, dual: Dual, monitor: Monitor, stop: Stop, seed: int, threads: int = 0
    ) -> None:
        super().__init__(program, monitor, stop, seed, threads)
        self.known = dual

    def _price(self, start: Floats | None) -> Dual:
        return self.known

    def _settled(self, dual: Dual) -> Dual:
        return dual

    def _finish(self, pricing: Pricing, nodes: int) -> str | None:
        """Nothing of a pool is proven of all options."""
        return self._over()
