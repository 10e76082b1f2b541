"""Shadow prices: where and when one more unit of capacity is worth something."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from optsched.analysis.heading import certainty, short
from optsched.analysis.marks import LEGEND, ORANGE
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.base import Floats, Instance
from optsched.report import number

MOST_PANELS = 12  # places drawn
MOST_STEPS = 200  # drawn in a panel
BINS_H = (0.25, 0.5, 1.0, 2.0, 3.0, 6.0, 12.0, 24.0)

Prices = Mapping[str, Sequence[float]]
"""Objective for one more unit of capacity in a slot, by place."""


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


def draw(
    prices: Prices,
    instance: Instance,
    slot_s: float,
    *,
    now_s: float = 0.0,
    objective: float | None = None,
    bound: float | None = None,
) -> Figure:
    """A panel a place on one scale: the price of a unit by the hour it is used, over time; the dearest places.

    Slots are gathered into stretches until at most 200 are left: the mean of each is filled, its dearest slot a line above.

    Parameters
    ----------
    prices
        In the instance's objective for a unit in a slot, by place.
    instance
        Whose prices they are.
    slot_s
        Seconds of a slot.
    now_s
        Second of the whole instance at which slot 0 begins, in a snapshot.
    objective, bound
        Of the result that has the prices, for the title.
    """
    places = [worth.place for worth in by_place(prices)][:MOST_PANELS]
    slots = max((len(prices[place]) for place in places), default=1)
    figure = Figure(figsize=(10, 1.7 + max(2.0, 1.3 * len(places))), layout="constrained")
    panels = figure.subplots(max(1, len(places)), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    time = TimeAxis.of(instance, slots * slot_s, now_s=now_s)
    gathered = stretch_slots(slots, slot_s)
    for axes, place in zip(panels, places, strict=False):
        mean, most = binned(np.array(prices[place]) * 3600 / slot_s, gathered)
        edges = time.at(np.minimum(np.arange(len(mean) + 1) * gathered, slots) * slot_s)
        words = "price" if gathered == 1 else f"mean of {spell(gathered * slot_s)}"
        axes.stairs(mean, edges, fill=True, color=ORANGE, label=words)
        if gathered > 1:
            axes.stairs(most, edges, baseline=None, color="0.35", lw=0.7, label="dearest slot in it")
        axes.set_title(short(place), loc="left", fontsize=9, parse_math=False)
        axes.tick_params(labelsize=8)
    if places:
        panels[0].set_ylim(0, 1.05 * max(1e-9, max(max(prices[place], default=0.0) for place in places) * 3600 / slot_s))
        panels[0].legend(ncols=2, **LEGEND)
    time.frame(panels[-1], slots * slot_s)
    figure.supylabel(f"{instance.unit} for an hour\nof one more unit of capacity", fontsize=9, parse_math=False)
    more = f": the {len(places)} dearest of {len(prices)} places" if len(prices) > len(places) else ""
    title = f"{short(instance.name)}: shadow prices of capacity{more}"
    words = f"objective {number(objective)} {instance.unit}, {certainty(objective, bound)}"
    figure.suptitle(f"{title}\n{words}", fontsize=10, parse_math=False)
    return figure


def stretch_slots(slots: int, slot_s: float) -> int:
    """Slots of a stretch: the fewest that make whole hours (or quarters) and leave at most 200 stretches."""
    if slots <= MOST_STEPS:
        return 1
    lengths = (round(hours * 3600 / slot_s) for hours in BINS_H)
    return next((n for n in lengths if n > 1 and slots <= n * MOST_STEPS), math.ceil(slots / MOST_STEPS))


def binned(row: Floats, slots: int) -> tuple[Floats, Floats]:
    """Mean and maximum of every `slots` values; the last stretch may be shorter."""
    first = np.arange(0, len(row), slots)
    count = np.diff(np.append(first, len(row)))
    return np.add.reduceat(row, first) / count, np.maximum.reduceat(row, first)


def spell(seconds: float) -> str:
    """A length of time in words."""
    return f"{seconds / 3600:g} h" if seconds >= 3600 else f"{seconds / 60:g} min"
