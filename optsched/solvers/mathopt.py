"""A linear form as a MathOpt model, shared by the backends that OR-Tools offers through it."""

from __future__ import annotations

import datetime
import logging
from typing import TYPE_CHECKING

import numpy as np

from optsched.errors import OptschedError
from optsched.monitor import Monitor
from optsched.solvers.base import SolverSettings
from optsched.solvers.linear_form import LinearForm

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt
    from ortools.util.python.solve_interrupter import SolveInterrupter

log = logging.getLogger(__name__)


def mathopt_model(form: LinearForm, integer: bool) -> mathopt.Model:
    """The form as a `mathopt.Model`; columns and rows keep their order as ids."""
    from ortools.math_opt import model_pb2
    from ortools.math_opt.python import mathopt

    proto = model_pb2.ModelProto()
    columns, rows = len(form.columns), form.matrix.shape[0]
    proto.variables.ids.extend(range(columns))
    proto.variables.lower_bounds.extend(form.lower.tolist())
    proto.variables.upper_bounds.extend(form.upper.tolist())
    proto.variables.integers.extend((form.integer & integer).tolist())
    proto.linear_constraints.ids.extend(range(rows))
    proto.linear_constraints.lower_bounds.extend(form.row_lower.tolist())
    proto.linear_constraints.upper_bounds.extend(form.row_upper.tolist())
    proto.objective.offset = form.offset
    costly = np.flatnonzero(form.cost)
    proto.objective.linear_coefficients.ids.extend(costly.tolist())
    proto.objective.linear_coefficients.values.extend(form.cost[costly].tolist())
    cells = proto.linear_constraint_matrix
    cells.row_ids.extend(form.matrix.row.tolist())
    cells.column_ids.extend(form.matrix.indices.tolist())
    cells.coefficients.extend(form.matrix.data.tolist())
    return mathopt.Model.from_model_proto(proto)


def parameters(task: SolverSettings) -> mathopt.SolveParameters:
    """What every MathOpt solver takes: time limit and threads."""
    from ortools.math_opt.python import mathopt

    asked = mathopt.SolveParameters()
    if task.seconds is not None:
        asked.time_limit = datetime.timedelta(seconds=task.seconds)
    if task.threads is not None:
        asked.threads = task.threads
    return asked


def solve(
    program: mathopt.Model,
    solver: mathopt.SolverType,
    asked: mathopt.SolveParameters,
    more: mathopt.ModelSolveParameters | None = None,
    interrupter: SolveInterrupter | None = None,
) -> mathopt.SolveResult:
    """`mathopt.solve`, with the solver's own words when it refuses.

    Raises
    ------
    OptschedError : the solver refuses a parameter or the model.
    """
    from ortools.math_opt.python import mathopt

    told = (lambda lines: log.debug("%s", "\n".join(lines))) if log.isEnabledFor(logging.DEBUG) else None
    try:
        return mathopt.solve(program, solver, params=asked, model_params=more, msg_cb=told, interrupter=interrupter)
    except AttributeError as error:  # ortools 9.15 fails while it translates the solver's message
        raise OptschedError(f"{solver.name.lower()} refuses: {error.__context__ or error}") from None


def interrupter(monitor: Monitor) -> SolveInterrupter:
    """An interrupter that the monitor pulls."""
    from ortools.util.python import solve_interrupter

    handle = solve_interrupter.SolveInterrupter()
    monitor.when_stopped(handle.interrupt)
    return handle


def termination(result: mathopt.SolveResult, monitor: Monitor) -> tuple[str, str | None]:
    """MathOpt's reason as ours, with a message for errors."""
    from ortools.math_opt.python import mathopt

    reasons, limits = mathopt.TerminationReason, mathopt.Limit
    reason, limit = result.termination.reason, result.termination.limit
    if reason == reasons.OPTIMAL:
        return "optimal", None
    if reason in (reasons.INFEASIBLE, reasons.INFEASIBLE_OR_UNBOUNDED):
        return "infeasible", None
    if reason in (reasons.FEASIBLE, reasons.NO_SOLUTION_FOUND):
        words = {limits.TIME: "time_limit", limits.INTERRUPTED: monitor.stopping or "interrupted"}
        return words.get(limit, monitor.stopping or "iteration_limit"), None
    return "error", ": ".join(filter(None, (f"MathOpt ended with {reason.name.lower()}", result.termination.detail)))
