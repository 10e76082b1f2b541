"""HiGHS through highspy: the whole model in one call, starts, live incumbents and bounds, interrupts."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Bools, Floats, Ints
from optsched.models.base import PyomoModel
from optsched.monitor import Monitor
from optsched.solvers.base import Capabilities, SolverResult, SolverSettings, installed, refuse_unsafe, typed, unknown_option
from optsched.solvers.csr import CsrMatrix
from optsched.solvers.duals import dual_bound
from optsched.solvers.linear_form import LinearForm

if TYPE_CHECKING:
    from highspy._core import _Highs
    from highspy._core.cb import HighsCallbackInput, HighsCallbackOutput, HighsCallbackType

log = logging.getLogger(__name__)
CONFIRMED = 400  # columns up to which an optimum is found once more without presolve, which has been wrong on small models
CONFIRM_S = 1.0  # for that
WIDE = 1000.0  # implied integers of more values are left continuous, as they cut optima off; and a second run must agree,
AS_LONG = 3.0  # which has so many times as long, whatever the size: with presolve and without it HiGHS has been wrong there
ENDED = ("optimal", "gap_limit")
SMALL_S = 5.0  # after which a small model is none, and its bounds are told as they come
UNSAFE = ("tolerance", "user_", "small_matrix_value", "large_matrix_value", "infinite_", "objective_bound", "objective_target")


def clash(highspy: str | None, ortools: str | None) -> str | None:
    """Why these versions must not be used together or at all, or None."""
    if highspy is None:
        return "highspy is not installed: pip install 'highspy>=1.13.1,<1.14'"
    numbers = tuple(int(part) for part in highspy.split(".")[:2] if part.isdigit())
    if numbers == (1, 14):
        return f"highspy {highspy} returns wrong MIP optima (HiGHS #2957): pip install 'highspy>=1.13.1,<1.14'"
    if numbers >= (1, 15) and ortools is not None:
        return (
            f"highspy {highspy} and ortools {ortools} bundle the same libhighs and cannot be loaded together "
            "(google/or-tools #5246): pip install 'highspy>=1.13.1,<1.14'"
        )
    return None


class Highs:
    """MILP and LP."""

    name = "highs"
    capabilities = Capabilities(duals=True)
    packages = ("highspy",)

    def unavailable(self) -> str | None:
        """Not installed, a version that is wrong, or one that clashes with ortools."""
        reason = clash(installed("highspy"), installed("ortools"))
        if reason:
            return reason
        try:
            import highspy  # noqa: F401
        except ImportError as error:
            other = " (ortools is loaded already, see google/or-tools #5246)" if "ortools" in sys.modules else ""
            return f"highspy cannot be loaded: {error}{other}"
        return None

    def refuse_options(self, options: Mapping[str, object]) -> None:
        """HiGHS knows its options; an unknown one lists the nearest."""
        refuse_unsafe(self.name, options, UNSAFE)
        _set_options(quiet(), options)

    def solve(self, model: PyomoModel, form: LinearForm | None, task: SolverSettings, monitor: Monitor) -> SolverResult:
        """Run `Highs.run`; integers as declared, relative gap 0 unless asked otherwise."""
        assert form is not None
        mixed, began = form.integer.any(), time.perf_counter()
        wide = mixed and _wide(form).any()
        small = mixed and len(form.columns) <= CONFIRMED and task.options.get("presolve") != "off"
        found = self._run(form, task, monitor, bounds=not (small or wide))
        ended = ENDED if wide else ("optimal",)
        if not (small or wide) or found.termination not in ended or found.bound is None or monitor.stopping:
            return found
        took = time.perf_counter() - began
        most = max(CONFIRM_S, AS_LONG * took) if wide else CONFIRM_S
        left = most if task.seconds is None else min(most, max(0.0, task.seconds - took))
        other = "choose" if task.options.get("presolve") == "off" else "off"
        again = self._run(form, replace(task, seconds=left, options={**task.options, "presolve": other}), monitor, bounds=False)
        log.debug("confirmed with presolve %s in %.2f s: %s", other, time.perf_counter() - began - took, again.termination)
        if again.termination not in ENDED or again.bound is None:
            return _unconfirmed(found, again) if wide else found
        return _agreed(form, found, again)

    def _run(self, form: LinearForm, task: SolverSettings, monitor: Monitor, bounds: bool) -> SolverResult:
        import highspy

        highs = quiet()
        # presolve of 1.13 to 1.15, where it finds out by itself what is implied integer, cuts optima off (HiGHS #2957, #3274)
        pass_form(highs, form, form.integer | (form.implied & ~_wide(form)) if form.integer.any() else form.integer)
        values: dict[str, object] = {
            "random_seed": task.seed % 2**31,
            "mip_abs_gap": 0.0,
            "mip_rel_gap": task.gap or 0.0,
        }
        if task.seconds is not None:
            values["time_limit"] = task.seconds
        if task.threads is not None:
            highspy.Highs.resetGlobalScheduler(True)
            values["threads"] = task.threads
        _set_options(highs, values | dict(task.options))
        if task.start and form.integer.any():
            start = form.start()
            if start is not None:
                highs.setSolution(len(start), np.arange(len(start), dtype=np.int32), start)
                _set_options(highs, {"mip_heuristic_run_feasibility_jump": False} | dict(task.options))  # any point
        _listen(highs, monitor, bounds, task.offered)
        highs.run()
        return _outcome(highs, form, monitor)


def _wide(form: LinearForm) -> Bools:
    """Columns that are integer in some optimum, and of so many values that HiGHS must not be told so."""
    return form.implied & (form.upper - form.lower > WIDE)


def _unconfirmed(found: SolverResult, again: SolverResult) -> SolverResult:
    """An optimum that a second run had no time to find: its point, and what both prove."""
    bound = None if again.bound is None or found.bound is None else min(found.bound, again.bound)
    return replace(found, bound=bound, termination="time_limit")


def _agreed(form: LinearForm, found: SolverResult, again: SolverResult) -> SolverResult:
    """The better point of two runs that have ended, and the weaker bound."""
    assert found.bound is not None
    assert again.bound is not None
    points = [run for run in (found, again) if run.objective is not None]
    best, bound = min(points, key=lambda run: run.objective or 0.0), min(found.bound, again.bound)
    ended = "optimal" if best.objective is not None and form.closed(best.objective, bound) else "gap_limit"
    return replace(best, bound=bound, termination=ended)


def _listen(highs: _Highs, monitor: Monitor, bounds: bool = True, offered: Callable[[], Floats | None] | None = None) -> None:
    import highspy

    kinds, began = highspy.cb.HighsCallbackType, time.perf_counter()
    interrupts = (kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt, kinds.kCallbackMipInterrupt)

    def listen(
        kind: HighsCallbackType, message: str, out: HighsCallbackOutput, into: HighsCallbackInput | None, _data: object
    ) -> None:
        if kind == kinds.kCallbackLogging:
            log.debug("%s", message.rstrip())
        elif kind == kinds.kCallbackMipImprovingSolution:
            monitor.incumbent(out.objective_function_value, np.array(out.mip_solution, dtype=float))
        elif kind in (kinds.kCallbackMipLogging, kinds.kCallbackMipInterrupt) and (
            bounds or time.perf_counter() - began > SMALL_S
        ):
            monitor.bounded(out.mip_dual_bound)
        elif kind == kinds.kCallbackMipUserSolution and into is not None and offered is not None:
            better = offered()
            if better is not None:
                into.setSolution(better)
        if kind in interrupts and into is not None and monitor.stopping is not None:
            into.user_interrupt = True

    highs.setCallback(listen, None)
    if log.isEnabledFor(logging.DEBUG):
        highs.setOptionValue("log_file", os.devnull)  # with neither a file nor the console it tells nobody
        highs.setOptionValue("log_to_console", False)
        highs.setOptionValue("output_flag", True)
        highs.startCallback(kinds.kCallbackLogging)
    for kind in (*interrupts, kinds.kCallbackMipImprovingSolution, kinds.kCallbackMipLogging):
        highs.startCallback(kind)
    if offered is not None:
        highs.startCallback(kinds.kCallbackMipUserSolution)


def quiet() -> _Highs:
    """A silent solver."""
    import highspy

    highs = highspy._core._Highs()  # the plain solver: highspy.Highs wraps it with callbacks of its own
    highs.setOptionValue("output_flag", False)
    return highs


def pass_form(highs: _Highs, form: LinearForm, integer: Bools) -> None:
    """Hand the whole model to HiGHS in one call; `integer` marks the columns to be kept integer."""
    import highspy

    matrix = form.matrix
    status = highs.passModel(
        matrix.shape[1],
        matrix.shape[0],
        len(matrix.data),
        2,  # row-wise
        1,  # minimise
        form.offset,
        form.cost,
        form.lower,
        form.upper,
        form.row_lower,
        form.row_upper,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data,
        integer.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise OptschedError("HiGHS refuses the model")


def _set_options(highs: _Highs, options: Mapping[str, object]) -> None:
    import highspy

    for name, value in options.items():
        status, kind = highs.getOptionType(name)
        if status != highspy.HighsStatus.kOk:
            raise unknown_option("highs", name, _option_names(highs))
        kinds = highspy.HighsOptionType
        default = {kinds.kBool: False, kinds.kInt: 0, kinds.kDouble: 0.0, kinds.kString: ""}[kind]
        try:
            accepted = highs.setOptionValue(name, typed(default, value)) == highspy.HighsStatus.kOk
        except (TypeError, ValueError, OverflowError):  # its integers have 32 bits
            accepted = False
        if not accepted:
            raise OptschedError(f"highs option {name!r} does not take the value {value!r}")


def _option_names(highs: _Highs) -> list[str]:
    return [name for name in dir(highs.getOptions()) if not name.startswith("_")]


def _outcome(highs: _Highs, form: LinearForm, monitor: Monitor) -> SolverResult:
    import highspy

    status, info = highs.getModelStatus(), highs.getInfo()
    words = highspy.HighsModelStatus
    mip = bool(form.integer.any())
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    x = np.array(highs.getSolution().col_value, dtype=float) if feasible else None
    objective = info.objective_function_value if feasible else None
    duals = None
    if mip:
        bound = info.mip_dual_bound if np.isfinite(info.mip_dual_bound) else None
    else:
        duals = np.array(highs.getSolution().row_dual, dtype=float) if status == words.kOptimal else None
        bound = None if duals is None else dual_bound(form, duals)
    ended = {
        words.kOptimal: "optimal",
        words.kTimeLimit: "time_limit",
        words.kInterrupt: monitor.stopping or "interrupted",
        words.kInfeasible: "infeasible",
        words.kModelEmpty: "optimal",
        words.kIterationLimit: "iteration_limit",
        words.kSolutionLimit: "iteration_limit",
    }.get(status, "error")
    if status == words.kModelEmpty:
        x, objective, bound = np.zeros(len(form.columns)), form.offset, form.offset
    if ended == "optimal" and objective is not None and bound is not None and not form.closed(objective, bound):
        ended = "gap_limit"  # HiGHS says optimal for "within the gap"
    message = f"HiGHS ended with {highs.modelStatusToString(status)}" if ended == "error" else None
    return SolverResult(ended, x, objective, bound, message, duals)


def relaxation(
    form: LinearForm, monitor: Monitor | None = None, most: int | None = None, seconds: float | None = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """Value of the LP relaxation in the model's own sense, its point, and the rows' multipliers (scaled).

    Parameters
    ----------
    monitor : of a run that may be stopped.
    most : iterations of the simplex method.
    seconds : for HiGHS, at most.

    Raises
    ------
    OptschedError : the relaxation has no optimum, it was stopped, or it takes more iterations or time.
    """
    import highspy

    if not form.columns:
        return form.sign * form.offset / form.scale, np.zeros(0), np.zeros(form.matrix.shape[0])
    highs = quiet()
    pass_form(highs, form, np.zeros(len(form.columns), dtype=bool))
    if monitor is not None:
        _listen(highs, monitor)
    if most is not None:
        highs.setOptionValue("simplex_iteration_limit", most)
    if seconds is not None:
        highs.setOptionValue("time_limit", seconds)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise OptschedError(f"LP relaxation: HiGHS ended with {highs.modelStatusToString(highs.getModelStatus())}")
    found = highs.getSolution()
    x, y = (np.array(values, dtype=float) for values in (found.col_value, found.row_dual))
    return form.sign * float(highs.getInfo().objective_function_value) / form.scale, x, y


class Incremental:
    """A linear program that is minimised again and again, each time with more rows, from the last basis.

    Parameters
    ----------
    cost, upper
        Of the columns, shape (n,), which are not negative.
    rows, below, above
        The matrix, and between what its rows are, shape (m,).
    monitor
        Of a run that may be stopped.
    seconds
        For HiGHS, at most, all in all.
    """

    def __init__(
        self, cost: Floats, upper: Floats, rows: CsrMatrix, below: Floats, above: Floats, monitor: Monitor, seconds: float
    ) -> None:
        self._highs, columns = quiet(), len(cost)
        integer = np.zeros(columns, dtype=np.int32)
        bounds = (cost, np.zeros(columns), upper, below, above)
        entries = (rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)
        self._highs.passModel(columns, len(above), len(rows.data), 2, 1, 0.0, *bounds, *entries, integer)
        if np.isfinite(seconds):
            self._highs.setOptionValue("time_limit", seconds)
        _listen(self._highs, monitor, bounds=False)

    def add(self, begins: Ints, columns: Ints, entries: Floats, limit: Floats) -> None:
        """Rows that are at most `limit`: where each begins among the entries, one after the last, and their columns."""
        below = np.full(len(limit), -np.inf)
        where = begins[:-1].astype(np.int32), columns.astype(np.int32)
        self._highs.addRows(len(limit), below, limit, len(columns), *where, entries)

    def solve(self) -> tuple[float, Floats, Floats]:
        """The optimum, where it is, and the rows' multipliers.

        Raises
        ------
        OptschedError : it was stopped, or there is none.
        """
        import highspy

        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise OptschedError(f"HiGHS ended with {self._highs.modelStatusToString(self._highs.getModelStatus())}")
        found = self._highs.getSolution()
        x, duals = (np.array(each, dtype=float) for each in (found.col_value, found.row_dual))
        return float(self._highs.getInfo().objective_function_value), x, duals
