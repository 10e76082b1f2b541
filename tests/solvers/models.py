"""Small Pyomo models that are no instances, for the backends alone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from optsched.monitor import Monitor
from optsched.solvers import SolverResult, SolverSettings, backend, linear_form
from optsched.stop import Clock


def wrapped(model: Any, implied: Any = ()) -> Any:
    """A Pyomo model in the clothes of a formulation."""
    return SimpleNamespace(pyomo=model, linear=True, implied_integers=list(implied), name="test")


def solve(name: str, model: Any, **task: Any) -> SolverResult:
    """Solve a bare Pyomo model by a backend; figures in the model's units, minimised."""
    dressed = wrapped(model)
    form = linear_form(dressed)
    outcome = backend(name).solve(dressed, form, SolverSettings(**task), Monitor(Clock(), form.sign))
    objective, bound = (None if v is None else v / form.scale for v in (outcome.objective, outcome.bound))
    return replace(outcome, objective=objective, bound=bound)


def stuffing() -> Any:
    """min 2x + 3z, x + z >= 4.5, z integer: 9. highspy 1.14.0 says 15 (HiGHS #2957, #2961)."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 10))
    m.z = pyo.Var(bounds=(0, 10), domain=pyo.Integers)
    m.c = pyo.Constraint(expr=m.x + m.z >= 4.5)
    m.o = pyo.Objective(expr=2 * m.x + 3 * m.z)
    return m


def knapsack(n: int = 40, seed: int = 1, divisor: float = 1.0) -> Any:
    """Correlated items: hard enough that a solver needs a moment."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(100, 1000, n)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), domain=pyo.Binary)
    m.c = pyo.Constraint(
        expr=sum(float(w) / divisor * m.x[i] for i, w in enumerate(weight)) <= float(weight.sum() // 2) / divisor
    )
    m.o = pyo.Objective(expr=sum(float(w + 10) * m.x[i] for i, w in enumerate(weight)), sense=pyo.maximize)
    return m
