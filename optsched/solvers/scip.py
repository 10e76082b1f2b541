"""SCIP: MILP through MathOpt, MINLP through Pyomo's direct interface in a worker."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from optsched.errors import BackendUnavailable, OptschedError
from optsched.models.base import PyomoModel
from optsched.monitor import Monitor
from optsched.solvers.base import Capabilities, SolverResult, SolverSettings, installed, refuse_unsafe, typed, unknown_option
from optsched.solvers.cp_sat import ortools_unavailable
from optsched.solvers.linear_form import LinearForm
from optsched.solvers.mathopt import mathopt_model, parameters, solve, termination
from optsched.solvers.minlp import WORKER, question, variables

UNSAFE = ("numerics/", "misc/allowstrongdualreds", "misc/allowweakdualreds", "misc/scaleobj")
OWN_EPSILON = 1.8e-9  # relative: SCIP's numerics/epsilon, nearly, on either side


class Scip:
    """Branch-cut-and-price, linear and bilinear."""

    name = "scip"
    capabilities = Capabilities(nonlinear=True)
    packages = ("ortools", "pyscipopt")

    def unavailable(self) -> str | None:
        """OR-Tools is missing (PySCIPOpt is asked for when a MINLP comes)."""
        return ortools_unavailable()

    def refuse_options(self, options: Mapping[str, object]) -> None:
        """SCIP's own parameter names, e.g. ``limits/nodes``."""
        refuse_unsafe(self.name, options, UNSAFE)
        if not options:
            return
        known = _scip_parameters()
        for name, value in options.items():
            if name not in known:
                raise unknown_option("scip", name, known)
            _converted(name, value)

    def solve(self, model: PyomoModel, form: LinearForm | None, task: SolverSettings, monitor: Monitor) -> SolverResult:
        """Linear models as matrices, others as Pyomo expressions."""
        if form is None:
            return _solve_nonlinear(model, task, monitor)
        from ortools.math_opt.python import mathopt

        asked = parameters(task)
        asked.random_seed = task.seed % 2**31
        asked.absolute_gap_tolerance = 0.0
        asked.relative_gap_tolerance = task.gap or 0.0
        for name, value in task.options.items():
            kind = _scip_parameters()[name].replace("longint", "long")
            getattr(asked.gscip, f"{kind}_params")[name] = _converted(name, value)
        program = mathopt_model(form, integer=True)
        more = mathopt.ModelSolveParameters()
        start = form.start() if task.start else None
        if start is not None:
            hint = dict(zip(program.variables(), start.tolist(), strict=True))
            more.solution_hints = [mathopt.SolutionHint(variable_values=hint)]
        result = solve(program, mathopt.SolverType.GSCIP, asked, more)
        ended, message = termination(result, monitor)
        bound = result.termination.objective_bounds.dual_bound
        bound = bound if np.isfinite(bound) and abs(bound) < 1e20 else None
        if not result.has_primal_feasible_solution():
            return SolverResult(ended, bound=bound, message=message)
        x = np.array(result.variable_values(list(program.variables())), dtype=float)
        objective = result.objective_value()
        if ended == "optimal" and bound is not None and not form.closed(objective, bound):
            ended = "gap_limit"
        return SolverResult(ended, x, objective, bound, message)


def _solve_nonlinear(model: PyomoModel, task: SolverSettings, monitor: Monitor) -> SolverResult:
    if installed("pyscipopt") is None:
        raise BackendUnavailable("the MINLP needs pyscipopt: pip install 'pyscipopt>=6.3,<7'")
    options: dict[str, object] = {
        "randomization/randomseedshift": task.seed % 2**31,
        "limits/gap": task.gap or 0.0,
        # SCIP 10 presolves feasible MINLPs of ours to "infeasible" with them (tests/solvers/test_backends.py)
        "misc/allowstrongdualreds": False,
    }
    if task.threads is not None:
        options["parallel/maxnthreads"] = task.threads
    options |= {name: _converted(name, value) for name, value in task.options.items()}
    answer = WORKER.ask(question(model, options, task.seconds), monitor)
    if answer is None:
        return SolverResult(monitor.stopping or "interrupted")
    ended = {
        "convergenceCriteriaSatisfied": "gap_limit" if task.gap else "optimal",
        "maxTimeLimit": "time_limit",
        "iterationLimit": "iteration_limit",
        "provenInfeasible": "infeasible",
        "infeasibleOrUnbounded": "infeasible",
        "interrupted": monitor.stopping or "interrupted",
    }.get(answer["termination"], "error")
    message = answer.get("message") or f"SCIP ended with {answer['termination']}" if ended == "error" else None
    if answer["values"] is None:
        return SolverResult(ended, bound=answer.get("bound"), message=message)
    for variable, value in zip(variables(model), answer["values"], strict=True):
        variable.set_value(value, skip_validation=True)
    objective, bound = answer.get("objective"), answer.get("bound")
    if ended == "optimal" and objective is not None and bound is not None:
        equal = OWN_EPSILON * abs(objective)  # it calls equal what is so far apart, its own incumbent too
        bound = objective + equal / 2 if abs(objective - bound) <= equal else bound
    return SolverResult(ended, np.zeros(0), objective, bound, message)


@cache
def _scip_parameters() -> dict[str, str]:
    """SCIP's parameters and their types (bool, int, longint, real, char, string), as SCIP itself writes them."""
    if installed("pyscipopt") is None:
        raise OptschedError("scip options are checked against pyscipopt: pip install 'pyscipopt>=6.3,<7'")
    from pyscipopt import Model as ScipModel

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scip.set"
        ScipModel().writeParams(str(path), comments=True, onlychanged=False, verbose=False)
        found = re.findall(r"# \[type: (\w+),[^\n]*\n(\S+) =", path.read_text())
    return {name: kind for kind, name in found}


DEFAULTS: dict[str, object] = {"bool": False, "int": 0, "longint": 0, "real": 0.0, "char": "", "string": ""}


def _converted(name: str, value: object) -> bool | int | float | str:
    try:
        return typed(DEFAULTS[_scip_parameters()[name]], value)
    except (TypeError, ValueError):
        raise OptschedError(f"scip option {name!r} does not take the value {value!r}") from None
