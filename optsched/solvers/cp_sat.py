"""CP-SAT: all-integer models only; rows scaled exactly or refused, the objective's rounding charged to the bound."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Floats
from optsched.models.base import PyomoModel
from optsched.monitor import Monitor
from optsched.solvers.base import Capabilities, SolverResult, SolverSettings, installed, refuse_unsafe, typed, unknown_option
from optsched.solvers.linear_form import LinearForm

log = logging.getLogger(__name__)
LARGEST_FACTOR = 10**9
LARGEST_SUM = 2**60  # CP-SAT adds in int64
OBJECTIVE_SUM = 2**52


UNSAFE = ("fix_variables", "tolerance", "debug_", "mip_", "hint_conflict")


class CpSat:
    """Constraint programming with clause learning, for models whose variables are all (implied) integers."""

    name = "cp-sat"
    capabilities = Capabilities(continuous=False, proof="integers")
    packages = ("ortools",)

    def unavailable(self) -> str | None:
        """Not installed or not loadable."""
        return ortools_unavailable()

    def refuse_options(self, options: Mapping[str, object]) -> None:
        """Fields of SatParameters."""
        refuse_unsafe(self.name, options, UNSAFE)
        _parameters(options)

    def solve(self, model: PyomoModel, form: LinearForm | None, task: SolverSettings, monitor: Monitor) -> SolverResult:
        """Translate exactly, solve, and correct the bound for the rounded objective."""
        from ortools.sat.python import cp_model

        assert form is not None
        lower, upper = integer_bounds(form)
        program = cp_model.CpModel()
        variables = [program.new_int_var(low, high, "") for low, high in zip(lower.tolist(), upper.tolist(), strict=True)]
        matrix = form.matrix
        for r in range(matrix.shape[0]):
            cells = slice(matrix.indptr[r], matrix.indptr[r + 1])
            ints, low, high = scaled_row(form, r, cells, lower, upper)
            terms = cp_model.LinearExpr.weighted_sum([variables[i] for i in matrix.indices[cells]], ints)
            program.add_linear_expression_in_domain(terms, cp_model.Domain(low, high))
        factor, weights, margin = scaled_objective(form, lower, upper)
        program.minimize(cp_model.LinearExpr.weighted_sum(variables, weights))
        start = form.start() if task.start else None
        if start is not None:
            for variable, value in zip(variables, start.tolist(), strict=True):
                program.add_hint(variable, round(value))

        objective = form.value

        def original(scaled: float) -> float:
            return scaled / factor + form.offset

        class Listener(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
            """Hands incumbents to the monitor."""

            def on_solution_callback(self) -> None:
                x = np.array([self.value(v) for v in variables], dtype=float)
                monitor.incumbent(objective(x), x)
                monitor.bounded(original(self.best_objective_bound) - margin)
                if monitor.stopping:  # asked before the search had begun, when nobody listened
                    self.stop_search()

        solver = cp_model.CpSolver()
        for name, value in _parameters(task.options).items():
            setattr(solver.parameters, name, value)
        solver.parameters.catch_sigint_signal = False  # its handler would take Ctrl-C from us, and abort
        solver.parameters.random_seed = task.seed % 2**31
        if task.threads is not None:
            solver.parameters.num_workers = task.threads
        if task.seconds is not None:
            solver.parameters.max_time_in_seconds = task.seconds
        if task.gap:
            solver.parameters.relative_gap_limit = task.gap

        def on_bound(scaled: float) -> None:
            monitor.bounded(original(scaled) - margin)
            if monitor.stopping:
                solver.stop_search()

        if log.isEnabledFor(logging.DEBUG):
            solver.parameters.log_search_progress = True
            solver.parameters.log_to_stdout = False
            solver.log_callback = lambda line: log.debug("%s", line)
        solver.best_bound_callback = on_bound
        monitor.when_stopped(solver.stop_search)
        if monitor.stopping:
            return SolverResult(monitor.stopping)
        status = solver.solve(program, Listener())
        if status == cp_model.MODEL_INVALID:
            why = program.validate() or solver.solution_info() or "it does not say why"
            return SolverResult("error", message=f"CP-SAT refuses the model: {why}")
        if status == cp_model.INFEASIBLE:
            return SolverResult("infeasible")
        if status == cp_model.UNKNOWN:
            return SolverResult(monitor.stopping or _limit(task, solver.wall_time))
        x = np.array([solver.value(v) for v in variables], dtype=float)
        bound = original(solver.best_objective_bound) - margin
        if form.closed(form.value(x), bound):
            ended = "optimal"
        elif status == cp_model.OPTIMAL:
            ended = "gap_limit"
        else:
            ended = monitor.stopping or _limit(task, solver.wall_time)
        return SolverResult(ended, x, form.value(x), bound)


def _limit(task: SolverSettings, spent_s: float) -> str:
    """Which limit ended a search without a proof: ours, or one among the solver's own options."""
    return "time_limit" if task.seconds is not None and spent_s >= 0.95 * task.seconds else "iteration_limit"


def ortools_unavailable() -> str | None:
    """Why OR-Tools cannot be used here, or None."""
    if installed("ortools") is None:
        return "ortools is not installed: pip install 'ortools>=9.15,<9.16'"
    try:
        from ortools.sat.python import cp_model  # noqa: F401
    except ImportError as error:
        beside = installed("highspy")
        return (
            f"ortools cannot be loaded: {error} (highspy {beside} is installed; "
            "highspy 1.15 and ortools 9.15 clash, google/or-tools #5246: pip install 'highspy>=1.13.1,<1.14')"
        )
    return None


def _parameters(options: Mapping[str, object]) -> dict[str, object]:
    from ortools.sat import sat_parameters_pb2

    parameters = sat_parameters_pb2.SatParameters()
    known = [field.name for field in sat_parameters_pb2.SatParameters.DESCRIPTOR.fields]
    for name, value in options.items():
        if name not in known:
            raise unknown_option("cp-sat", name, known)
        try:
            setattr(parameters, name, typed(getattr(parameters, name), value))
        except (TypeError, ValueError, AttributeError):
            raise OptschedError(f"cp-sat option {name!r} does not take the value {value!r}") from None
    return {name: getattr(parameters, name) for name in options}


def integer_bounds(form: LinearForm) -> tuple[Floats, Floats]:
    """Integer bounds of every column.

    Raises
    ------
    OptschedError : a column is continuous (or unbounded), so CP-SAT must not be given the model.
    """
    loose = ~(form.integer | form.implied)
    if loose.any():
        column, more = form.columns[int(np.flatnonzero(loose)[0])].name, int(loose.sum()) - 1
        others = "" if not more else " and one more is" if more == 1 else f" and {more} more are"
        raise OptschedError(
            f"cp-sat takes all-integer models only: {column} is continuous{others}; try --backend highs, or another formulation"
        )
    open_ends = ~np.isfinite(form.lower) | ~np.isfinite(form.upper)
    if open_ends.any():
        column = form.columns[int(np.flatnonzero(open_ends)[0])].name
        raise OptschedError(f"cp-sat needs bounds on every variable: {column} has none")
    return np.ceil(form.lower - 1e-9).astype(np.int64), np.floor(form.upper + 1e-9).astype(np.int64)


def scaled_row(form: LinearForm, r: int, cells: slice, lower: Floats, upper: Floats) -> tuple[list[int], int, int]:
    """Row `r` with integer coefficients, exactly: numbers are read as the decimals that JSON shows.

    Raises
    ------
    OptschedError : no factor up to 1e9 makes the row integer, or its sum could leave int64.
    """
    indices = form.matrix.indices[cells]
    exact = [Fraction(repr(float(c))) for c in form.matrix.data[cells]]
    bounds = [Fraction(repr(float(b))) for b in (form.row_lower[r], form.row_upper[r]) if np.isfinite(b)]
    factor = math.lcm(*(c.denominator for c in exact), *(b.denominator for b in bounds))
    ints = [int(c * factor) for c in exact] if factor <= LARGEST_FACTOR else []
    reach = sum(abs(c) * max(abs(int(lower[i])), abs(int(upper[i]))) for c, i in zip(ints, indices, strict=False))
    if factor > LARGEST_FACTOR or reach > LARGEST_SUM:
        raise OptschedError(f"cp-sat needs integer rows: {form.rows[r].name} cannot be scaled exactly; try --backend highs")
    low, high = form.row_lower[r], form.row_upper[r]
    exact_low = math.ceil(Fraction(repr(float(low))) * factor) if np.isfinite(low) else -LARGEST_SUM
    exact_high = math.floor(Fraction(repr(float(high))) * factor) if np.isfinite(high) else LARGEST_SUM
    return ints, exact_low, exact_high


def scaled_objective(form: LinearForm, lower: Floats, upper: Floats) -> tuple[float, list[int], float]:
    """Factor, rounded integer weights, and by how much the rounding can change the objective over all points."""
    reach = np.maximum(np.abs(lower), np.abs(upper)).astype(float)
    total = float(np.abs(form.cost) @ reach)
    factor = 2.0 ** math.floor(math.log2(OBJECTIVE_SUM / max(total, 1e-300))) if total else 1.0
    factor = min(factor, 2.0**40)
    weights = np.round(form.cost * factor)
    margin = float(np.abs(weights / factor - form.cost) @ reach)
    return factor, [int(w) for w in weights], margin
