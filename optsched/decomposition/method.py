"""The decomposition as a method: prices for capacity prove a bound, a search guided by them finds the schedule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from optsched.certificate import PricedCovers
from optsched.decomposition.cover_prices import as_written, proven_by_covers
from optsched.decomposition.dual import Dual
from optsched.decomposition.pooled import PooledSearch, pool_view, priced_pool
from optsched.decomposition.search import Search
from optsched.decomposition.shadow_prices import ShadowPrices, as_array, as_given, by_place, proven_by, settled
from optsched.decomposition.shards import Shards, proven_at
from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.monitor import Monitor, run_with_deadline
from optsched.problems.view import TimeIndexedView
from optsched.referee import evaluate
from optsched.registry import family_of
from optsched.result import Proof, Result
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.base import TOLERANCE, Schedule
from optsched.starts import better, feasible_start
from optsched.stop import Spare, Stop
from optsched.workers import hired

PRICES = Proof(kind="prices")
LISTED = 30_000_000  # options; more are looked at by shards,
WIDE, A_JOB = 10_000_000, 300  # or so many, where they are more than that a job: a pool of the best ones says as much
ALIKE = 1e-12  # relative: the problem's figure and the referee's of the same schedule


@dataclass(frozen=True)
class Decomposition(BaseMethod[Instance]):
    """Lagrangian bound, price-ordered construction, ruin and recreate, exact windows, exact core.

    Of a result to start from, its prices are used too.

    Attributes
    ----------
    iterations
        Rounds of the search; 0: until another limit ends it, or 100 where there is none.
    threads
        Processes that search, each at some of the places or in a part of the time, under a time limit; threads that price the
        shards of a very large instance; 0: as many as there are cores. Without a time limit digits do not depend on it.
    scheduler
        Address of a Dask cluster whose workers do so instead, as in ``tcp://127.0.0.1:8786``.
    """

    name: ClassVar[str] = "decomposition"
    prices_capacity: ClassVar[bool] = True

    iterations: int = 0
    threads: int = 0
    scheduler: str = ""

    def search(self, call: Call[Instance]) -> Found:
        """Prices and schedules for a family that is a time-indexed problem.

        Raises
        ------
        OptschedError
            The start breaks a rule.
        """
        monitor = call.monitor()
        limits = call.within | Stop(iterations=self.iterations or None)
        run = _Run(call, limits, monitor, self.threads, self.scheduler or None)
        run_with_deadline(run.begin, monitor, None)  # it ends by itself in time, and without it there is nothing
        if run.word is None and monitor.stopping is None:
            run_with_deadline(run, monitor, run.stop.seconds)
        schedule, dual, bound, proof = run.found()
        return Found(
            schedule,
            run.word or monitor.stopping or "time_limit",
            bound=bound,
            proof=proof,
            options={
                "iterations": self.iterations,
                "rounds": 0 if run.search is None else run.search.rounds,
                "dual_iterations": 0 if dual is None else dual.iterations,
            },
            packages=("pyomo", "highspy", "numpy"),
            timings=run.timings,
            monitor=monitor,
            shadow_prices=None if dual is None or run.view is None else by_place(run.view, dual.prices),
        )


class _Run:
    """One instance under the search, in a thread that may be left behind: what it has found is always there."""

    def __init__(self, call: Call[Instance], stop: Stop, monitor: Monitor, threads: int, scheduler: str | None) -> None:
        self.threads, self.scheduler = threads, scheduler
        self.call, self.instance, self.stop, self.monitor = call, call.instance, stop, monitor
        empty = family_of(call.instance).empty(call.instance)
        if empty is None:
            raise OptschedError(f"{call.instance.problem} has no time-indexed view: its decomposition is another one")
        self.schedule: Schedule = empty if call.given is None else feasible_start(call.instance, call.given, empty)
        self.value = -math.inf  # of the schedule, by the referee
        self.view: TimeIndexedView[Schedule] | None = None
        self.search: Search | None = None
        self.word: str | None = None
        self.timings: dict[str, float] = {}

    def begin(self) -> None:
        """The family's greedy, or the start where that is better."""
        clock = self.monitor.clock
        spare = Spare(clock, self.stop.seconds, lambda: self.monitor.stopping is not None)
        greedy = family_of(self.instance).heuristics()["greedy"](self.instance, 0, spare=spare)
        if not spare():  # whatever it is worth, it is what there is
            self.schedule = greedy if self.call.given is None else better(self.instance, greedy, self.schedule)
            self.word = self.monitor.stopping or "time_limit"
            return
        for schedule in (greedy, self.schedule):
            value = evaluate(self.instance, schedule).objective
            if value > self.value:
                self.schedule, self.value = schedule, value
        self.monitor.incumbent(-self.value)

    def __call__(self) -> None:
        clock = self.monitor.clock
        size = family_of(self.instance).exact_size(self.instance)
        if size is not None and _is_very_large(self.instance, size.count):
            self._by_shards(size.count)
            return
        began = clock.elapsed_s()
        view = family_of(self.instance).time_indexed(self.instance)
        assert view is not None
        self.timings["build"] = clock.elapsed_s() - began
        began = clock.elapsed_s()
        self.search = Search(view.problem, self.monitor, self.stop, self.call.seed, self.threads)
        self.view = view
        chosen = view.problem.find(view.selected(self.schedule))
        start = self.call.start
        prices = as_array(view, start.shadow_prices) if isinstance(start, Result) else None
        try:
            self.word = self.search(chosen, prices)
        finally:
            self.timings["solve"] = clock.elapsed_s() - began

    def _by_shards(self, options: int) -> None:
        """Too many options to be listed at once."""
        clock = self.monitor.clock
        began = clock.elapsed_s()
        with hired(self.threads, self.scheduler) as (pool, workers):
            shards = Shards(self.instance, options, self.schedule, pool, workers)
            start = self.call.start
            known = as_given(shards.view, start.shadow_prices) if isinstance(start, Result) and start.shadow_prices else None
            priced = priced_pool(shards, options, self.monitor, self.stop, known)
        self.timings["build"] = clock.elapsed_s() - began
        if priced is None:
            self.word = self.monitor.stopping or "time_limit"
            return
        program, dual, chosen = priced
        began = clock.elapsed_s()
        self.search, self.view = (
            PooledSearch(program, dual, self.monitor, self.stop, self.call.seed, self.threads),
            pool_view(shards, program),
        )
        try:
            self.word = self.search(chosen, None)
        finally:
            self.timings["solve"] = clock.elapsed_s() - began

    def found(self) -> tuple[Schedule, Dual | None, float | None, Proof]:
        """Schedule, prices as they are written, and the best bound: theirs, that of covers, or one that the core has proven."""
        view, search = self.view, self.search
        if view is None or search is None:
            return self.schedule, None, None, PRICES
        best = search.best
        more = view.problem.objective(best) - self.value > ALIKE * abs(self.value)
        schedule = view.schedule(best) if more else self.schedule
        dual = search.proven or (None if search.dual is None else settled(view.problem, search.dual))
        if dual is None:
            return schedule, None, None, PRICES
        bound, proof, covered = dual.bound, PRICES, search.covered
        names = _ids(self.instance)
        if covered is not None and covered.bound < bound and len(names) == len(view.problem.demand):
            bound, proof = covered.bound, Proof(kind="covers", covered=as_written(view, names, covered))
        if search.core < bound and evaluate(self.instance, schedule).objective <= search.core:
            bound, proof = search.core, Proof(kind="search", tolerance=TOLERANCE, covered=proof.covered)
        return schedule, dual, bound, proof


def _is_very_large(instance: Instance, options: int) -> bool:
    """Whether so many options are never listed as a whole."""
    jobs = len(getattr(instance, "jobs", ()))
    return jobs > 0 and (options > LISTED or options > max(WIDE, A_JOB * jobs))


def proven(instance: Instance, prices: ShadowPrices | None, covered: PricedCovers | None = None) -> float | None:
    """The bound that prices of an instance's capacity prove, or those with covers; None if they do not fit it."""
    own = family_of(instance)
    size = own.exact_size(instance)
    if own.is_time_indexed and size is not None and _is_very_large(instance, size.count):
        return None if prices is None or covered is not None else proven_at(instance, size.count, prices)
    view = own.time_indexed(instance)
    if view is None:
        return None
    if covered is not None:
        return proven_by_covers(view, _ids(instance), covered)
    return None if prices is None else proven_by(view, prices)


def _ids(instance: Instance) -> tuple[str, ...]:
    """Of its jobs, in their order; none where a family of somebody else's has no such jobs."""
    return tuple(str(job.id) for job in getattr(instance, "jobs", ()) if hasattr(job, "id"))
