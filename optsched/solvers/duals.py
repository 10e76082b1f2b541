"""Bounds from multipliers of the rows, safe in floating point (Neumaier and Shcherbina, Mathematical Programming 99, 2004)."""

from __future__ import annotations

from math import fsum

import numpy as np

from optsched.instances.base import Floats
from optsched.solvers.linear_form import LinearForm

HALF_ULP = 2.0**-53
ROUNDINGS = 8  # of a coefficient before it reaches the form, and of the few products here


def dual_bound(form: LinearForm, y: Floats) -> float | None:
    """Lagrangian bound (scaled, minimisation) of the rows' multipliers `y`, shape (rows,), valid for any `y`.

    min c x + sum_r y_r (side_r - a_r x) over the box: the side is the row's lower end for y > 0, the upper for y < 0. Every
    operation is charged with the most that it may have been rounded by. None where an unbounded column spoils it.
    """
    y = np.where(np.isfinite(y), y, 0.0)
    y = np.where((y > 0) & ~np.isfinite(form.row_lower) | (y < 0) & ~np.isfinite(form.row_upper), 0.0, y)
    side = np.where(y > 0, form.row_lower, np.where(y < 0, form.row_upper, 0.0))
    reduced = form.cost - form.matrix.transposed(y)
    terms = np.bincount(form.matrix.indices, minlength=len(form.cost)) + ROUNDINGS
    wrong = HALF_ULP * terms * (np.abs(form.cost) + form.matrix.magnitudes().transposed(np.abs(y))) * (1 + 1e-9)
    high, low = reduced + wrong, reduced - wrong  # the true one lies between
    with np.errstate(invalid="ignore"):
        least = [np.where(d == 0, 0.0, d * np.where(d > 0, form.lower, form.upper)) for d in (high, low)]
    parts = np.concatenate([np.minimum(*least), y * side])
    if not np.isfinite(parts).all():
        return None
    # a product and the row's own side may each be off by a few roundings
    rounded = ROUNDINGS * HALF_ULP * (fsum(np.abs(parts)) + abs(form.offset)) + form.blur
    return fsum([*parts.tolist(), form.offset, -rounded])
