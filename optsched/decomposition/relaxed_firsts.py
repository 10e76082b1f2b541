"""allocation where firsts by packing pattern are too many: the other reading of the first-ending job is the bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

from optsched.exact import Exact, Report, best_start, better
from optsched.instances.allocation import AllocationInstance
from optsched.models.allocation.aggregated import AggregatedCheapest
from optsched.result import Result, certified, relative_gap, schedule_of
from optsched.schedules import evaluate
from optsched.schedules.base import Schedule
from optsched.stop import Clock, Stop, deadline

GAP = 1e-6


@dataclass(frozen=True)
class RelaxedFirsts:
    """Lagrangian or relaxed bound, and a schedule found with it, at scale.

    Every node pays for its cheapest job, not its first-ending one (erratum 1), which is never more: so the optimum of that
    reading, whose model is smaller by the number of patterns, bounds both, and its schedule is one of both.
    """

    def __call__(
        self,
        instance: AllocationInstance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve the cheapest reading; judge its schedule by the instance's own.

        Raises
        ------
        OptschedError : the start breaks a rule, or there are more patterns than can be listed.
        """
        clock, stop = Clock(), stop or Stop()
        until = deadline(stop.seconds, instance.job_count)
        given = best_start(instance, schedule_of(start), until)
        relaxed = instance.model_copy(update={"first_ending": "cheapest"})
        left = None if until is None else max(1e-3, until - clock.elapsed_s())
        inner = replace(stop, seconds=left, gap=GAP if stop.gap is None else stop.gap)
        found = Exact()(relaxed, stop=inner, seed=seed, start=given, progress=progress)
        assert found.schedule is not None
        schedule = better(instance, found.schedule, given)
        gap = relative_gap(evaluate(instance, schedule).objective, found.bound)
        ended = found.termination
        if ended in ("optimal", "gap_limit") and (gap is None or gap > (stop.gap or 0.0)):
            ended = "iteration_limit"  # the relaxed reading is solved, what is left is between the readings
        return certified(
            instance,
            schedule,
            method="decomposition",
            termination=ended,
            bound=found.bound,
            proof=found.proof,
            seconds=clock.elapsed_s(),
            seed=seed,
            options={"time_limit": stop.seconds, "gap": stop.gap, "relaxed": f"{AggregatedCheapest.name}, cheapest"},
            packages=("pyomo", "highspy"),
            timings={k: v for k, v in found.timings_s.model_dump().items() if k != "total"},
            incumbents=[(clock.elapsed_s(), evaluate(instance, schedule).objective, found.bound)],
            message="bound by the cheapest reading of the first-ending job",
        )
