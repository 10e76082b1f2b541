"""The decomposition as a method: prices for capacity prove a bound, a search guided by them finds the schedule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from optsched.decomposition.dual import Dual
from optsched.decomposition.search import Search
from optsched.decomposition.shadow_prices import as_array, by_place, settled
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

PRICES = Proof(kind="prices")
ALIKE = 1e-12  # relative: the problem's figure and the referee's of the same schedule


@dataclass(frozen=True)
class Decomposition(BaseMethod[Instance]):
    """Lagrangian bound, price-ordered construction, ruin and recreate, exact windows, exact core.

    Of a result to start from, its prices are used too.

    Attributes
    ----------
    iterations
        Rounds of the search; 0: until another limit ends it, or 100 where there is none.
    """

    name: ClassVar[str] = "decomposition"
    prices_capacity: ClassVar[bool] = True

    iterations: int = 0

    def search(self, call: Call[Instance]) -> Found:
        """Prices and schedules for a family that is a time-indexed problem.

        Raises
        ------
        OptschedError
            The start breaks a rule.
        """
        monitor = call.monitor()
        run = _Run(call, call.within | Stop(iterations=self.iterations or None), monitor)
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

    def __init__(self, call: Call[Instance], stop: Stop, monitor: Monitor) -> None:
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
        began = clock.elapsed_s()
        view = family_of(self.instance).time_indexed(self.instance)
        assert view is not None
        self.timings["build"] = clock.elapsed_s() - began
        began = clock.elapsed_s()
        self.search = Search(view.problem, self.monitor, self.stop, self.call.seed)
        self.view = view
        chosen = view.problem.find(view.selected(self.schedule))
        start = self.call.start
        prices = as_array(view, start.shadow_prices) if isinstance(start, Result) else None
        try:
            self.word = self.search(chosen, prices)
        finally:
            self.timings["solve"] = clock.elapsed_s() - began

    def found(self) -> tuple[Schedule, Dual | None, float | None, Proof]:
        """Schedule, prices as they are written, and the bound: theirs, or a better one of the core that nothing refutes."""
        view, search = self.view, self.search
        if view is None or search is None:
            return self.schedule, None, None, PRICES
        best = search.best
        more = view.problem.objective(best) - self.value > ALIKE * abs(self.value)
        schedule = view.schedule(best) if more else self.schedule
        dual = search.proven or (None if search.dual is None else settled(view.problem, search.dual))
        core = dual is not None and evaluate(self.instance, schedule).objective <= search.core < dual.bound
        if core:
            return schedule, dual, search.core, Proof(kind="search", tolerance=TOLERANCE)
        return schedule, dual, None if dual is None else dual.bound, PRICES
