"""A linear program that grows by columns, solved anew by HiGHS from where it stood."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.solvers.csr import CsrMatrix
from optsched.solvers.highs import quiet

PRIMAL = 4  # simplex


class ColumnProgram:
    """Minimise the cost of columns that are not negative: `one` rows that add up to 1, then rows with an upper limit.

    Parameters
    ----------
    one
        How many rows add up to 1.
    limit
        Of the others, shape (R,).
    tolerance
        By how much a row may be missed.
    """

    def __init__(self, one: int, limit: Floats, tolerance: float = 1e-7) -> None:
        import highspy

        self._highs, self._infinity = quiet(), highspy.kHighsInf
        self._highs.setOptionValue("primal_feasibility_tolerance", tolerance)
        self._highs.setOptionValue("simplex_strategy", PRIMAL)  # more columns leave the last optimum feasible
        lower = np.concatenate([np.ones(one), np.full(len(limit), -self._infinity)])
        upper = np.concatenate([np.ones(one), limit])
        none = np.zeros(0, dtype=np.int32)
        self._highs.addRows(len(lower), lower, upper, 0, none, none, np.zeros(0))

    def add(self, cost: Floats, columns: CsrMatrix) -> None:
        """More columns, one a row of `columns`, shape (n, one + R)."""
        n = len(cost)
        begin = columns.indptr[:-1].astype(np.int32)
        index, value = columns.indices.astype(np.int32), columns.data.astype(float)
        self._highs.addCols(n, cost.astype(float), np.zeros(n), np.full(n, self._infinity), len(value), begin, index, value)

    def solve(self, seconds: float = np.inf) -> tuple[float, Floats] | None:
        """The optimum and the duals of the rows; None where HiGHS has found none, in that time."""
        import highspy

        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return float(self._highs.getInfo().objective_function_value), np.array(self._highs.getSolution().row_dual)

    def columns(self) -> tuple[Floats, Floats]:
        """Of the last optimum: how much of each column is used, and its reduced cost."""
        found = self._highs.getSolution()
        return np.array(found.col_value), np.array(found.col_dual)
