"""The exact method: a formulation of models/ through a backend of solvers/, started from a heuristic, judged by the referee."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from optsched.errors import CertificateError, OptschedError
from optsched.instances.base import Instance
from optsched.models import Model, choose
from optsched.result import Result, certified, schedule_of
from optsched.rooms import room
from optsched.schedules import check, evaluate
from optsched.schedules.base import Schedule, differs
from optsched.solvers import (
    Backend,
    LinearForm,
    Monitor,
    Outcome,
    Progress,
    Task,
    backend,
    linear_form,
    watched,
)
from optsched.stop import Clock, Spare, Stop, deadline, ends_early

Report = Callable[[Progress], None]


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
        run = _Run(instance, formulation, solver, within, clock, begin)
        outcome = run(Task(gap=stop.gap, threads=self.threads, seed=seed, start=True, options=self.options), progress)
        schedule, bound = run.judge(outcome)
        return certified(
            instance,
            schedule,
            method="exact",
            termination=outcome.termination,
            bound=bound,
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
            incumbents=[(p.seconds, p.objective, p.bound) for p in run.trace],
            message=outcome.message,
            noise=run.noise(),
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


class _Run:
    """One instance through one formulation and one backend."""

    def __init__(
        self,
        instance: Instance,
        formulation: type[Model[Any, Any]],
        solver: Backend,
        stop: Stop,
        clock: Clock,
        start: Schedule,
    ) -> None:
        self.instance, self.formulation, self.solver = instance, formulation, solver
        self.stop, self.clock, self.start = stop, clock, start
        self.timings: dict[str, float] = {}
        self.trace: list[Progress] = []
        self.model: Model[Any, Any] | None = None
        self.form: LinearForm | None = None
        self.sign = 1 if instance.sense == "minimize" else -1

    def __call__(self, task: Task, progress: Report | None) -> Outcome:
        """Build, translate and solve, all of it watched: neither may outlast the time limit."""
        monitor = Monitor(self.clock, self.sign, progress)
        monitor.incumbent(self.sign * evaluate(self.instance, self.start).objective)
        self.trace = monitor.trace
        monitor.show()
        outcomes: list[Outcome] = []
        watched(lambda: outcomes.append(self._work(task, monitor)), monitor, self.stop.seconds)
        if not outcomes:
            return Outcome(monitor.stopping or "time_limit", monitor.x, None, monitor.bound)
        outcome = outcomes[0]
        if outcome.bound is not None:
            monitor.bounded(outcome.bound)
        if outcome.objective is not None:
            monitor.incumbent(outcome.objective)
        monitor.show()
        objective, bound = (None if v is None else v / monitor.scale for v in (outcome.objective, outcome.bound))
        return replace(outcome, objective=objective, bound=bound)

    def _work(self, task: Task, monitor: Monitor) -> Outcome:
        began = self.clock.elapsed_s()
        self.model = model = self.formulation.of(self.instance)
        model.encode(self.start)
        decoded = model.decode()
        self.timings["build"] = self.clock.elapsed_s() - began
        began = self.clock.elapsed_s()
        form = None
        if model.linear or not self.solver.capabilities.nonlinear:
            form = linear_form(model)
            self._agrees_with_referee(form, decoded)
            monitor.scale = form.scale
        self.form = form
        self.timings["translate"] = self.clock.elapsed_s() - began
        self.start = better(self.instance, decoded, self.start)
        limit = self.stop.seconds
        seconds = None if limit is None else limit - self.clock.elapsed_s()
        if monitor.stopping or (seconds is not None and seconds <= 0):
            return Outcome(monitor.stopping or "time_limit")
        began = self.clock.elapsed_s()
        try:
            return self.solver.solve(model, form, replace(task, seconds=seconds), monitor)
        finally:
            self.timings["solve"] = self.clock.elapsed_s() - began

    def noise(self) -> float:
        """Rounding of the solver's arithmetic: a billionth of the dearest variable; SCIP's own epsilon for a MINLP."""
        if self.form is None:
            return 2e-9
        return self.form.rounding / self.form.scale

    def _agrees_with_referee(self, form: LinearForm, decoded: Schedule) -> None:
        """The model must call the start feasible and worth what the referee says, in every single run.

        Decoding may improve on what was encoded (it re-pairs interchangeable nodes, drops jobs without value), so the model's
        figure lies between the referee's two.
        """
        x = form.start()
        if x is None:
            raise CertificateError(f"formulation {self.formulation.name} left a variable of the start without a value")
        value = form.value(x) / form.scale
        low, high = (self.sign * evaluate(self.instance, s).objective for s in (decoded, self.start))
        noise = 1e-6 * abs(value) + form.rounding / form.scale
        worst = form.violation(x)
        if worst > 1e-6 * max(1.0, float(abs(x).max(initial=0.0))) or not low - noise <= value <= high + noise:
            raise CertificateError(
                f"formulation {self.formulation.name} and the referee disagree on the start: "
                f"{self.sign * value!r} is not between {self.sign * low!r} and {self.sign * high!r}, violation {worst:g}"
            )

    def judge(self, outcome: Outcome) -> tuple[Schedule, float | None]:
        """The best schedule by the referee, and the bound in the model's sense.

        Raises
        ------
        CertificateError : the solver's figure is better than the referee's, or worse although called optimal.
        """
        bound = None if outcome.bound is None else self.sign * outcome.bound
        if outcome.termination == "infeasible":
            raise CertificateError(f"{self.solver.name} calls the model infeasible, but a start was feasible")
        if outcome.x is None or self.model is None:
            return self.start, bound
        if self.form is not None:
            self.form.store(outcome.x)
        found: Schedule = self.model.decode()
        broken = check(self.instance, found)
        if broken:
            raise CertificateError(f"{self.solver.name} returned an infeasible schedule: {broken[0]}")
        if outcome.objective is not None:
            claimed, judged = outcome.objective, self.sign * evaluate(self.instance, found).objective
            apart = differs(claimed, judged) and abs(claimed - judged) > self.noise()
            if apart and (claimed < judged or outcome.termination == "optimal"):
                raise CertificateError(f"{self.solver.name} says {self.sign * claimed!r}, the referee {self.sign * judged!r}")
        return better(self.instance, found, self.start), bound
