"""The offline plan as a method: the history that a policy is held against, and the floor under both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optsched.certificate import relative_gap
from optsched.decomposition.allocation import clairvoyant
from optsched.decomposition.allocation.alone import lonely_bound
from optsched.instances.allocation import AllocationInstance
from optsched.interrupts import asked
from optsched.monitor import Monitor
from optsched.referee import evaluate
from optsched.rolling.allocation.offline import PlanSearch
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.allocation import AllocationHistory
from optsched.schedules.base import Schedule
from optsched.starts import better, feasible_start
from optsched.stop import Spare

EVERY = 25  # generations, of which the last one's best plan is carried out and told
OF_FLOOR = 0.3  # of the time that is left, at most
RESERVED = 1.5  # times what it took to carry a plan out, for the last one
TOLD = "a plan of whoever knows every job beforehand, from the first submission on; its bound holds for every policy"


@dataclass(frozen=True)
class OfflinePlan(BaseMethod[AllocationInstance]):
    """A history of whoever knows every job beforehand, and a floor under all histories.

    Parameters
    ----------
    generations
        Of the search, see `offline_plan`; a time limit or a gap ends it sooner.
    """

    generations: int = 150

    name: ClassVar[str] = "offline-plan"
    ends_itself: ClassVar[bool] = True
    decides_now: ClassVar[bool] = False

    def search(self, call: Call[AllocationInstance]) -> Found:
        """Search until the last generation, or as long as there is time; a first history is made whatever that takes.

        Raises
        ------
        OptschedError
            Something goes wrong in the instance (`events`), a job can run nowhere, or the start is no history of it.
        """
        run = _Run(call, PlanSearch(call.instance, call.seed))
        run.begin()
        most = self.generations if call.stop.iterations is None else min(self.generations, call.stop.iterations)
        ended = run.go(most)
        if ended == "completed" and most < self.generations:
            ended = "iteration_limit"
        assert run.best is not None
        options: dict[str, object] = {"generations": self.generations}
        return Found(run.best, ended, bound=run.bound, options=options, monitor=run.monitor, message=TOLD)


class _Run:
    """A search on its way: the best history and the best bound so far."""

    def __init__(self, call: Call[AllocationInstance], search: PlanSearch) -> None:
        self.call, self.search = call, search
        self.monitor: Monitor = call.monitor()
        self.best: Schedule | None = None
        if call.given is not None:
            self._keep(feasible_start(call.instance, call.given, AllocationHistory(runs=())))
        self.bound = lonely_bound(call.instance)
        self.monitor.raised(self.bound)
        self.carried_s = 0.0  # what it takes to carry a plan out, the one that took longest

    def begin(self) -> None:
        """The rules, a history, and the floor."""
        self.search.advance(self._spare())
        self._carry()
        left = self.call.left()
        until = None if left is None else self.call.clock.elapsed_s() + OF_FLOOR * left
        self.bound = max(self.bound, clairvoyant(self.call.instance, Spare(self.call.clock, until, asked)))
        self.monitor.raised(self.bound)

    def go(self, generations: int) -> str:
        """So many generations; why it ended."""
        for generation in range(1, generations + 1):
            if (ended := self._ended()) is not None:
                break
            until = self.call.until
            inside = self.search.advance(self._spare(None if until is None else until - RESERVED * self.carried_s))
            if not inside or generation % EVERY == 0 or generation == generations:
                self._carry()
            if not inside:
                ended = "interrupted" if asked() else "time_limit"
                break
        else:
            ended = self._ended()
        return ended or "completed"

    def _ended(self) -> str | None:
        if asked():
            return "interrupted"
        assert self.best is not None
        gap = relative_gap(evaluate(self.call.instance, self.best).objective, self.bound)
        return self.call.within.reason(self.call.clock.elapsed_s(), gap)

    def _carry(self) -> None:
        """The best bids' histories, as many as there is time for; the very first one whatever it takes."""
        began = self.call.clock.elapsed_s()
        found = self.search.history(self._spare())
        if found is None and self.best is None:
            found = self.search.history(most=1)
        if found is not None:
            self._keep(found)
        self.carried_s = max(self.carried_s, self.call.clock.elapsed_s() - began)

    def _keep(self, found: Schedule) -> None:
        instance = self.call.instance
        self.best = found if self.best is None else better(instance, self.best, found)
        self.monitor.incumbent(evaluate(instance, self.best).objective)

    def _spare(self, until: float | None = None) -> Spare:
        """Whether there is time left, till then or until the end."""
        return Spare(self.call.clock, self.call.until if until is None else until, asked)
