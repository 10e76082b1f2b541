"""Bounds from multipliers against the same sums in fractions: never above, and not far below."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from optsched.solvers import LinearForm, linear_form
from optsched.solvers.pdlp import dual_bound
from tests.solvers.models import wrapped


def nearly_balanced(seed: int, wide: float) -> tuple[LinearForm, np.ndarray]:
    """Columns `wide` to both sides; their costs are what the rows' multipliers pay for them, but for rounding; and those."""
    rng = np.random.default_rng(seed)
    rows, columns = 6, 5
    weights, y = rng.uniform(-1, 1, (rows, columns)), rng.uniform(0.1, 1, rows) * rng.choice([-1, 1], rows)
    m: Any = pyo.ConcreteModel()
    m.x = pyo.Var(range(columns), bounds=(-wide, wide))
    m.rows = pyo.ConstraintList()
    for row in weights.tolist():
        body = sum(w * m.x[j] for j, w in enumerate(row))
        m.rows.add((float(rng.uniform(-1, 0)), body, float(rng.uniform(0, 1))))
    m.o = pyo.Objective(expr=sum(float(c) * m.x[j] for j, c in enumerate(y @ weights)))
    form = linear_form(wrapped(m))
    return form, y * form.scale


def lagrangian(form: LinearForm, y: np.ndarray) -> Fraction:
    """min over the box of c x + sum_r y_r (side_r - a_r x), exactly."""
    matrix = form.matrix.toarray()
    total = Fraction(float(form.offset))
    for r, value in enumerate(y.tolist()):
        total += Fraction(value) * Fraction(float((form.row_lower if value > 0 else form.row_upper)[r]))
    for j in range(len(form.cost)):
        paid = sum((Fraction(float(a)) * Fraction(v) for a, v in zip(matrix[:, j], y.tolist(), strict=True)), Fraction(0))
        reduced = Fraction(float(form.cost[j])) - paid
        total += reduced * Fraction(float((form.lower if reduced > 0 else form.upper)[j]))
    return total


@pytest.mark.parametrize("wide", [1e-12, 1.0, 1e9])
def test_never_above_the_exact_sum(wide: float) -> None:
    """What rounding may add is charged, of the rows' sides and of the columns, and little more."""
    for seed in range(100):
        form, y = nearly_balanced(seed, wide)
        found, exact = dual_bound(form, y), lagrangian(form, y)
        assert found is not None
        assert Fraction(found) <= exact, seed
        size = float(np.abs(y).sum()) + wide * float(np.abs(form.cost).sum())
        assert float(exact - Fraction(found)) <= 1e-13 * size, seed


def test_other_sides_and_ends() -> None:
    """By hand: min x + 2 z over x + z >= 3 and x - z <= 1 in [0, 4] squared."""
    m: Any = pyo.ConcreteModel()
    m.x, m.z = pyo.Var(bounds=(0, 4)), pyo.Var(bounds=(0, 4))
    m.c, m.d = pyo.Constraint(expr=m.x + m.z >= 3), pyo.Constraint(expr=m.x - m.z <= 1)
    m.o = pyo.Objective(expr=m.x + 2 * m.z)
    form = linear_form(wrapped(m))
    for multipliers, value in (((0, 0), 0), ((1, 0), 3), ((1.5, -0.5), 4), ((2, 0), 2), ((0, -1), -1), ((-1, 1), 0)):
        bound = dual_bound(form, form.scale * np.array(multipliers, dtype=float))
        assert bound is not None
        assert abs(bound / form.scale - value) < 1e-9, multipliers
