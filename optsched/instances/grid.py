"""Sizes and capacities in whole units of a decimal grid, so that whether something fits is decided without rounding.

A number means the decimal that JSON shows: 0.3 is three tenths, not the binary fraction beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optsched.instances.base import Floats, Ints

DIGITS = 15  # a float of so many significant digits is the only one that shows them
POWERS = 22  # of ten that are exact in float64
WHOLE = 2**53  # whole numbers below it are exact in float64, and so are their sums
CANCELLED = 1e-4  # of the terms: what is left of them has lost four of sixteen digits
EXACTLY = Context(prec=1000)
Whole: TypeAlias = Floats | NDArray[np.object_]
"""Whole numbers of units: floats, or Python's integers where sums leave what floats hold exactly."""


def exact(value: float) -> Fraction:
    """The decimal that JSON shows, as a fraction."""
    return Fraction(Decimal(repr(float(value))))  # a quarter of the time that Fraction takes to read the text


@dataclass(frozen=True)
class Grid:
    """A unit of ``10**-digits`` of which every number of some columns is a whole multiple.

    Attributes
    ----------
    digits : decimals. wide : whether sums leave float64's whole numbers, so that columns hold Python's integers (dtype object)
        instead of whole floats.
    """

    digits: int
    wide: bool

    @classmethod
    def of(cls, *columns: Iterable[float]) -> Grid:
        """The coarsest grid of some numbers; any sum of them, each taken once or twice, is then exact."""
        values = np.concatenate([np.asarray(column, dtype=float).ravel() for column in columns] or [np.zeros(0)])
        digits = _decimals(values)
        return cls(digits, wide=digits > POWERS or 8 * Fraction(float(np.abs(values).sum())) * 10**digits >= WHOLE)

    def whole(self, values: Iterable[float]) -> Whole:
        """Multiples of the unit, as whole floats or, on a wide grid, integers of dtype object."""
        given = np.asarray(values, dtype=float)
        if not self.wide:
            return np.rint(given * 10.0**self.digits)
        found = [int(Decimal(repr(v)).scaleb(self.digits, EXACTLY)) for v in given.ravel().tolist()]
        return np.array(found, dtype=object).reshape(given.shape)

    def value(self, units: Whole | int) -> Floats:
        """Units as numbers, each rounded once."""
        if not self.wide:
            return np.asarray(units, dtype=float) / 10.0**self.digits
        flat = [float(Fraction(int(u), 10**self.digits)) for u in np.asarray(units, dtype=object).ravel().tolist()]
        return np.array(flat, dtype=float).reshape(np.shape(units))


def _decimals(values: Floats) -> int:
    """How many decimals the numbers need."""
    rest, most = np.unique(values), 0
    for digits in range(DIGITS + 1):
        scaled = np.rint(rest * 10.0**digits)
        left = rest[(scaled / 10.0**digits != rest) | (np.abs(scaled) > 10.0**DIGITS)]
        most = digits if len(left) < len(rest) else most
        if not len(rest := left):
            return most
    shown = (Decimal(repr(v)).normalize().as_tuple().exponent for v in rest.tolist())
    return max(most, *(-e for e in shown if isinstance(e, int)))


def tally(index: Ints, units: Whole, length: int) -> Whole:
    """Sums of units by index, shape (length,), exact on any grid."""
    if units.dtype != object:
        return np.bincount(index, np.asarray(units, dtype=float), length).astype(float, copy=False)
    sums = np.zeros(length, dtype=object)
    np.add.at(sums, index, units)
    return sums


def zeros_like(units: Whole, length: int) -> Whole:
    """No units of the same kind, shape (length,)."""
    return np.zeros(length, dtype=object) if units.dtype == object else np.zeros(length)


def beyond(limit: ArrayLike, *terms: ArrayLike) -> Floats:
    """max(0, sum of terms - limit), exact to the last digits also where they nearly cancel; NaN stays NaN."""
    *columns, ends = np.broadcast_arrays(*(np.asarray(column, dtype=float) for column in (*terms, limit)))
    found = np.array(sum(columns) - ends)
    doubtful = np.abs(found) < CANCELLED * (sum(map(np.abs, columns)) + np.abs(ends))
    doubtful &= np.logical_or.reduce([column % 1 != 0 for column in (*columns, ends)])  # whole numbers add up exactly
    flat = found.reshape(-1)
    for i in np.flatnonzero(doubtful).tolist():
        flat[i] = float(sum(exact(column.flat[i]) for column in columns) - exact(ends.flat[i]))
    return np.asarray(np.maximum(0.0, flat.reshape(ends.shape)))


def share_of(share: float, whole: int) -> int:
    """The largest whole number that is at most `share` of `whole`."""
    near = share * whole
    below = int(near)
    if near < WHOLE and 1e-15 * near < near - below < 1 - 1e-15 * near:
        return below  # so far from a whole number that rounding has not decided
    ratio = exact(share)
    return ratio.numerator * whole // ratio.denominator
