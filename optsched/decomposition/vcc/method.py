"""The decomposition of vcc as a method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optsched.decomposition.vcc.search import StaircaseSearch
from optsched.errors import OptschedError
from optsched.instances.vcc import VccInstance
from optsched.monitor import run_with_deadline
from optsched.problems.vcc import from_schedule
from optsched.result import Proof
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.vcc import VccSchedule
from optsched.starts import best_start
from optsched.stop import Stop

EVALUATIONS = 150  # where nothing else limits the search


@dataclass(frozen=True)
class VccDecomposition(BaseMethod[VccInstance]):
    """Lagrangian bound over FIFO staircases by dynamic programming, staircases from its prices, branching on days.

    Attributes
    ----------
    iterations
        Evaluations of the bound; 0: until another limit ends it, or 150 where there is none.
    threads
        With two, beams have a process of their own under a time limit; 0: where there are two cores.
    """

    name: ClassVar[str] = "decomposition"

    iterations: int = 0
    threads: int = 0

    def search(self, call: Call[VccInstance]) -> Found:
        """Bound and staircases in turn, or beside each other; the seed changes nothing.

        Raises
        ------
        OptschedError
            Jobs may be evicted, or the start breaks a rule.
        """
        instance, stop = call.instance, call.within
        if instance.preempt:
            raise OptschedError(
                "preempt is true: the decomposition, like exact, knows no evictions; use a heuristic or a replay"
            )
        if self.iterations or not (stop.seconds or stop.gap or stop.iterations):
            stop = stop | Stop(iterations=self.iterations or EVALUATIONS)
        given = best_start(instance, call.given, call.until)
        assert isinstance(given, VccSchedule)
        monitor = call.monitor()
        first = from_schedule(instance, given)
        search = StaircaseSearch(instance, monitor, stop, first, self.threads)
        words: list[str] = []
        run_with_deadline(lambda: words.append(search()), monitor, call.until)
        return Found(
            given if search.incumbent.best is first else search.incumbent.best.schedule(),  # of 50,000 jobs it takes 0.3 s
            words[0] if words else monitor.stopping or "time_limit",
            bound=monitor.bound,
            proof=Proof(kind="path"),
            options={"iterations": self.iterations, "evaluations": search.evaluations},
            packages=("numpy",),
            monitor=monitor,
        )
