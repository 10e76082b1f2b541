"""The cheapest staircase under prices, exactly: a shortest path over (slot, jobs started), vectorised over jobs.

Started jobs keep running, so a job's whole cost is known when it starts: starting the jobs k' .. k in slot t costs the
difference of two prefix sums, and a slot is one running minimum over k. Layers count the slots of the day that leave the queue
empty, since a cap of 1 costs nothing there and satisfies the daily demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.vcc import VccInstance

EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Window:
    """Between how many started jobs a staircase better than a known one may be after each slot, shape (T,) each."""

    low: Ints
    high: Ints


@dataclass(frozen=True)
class Path:
    """A cheapest staircase: its priced cost, jobs started by slot, shape (T,), and empty slots by day, shape (D,)."""

    value: float
    started: Ints
    empties: Ints


class Step(NamedTuple):
    """Where a slot's states come from: the first, origins, the same for the layers; whether the last layer kept its own."""

    at: int
    origin: Ints | None
    floor: int
    layer_origin: Ints | None
    kept: bool


class Paths:
    """Staircases of an instance within a window."""

    def __init__(self, instance: VccInstance, window: Window | None = None) -> None:
        self.instance, slots = instance, instance.horizon
        self.window = window or Window(np.zeros(slots, dtype=np.int64), instance.arrived)
        jobs, h = instance.columns, instance.slot_h
        self.ncu = jobs.ncu
        lengths, self.length = np.unique(jobs.duration, return_inverse=True)
        self.ends = np.minimum(np.arange(slots)[:, None] + lengths, slots)
        self.due = instance.due
        self.late_price = instance.delay_penalty_per_ncu_h * h
        carbon = instance.carbon_price * h * instance.carbon
        own = instance.inflexible + instance.running
        self.base = float(carbon @ (instance.idle_kw + instance.kw_per_ncu * own))
        undone = instance.unfinished_penalty_per_ncu_h * h
        self.base += undone * instance.work
        self.price = carbon * instance.kw_per_ncu - undone  # of a running NCU by slot
        # lateness that costs more than everything else together is never worth it: charged no further, sums keep their digits
        whole = self.base + instance.work * float(np.abs(self.price).max())
        whole += instance.daily_penalty_per_ncu_h * float(instance.asked.sum())
        self.hopeless = 2.0 * whole + 1e-9
        self.largest = 0.0  # of the sums of costs met so far
        self.highest = 0.0  # of the prices summed over slots
        self.open = instance.capacity_ncu - own > 0  # slots in which anything can start

    def _cost(self, t: int, first: int, end: int, paid: Floats) -> Floats:
        """Of starting the jobs `first` .. in slot t, summed: shape (end - first + 1,)."""
        cost = self.ncu[first:end] * (paid[self.ends[t]] - paid[t])[self.length[first:end]]
        if self.late_price and end > first and t > self.due[first:end].min():
            late = self.late_price * self.ncu[first:end] * np.maximum(0, t - self.due[first:end])
            cost += np.minimum(late, self.hopeless)
        total = np.zeros(len(cost) + 1)
        np.cumsum(cost, out=total[1:])
        self.largest = max(self.largest, float(total.max()), -float(total.min()))
        return total

    @property
    def rounding(self) -> float:
        """What rounding may have added to a path: every slot takes a difference of two sums, every job one of two prices."""
        steps = EPSILON * self.instance.horizon
        return steps * (8.0 * self.largest + 2.0 * self.highest * float(self.ncu.sum()))

    def cheapest(self, load_price: Floats, start_price: Floats, head_price: Floats, empty_price: Floats, daily: Floats) -> Path:
        """The cheapest staircase.

        Parameters
        ----------
        load_price, start_price, head_price, empty_price : by slot, shape (T,): of an NCU of load (besides its real cost), of
            starting anything, of an NCU of the waiting head (minus: reward), of an empty queue. daily : by day and number of
            empty slots 0, 1, ..., E, the last column for E or more, shape (D, E + 1).
        """
        instance, slots = self.instance, self.instance.horizon
        low, high, came = self.window.low, self.window.high, instance.arrived
        paid = np.concatenate([[0.0], np.cumsum(self.price + load_price)])
        self.highest = max(self.highest, float(np.abs(paid).max()))
        at, value = 0, np.zeros(1)  # states at .. at + len(value) - 1, no empty slot yet today
        layers = np.full((daily.shape[1] - 1, 0), np.inf)  # one empty slot, two, ...; states from `floor` on
        floor, elapsed = 0, 0
        back: list[Step] = []
        closed: list[tuple[int, Ints]] = []
        for t in range(slots):
            a, b = int(low[t]), int(high[t])
            ahead = int(came[t])
            if elapsed == 0:
                floor, layers = ahead, np.full((len(layers), 0), np.inf)
            value = _widened(value, b - at + 1)
            layers = _widened(layers, b - floor + 1)
            origin = layer_origin = None
            if self.open[t] and len(value) > 1:
                cost = self._cost(t, at, b, paid)
                origin, value = _start(value, cost, float(start_price[t]))
                if len(used := layers[:elapsed]) and layers.shape[1]:
                    layer_origin, layers[:elapsed] = _start(used, cost[floor - at :], float(start_price[t]))
            was_at, was_floor = at, floor
            value, at = value[a - at :], a
            if floor < a:
                layers, floor = layers[:, a - floor :], a
            if head_price[t]:
                heads = self.ncu[a : min(b + 1, ahead)] * head_price[t]
                value[: len(heads)] += heads
                layers[:elapsed, : max(0, len(heads) - floor + a)] += heads[floor - a :]
            kept = False
            if b == ahead and len(layers):  # the empty node moves up a layer, but from the last
                stack = np.append(value[-1], layers[:, -1]) + empty_price[t]
                value[-1] = np.inf
                kept = bool(stack[-1] < stack[-2])
                layers[:, -1] = stack[:-1]
                layers[-1, -1] = min(stack[-1], stack[-2])
            elif b == ahead:
                value[-1] += empty_price[t]
            back.append(Step(was_at, origin, was_floor, layer_origin, kept))
            elapsed += 1
            if self.instance.ends_day[t]:
                price = daily[instance.day[t]]
                value = value + price[0]
                count = np.zeros(len(value), dtype=np.int64)
                for e in range(1, min(elapsed, len(layers)) + 1):
                    found = layers[e - 1] + price[e]
                    better = found < value[floor - at :]
                    value[floor - at :][better] = found[better]
                    count[floor - at :][better] = e
                closed.append((at, count))
                elapsed = 0
        best = int(np.argmin(value))
        if not np.isfinite(value[best]):
            return Path(np.inf, self.window.low, np.zeros(len(closed), dtype=np.int64))
        return self._trace(float(value[best]), at + best, back, closed, len(layers))

    def _trace(self, value: float, k: int, back: list[Step], closed: list[tuple[int, Ints]], top: int) -> Path:
        slots, came = self.instance.horizon, self.instance.arrived
        started = np.zeros(slots, dtype=np.int64)
        empties = np.zeros(len(closed), dtype=np.int64)
        day, e = len(closed), 0
        for t in range(slots - 1, -1, -1):
            if self.instance.ends_day[t]:
                day -= 1
                at, count = closed[day]
                e = empties[day] = int(count[k - at])
            started[t] = k
            step = back[t]
            if e and k == came[t] and not (step.kept and e == top):
                e -= 1
            if e == 0:
                k = k if step.origin is None else step.at + int(step.origin[k - step.at])
            else:
                k = k if step.layer_origin is None else step.floor + int(step.layer_origin[e - 1, k - step.floor])
        return Path(value, started, empties)

    def window_below(self, cost: float) -> Window:
        """Where staircases that cost less than `cost` can be, by their real costs without the daily penalty."""
        slots, came = self.instance.horizon, self.instance.arrived
        paid = np.concatenate([[0.0], np.cumsum(self.price)])
        first, end = self.window.low, self.window.high
        to_go: list[Floats] = [np.zeros(int(end[-1] - first[-1]) + 1)]
        for t in range(slots - 1, 0, -1):  # to_go before slot t, states of the window after t - 1
            a, b = int(first[t - 1]), int(end[t])
            after = np.full(b - a + 1, np.inf)
            after[int(first[t]) - a :] = to_go[-1]
            before = after
            if self.open[t] and len(after) > 1:
                spent = self._cost(t, a, b, paid)
                before = np.minimum.accumulate((spent + after)[::-1])[::-1] - spent
            to_go.append(before[: int(end[t - 1]) - a + 1])
        to_go.reverse()
        limit = cost - self.base + 1e-9 * abs(cost) + 2 * self.rounding
        low, high = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int64)
        at, value = 0, np.zeros(1)
        for t in range(slots):
            a, b = max(at, int(first[t])), int(end[t])
            value = _widened(value, b - at + 1)
            if self.open[t] and len(value) > 1:
                _, value = _start(value, self._cost(t, at, b, paid), 0.0)
            value, at = value[a - at :], a
            good = np.flatnonzero(value + to_go[t][a - int(first[t]) :] <= limit)
            if not len(good):  # nothing is better: keep the window
                return self.window
            low[t], high[t] = a + good[0], a + good[-1]
            value, at = value[good[0] : good[-1] + 1], a + int(good[0])
        # started jobs stay started, so what rounding has bent is straightened
        return Window(np.maximum.accumulate(low), np.minimum(came, np.maximum.accumulate(high)))


def _widened(values: Floats, width: int) -> Floats:
    """`values` with states at its end that nothing has reached, up to `width` of them."""
    more = width - values.shape[-1]
    return values if more <= 0 else np.concatenate([values, np.full((*values.shape[:-1], more), np.inf)], axis=-1)


def _start(value: Floats, cost: Floats, charge: float) -> tuple[Ints, Floats]:
    """From each state to itself or a later one: (where it comes from, the new values), along the last axis."""
    reached = value - cost
    least = np.minimum.accumulate(reached, axis=-1)
    index = np.arange(value.shape[-1])
    origin = np.maximum.accumulate(np.where(reached <= least, index, 0), axis=-1)
    if charge <= 0:
        return origin, cost + least
    going = cost[1:] + least[..., :-1] + charge
    goes = going < value[..., 1:]
    came = np.broadcast_to(index, value.shape).copy()
    came[..., 1:][goes] = origin[..., :-1][goes]
    result = value.copy()
    result[..., 1:][goes] = going[goes]
    return came, result
