"""The waist between models and backends: a Pyomo model as sparse matrices, translated once for every backend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.repn import generate_standard_repn

from optsched.errors import OptschedError
from optsched.instances.base import Bools, Floats
from optsched.models.base import Model, paused_gc


@dataclass(frozen=True)
class LinearForm:
    """minimise sign * (cost @ x) subject to row_lower <= matrix @ x <= row_upper, lower <= x <= upper.

    `cost` and `offset` are already those of a minimisation; `sign` (1 or -1) gives the model's own objective back:
    ``sign * (cost @ x + offset)``. Infinite bounds are plus or minus np.inf. `implied` marks continuous columns that are
    integer in some optimum.
    """

    cost: Floats
    offset: float
    sign: int
    matrix: sp.csr_array
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    integer: Bools
    implied: Bools
    columns: tuple[Any, ...]
    rows: tuple[Any, ...]

    def value(self, x: Floats) -> float:
        """The objective at `x`, minimisation."""
        return float(self.cost @ x) + self.offset

    def start(self) -> Floats | None:
        """The variables' present values, or None if one has none."""
        values = [column.value for column in self.columns]
        return None if any(v is None for v in values) else np.array(values, dtype=float)

    def store(self, x: Floats) -> None:
        """Write `x` into the model's variables, integers rounded."""
        values = np.where(self.integer, np.round(x), x).tolist()
        for column, value in zip(self.columns, values, strict=True):
            column.set_value(value, skip_validation=True)

    def violation(self, x: Floats) -> float:
        """The largest violation of a row, bound or integrality at `x`."""
        activity = self.matrix @ x
        slack = (self.row_lower - activity, activity - self.row_upper, self.lower - x, x - self.upper)
        fraction = np.abs(x - np.round(x))[self.integer]
        return max(0.0, *(float(s.max(initial=0.0)) for s in (*slack, fraction)))


def linear_form(model: Model[Any, Any]) -> LinearForm:
    """Translate a model.

    Raises
    ------
    OptschedError : the model has nonlinear terms.
    """
    if not model.linear:
        raise OptschedError(f"formulation {model.name!r} is a MINLP, this backend solves linear models: try --backend scip")
    with paused_gc():
        return _translate(model.pyomo, model.implied_integers)


def _translate(model: Any, implied_integers: Iterable[Any]) -> LinearForm:
    columns = [data for variable in model.component_objects(pyo.Var, active=True) for data in variable.values()]
    index = {id(column): i for i, column in enumerate(columns)}
    terms: list[int] = []
    coefficients: list[float] = []
    ends, lower, upper, rows = [0], [], [], []
    for constraint in model.component_objects(pyo.Constraint, active=True):
        for row in constraint.values():
            low, body, high = row.to_bounded_expression()
            constant, weights, variables = _linear(body, row.name)
            terms.extend([index[id(v)] for v in variables])
            coefficients.extend(weights)
            ends.append(len(terms))
            lower.append(-np.inf if low is None else pyo.value(low) - constant)
            upper.append(np.inf if high is None else pyo.value(high) - constant)
            rows.append(row)
    (objective,) = model.component_data_objects(pyo.Objective, active=True)
    offset, weights, variables = _linear(objective.expr, "objective")
    sign = 1 if objective.sense == pyo.minimize else -1
    cost = np.zeros(len(columns))
    np.add.at(cost, [index[id(v)] for v in variables], np.array(list(weights), dtype=float))
    matrix = sp.csr_array((np.array(coefficients, dtype=float), terms, ends), shape=(len(rows), len(columns)))
    matrix.sum_duplicates()
    implied = np.zeros(len(columns), dtype=bool)
    implied[[index[id(v)] for v in implied_integers]] = True
    return LinearForm(
        cost=sign * cost,
        offset=sign * float(offset),
        sign=sign,
        matrix=matrix,
        row_lower=np.array(lower, dtype=float),
        row_upper=np.array(upper, dtype=float),
        lower=np.array([-np.inf if c.lb is None else c.lb for c in columns], dtype=float),
        upper=np.array([np.inf if c.ub is None else c.ub for c in columns], dtype=float),
        integer=np.array([c.is_integer() for c in columns], dtype=bool),
        implied=implied,
        columns=tuple(columns),
        rows=tuple(rows),
    )


def _linear(body: Any, name: str) -> tuple[float, Iterable[float], Iterable[Any]]:
    if type(body) is LinearExpression:  # as the models write their large rows: read it without walking a tree
        return body.constant, body.linear_coefs, body.linear_vars
    found = generate_standard_repn(body)
    if not found.is_linear():
        raise OptschedError(f"{name} is not linear")
    return found.constant, found.linear_coefs, found.linear_vars
