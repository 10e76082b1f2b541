"""The decomposition as a method: prices for capacity prove a bound, a search guided by them finds the schedule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from optsched.decomposition.dual import Dual, bound_of, ceiling
from optsched.decomposition.listing import Listing, written
from optsched.decomposition.search import Search
from optsched.exact import Report, better, feasible_start
from optsched.instances.base import Instance, Ints
from optsched.models.time_indexed import Program
from optsched.result import Result, certified, schedule_of
from optsched.rooms import room
from optsched.schedules.base import Schedule
from optsched.solvers import Monitor, watched
from optsched.stop import Clock, Stop

FINISHES = 2000  # options of a time-indexed program
PER_JOB_S = 2e-5  # to make, check and judge a schedule once the search has ended


def many_options(program: Program) -> str | None:
    """Why a time-indexed model would not be solved to optimality, or None."""
    few = len(program) <= FINISHES
    return None if few else f"{len(program):,} options, exact finishes up to about {FINISHES:,}"


@dataclass(frozen=True)
class Decomposition:
    """Lagrangian bound, price-ordered construction, ruin and recreate, exact windows, exact core.

    Attributes
    ----------
    iterations : rounds of the search; 0: until another limit ends it, or 100 where there is none.
    """

    iterations: int = 0

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve an instance of a time-indexed family; of a result to start from, its prices are used too.

        Raises
        ------
        OptschedError : the start breaks a rule.
        """
        clock = Clock()
        stop = (stop or Stop()) | Stop(iterations=self.iterations or None)
        monitor = Monitor(clock, -1, progress)
        run = _Run(instance, stop, monitor, seed, start)
        seconds = None if stop.seconds is None else max(0.0, stop.seconds - PER_JOB_S * instance.job_count)
        watched(run, monitor, seconds)
        schedule, dual, bound = run.found()
        return certified(
            instance,
            schedule,
            method="decomposition",
            termination=run.word or monitor.stopping or "time_limit",
            bound=bound,
            seconds=clock.elapsed_s(),
            seed=seed,
            options={
                "iterations": self.iterations,
                "time_limit": stop.seconds,
                "gap": stop.gap,
                "rounds": 0 if run.search is None else run.search.rounds,
                "dual_iterations": 0 if dual is None else dual.iterations,
            },
            packages=("pyomo", "highspy", "numpy"),
            timings=run.timings,
            incumbents=[(p.seconds, p.objective, p.bound) for p in monitor.trace],
            shadow_prices=None if dual is None or run.listing is None else run.listing.named(dual.prices),
        )


class _Run:
    """One instance under the search, in a thread that may be left behind: what it has found is always there."""

    def __init__(self, instance: Instance, stop: Stop, monitor: Monitor, seed: int, start: Schedule | Result | None) -> None:
        self.instance, self.stop, self.monitor, self.seed, self.start = instance, stop, monitor, seed, start
        self.empty: Schedule = room("decomposition", instance.problem).EMPTY
        self.given = schedule_of(start)
        if self.given is not None:
            feasible_start(instance, self.given, self.empty)
        self.listing: Listing | None = None
        self.search: Search | None = None
        self.word: str | None = None
        self.timings: dict[str, float] = {}

    def __call__(self) -> None:
        clock = self.monitor.clock
        began = clock.elapsed_s()
        listing: Listing = room("decomposition", self.instance.problem).listed(self.instance)
        self.timings["build"] = clock.elapsed_s() - began
        began = clock.elapsed_s()
        self.search = Search(listing.program, self.monitor, self.stop, self.seed)
        self.listing = listing
        chosen = None if self.given is None else listing.program.find(listing.selected(self.given))
        prices = listing.read(self.start.shadow_prices) if isinstance(self.start, Result) else None
        try:
            self.word = self.search(chosen, prices)
        finally:
            self.timings["solve"] = clock.elapsed_s() - began

    def found(self) -> tuple[Schedule, Dual | None, float | None]:
        """Schedule, prices as they are written, and the bound: theirs, or a better one of the exact core."""
        schedule = self.empty if self.given is None else self.given
        listing, search = self.listing, self.search
        if listing is None or search is None:
            return schedule, None, None
        chosen: Ints = search.best
        schedule = better(self.instance, listing.schedule(chosen), schedule)
        dual = search.dual
        if dual is None:
            return schedule, None, None
        prices = np.minimum(written(dual.prices), ceiling(listing.program))
        dual = replace(dual, prices=prices, bound=bound_of(listing.program, prices))
        return schedule, dual, min(dual.bound, search.core)
