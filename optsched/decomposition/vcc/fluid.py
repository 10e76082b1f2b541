"""The fluid relaxation as a method: a bound by linear programming, and its starts rounded."""

from __future__ import annotations

from dataclasses import dataclass

from optsched.errors import OptschedError
from optsched.exact import Report, best_start, better
from optsched.instances.vcc import VccInstance
from optsched.models.vcc.fluid import Fluid
from optsched.result import Proof, Result, certified, schedule_of
from optsched.schedules.base import Schedule
from optsched.schedules.vcc import VccSchedule
from optsched.solvers import Monitor, Outcome, Task, backend, linear_form, watched
from optsched.stop import Clock, Stop, deadline


@dataclass(frozen=True)
class FluidBound:
    """Fluid relaxation: the bound of a linear program, and its starts rounded to jobs."""

    def __call__(
        self,
        instance: VccInstance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve the relaxation and round it; the better of that and the start.

        Raises
        ------
        OptschedError : the instance is too large, or jobs may be evicted.
        """
        clock, stop = Clock(), stop or Stop()
        if (reason := Fluid.refuses(instance)) is not None:
            raise OptschedError(f"method fluid: {reason}")
        until = deadline(stop.seconds, instance.job_count)
        best: Schedule = best_start(instance, schedule_of(start), until)
        monitor = Monitor(clock, 1, progress)
        found: list[tuple[VccSchedule, float | None]] = []
        ended: list[Outcome] = []

        def work() -> None:
            model = Fluid(instance)
            model.encode(VccSchedule(cap=(), starts=()))
            form = linear_form(model)
            outcome = backend("highs").solve(model, form, Task(seconds=until, seed=seed), Monitor(clock, 1))
            ended.append(outcome)
            if outcome.x is not None:
                form.store(outcome.x)
                found.append((model.decode(), None if outcome.bound is None else outcome.bound / form.scale))

        watched(work, monitor, until)
        for schedule, _ in found:
            best = better(instance, schedule, best)
        return certified(
            instance,
            best,
            method="fluid",
            termination="iteration_limit" if found else ended[0].termination if ended else monitor.stopping or "time_limit",
            bound=found[0][1] if found else None,
            proof=Proof(kind="duals"),
            seconds=clock.elapsed_s(),
            seed=seed,
            options={"time_limit": stop.seconds},
            packages=("pyomo", "highspy"),
            message=ended[0].message if ended else None,
        )
