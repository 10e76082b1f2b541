"""Sparse rows as three arrays: all that lies between models and the backends.

Not scipy.sparse: importing SciPy beside Pyomo makes Pyomo load scipy.stats, 1.2 s of every command.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Floats, Ints


@dataclass(frozen=True)
class CsrMatrix:
    """A matrix in compressed sparse row form.

    Attributes
    ----------
    indptr : shape (rows + 1,). indices, data : shape (nnz,), by row, columns ascending and distinct within a row.
    columns : number of columns.
    """

    indptr: Ints
    indices: Ints
    data: Floats
    columns: int

    @classmethod
    def of(cls, indptr: Ints, indices: Ints, data: Floats, columns: int) -> CsrMatrix:
        """From terms by row, in any order; terms of the same column are added up, zeros left out."""
        rows = len(indptr) - 1
        return cls.at(np.repeat(np.arange(rows), np.diff(indptr)), indices, data, (rows, columns))

    @classmethod
    def at(cls, row: Ints, column: Ints, data: Floats, shape: tuple[int, int]) -> CsrMatrix:
        """From terms anywhere in that many rows and columns, likewise."""
        rows, columns = shape
        cell, inverse = np.unique(row.astype(np.int64) * max(columns, 1) + column, return_inverse=True)
        summed = np.bincount(inverse, weights=data, minlength=len(cell))
        cell, summed = cell[summed != 0], summed[summed != 0]
        row, column = np.divmod(cell, max(columns, 1))
        return cls(np.searchsorted(row, np.arange(rows + 1)), column, summed, columns)

    @classmethod
    def stacked(cls, parts: Sequence[CsrMatrix]) -> CsrMatrix:
        """The rows of one after those of the other; at least one, all of as many columns."""
        begins = np.cumsum([0, *(len(part.data) for part in parts[:-1])])
        indptr = np.concatenate([[0], *(part.indptr[1:] + begin for part, begin in zip(parts, begins, strict=True))])
        indices, data = (np.concatenate([getattr(part, name) for part in parts]) for name in ("indices", "data"))
        return cls(indptr, indices, data, parts[0].columns)

    @classmethod
    def identity(cls, rows: int, columns: int) -> CsrMatrix:
        """A row each with 1 in the column of its number."""
        each = np.arange(rows)
        return cls(np.arange(rows + 1), each, np.ones(rows), columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.indptr) - 1, self.columns

    @property
    def row(self) -> Ints:
        """Row of every entry, shape (nnz,)."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def __matmul__(self, x: Floats) -> Floats:
        """Activity of every row at `x`."""
        return np.bincount(self.row, self.data * x[self.indices], self.shape[0]).astype(float)

    def transposed(self, y: Floats) -> Floats:
        """Columns' sums with row weights `y`."""
        return np.bincount(self.indices, self.data * y[self.row], self.columns).astype(float)

    def magnitudes(self) -> CsrMatrix:
        """The matrix of absolute values."""
        return CsrMatrix(self.indptr, self.indices, np.abs(self.data), self.columns)

    def toarray(self) -> Floats:
        """The dense matrix, for tests."""
        dense = np.zeros(self.shape)
        dense[self.row, self.indices] = self.data
        return dense
