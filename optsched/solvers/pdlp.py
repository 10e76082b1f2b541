"""PDLP: a bound from the LP relaxation, recomputed from the duals, so that it holds however far PDLP converged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from optsched.errors import OptschedError
from optsched.models.base import PyomoModel
from optsched.monitor import Monitor
from optsched.solvers.base import Capabilities, SolverResult, SolverSettings, unknown_option
from optsched.solvers.cp_sat import ortools_unavailable
from optsched.solvers.duals import dual_bound
from optsched.solvers.linear_form import LinearForm
from optsched.solvers.mathopt import interrupter, mathopt_model, parameters, solve, termination

if TYPE_CHECKING:
    from ortools.pdlp.solvers_pb2 import PrimalDualHybridGradientParams


class Pdlp:
    """LP bounds only: the schedule of a run with it is the start's."""

    name = "pdlp"
    capabilities = Capabilities(schedules=False, proof="duals")
    packages = ("ortools",)

    def unavailable(self) -> str | None:
        """OR-Tools is missing."""
        return ortools_unavailable()

    def refuse_options(self, options: Mapping[str, object]) -> None:
        """Fields of PrimalDualHybridGradientParams."""
        _parameters(options)

    def solve(self, model: PyomoModel, form: LinearForm | None, task: SolverSettings, monitor: Monitor) -> SolverResult:
        """Solve the relaxation and turn the duals into a bound."""
        from ortools.math_opt.python import mathopt

        assert form is not None
        asked = parameters(task)
        asked.pdlp.MergeFrom(_parameters(task.options))
        program = mathopt_model(form, integer=False)
        result = solve(program, mathopt.SolverType.PDLP, asked, interrupter=interrupter(monitor))
        ended, message = termination(result, monitor)
        duals = next((s.dual_solution for s in result.solutions if s.dual_solution is not None), None)
        if duals is None:
            return SolverResult(ended, message=message)
        y = np.array([duals.dual_values.get(row, 0.0) for row in program.linear_constraints()], dtype=float)
        # a bound alone proves no optimum, however well the relaxation is solved
        ended = "iteration_limit" if ended == "optimal" else ended
        return SolverResult(ended, bound=dual_bound(form, y), message=message, duals=y)


def _parameters(options: Mapping[str, object]) -> PrimalDualHybridGradientParams:
    from google.protobuf import text_format
    from ortools.pdlp import solvers_pb2

    asked = solvers_pb2.PrimalDualHybridGradientParams()
    known = [field.name for field in asked.DESCRIPTOR.fields]
    for name, value in options.items():
        if name not in known:
            raise unknown_option("pdlp", name, known)
        try:
            text_format.Merge(f"{name}: {value}", asked)
        except text_format.ParseError:
            raise OptschedError(f"pdlp option {name!r} does not take the value {value!r}") from None
    return asked
