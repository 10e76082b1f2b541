"""A very large program by a pool of its options: passes over all of them prove the bound, and find what belongs to the pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from optsched.decomposition.dual import MOST, Dual, LagrangianSubproblem, Volume
from optsched.decomposition.passes import FADE, HASTE, LEAST, LEG, go_on
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.rounding import drawn
from optsched.decomposition.search import Search
from optsched.decomposition.shadow_prices import written
from optsched.decomposition.shards import Listed, Shards, merged
from optsched.instances.base import Floats, Ints
from optsched.monitor import Monitor
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.problems.view import TimeIndexedView
from optsched.schedules.base import Schedule
from optsched.stop import Stop

THINNED = 2_000_000  # options whose prices come first
FIRST, AGAIN = 300, 200  # iterations on these, and on the pool after every pass
MORE = 40  # options a job that the search has besides
PASSES = 12  # at most
SHARE, THINNED_SHARE = 0.5, 0.2  # of the time that is left, for all passes, and until the prices of the thinned options
CLOSED = 1e-4  # relative: what a further pass could gain at most
KEEP = 0.15  # of the best prices so far, mixed into those of the pool (Wentges, European Journal of OR 98, 1997)


def priced_pool(
    shards: Shards, options: int, monitor: Monitor, stop: Stop, start: Floats | None = None
) -> tuple[TimeIndexedProblem, Dual, Ints] | None:
    """The options worth looking at, with prices and the bound that these prove for all options.

    Parameters
    ----------
    options
        How many there are, about.
    start
        Prices to begin with, instead of those of thinned starts.

    Returns
    -------
    The options as a program, prices and bound, and what the jobs were scheduled at as rows of the program; None where the
    time is over before the first pass is.
    """
    began = monitor.clock.elapsed_s()  # greedy may have taken a fifth of the time

    def late(share: float) -> Callable[[], bool]:
        until = None if stop.seconds is None else began + share * (stop.seconds - began)
        return lambda: monitor.stopping is not None or (until is not None and monitor.clock.elapsed_s() > until)

    over, ended, early = late(1.0), late(SHARE), late(THINNED_SHARE)
    thinned = None if start is not None else shards.thinned(max(1, options // THINNED), early)
    if thinned is None:  # no time for better prices than none
        thinned = shards.empty
    volume = Volume(LagrangianSubproblem(thinned), np.arange(len(thinned.demand)))
    for _ in range(FIRST // LEG):
        go_on(volume, LEG, early)
        volume.most *= HASTE
    prices, most = _told(shards, volume.center if start is None else start), MOST
    kept: Listed | None = None
    best: Dual | None = None
    for number in range(PASSES):
        found = shards(prices, ended if number else over)
        if found is None:
            break
        kept = found.kept if kept is None else merged(kept, found.kept)
        selected = found.selected
        if best is None or found.bound < best.bound:
            best = Dual(prices, found.bound, 0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
            monitor.bounded(-found.bound)
        program = shards.pooled(kept, found)
        volume = volume.onto(LagrangianSubproblem(program), best.prices)
        volume.most = most
        go_on(volume, AGAIN, ended)
        most = max(LEAST, FADE * most)
        if best.bound - volume.best <= CLOSED * abs(best.bound) or ended():
            break
        prices = _told(shards, KEEP * best.prices + (1 - KEEP) * volume.center)
    if best is None or kept is None:
        return None
    found = shards(best.prices, ended, MORE)  # ruins are at their ease among many options
    if found is not None:
        program = shards.pooled(merged(kept, found.kept), found)
        volume = volume.onto(LagrangianSubproblem(program), best.prices)
    told = replace(best, iterations=volume.iterations, latest=volume.latest, drawn=volume.drawn.option)
    return program, told, program.find(selected)


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

    def _relaxed(self, pricing: Pricing) -> Ints:
        """Its linear relaxation takes longer than there is time: the prices' volume, rounded."""
        return drawn(self.known.drawn, pricing, self.spare)

    def _late(self) -> bool:
        """Windows are too few for so many jobs: ruins bring more to the end."""
        return False

    def _settled(self, dual: Dual) -> Dual:
        return dual

    def _finish(self, pricing: Pricing, nodes: int) -> str | None:
        """Nothing of a pool is proven of all options."""
        return self._over()
