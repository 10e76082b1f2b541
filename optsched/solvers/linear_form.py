"""The waist between models and backends: a Pyomo model as sparse matrices, translated once for every backend."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyomo.core as pyo
from pyomo.core.base.constraint import ConstraintData
from pyomo.core.base.objective import ObjectiveData
from pyomo.core.base.var import VarData
from pyomo.repn import generate_standard_repn

from optsched.errors import OptschedError
from optsched.instances.base import Bools, Floats, Ints
from optsched.models.base import Expression, PyomoModel, paused_gc
from optsched.models.terms import Terms
from optsched.schedules.base import PROVEN
from optsched.solvers.csr import CsrMatrix

LARGEST_COST = 512.0  # the dearest column, at least
MOST_COST = 2.0**24  # and at most: beyond, reduced costs lose the digits that solvers ask for
PRUNED = 1e-6  # branch and bound in floating point drops what is better than the incumbent by so little, scaled
PRICED = 1e-7  # and takes a reduced cost of so little for none, a column
MOST_DIGITS = 9  # of costs that are called whole multiples of something
FEASIBLE = 1e-6  # and to which it holds bounds and rows
ROUNDINGS = 1e-15  # relative: a few
UNBOUNDED = 1e30
CERTAIN = 1e-4  # of a step of the objective: so much may all columns together be off it
SHARE = 0.1  # of what may lie between an objective and its bound, for these two


@dataclass(frozen=True)
class LinearForm:
    """minimise cost @ x + offset subject to row_lower <= matrix @ x <= row_upper, lower <= x <= upper.

    `cost` and `offset` are those of a minimisation, times `scale`; the model's own objective is
    ``sign * (cost @ x + offset) / scale``. Solvers prune with absolute tolerances around 1e-6, so costs are scaled by a power
    of two, such that these tolerances are nothing beside the objective.

    Infinite bounds are plus or minus np.inf. `implied` marks continuous columns that are
    integer in some optimum.
    """

    cost: Floats
    offset: float
    sign: int
    scale: float
    matrix: CsrMatrix
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    integer: Bools
    implied: Bools
    columns: tuple[VarData, ...]
    rows: tuple[ConstraintData, ...]
    blur: float = 0.0  # what the offset may have lost where large costs were settled in it, scaled

    def value(self, x: Floats) -> float:
        """The scaled objective at `x`, minimisation."""
        return float(self.cost @ x) + self.offset

    @property
    def overlooked(self) -> float:
        """By how much branch and bound in floating point may miss the optimum, in scaled units."""
        unseen = (self.cost != 0) & self._hidden
        return self.tolerated + float(np.abs(self.cost[unseen]) @ (self.upper - self.lower)[unseen])

    @property
    def tolerated(self) -> float:
        """By how much for its absolute tolerances, which are the less the larger the scale."""
        costly = int(np.count_nonzero(self.cost))
        width = self.upper - self.lower
        narrow = ~self.integer & (width > 0) & (width < FEASIBLE)  # a solver takes any point of them for any other
        missed = float(np.abs(self.cost[narrow]) @ width[narrow]) + self.lost
        return PRUNED + PRICED * costly + missed if costly else 0.0

    @cached_property
    def _hidden(self) -> Bools:
        """Integer columns that are nothing, beside the largest of a row, within the tolerance to which it is held."""
        size = np.abs(self.matrix.data)
        largest = np.zeros(self.matrix.shape[0])
        np.maximum.at(largest, self.matrix.row, size)
        hidden = np.zeros(len(self.cost), dtype=bool)
        hidden[self.matrix.indices[size < FEASIBLE * largest[self.matrix.row]]] = True
        return hidden & self.integer

    @cached_property
    def lost(self) -> float:
        """What float64 may have lost in costs, and in rows of continuous columns at their cost, in scaled units."""
        reach = np.minimum(np.maximum(np.abs(self.lower), np.abs(self.upper)), UNBOUNDED)
        written = ROUNDINGS * (float(np.abs(self.cost) @ reach) + abs(self.offset)) + self.blur
        loose = ~(self.integer | self.implied) & (self.cost != 0)  # such as an excess, which is a difference
        if not loose.any():
            return written
        size = self.matrix.magnitudes() @ reach
        most = np.zeros(len(self.cost))
        np.maximum.at(most, self.matrix.indices, size[self.matrix.row])
        return written + ROUNDINGS * float(np.abs(self.cost[loose]) @ most[loose])

    @cached_property
    def step(self) -> float | None:
        """What all objectives, less the offset, are whole multiples of, in the model's own units; None where too little."""
        costly = self.cost != 0
        cost = np.unique(np.abs(self.cost[costly])) / self.scale
        if not len(cost) or not (self.integer | self.implied)[costly].all():
            return None
        for digits in range(MOST_DIGITS + 1):
            step = 10.0**-digits
            off = np.abs(np.rint(cost * 10.0**digits) / 10.0**digits - cost)
            multiples = (off <= 4e-16 * cost).all() and float(off.max()) * len(self.cost) <= CERTAIN * step
            if multiples and self.lost / self.scale <= CERTAIN * step:
                return step if self.overlooked / self.scale < 0.1 * step else None
        return None

    def closed(self, objective: float, bound: float) -> bool:
        """Whether a scaled objective and bound are the same figure, as far as a solver can tell."""
        return abs(objective - bound) <= PROVEN * abs(objective) + self.overlooked

    def scaled(self, objective: float) -> LinearForm:
        """The same form in units that suit an `objective` (in the model's own units): `overlooked` is little beside it."""
        top = float(np.abs(self.cost).max(initial=0.0)) / self.scale
        if not top > 0:
            return self
        wanted = self.tolerated / (SHARE * PROVEN * abs(objective)) if objective else 0.0
        unit = min(max(LARGEST_COST / top, wanted), MOST_COST / top)
        scale = 2.0 ** math.ceil(math.log2(unit))
        ratio = scale / self.scale
        return replace(self, cost=self.cost * ratio, offset=self.offset * ratio, scale=scale, blur=self.blur * ratio)

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
        """The largest violation of a row, bound or integrality at `x`, as a share of the row's terms, or of 1."""
        activity, size = self.matrix @ x, np.maximum(1.0, self.matrix.magnitudes() @ np.abs(x))
        rows = np.maximum(self.row_lower - activity, activity - self.row_upper) / size
        bounds = np.maximum(self.lower - x, x - self.upper) / np.maximum(1.0, np.abs(x))
        fraction = np.abs(x - np.round(x))[self.integer]
        return max(0.0, *(float(s.max(initial=0.0)) for s in (rows, bounds, fraction)))


def linear_form(model: PyomoModel) -> LinearForm:
    """Translate a model.

    Raises
    ------
    OptschedError : the model has nonlinear terms.
    """
    if not model.linear:
        raise OptschedError(f"formulation {model.name!r} is a MINLP, this backend solves linear models: try --backend scip")
    with paused_gc():
        return _translate(model.pyomo, model.implied_integers)


def _translate(model: pyo.ConcreteModel, implied_integers: Iterable[VarData]) -> LinearForm:
    columns = [data for variable in model.component_objects(pyo.Var, active=True) for data in variable.values()]
    reader = _Reader(columns)
    lower, upper, rows, picks, weights = [], [], [], [], []
    for constraint in model.component_objects(pyo.Constraint, active=True):
        for row in constraint.values():
            low, body, high = row.to_bounded_expression()
            constant, at, coefficients = reader.read(body, row)
            picks.append(at)
            weights.append(coefficients)
            lower.append(-np.inf if low is None else pyo.value(low) - constant)
            upper.append(np.inf if high is None else pyo.value(high) - constant)
            rows.append(row)
    (objective,) = model.component_data_objects(pyo.Objective, active=True)
    offset, at, coefficients = reader.read(objective.expr, objective)
    sign = 1 if objective.sense == pyo.minimize else -1
    ends = np.concatenate([[0], np.cumsum([len(p) for p in picks])]).astype(np.int64)
    empty = np.zeros(0)
    cost = sign * np.bincount(at, coefficients, len(columns)).astype(float)
    matrix = CsrMatrix.of(
        ends, np.concatenate([empty, *picks]).astype(np.int64), np.concatenate([empty, *weights]), len(columns)
    )
    implied = np.zeros(len(columns), dtype=bool)
    implied[[reader.index[id(v)] for v in implied_integers]] = True
    bounds = np.array([column.bounds for column in columns], dtype=float).reshape(len(columns), 2)  # None becomes NaN
    domains = [column.domain for column in columns]
    one_each = {id(domain): i for i, domain in enumerate(domains)}
    kinds = {domain: columns[i].is_integer() for domain, i in one_each.items()}
    return LinearForm(
        cost=cost,
        offset=sign * offset,
        sign=sign,
        scale=1.0,
        matrix=matrix,
        row_lower=np.array(lower, dtype=float),
        row_upper=np.array(upper, dtype=float),
        lower=np.nan_to_num(bounds[:, 0], nan=-np.inf, posinf=np.inf, neginf=-np.inf),
        upper=np.nan_to_num(bounds[:, 1], nan=np.inf, posinf=np.inf, neginf=-np.inf),
        integer=np.array([kinds[id(domain)] for domain in domains], dtype=bool),
        implied=implied,
        columns=tuple(columns),
        rows=tuple(rows),
    ).scaled(0.0)


class _Reader:
    """Linear expressions as (constant, columns, coefficients)."""

    def __init__(self, columns: list[VarData]) -> None:
        self.index = {id(column): i for i, column in enumerate(columns)}
        self._known: dict[int, tuple[Iterable[VarData], Ints]] = {}

    def columns_of(self, variables: Iterable[VarData]) -> Ints:
        """Columns of some variables; a block of rows shares its list, which is looked up once."""
        known = self._known.get(id(variables))
        if known is None:
            found = np.array([self.index[id(v)] for v in variables], dtype=np.int64)
            known = self._known[id(variables)] = (variables, found)  # kept alive, so that the id stays its own
        return known[1]

    def read(self, body: Expression, owner: ConstraintData | ObjectiveData) -> tuple[float, Ints, Floats]:
        """Read an expression.

        Raises
        ------
        OptschedError : it is not linear; names the row.
        """
        if type(body) is Terms:
            return body.offset, self.columns_of(body.variables)[body.columns], body.coefficients
        found = generate_standard_repn(body)
        if not found.is_linear():
            raise OptschedError(f"{owner.name} is not linear")
        at = np.array([self.index[id(v)] for v in found.linear_vars], dtype=np.int64)
        return float(found.constant), at, np.array(found.linear_coefs, dtype=float)
