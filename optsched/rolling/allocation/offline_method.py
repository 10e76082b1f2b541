"""The offline plan as a method: the history that a policy is held against, and the floor under both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optsched.instances.allocation import AllocationInstance
from optsched.interrupts import asked
from optsched.referee import evaluate
from optsched.registry import family_of
from optsched.rolling.allocation.offline import plans
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.base import Schedule
from optsched.starts import better, feasible_start

EVERY = 25  # generations, of which the last one's best plan is carried out and told


@dataclass(frozen=True)
class OfflinePlan(BaseMethod[AllocationInstance]):
    """A history of whoever knows every job beforehand, and a floor under all histories.

    Parameters
    ----------
    generations
        Of the search, see `offline_plan`; a time limit ends it sooner.
    """

    generations: int = 150

    name: ClassVar[str] = "offline-plan"
    ends_itself: ClassVar[bool] = True
    decides_now: ClassVar[bool] = False

    def search(self, call: Call[AllocationInstance]) -> Found:
        """Search until the last generation, or as long as there is time.

        Raises
        ------
        OptschedError
            Something goes wrong in the instance (`events`), a job can run nowhere, or the start is no history of it.
        """
        monitor, instance, ended = call.monitor(), call.instance, "completed"
        most = self.generations if call.stop.iterations is None else min(self.generations, call.stop.iterations)
        if (bound := family_of(instance).clairvoyant(instance)) is not None:
            monitor.raised(bound)
        best: Schedule | None = None
        for generation, plan in enumerate(plans(instance, call.seed)):
            last = generation >= most
            if asked():
                last, ended = True, "interrupted"
            elif call.until is not None and call.clock.elapsed_s() > call.until:
                last, ended = True, "time_limit"
            if last or generation % EVERY == 0:
                found = plan()
                if best is None and call.given is not None:
                    best = feasible_start(instance, call.given, found)
                best = found if best is None else better(instance, best, found)
                monitor.incumbent(evaluate(instance, best).objective)
            if last:
                break
        assert best is not None
        if ended == "completed" and most < self.generations:
            ended = "iteration_limit"
        options: dict[str, object] = {"generations": self.generations}
        return Found(best, ended, bound=bound, options=options, monitor=monitor, message=TOLD)


TOLD = "a plan of whoever knows every job beforehand; its bound holds for every policy"
