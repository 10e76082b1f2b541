"""The exact method: a formulation of models/ through a backend of solvers/, started from a heuristic, judged by the referee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.models import choose
from optsched.phases import Phases
from optsched.phases import Report as Report
from optsched.result import Result, certified, schedule_of
from optsched.rooms import room
from optsched.schedules import check, evaluate
from optsched.schedules.base import Schedule
from optsched.solvers import Task, backend
from optsched.stop import Clock, Spare, Stop, deadline, ends_early


@dataclass(frozen=True)
class Exact:
    """Solve to proven optimality, or as far as the limits allow.

    Attributes
    ----------
    backend : highs, cp-sat, scip or pdlp (a bound only); None picks one that can solve the formulation.
    formulation : of the family; None picks the recommended one. threads : for the backend.
    options : the solver's own options by name; misspelt ones are refused.
    """

    backend: str | None = None
    formulation: str | None = None
    threads: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve an instance.

        Raises
        ------
        OptschedError : an unknown backend, formulation or option, or a start that breaks a rule.
        CertificateError : solver and referee contradict each other.
        """
        stop, clock = stop or Stop(), Clock()
        formulation = choose(instance, self.formulation)
        solver = backend(self.backend or ("highs" if formulation.linear else "scip"))
        solver.refuse_options(self.options)
        if self.threads is not None and self.threads < 1:
            raise OptschedError(f"threads must be at least 1, got {self.threads}")
        within = replace(stop, seconds=deadline(stop.seconds, instance.job_count))
        begin = best_start(instance, schedule_of(start), within.seconds)
        run = Phases(instance, formulation, solver, within, clock, begin)
        outcome = run(Task(gap=stop.gap, threads=self.threads, seed=seed, start=True, options=self.options), progress)
        return certified(
            instance,
            run.start,
            method="exact",
            termination=outcome.termination,
            bound=run.bound,
            seconds=clock.elapsed_s(),
            seed=seed,
            options={
                "backend": solver.name,
                "formulation": formulation.name,
                "time_limit": stop.seconds,
                "gap": stop.gap,
                "threads": self.threads,
                "solver_options": dict(self.options),
            },
            packages=("pyomo", *solver.packages),
            timings=run.timings,
            incumbents=[(p.seconds, p.objective, p.bound) for p in run.monitor.trace],
            message="; ".join(dict.fromkeys([*filter(None, [outcome.message]), *run.said])) or None,
            proof=run.proof,
        )


def best_start(instance: Instance, given: Schedule | None, seconds: float | None = None) -> Schedule:
    """The better of the given schedule and the family's greedy, so that a time limit never returns empty-handed.

    Parameters
    ----------
    seconds : for the greedy, from now on as if it were alone; what it has not placed by then is left out.

    Raises
    ------
    OptschedError : the given schedule breaks a rule.
    """
    construct = room("heuristics", instance.problem).HEURISTICS["greedy"]
    limited = {"spare": Spare(Clock(), seconds)} if seconds is not None and ends_early(construct) else {}
    greedy: Schedule = construct(instance, 0, **limited)
    if given is None:
        return greedy
    return better(instance, feasible_start(instance, given, greedy), greedy)


def feasible_start(instance: Instance, given: Schedule, like: Schedule) -> Schedule:
    """The given schedule, once it is known to be one of the instance.

    Raises
    ------
    OptschedError : it is of another kind than `like`, or breaks a rule.
    """
    if type(given) is not type(like):
        raise OptschedError(f"the start is a {type(given).__name__}, {instance.problem} needs a {type(like).__name__}")
    broken = check(instance, given)
    if broken:
        raise OptschedError(f"the start is not feasible: {broken[0]}")
    return given


def better(instance: Instance, a: Schedule, b: Schedule) -> Schedule:
    """The one that the referee prefers; `a` on a tie."""
    value_a, value_b = evaluate(instance, a).objective, evaluate(instance, b).objective
    return a if (value_a <= value_b if instance.sense == "minimize" else value_a >= value_b) else b
