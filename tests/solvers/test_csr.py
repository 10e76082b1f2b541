"""Sparse rows against scipy's."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from optsched.solvers.csr import CsrMatrix

TERMS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-2, 2)))


def entries(terms: list[tuple[int, int, int]]) -> CsrMatrix:
    row, column, data = np.array(terms, dtype=np.int64).reshape(-1, 3).T
    return CsrMatrix.at(row, column, data.astype(float), (4, 5))


def theirs(terms: list[tuple[int, int, int]]) -> np.ndarray:
    row, column, data = np.array(terms, dtype=np.int64).reshape(-1, 3).T
    return np.asarray(sp.coo_array((data.astype(float), (row, column)), shape=(4, 5)).toarray())


@given(TERMS)
def test_terms_are_added_up_and_zeros_left_out(terms: list[tuple[int, int, int]]) -> None:
    found = entries(terms)
    assert (found.toarray() == theirs(terms)).all()
    assert found.shape == (4, 5)
    assert (found.data != 0).all()
    assert all((np.diff(found.indices[a:b]) > 0).all() for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True))


@given(TERMS, TERMS, TERMS)
def test_stacked(one: list[tuple[int, int, int]], two: list[tuple[int, int, int]], three: list[tuple[int, int, int]]) -> None:
    found = CsrMatrix.stacked([entries(one), entries(two), entries(three)])
    assert (found.toarray() == np.vstack([theirs(one), theirs(two), theirs(three)])).all()


def test_identity() -> None:
    assert CsrMatrix.identity(2, 3).toarray().tolist() == [[1, 0, 0], [0, 1, 0]]
    assert CsrMatrix.identity(0, 3).shape == (0, 3)
