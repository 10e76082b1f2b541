"""Shadow prices: where and when one more unit of capacity is worth something."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from optsched.decomposition.listing import Prices


@dataclass(frozen=True)
class Worth:
    """Of one more unit at a place: over the whole horizon, its share of slots with a price, and the dearest slot.

    `dearest` is None where every slot is free.
    """

    place: str
    total: float
    mean: float
    most: float
    dearest: int | None
    share: float


@dataclass(frozen=True)
class Stretch:
    """Consecutive slots first..last at a place, and what one more unit in all of them adds to the objective."""

    place: str
    first: int
    last: int
    value: float


def by_place(prices: Prices) -> list[Worth]:
    """What one more unit is worth at each place, the most first."""
    found = []
    for place, row in prices.items():
        array = np.array(row)
        most = float(array.max(initial=0.0))
        dearest = int(array.argmax()) if most > 0 else None
        total = math.fsum(row)
        found.append(
            Worth(place, total, total / max(1, len(row)), most, dearest, float((array > 0).mean()) if len(row) else 0.0)
        )
    return sorted(found, key=lambda worth: -worth.total)


def stretches(prices: Prices, slots: int) -> list[Stretch]:
    """Every place's horizon cut into stretches of `slots` slots, the most valuable first; those without a price left out."""
    found = [
        Stretch(place, first, min(first + slots, len(row)) - 1, math.fsum(row[first : first + slots]))
        for place, row in prices.items()
        for first in range(0, len(row), slots)
    ]
    return sorted((s for s in found if s.value > 0), key=lambda stretch: -stretch.value)


def draw(prices: Prices, slot_s: float, unit: str, title: str) -> Figure:
    """A panel a place on one scale: the price of a unit by the hour it is used, over time."""
    places = [worth.place for worth in by_place(prices)][:12]
    figure = Figure(figsize=(10, 1.2 + 1.3 * max(1, len(places))), layout="constrained")
    panels = figure.subplots(max(1, len(places)), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, place in zip(panels, places, strict=False):
        row = np.array(prices[place]) * 3600 / slot_s
        axes.stairs(row, np.arange(len(row) + 1) * slot_s / 3600, fill=True, color="tab:orange")
        axes.set_ylabel(place, fontsize=8, parse_math=False)
        axes.tick_params(labelsize=8)
    if places:
        panels[0].set_ylim(bottom=0)
        panels[0].set_xlim(0, len(prices[places[0]]) * slot_s / 3600)
    panels[-1].set_xlabel("hours")
    more = f", the {len(places)} dearest of {len(prices)} places" if len(prices) > len(places) else ""
    figure.suptitle(f"{title}: {unit} for one more unit for an hour{more}", fontsize=10, parse_math=False)
    return figure
