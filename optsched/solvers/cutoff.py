"""What a known schedule rules out: a column that alone costs more than it is left out before the solver sees the model.

A penalty of 1e12 that stands for a hard constraint so becomes one, and its coefficient no longer drowns all others in the
solver's tolerances.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optsched.instances.base import Bools, Ints
from optsched.solvers.linear_form import ROUNDINGS, LinearForm

NOISE = 1e-12  # of all magnitudes in the sum: what float64 may have lost in it
WHOLE = 1e-6  # a bound of an integer column that close below a whole number is that number


def cut_off(form: LinearForm, objective: float) -> LinearForm:
    """The form within the bounds that every point as good as `objective` (scaled) keeps; fixed columns cost nothing.

    Of each row "at most one of these" (or "exactly one") the cheapest column, of all other columns the cheaper end: what the
    sum of them leaves to `objective` is the most that any one may cost on top.
    """
    if not len(form.cost) or not form.matrix.shape[0]:
        return form
    cost = form.cost
    integral = form.integer | form.implied
    row, owner = _one_of(form, integral)
    ends = np.where(cost > 0, form.lower, np.where(cost < 0, form.upper, 0.0))
    if not np.isfinite(ends[owner < 0]).all():
        return form
    least = np.where(owner < 0, cost * ends, 0.0)
    rest = np.zeros(form.matrix.shape[0])
    np.minimum.at(rest, owner[owner >= 0], cost[owner >= 0])
    if len(row):  # of rows that must take one, the cheapest, however dear
        cheapest = np.full(form.matrix.shape[0], np.inf)
        np.minimum.at(cheapest, owner[owner >= 0], cost[owner >= 0])
        rest[row] = cheapest[row]
    spare = objective - form.offset - float(least.sum()) - float(rest.sum())
    spare += NOISE * (abs(form.offset) + abs(objective) + float(np.abs(least).sum()) + float(np.abs(rest).sum()))
    if not spare >= 0:
        return form
    lower, upper = form.lower.copy(), form.upper.copy()
    extra = cost - np.where(owner >= 0, rest[owner], 0.0)
    upper[(owner >= 0) & (lower == 0) & (extra > spare)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = spare / np.abs(cost)
    up, down = (owner < 0) & (cost > 0), (owner < 0) & (cost < 0)
    upper[up] = np.minimum(upper, lower + reach * (1 + NOISE))[up]
    lower[down] = np.maximum(lower, upper - reach * (1 + NOISE))[down]
    upper[integral] = np.floor(upper[integral] + WHOLE)
    lower[integral] = np.ceil(lower[integral] - WHOLE)
    lost = upper < lower  # by rounding alone
    lower[lost], upper[lost] = form.lower[lost], form.upper[lost]
    fixed = lower == upper
    settled = cost * np.where(fixed, lower, 0.0)
    blur = form.blur + ROUNDINGS * (abs(form.offset) + float(np.abs(settled).sum()) * len(cost) ** 0.5)
    offset = form.offset + float(settled.sum())
    return replace(form, cost=np.where(fixed, 0.0, cost), offset=offset, lower=lower, upper=upper, blur=blur)


def _one_of(form: LinearForm, integral: Bools) -> tuple[Ints, Ints]:
    """Rows that must take exactly one of columns of their own, and the row of "at most one" that owns each column, or -1."""
    matrix = form.matrix
    rows, columns = matrix.shape
    owner = np.full(columns, -1, dtype=np.int64)
    if not len(matrix.data):
        return np.zeros(0, dtype=np.int64), owner
    binary = integral & (form.lower >= 0) & (form.upper <= 1)
    plain = (matrix.data == 1.0) & binary[matrix.indices]
    one = (np.bincount(matrix.row, ~plain, rows) == 0) & (np.diff(matrix.indptr) > 0) & (form.row_upper == 1.0)
    one &= (form.row_lower == 1.0) | (form.row_lower <= 0.0)
    mine = one[matrix.row]
    column, first = np.unique(matrix.indices[mine], return_index=True)
    owner[column] = matrix.row[mine][first]
    owned = np.bincount(owner[owner >= 0], minlength=rows)
    must: Bools = one & (form.row_lower == 1.0) & (owned == np.diff(matrix.indptr))
    return np.flatnonzero(must), owner
