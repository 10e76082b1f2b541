"""The fluid relaxation as a method: a bound by linear programming, and its starts rounded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.vcc import VccInstance
from optsched.monitor import Monitor, run_with_deadline
from optsched.referee import evaluate
from optsched.result import Proof
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.base import Schedule
from optsched.schedules.vcc import VccSchedule
from optsched.starts import best_start, better

if TYPE_CHECKING:
    from optsched.instances.base import Floats
    from optsched.models.vcc.fluid import Fluid
    from optsched.solvers import LinearForm

PLACE = "data centre"
NOISE = 1e-9  # of a share, for roundings


@dataclass(frozen=True)
class FluidBound(BaseMethod[VccInstance]):
    """Fluid relaxation: the bound of a linear program, and its starts rounded to jobs."""

    name: ClassVar[str] = "fluid"
    prices_capacity: ClassVar[bool] = True

    def search(self, call: Call[VccInstance]) -> Found:
        """Solve the relaxation and round it; the better of that and the start.

        Raises
        ------
        OptschedError
            The instance is too large, or jobs may be evicted.
        """
        from optsched.models.vcc.fluid import Fluid
        from optsched.solvers import SolverResult, SolverSettings, backend, linear_form
        from optsched.solvers.cutoff import cut_off

        instance = call.instance
        if (reason := Fluid.refuses(instance)) is not None:
            raise OptschedError(f"method fluid: {reason}")
        best: Schedule = best_start(instance, call.given, call.until)
        value = evaluate(instance, best).objective
        monitor = call.monitor()
        found: list[tuple[VccSchedule, float | None]] = []
        ended: list[SolverResult] = []
        prices: list[dict[str, tuple[float, ...]]] = []

        def work() -> None:
            model = Fluid(instance)
            model.encode(VccSchedule(cap=(), starts=()))
            form = linear_form(model).scaled(value)
            known = value * form.scale  # what costs as much again is cut off: far from the optimum, whose multipliers count
            form = by_the_job(model, cut_off(form, known + max(0.0, known - form.offset))).scaled(value)
            how = SolverSettings(seconds=call.left(), seed=call.seed)
            within = Monitor(call.clock, 1)  # its figures are the relaxation's, in units of its own
            monitor.when_stopped(lambda: within.stop(monitor.stopping or "time_limit"))
            outcome = backend("highs").solve(model, form, how, within)
            if outcome.termination == "infeasible":  # there is a schedule: presolve has lost track of the numbers
                plain = replace(how, seconds=call.left(), options={"presolve": "off"})
                outcome = backend("highs").solve(model, form, plain, within)
            if outcome.termination == "infeasible":
                outcome = replace(outcome, termination="error", message="HiGHS calls infeasible what has a schedule")
            ended.append(outcome)
            if outcome.x is not None:
                form.store(outcome.x)
                if outcome.duals is not None:
                    prices.append({PLACE: worth(model, form, outcome.duals)})
                found.append((model.decode(), None if outcome.bound is None else outcome.bound / form.scale))

        run_with_deadline(work, monitor, call.until)
        for schedule, _ in found:
            best = better(instance, schedule, best)
        return Found(
            best,
            "completed" if found else ended[0].termination if ended else monitor.stopping or "time_limit",
            bound=found[0][1] if found else None,
            proof=Proof(kind="duals"),
            shadow_prices=prices[0] if prices else None,
            packages=("pyomo", "highspy"),
            message=ended[0].message if ended else None,
        )


def by_the_job(model: Fluid, form: LinearForm) -> LinearForm:
    """The form without what may be late, or left, of a class, where that is less than its smallest job."""
    keys, index = model.classes
    ncu = model.instance.columns.ncu
    smallest = np.full(len(keys), np.inf)
    np.minimum.at(smallest, index, ncu)
    share = smallest / np.bincount(index, ncu, minlength=len(keys)) * (1 - NOISE)
    least = {id(variable): share[c] for own in (model.pyomo.waits, model.pyomo.delays) for (c, _), variable in own.items()}
    excluded = form.upper < np.array([least.get(id(column), 0.0) for column in form.columns])
    return replace(form, upper=np.where(excluded, 0.0, form.upper), cost=np.where(excluded, 0.0, form.cost))


def worth(model: Fluid, form: LinearForm, duals: Floats) -> tuple[float, ...]:
    """What one more NCU in each slot takes off the relaxation's objective, shape (T,).

    Parameters
    ----------
    model
        Solved.
    form
        Of the model.
    duals
        Of the form's rows, in its units.
    """
    slot = {id(row): t for t, row in model.pyomo.room.items()}
    found = [0.0] * model.instance.horizon
    for row, dual in zip(form.rows, duals.tolist(), strict=True):
        if id(row) in slot:
            found[slot[id(row)]] = max(0.0, -dual / form.scale)
    return tuple(found)
