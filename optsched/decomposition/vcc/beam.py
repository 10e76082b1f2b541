"""Staircases that fit, slot by slot: of many histories those that can still become cheap, each with its own load.

What a history has cost is known, with the work that it has begun; the rest is guessed by the relaxation's prices: of the load
that still runs, and of the cheapest staircase from there on. What the day's caps will lack is guessed from a pace. Of the
histories that have started about as many jobs a few are kept, so that those stay that wait for cleaner hours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from optsched.decomposition.vcc.fits import sizes
from optsched.decomposition.vcc.relaxation import StaircaseRelaxation
from optsched.instances.base import Floats, Ints
from optsched.instances.vcc import VccInstance

SAME = 1e-10  # relative difference of two histories that are taken for one


@dataclass(frozen=True)
class Settings:
    """Of a beam: classes of histories by jobs started, histories kept of each, the cap that the rest of each day may give."""

    classes: int
    each: int
    pace: Floats


def span(instance: VccInstance) -> int:
    """Numbers that a beam keeps of the load of each of its histories."""
    return min(int(instance.columns.duration.max(initial=1)), instance.horizon) + 1


class Histories(NamedTuple):
    """By history: jobs started, guessed cost without the rest, load of the running jobs from now on, NCU-hours of the day."""

    started: Ints
    cost: Floats
    load: Floats
    filled: Floats


class Beam:
    """A search through an instance under the prices of a relaxation."""

    def __init__(self, relaxed: StaircaseRelaxation, load_price: Floats) -> None:
        self.instance, self.paths = relaxed.instance, relaxed.paths
        instance = self.instance
        self.price = np.where(relaxed.tight, load_price, 0.0)
        self.rest = self.paths.to_go(self.price)
        self.paid = np.concatenate([[0.0], np.cumsum(self.paths.price + self.price)])
        self.ncu = np.append(instance.columns.ncu, 0.0)
        self.upto, _ = sizes(instance)
        self.duration = np.minimum(instance.columns.duration, instance.horizon)
        self.span = span(instance)
        size = instance.capacity_ncu
        self.room = size - instance.inflexible - instance.running + 1e-12 * size
        after = np.bincount(instance.day)[instance.day] - 1
        first = np.searchsorted(instance.day, instance.day)
        self.left = after - (np.arange(instance.horizon) - first)  # slots of the day that are still to come

    def __call__(self, settings: Settings, ended: Callable[[], bool] = lambda: False) -> Ints | None:
        """Jobs started by slot of the best history, at most a rounding beyond what fits; None: it ended, or there is none."""
        low, high = self.paths.window.low, self.paths.window.high
        grain = max(1, round(float(np.percentile(high - low + 1, 90)) / settings.classes))
        now = Histories(np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros((1, self.span)), np.zeros(1))
        back: list[tuple[Ints, Ints]] = []
        for t in range(self.instance.horizon):
            parent, to = self._children(t, now, grain)
            if not len(to) or ended():
                return None
            cost, filled, lack = self._judged(t, now, parent, to, float(settings.pace[self.instance.day[t]]))
            guess = cost + lack + self.rest[t + 1][to - int(low[t])]
            alive = np.flatnonzero(np.isfinite(guess))  # the others can never get through the window
            if not len(alive):
                return None
            kept = alive[_kept(guess[alive], to[alive], to[alive] // grain, settings.each)]
            parent, to = parent[kept], to[kept]
            if self.instance.ends_day[t]:
                cost, filled = cost + lack, np.zeros(len(filled))
            back.append((parent, to))
            now = Histories(to, cost[kept], self._loads(now, parent, to), filled[kept])
        at = int(np.argmin(now.cost))
        started = np.zeros(len(back), dtype=np.int64)
        for t in range(len(back) - 1, -1, -1):
            parent, to = back[t]
            started[t], at = to[at], int(parent[at])
        return started

    def _children(self, t: int, now: Histories, grain: int) -> tuple[Ints, Ints]:
        """Histories and what they can have started after slot t: nothing more, multiples of `grain`, all that fits."""
        least, most = int(self.paths.window.low[t]), int(self.paths.window.high[t])
        free = self.room[t] - now.load[:, 0]
        fit = np.searchsorted(self.upto, self.upto[now.started] + free, side="right") - 1
        fit = np.maximum(now.started, np.where(free > 0, np.minimum(fit, most), 0))
        between = fit // grain - now.started // grain
        parent = np.repeat(np.arange(len(fit)), between + 2)
        number = np.arange(len(parent)) - np.repeat(np.cumsum(between + 2) - between - 2, between + 2)
        to = (now.started[parent] // grain + number) * grain
        to = np.where(number == 0, now.started[parent], np.where(number > between[parent], fit[parent], to))
        good = to >= least
        return parent[good], to[good]

    def _judged(self, t: int, now: Histories, parent: Ints, to: Ints, pace: float) -> tuple[Floats, Floats, Floats]:
        """Cost and the day's caps so far, and what the day will lack."""
        instance, size, h = self.instance, self.instance.capacity_ncu, self.instance.slot_h
        a, b = int(now.started.min()), int(to.max())
        spent = self.paths.cost(t, a, b, self.paid) if b > a else np.zeros(1)
        added = self.upto[to] - self.upto[now.started[parent]]
        load = now.load[parent, 0] + added
        cost = now.cost[parent] + spent[to - a] - spent[now.started[parent] - a] - self.price[t] * load
        wanted = load + self.ncu[to]
        unbound = (to == instance.arrived[t]) | (wanted > self.room[t])
        cap = np.where(unbound, size, np.minimum(size, wanted + instance.running[t])) * h
        filled = now.filled[parent] + cap
        lack = np.maximum(0.0, instance.demanded[instance.day[t]] - filled - self.left[t] * pace * size * h)
        return cost, filled, instance.daily_penalty_per_ncu_h * lack

    def _loads(self, now: Histories, parent: Ints, to: Ints) -> Floats:
        """What runs from the next slot on."""
        load = np.zeros((len(to), self.span))
        load[:, :-1] = now.load[parent, 1:]
        first = now.started[parent]
        count = to - first
        row = np.repeat(np.arange(len(to)), count)
        job = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + first[row]
        place = row * self.span + self.duration[job] - 1
        begun = np.bincount(place, self.ncu[job], len(to) * self.span).reshape(load.shape)
        load[:, :-1] += np.cumsum(begun[:, ::-1], axis=1)[:, ::-1][:, 1:]
        return load


def _kept(guess: Floats, to: Ints, kind: Ints, each: int) -> Ints:
    """The best of each class, but for those that look the same."""
    order = np.lexsort((guess, to))
    same = np.zeros(len(order), dtype=bool)
    value = guess[order]
    near = np.abs(np.diff(value)) <= SAME * float(np.abs(value).max())
    same[1:] = (np.diff(to[order]) == 0) & near
    order = order[~same]
    order = order[np.lexsort((guess[order], kind[order]))]
    new = np.append(True, np.diff(kind[order]) != 0)
    begin = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    return order[np.arange(len(order)) - begin < each]
