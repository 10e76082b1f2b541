"""The decomposition of vcc as a method."""

from __future__ import annotations

from dataclasses import dataclass

from optsched.decomposition.vcc.search import Search
from optsched.errors import OptschedError
from optsched.exact import Report, best_start
from optsched.instances.vcc import VccInstance
from optsched.models.vcc.staircase import of
from optsched.result import Proof, Result, certified, schedule_of
from optsched.schedules.base import Schedule
from optsched.schedules.vcc import VccSchedule
from optsched.solvers import Monitor, watched
from optsched.stop import Clock, Stop, deadline

EVALUATIONS = 150  # where nothing else limits the search


@dataclass(frozen=True)
class VccDecomposition:
    """Lagrangian bound over FIFO staircases by dynamic programming, staircases from its prices, branching on days.

    Attributes
    ----------
    iterations : evaluations of the bound; 0: until another limit ends it, or 150 where there is none.
    """

    iterations: int = 0

    def __call__(
        self,
        instance: VccInstance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve an instance; nothing is drawn, so that the seed changes nothing.

        Raises
        ------
        OptschedError : jobs may be evicted, or the start breaks a rule.
        """
        clock, stop = Clock(), stop or Stop()
        if instance.preempt:
            raise OptschedError(
                "preempt is true: the decomposition, like exact, knows no evictions; use a heuristic or a replay"
            )
        if self.iterations or not (stop.seconds or stop.gap or stop.iterations):
            stop = stop | Stop(iterations=self.iterations or EVALUATIONS)
        until = deadline(stop.seconds, instance.job_count)
        given = best_start(instance, schedule_of(start), until)
        assert isinstance(given, VccSchedule)
        monitor = Monitor(clock, 1, progress)
        search = Search(instance, monitor, stop, of(instance, given))
        words: list[str] = []
        watched(lambda: words.append(search()), monitor, until)
        return certified(
            instance,
            search.best.schedule(),
            method="decomposition",
            termination=words[0] if words else monitor.stopping or "time_limit",
            bound=monitor.bound,
            proof=Proof(kind="path"),
            seconds=clock.elapsed_s(),
            seed=seed,
            options={
                "iterations": self.iterations,
                "time_limit": stop.seconds,
                "gap": stop.gap,
                "evaluations": search.evaluations,
            },
            packages=("numpy",),
            incumbents=[(p.seconds, p.objective, p.bound) for p in monitor.trace],
        )
