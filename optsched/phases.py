"""One instance through one formulation and one backend, in as many phases as exactness needs."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from optsched.errors import CertificateError, OptschedError
from optsched.instances.base import Floats, Instance
from optsched.models import Model, choose
from optsched.monitor import Monitor, Progress, run_with_deadline
from optsched.referee import check, evaluate
from optsched.registry import family_of
from optsched.result import KEPT_DUALS, Proof
from optsched.schedules.base import PROVEN, TOLERANCE, Schedule, differs
from optsched.solvers import Backend, LinearForm, SolverResult, SolverSettings, linear_form
from optsched.solvers.cutoff import cut_off
from optsched.solvers.duals import dual_bound
from optsched.solvers.highs import relaxation
from optsched.stop import Clock, Stop

PHASES = 100
OFFERED_S = 1.0  # left, for a schedule to be made a point of the model
STEP_NOISE = 1e-3  # steps of the objective that rounding may feign
TINY = 1e-18  # of a unit of the objective: what breaks even exactly is left with so much by floats
SATISFIED = 1e-9  # a row that a referee's schedule fulfils, in floating point, as a share of its terms
Report = Callable[[Progress], None]


class Phases:
    """A phase leaves out what the best schedule so far rules out, scales the objective to that schedule, and solves.

    Another one follows where jobs were let through that do not fit together, or where a better schedule makes the solver's
    tolerances too coarse.

    Attributes
    ----------
    start, objective : the best schedule so far, and its value as a minimisation. proof : of the bound. said : what a reader of
        the result should know.
    """

    def __init__(
        self,
        instance: Instance,
        formulation: type[Model[Instance, Schedule]],
        solver: Backend,
        stop: Stop,
        clock: Clock,
        start: Schedule,
        elsewhere: Callable[[], Schedule | None] | None = None,
    ) -> None:
        self.instance, self.formulation, self.solver = instance, formulation, solver
        self.stop, self.clock, self.start = stop, clock, start
        self._elsewhere, self._last_heard = elsewhere, start
        self._encoding = threading.Lock()  # into the model, or out of it: the solver's thread, and whoever has left it behind
        self.timings: dict[str, float] = {}
        self.said: list[str] = []
        self.sign = 1 if instance.sense == "minimize" else -1
        self.objective = self._value(start)
        self.monitor = Monitor(clock, self.sign)
        self.model: Model[Instance, Schedule] | None = None
        self.form: LinearForm | None = None  # of the present phase
        self._given: LinearForm | None = None  # with nothing left out
        self.proof: Proof | None = None
        self._trying = Proof(kind="search")
        self._proven: float | None = None  # as a minimisation
        self._refuted = False  # a bound was: nor would the next one be a proof

    @property
    def bound(self) -> float | None:
        """What has been proven, in the instance's sense."""
        return None if self._proven is None else self.sign * self._proven

    def told(self, outcome: SolverResult) -> list[str]:
        """What a reader of the result should know: at the least, why the solver's optimum is not called one."""
        ended = outcome.termination == "optimal" or (outcome.termination == "gap_limit" and not self.stop.gap)
        if self.said or not ended or self._proven is None or self._closed():
            return self.said
        left, told = abs(self.objective - self._proven), TOLERANCE * abs(self.objective) + self._trying.overlooked
        why = "what is left is less than its tolerances tell" if left <= 2 * told else "with a gap that nobody asked for"
        return [f"{self.solver.name} ended, {why}"]

    def __call__(self, task: SolverSettings, progress: Report | None) -> SolverResult:
        """Build, translate and solve, all of it watched: neither may outlast the time limit."""
        self.monitor = monitor = Monitor(self.clock, self.sign, progress)
        monitor.incumbent(self.objective)
        monitor.show()
        outcomes: list[SolverResult] = []
        run_with_deadline(lambda: outcomes.append(self._work(task)), monitor, self.stop.seconds)
        if outcomes:
            return outcomes[0]
        left = SolverResult(monitor.stopping or "time_limit", monitor.x)  # the solver was left behind, with what it has told
        if self.model is not None:
            with self._encoding:
                self._judge(self.model, left)
            self._settle(left)
        return left

    def _work(self, task: SolverSettings) -> SolverResult:
        began = self.clock.elapsed_s()
        model = self.formulation.of(self.instance)
        model.encode(self.start)
        decoded: Schedule = model.decode()
        self.timings["build"] = self.clock.elapsed_s() - began
        began = self.clock.elapsed_s()
        given = linear_form(model) if model.linear or not self.solver.capabilities.nonlinear else None
        if given is not None:
            self._agrees_with_referee(given, decoded, self.start)
        self._take(decoded, self._value(decoded))
        self.model = model
        self.timings["translate"], self.timings["solve"] = self.clock.elapsed_s() - began, 0.0
        outcome = SolverResult("time_limit")
        task = replace(task, offered=None if self._elsewhere is None else self._offered)
        for _ in range(PHASES):
            limit = self.stop.seconds
            left = None if limit is None else limit - self.clock.elapsed_s()
            if self.monitor.stopping or (left is not None and left <= 0):
                return replace(outcome, termination=self.monitor.stopping or "time_limit")
            before, began = self.objective, self.clock.elapsed_s()
            self._prepare(model, given)
            outcome = self.solver.solve(model, self.form, replace(task, seconds=left), self.monitor)
            self.timings["solve"] += self.clock.elapsed_s() - began
            if self.monitor.left_behind:  # nobody waits any more, and what has been found is being judged
                return outcome
            if outcome.termination == "infeasible":
                self.said.append(f"{self.solver.name} calls infeasible what has a schedule: it lost track of these numbers")
                self._relax()
                return replace(outcome, termination="iteration_limit")
            with self._encoding:
                self._judge(model, outcome)
            self._settle(outcome)
            if outcome.termination != "optimal" and (outcome.termination != "gap_limit" or task.gap):
                return outcome
            if outcome.x is None or self.form is None or self._closed() or self._refuted:
                return outcome
            self.form.store(outcome.x)
            if model.refine():
                given = linear_form(model)
            elif not self.objective < before:
                return outcome
        return outcome

    def _prepare(self, model: Model[Instance, Schedule], given: LinearForm | None) -> None:
        """The form of this phase, started from the best schedule so far, and how its bounds are proven."""
        model.encode(self.start)
        self._given = given
        can, name = self.solver.capabilities, self.formulation.name
        if given is None:
            self.form, self.monitor.scale = None, 1.0
            self._trying = Proof(kind=can.proof, tolerance=TOLERANCE, formulation=name)
            return
        form = given.scaled(self.objective)
        self.form = form = cut_off(form, self.objective * form.scale).scaled(self.objective)
        self.monitor.scale, self.monitor.overlooked = form.scale, 0.0
        kind = "duals" if can.duals and not form.integer.any() else can.proof
        missed = {"duals": 0.0, "integers": form.lost, "search": form.overlooked}[kind]
        self.monitor.overlooked = missed
        tolerance = TOLERANCE if kind == "search" else 0.0
        self._trying = Proof(
            kind=kind, overlooked=missed / form.scale if math.isfinite(missed) else 0.0, tolerance=tolerance, formulation=name
        )

    def _judge(self, model: Model[Instance, Schedule], outcome: SolverResult) -> None:
        """Take the solver's schedule over, if the referee finds it better.

        Raises
        ------
        CertificateError : model and referee disagree on it, which no solver's tolerance explains.
        """
        solver, form = self.solver.name, self.form
        if outcome.x is None:
            return
        if form is not None:
            form.store(outcome.x)
        found: Schedule = model.decode()
        broken = check(self.instance, found)
        if broken:
            if form is not None and form.violation(outcome.x) <= SATISFIED and not model.refine():
                raise CertificateError(f"{solver} returned an infeasible schedule: {broken[0]}")
            self.said.append(f"{solver} let pass what does not fit: {broken[0]}")
            return
        judged = self._value(found)
        claimed = judged if outcome.objective is None else outcome.objective / self.monitor.scale
        if differs(claimed, judged) and self._given is not None:
            model.encode(found)
            self._agrees_with_referee(self._given, found, found)
            lost = form is None or form.violation(outcome.x) > SATISFIED
            if lost or claimed < judged:  # a point that fits and costs less as a schedule is one that was not tight
                figures = f"{self.sign * claimed:.9g} where the referee says {self.sign * judged:.9g}"
                self.said.append(f"{solver} says {figures}: its tolerances do not carry these numbers")
        self._take(found, judged)

    def _settle(self, outcome: SolverResult) -> None:
        """Keep what has been proven; a bound that a schedule refutes is replaced by that of the linear relaxation."""
        monitor = self.monitor
        if outcome.bound is not None:
            monitor.bounded(outcome.bound)
        form = self.form
        if form is not None and monitor.bound is not None and self._trying.kind != "duals" and form.step is not None:
            offset = form.offset / form.scale  # objectives lie on steps, and no bound between two of them says more
            monitor.raised(offset + form.step * math.ceil((monitor.bound - offset) / form.step - STEP_NOISE))
        if monitor.bound is None and outcome.termination == "optimal":  # HiGHS: a point, and minus infinity
            self.said.append(f"{self.solver.name} says optimal of what it has no bound for")
            self._relax()
        if monitor.bound is None or monitor.bound == self._proven:
            return
        coarse = self._trying.kind != "duals" and self._trying.overlooked > TOLERANCE * abs(self.objective)
        if monitor.bound - self.objective <= PROVEN * abs(self.objective):
            self._proven, self.proof = monitor.bound, self._trying
            if outcome.duals is not None and len(outcome.duals) <= KEPT_DUALS:
                kept = tuple((outcome.duals / monitor.scale).tolist())
                self.proof = self._trying.model_copy(update={"duals": kept})
            if not coarse:
                return
            missed = f"{self._trying.overlooked:.3g}"
            self.said.append(f"at these numbers {self.solver.name} may overlook {missed}, which is counted against its bound")
        else:
            self.said.append(f"the bound of {self.solver.name} was refuted by a schedule and dropped")
            self._refuted = True
            monitor.withdraw(self._proven)
        if self._trying.kind != "duals":
            self._relax()

    def _relax(self) -> None:
        """The bound of the linear relaxation, where nothing better holds."""
        if self.form is None or self.monitor.stopping:
            return
        try:
            duals = relaxation(self.form, self.monitor)[2]
        except OptschedError:
            return
        self._trying, self.monitor.overlooked = Proof(kind="duals", formulation=self.formulation.name), 0.0
        self._settle(SolverResult("", bound=dual_bound(self.form, duals), duals=duals))

    def _closed(self) -> bool:
        return self._proven is not None and abs(self.objective - self._proven) <= PROVEN * abs(self.objective)

    def _value(self, schedule: Schedule) -> float:
        """What the referee says, as a minimisation."""
        return self.sign * evaluate(self.instance, schedule).objective

    def _offered(self) -> Floats | None:
        """The point of a schedule that has been found elsewhere, once, where it is better than the best so far."""
        assert self._elsewhere is not None
        found, limit = self._elsewhere(), self.stop.seconds
        soon = limit is not None and limit - self.clock.elapsed_s() < OFFERED_S
        if found is None or found is self._last_heard or soon:
            return None
        with self._encoding:
            assert self.model is not None
            assert self.form is not None
            if self.monitor.stopping:
                return None
            self._last_heard, value = found, self._value(found)
            if not value < self.objective:
                return None
            self._take(found, value)
            self.model.encode(found)
            self.monitor.incumbent(value * self.monitor.scale)
            return self.form.start()

    def _take(self, other: Schedule, value: float) -> None:
        """Keep the one that the referee prefers, the present one on a tie."""
        if value < self.objective:
            self.start, self.objective = other, value

    def _agrees_with_referee(self, form: LinearForm, decoded: Schedule, encoded: Schedule) -> None:
        """The model must call the schedule feasible and worth what the referee says, in every single run.

        Decoding may improve on what was encoded (it re-pairs interchangeable nodes, drops jobs without value), so the model's
        figure lies between the referee's two.
        """
        x = form.start()
        if x is None:
            raise CertificateError(f"formulation {self.formulation.name} left a variable of the start without a value")
        value = form.value(x) / form.scale
        low, high = self._value(decoded), self._value(encoded)
        size = (float(abs(form.cost) @ abs(x)) + abs(form.offset)) / form.scale
        noise = PROVEN * size + TOLERANCE * abs(value) + form.lost / form.scale + TINY
        worst = form.violation(x)
        if worst > SATISFIED or not low - noise <= value <= high + noise:
            raise CertificateError(
                f"formulation {self.formulation.name} and the referee disagree on a schedule: "
                f"{self.sign * value!r} is not between {self.sign * low!r} and {self.sign * high!r}, violation {worst:g}"
            )


def proves(instance: Instance, proof: Proof, objective: float) -> float | None:
    """What the multipliers of a proof prove of every schedule as good as `objective`; None where it has none that fit.

    Raises
    ------
    OptschedError : the instance has no such formulation.
    """
    if proof.duals is None:
        return None
    relaxed = family_of(instance).relaxations().get(proof.formulation or "")
    if relaxed is not None:
        return relaxed(instance, proof.duals)
    sign = 1 if instance.sense == "minimize" else -1
    form = linear_form(choose(instance, proof.formulation).of(instance)).scaled(objective)
    form = cut_off(form, sign * objective * form.scale)
    if len(proof.duals) != form.matrix.shape[0]:
        return None
    bound = dual_bound(form, np.array(proof.duals) * form.scale)
    return None if bound is None else sign * bound / form.scale
