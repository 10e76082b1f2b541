"""The fluid relaxation as a method: a bound by linear programming, and its starts rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from optsched.errors import OptschedError
from optsched.instances.vcc import VccInstance
from optsched.monitor import run_with_deadline
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
CUT_OFF = (
    2.0  # times the start's objective: what costs more is left out, and the optimum, whose multipliers count, is far from that
)


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
        monitor = call.monitor()
        bounds: list[float] = []
        ended: list[SolverResult] = []
        prices: list[dict[str, tuple[float, ...]]] = []

        def work() -> None:
            nonlocal best
            model = Fluid(instance)
            model.encode(VccSchedule(cap=(), starts=()))
            given = linear_form(model)
            before = math.inf
            while (value := evaluate(instance, best).objective) < before / CUT_OFF:  # a penalty may have blurred all else
                before = value
                form = given.scaled(value)
                form = model.by_the_job(cut_off(form, CUT_OFF * value * form.scale)).scaled(value)
                how = SolverSettings(seconds=call.left(), seed=call.seed)
                outcome = backend("highs").solve(model, form, how, monitor.of_part(1))  # its figures are the relaxation's
                ended.append(outcome)
                if outcome.x is None:
                    return
                form.store(outcome.x)
                if outcome.duals is not None:
                    prices.append({PLACE: worth(model, form, outcome.duals)})
                if outcome.bound is not None:
                    bounds.append(min(value, outcome.bound / form.scale))
                best = better(instance, model.decode(), best)

        run_with_deadline(work, monitor, call.until)
        solved = bool(ended) and ended[-1].x is not None
        return Found(
            best,
            "completed" if solved else ended[-1].termination if ended else monitor.stopping or "time_limit",
            bound=max(bounds, default=None),
            proof=Proof(kind="duals"),
            shadow_prices=prices[-1] if prices else None,
            packages=("pyomo", "highspy"),
            message=ended[-1].message if ended else None,
        )


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
