"""What a family tells the decomposition: its options, and how a choice of them and a schedule become each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from optsched.decomposition.dual import Dual, bound_of, ceiling
from optsched.instances.base import Floats, Instance, Ints
from optsched.models.time_indexed import Program
from optsched.rooms import has, room
from optsched.schedules.base import Schedule

DIGITS = 9  # of a price in a file; the bound is that of the prices as written

Prices = Mapping[str, Sequence[float]]
"""Objective for one more unit of capacity in a slot, by place."""


@dataclass(frozen=True)
class Listing:
    """An instance as a time-indexed program.

    Attributes
    ----------
    program : options of positive value. places : names of the program's places.
    schedule : of chosen options (indices). selected : (job, place, start) of every entry of a schedule.
    """

    program: Program
    places: tuple[str, ...]
    schedule: Callable[[Ints], Schedule]
    selected: Callable[[Any], Iterable[tuple[int, int, int]]]

    def named(self, prices: Floats) -> dict[str, tuple[float, ...]]:
        """Prices by place, as they are written."""
        return {place: tuple(row) for place, row in zip(self.places, written(prices).tolist(), strict=True)}

    def read(self, prices: Prices | None) -> Floats | None:
        """Prices as an array, shape (P, T); None if they are of other places or slots, or no prices."""
        slots = self.program.capacity.shape[1]
        if prices is None or set(prices) != set(self.places) or any(len(row) != slots for row in prices.values()):
            return None
        array = np.array([prices[place] for place in self.places], dtype=float).reshape(self.program.capacity.shape)
        return np.clip(array, 0.0, ceiling(self.program)) if np.isfinite(array).all() and (array >= 0).all() else None

    def proves(self, prices: Prices) -> float | None:
        """The bound that the prices prove, by one evaluation of the dual; None if they do not fit."""
        array = self.read(prices)
        return None if array is None else bound_of(self.program, array)


def listing_of(instance: Instance) -> Listing | None:
    """The instance's options, or None where its family prices no capacity."""
    if not has("decomposition", instance.problem):
        return None
    listed = getattr(room("decomposition", instance.problem), "listed", None)
    return None if listed is None else cast(Listing, listed(instance))


def written(prices: Floats) -> Floats:
    """Prices with `DIGITS` significant digits."""
    told = np.where(prices > 1e-100, prices, 1.0)
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(told)))
    return np.where(prices > 1e-100, np.round(told * scale) / scale, 0.0)


def settled(program: Program, dual: Dual) -> Dual:
    """The dual with its prices as they are written, and the bound that these prove."""
    prices = np.minimum(written(dual.prices), ceiling(program))
    return replace(dual, prices=prices, bound=bound_of(program, prices))
