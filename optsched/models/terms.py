"""Many linear rows written at once: NumPy arrays that are Pyomo expressions as soon as somebody looks.

Pyomo's LinearExpression makes an object for each term. A model of 100,000 options has 300,000 terms, which the linear
form wants back as arrays; so they stay arrays, and Pyomo's own writers get the objects when they ask.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyomo.core.base.var import VarData
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression

from optsched.instances.base import Floats, Ints
from optsched.models.base import Expression


class Terms(LinearExpression):  # type: ignore[misc]
    """constant + sum of ``coefficients[i] * variables[columns[i]]``.

    Attributes
    ----------
    variables : Pyomo variables, shared between the rows of a block. columns, coefficients : shape (terms,).
    """

    __slots__ = ("_made", "coefficients", "columns", "offset", "variables")

    def __init__(self, variables: Sequence[VarData], columns: Ints, coefficients: Floats, constant: float = 0.0) -> None:
        self.variables, self.columns, self.coefficients = variables, columns, coefficients
        self.offset = float(constant)
        self._nargs = len(columns) + bool(constant)  # type: ignore[misc]  # a slot of SumExpression
        self._made: list[Expression] | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """LinearExpression: Pyomo's writers and walkers look rows up by it."""
        return LinearExpression  # type: ignore[no-any-return]

    @property
    def _args_(self) -> list[Expression]:
        if self._made is None:
            terms = zip(self.coefficients.tolist(), self.columns.tolist(), strict=True)
            made = [MonomialTermExpression((weight, self.variables[i])) for weight, i in terms]
            self._made = [self.offset, *made] if self.offset else made
        return self._made

    def create_node_with_local_data(self, args: Sequence[Expression], classtype: type | None = None) -> LinearExpression:
        """An ordinary LinearExpression with other arguments."""
        return super().create_node_with_local_data(args, LinearExpression if classtype is None else classtype)


def rows_of(rows: Ints, variables: Sequence[VarData], columns: Ints, coefficients: Floats, count: int) -> list[Terms]:
    """`count` rows; term i is ``coefficients[i] * variables[columns[i]]`` and belongs to row ``rows[i]``."""
    order = np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], np.arange(count + 1))
    columns, coefficients = np.asarray(columns)[order], np.asarray(coefficients, dtype=float)[order]
    return [Terms(variables, columns[ends[r] : ends[r + 1]], coefficients[ends[r] : ends[r + 1]]) for r in range(count)]
