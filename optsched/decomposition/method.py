"""The decomposition as a method: prices for capacity prove a bound, a search guided by them finds the schedule."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from optsched.decomposition.dual import Dual
from optsched.decomposition.listing import Listing, settled
from optsched.decomposition.search import Search
from optsched.exact import Report, better, feasible_start
from optsched.instances.base import Instance
from optsched.result import Proof, Result, certified, schedule_of
from optsched.rooms import room
from optsched.schedules import evaluate
from optsched.schedules.base import TOLERANCE, Schedule
from optsched.solvers import Monitor, watched
from optsched.stop import Clock, Spare, Stop, deadline

FINISHES = 2000  # options of a time-indexed program
PRICES = Proof(kind="prices")
ALIKE = 1e-12  # relative: the program's figure and the referee's of the same schedule
SAMPLE = 200  # jobs whose options are counted for all


def many_options(instance: Any, listed: Callable[[Any], Listing]) -> str | None:
    """Why a time-indexed model would not be solved to optimality, or None."""
    jobs = instance.jobs
    step = max(1, -(-len(jobs) // SAMPLE))
    some = instance if step == 1 else instance.model_copy(update={"jobs": jobs[::step]})
    count = round(len(listed(some).program) * len(jobs) / max(1, len(some.jobs)))
    about = "" if step == 1 else "about "
    return None if count <= FINISHES else f"{about}{count:,} options, exact finishes up to about {FINISHES:,}"


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
        run = _Run(instance, replace(stop, seconds=deadline(stop.seconds, instance.job_count)), monitor, seed, start)
        watched(run.begin, monitor, None)  # it ends by itself in time, and without it there is nothing
        if run.word is None and monitor.stopping is None:
            watched(run, monitor, run.stop.seconds)
        schedule, dual, bound, proof = run.found()
        return certified(
            instance,
            schedule,
            method="decomposition",
            termination=run.word or monitor.stopping or "time_limit",
            bound=bound,
            proof=proof,
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
        self.schedule: Schedule = room("decomposition", instance.problem).EMPTY
        given = schedule_of(start)
        if given is not None:
            self.schedule = feasible_start(instance, given, self.schedule)
        self.value = -math.inf  # of the schedule, by the referee
        self.listing: Listing | None = None
        self.search: Search | None = None
        self.word: str | None = None
        self.timings: dict[str, float] = {}

    def begin(self) -> None:
        """The family's greedy, or the start where that is better."""
        clock = self.monitor.clock
        spare = Spare(clock, self.stop.seconds, lambda: self.monitor.stopping is not None)
        greedy: Schedule = room("heuristics", self.instance.problem).HEURISTICS["greedy"](self.instance, 0, spare=spare)
        if not spare():  # whatever it is worth, it is what there is
            self.schedule = greedy if schedule_of(self.start) is None else better(self.instance, greedy, self.schedule)
            self.word = self.monitor.stopping or "time_limit"
            return
        for schedule in (greedy, self.schedule):
            value = evaluate(self.instance, schedule).objective
            if value > self.value:
                self.schedule, self.value = schedule, value
        self.monitor.incumbent(-self.value)

    def __call__(self) -> None:
        clock = self.monitor.clock
        began = clock.elapsed_s()
        listing: Listing = room("decomposition", self.instance.problem).listed(self.instance)
        self.timings["build"] = clock.elapsed_s() - began
        began = clock.elapsed_s()
        self.search = Search(listing.program, self.monitor, self.stop, self.seed)
        self.listing = listing
        chosen = listing.program.find(listing.selected(self.schedule))
        prices = listing.read(self.start.shadow_prices) if isinstance(self.start, Result) else None
        try:
            self.word = self.search(chosen, prices)
        finally:
            self.timings["solve"] = clock.elapsed_s() - began

    def found(self) -> tuple[Schedule, Dual | None, float | None, Proof]:
        """Schedule, prices as they are written, and the bound: theirs, or a better one of the core that nothing refutes."""
        listing, search = self.listing, self.search
        if listing is None or search is None:
            return self.schedule, None, None, PRICES
        best = search.best
        more = listing.program.objective(best) - self.value > ALIKE * abs(self.value)
        schedule = listing.schedule(best) if more else self.schedule
        dual = search.proven or (None if search.dual is None else settled(listing.program, search.dual))
        core = dual is not None and evaluate(self.instance, schedule).objective <= search.core < dual.bound
        if core:
            return schedule, dual, search.core, Proof(kind="search", tolerance=TOLERANCE)
        return schedule, dual, None if dual is None else dual.bound, PRICES
