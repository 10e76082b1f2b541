"""Prices of capacity as they stand in a file, and the bound that anybody can work out from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from optsched.decomposition.dual import Dual, bound_of, max_useful_price
from optsched.instances.base import Floats
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.problems.view import TimeIndexedView
from optsched.schedules.base import Schedule

DIGITS = 9  # of a price in a file; the bound is that of the prices as written

ShadowPrices = Mapping[str, Sequence[float]]
"""Objective for one more unit of capacity in a slot, by place."""


def by_place(view: TimeIndexedView[Schedule], prices: Floats) -> dict[str, tuple[float, ...]]:
    """Prices by place, as they are written."""
    return {place: tuple(row) for place, row in zip(view.places, written(prices).tolist(), strict=True)}


def as_array(view: TimeIndexedView[Schedule], prices: ShadowPrices | None) -> Floats | None:
    """Prices as an array, shape (P, T); None if they are of other places or slots, or no prices."""
    array = None if prices is None else as_given(view, prices)
    return None if array is None else np.minimum(array, max_useful_price(view.problem))


def as_given(view: TimeIndexedView[Schedule], prices: ShadowPrices) -> Floats | None:
    """The same as they are given, however high."""
    places, slots = view.problem.capacity.shape
    if set(prices) != set(view.places) or any(len(row) != slots for row in prices.values()):
        return None
    array = np.array([prices[place] for place in view.places], dtype=float).reshape(places, slots)
    return array if np.isfinite(array).all() and (array >= 0).all() else None


def proven_by(view: TimeIndexedView[Schedule], prices: ShadowPrices) -> float | None:
    """The bound that the prices prove, by one evaluation of the dual; None if they do not fit."""
    array = as_array(view, prices)
    return None if array is None else bound_of(view.problem, array)


def written(prices: Floats) -> Floats:
    """Prices with `DIGITS` significant digits."""
    told = np.where(prices > 1e-100, prices, 1.0)
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(told)))
    return np.where(prices > 1e-100, np.round(told * scale) / scale, 0.0)


def settled(problem: TimeIndexedProblem, dual: Dual) -> Dual:
    """The dual with its prices as they are written, and the bound that these prove."""
    prices = np.minimum(written(dual.prices), max_useful_price(problem))
    return replace(dual, prices=prices, bound=bound_of(problem, prices))
