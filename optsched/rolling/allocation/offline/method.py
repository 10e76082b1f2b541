"""The offline plan as a method: the history that a policy is held against, and the floor under both."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from optsched.certificate import relative_gap
from optsched.decomposition.allocation import clairvoyant
from optsched.decomposition.allocation.alone import lonely_bound
from optsched.instances.allocation import AllocationInstance
from optsched.interrupts import asked
from optsched.monitor import Monitor
from optsched.referee import evaluate
from optsched.rolling.allocation.offline import GENERATIONS, can_improve, carried_out
from optsched.rolling.allocation.offline.improve import Improvement
from optsched.rolling.allocation.offline.search import PlanSearch
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.allocation import AllocationHistory
from optsched.starts import better, feasible_start
from optsched.stop import Spare

EVERY = 5  # generations, of which the last one's best plan is carried out and told
OF_GENERATIONS = 0.2  # of the time that is left, at most, where linear programs follow
OF_FLOOR = 0.3  # of the time that is left, at most
RESERVED = 1.5  # times what it took to carry a plan out, for the last one
TOLD = "a plan of whoever knows every job beforehand, from the first submission on; its bound holds for every policy"


@dataclass(frozen=True)
class OfflinePlan(BaseMethod[AllocationInstance]):
    """A history of whoever knows every job beforehand, and a floor under all histories.

    Parameters
    ----------
    generations
        Of the search that linear programs follow, see `offline_plan`; where migrations lose work it is all there is, and
        more of them are worth their time. A time limit or a gap ends it sooner.
    """

    generations: int = GENERATIONS

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
        self.best: AllocationHistory | None = None
        self.objective = inf
        self.first: AllocationHistory | None = None  # the best without linear programs
        self.improved: AllocationHistory | None = None  # that one, when they last followed
        if call.given is not None:
            given = feasible_start(call.instance, call.given, AllocationHistory(runs=()))
            assert isinstance(given, AllocationHistory)
            self._begun(given)
        self.generation = 0
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
        """So many generations, and linear programs from the best of them; why it ended."""
        while True:
            ended = self._generations(generations) or self._improve()
            if ended is not None or self.generation >= generations:
                return ended or self._ended() or "completed"

    def _generations(self, most: int) -> str | None:
        """Generations, all or those for which there is time; why it ended, if it did."""
        follows = self._follows()
        until = self._until(OF_GENERATIONS) if follows else self.call.until
        inside, left = True, None if until is None else until - RESERVED * self.carried_s
        while inside and self.generation < most:
            if (ended := self._ended()) is not None:
                return ended
            if inside := self.search.advance(self._spare(left)):
                self.generation += 1
            if not inside or self.generation % EVERY == 0 or self.generation == most:
                self._carry(until)
        return self._ended() or (None if inside or follows else "time_limit")

    def _improve(self) -> str | None:
        """The best plan of the generations by linear programs, as far as there is time."""
        ended = self._ended()
        if ended is not None or not self._follows():
            return ended
        assert self.first is not None
        self.improved = self.first
        for history in Improvement(self.call.instance, self.first)(self._spare()):
            self._keep(history)
            if (ended := self._ended()) is not None:
                return ended
        return self._ended()

    def _follows(self) -> bool:
        """Whether there is a plan of the rules that linear programs have not begun from."""
        return can_improve(self.call.instance) and self.first is not self.improved

    def _until(self, share: float) -> float | None:
        """When so much of the time that is left is over."""
        left = self.call.left()
        return None if left is None else self.call.clock.elapsed_s() + share * left

    def _ended(self) -> str | None:
        if asked():
            return "interrupted"
        gap = relative_gap(self.objective, self.bound)
        return self.call.within.reason(self.call.clock.elapsed_s(), gap)

    def _carry(self, until: float | None = None) -> None:
        """The best bids' histories, as many as there is time for; the very first one whatever it takes."""
        began = self.call.clock.elapsed_s()
        if self.best is None:
            found = self.search.history(most=1)
        else:
            found = self.search.history(self._spare(until), carried_out(self.call.instance))
        if found is not None:
            self._begun(found)
        self.carried_s = max(self.carried_s, self.call.clock.elapsed_s() - began)

    def _begun(self, found: AllocationHistory) -> None:
        self.first = found if self.first is None else better(self.call.instance, self.first, found)
        self._keep(found)

    def _keep(self, found: AllocationHistory) -> None:
        objective = evaluate(self.call.instance, found).objective
        if self.best is None or objective < self.objective:
            self.best, self.objective = found, objective
        self.monitor.incumbent(self.objective)

    def _spare(self, until: float | None = None) -> Spare:
        """Whether there is time left, till then or until the end."""
        return Spare(self.call.clock, self.call.until if until is None else until, asked)
