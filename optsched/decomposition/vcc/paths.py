"""The cheapest staircase under prices, exactly: a shortest path over (slot, jobs started), vectorised over jobs.

Started jobs keep running, so a job's whole cost is known when it starts: starting the jobs k' .. k in slot t costs the
difference of two prefix sums, and a slot is one running minimum over k. Layers count the slots of the day that leave the queue
empty, since a cap of 1 costs nothing there and satisfies the daily demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from optsched.decomposition.vcc.fits import Window, left_edges, reachable
from optsched.instances.base import Floats, Ints
from optsched.instances.vcc import VccInstance

EPSILON = float(np.finfo(float).eps)
NOTHING = np.zeros(0)


@dataclass(frozen=True)
class Path:
    """A cheapest staircase: its priced cost, jobs started by slot, shape (T,), and empty slots by day, shape (D,)."""

    value: float
    started: Ints
    empties: Ints


class Step(NamedTuple):
    """Where a slot's states come from.

    Attributes
    ----------
    at, floor : the first state before it, and the first of any layer. cost : of starting up to each state; None where nothing
        could start. value, layers : of the states before it, empty there. kept : whether the last layer kept its own.
    """

    at: int
    cost: Floats | None
    value: Floats
    floor: int
    layers: Floats
    kept: bool


class Paths:
    """Staircases of an instance within a window; with `fits`, without steps for which there is surely no room."""

    def __init__(self, instance: VccInstance, window: Window | None = None, fits: bool = False) -> None:
        self.instance, slots = instance, instance.horizon
        self.window = window or Window(np.zeros(slots, dtype=np.int64), instance.arrived)
        self.edges = list[Ints | None]()
        if fits:
            self.window = reachable(instance, self.window)
            self.edges = left_edges(instance, self.window) or []
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

    def cost(self, t: int, first: int, end: int, paid: Floats) -> Floats:
        """Of starting the jobs `first` .. in slot t, summed: shape (end - first + 1,)."""
        cost = self.ncu[first:end] * (paid[self.ends[t]] - paid[t])[self.length[first:end]]
        if self.late_price and end > first and t > self.due[first:end].min():
            late = self.late_price * self.ncu[first:end] * np.maximum(0, t - self.due[first:end])
            cost += np.minimum(late, self.hopeless)
        total = np.zeros(len(cost) + 1)
        np.cumsum(cost, out=total[1:])
        self.largest = max(self.largest, float(total.max()), -float(total.min()))
        return total

    def _edge(self, t: int, skipped: int) -> Ints | None:
        """From which states on those of slot t can be reached in it, where the first `skipped` are left out."""
        edge = self.edges[t] if self.edges else None
        return edge if edge is None or not skipped else np.maximum(0, edge[skipped:] - skipped)

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
        floor, reached = 0, 0  # the first state of any layer, and how many layers hold anything
        back: list[Step] = []
        closed: list[tuple[int, Ints]] = []
        for t in range(slots):
            a, b = int(low[t]), int(high[t])
            ahead = int(came[t])
            if not reached:
                floor, layers = ahead, np.full((len(layers), 0), np.inf)
            value = _widened(value, b - at + 1)
            layers = _widened(layers, b - floor + 1)
            cost, was, was_layers = None, NOTHING, NOTHING  # a view would keep what is looked at
            if self.open[t] and len(value) > 1:
                cost, was = self.cost(t, at, b, paid), value
                value = _start(was, cost, float(start_price[t]), self._edge(t, 0))
                if reached:
                    was_layers = layers[:reached].copy()
                    edge = self._edge(t, floor - at)
                    layers[:reached] = _start(was_layers, cost[floor - at :], float(start_price[t]), edge)
            was_at, was_floor = at, floor
            value, at = value[a - at :], a
            if floor < a:
                layers, floor = layers[:, a - floor :], a
            if head_price[t]:
                heads = self.ncu[a : min(b + 1, ahead)] * head_price[t]
                value[: len(heads)] += heads
                layers[:reached, : max(0, len(heads) - floor + a)] += heads[floor - a :]
            kept = False
            if b == ahead and len(layers):  # the empty node moves up a layer, but from the last
                stack = np.append(value[-1], layers[:, -1]) + empty_price[t]
                value[-1] = np.inf
                kept = bool(stack[-1] < stack[-2])
                layers[:, -1] = stack[:-1]
                layers[-1, -1] = min(stack[-1], stack[-2])
                reached = min(reached + 1, len(layers))
            elif b == ahead:
                value[-1] += empty_price[t]
            back.append(Step(was_at, cost, was, was_floor, was_layers, kept))
            if self.instance.ends_day[t]:
                price = daily[instance.day[t]]
                value = value + price[0]
                count = np.zeros(len(value), dtype=np.int64)
                for e in range(1, reached + 1):
                    found = layers[e - 1] + price[e]
                    better = found < value[floor - at :]
                    value[floor - at :][better] = found[better]
                    count[floor - at :][better] = e
                closed.append((at, count))
                reached = 0
        best = int(np.argmin(value))
        if not np.isfinite(value[best]):
            return Path(np.inf, self.window.low, np.zeros(len(closed), dtype=np.int64))
        return self._trace(float(value[best]), at + best, back, closed, len(layers), start_price)

    def _trace(
        self, value: float, k: int, back: list[Step], closed: list[tuple[int, Ints]], top: int, start_price: Floats
    ) -> Path:
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
            charge = float(start_price[t])
            if step.cost is None:
                continue
            if e == 0:
                k = step.at + _origin(step.value, step.cost, charge, self._edge(t, 0), k - step.at)
            else:
                skipped = step.floor - step.at
                edge = self._edge(t, skipped)
                k = step.floor + _origin(step.layers[e - 1], step.cost[skipped:], charge, edge, k - step.floor)
        return Path(value, started, empties)

    def to_go(self, load_price: Floats) -> list[Floats]:
        """The cheapest rest from before each slot on, by state of the window after the slot before; one more at the end."""
        low, high = self.window.low, self.window.high
        paid = np.concatenate([[0.0], np.cumsum(self.price + load_price)])
        found = [np.zeros(int(high[-1] - low[-1]) + 1)]
        for t in range(self.instance.horizon - 1, -1, -1):
            a, before = (int(low[t - 1]), int(high[t - 1])) if t else (0, 0)
            b = int(high[t])
            after = np.full(b - a + 1, np.inf)
            after[int(low[t]) - a :] = found[-1]
            if self.open[t] and b > a:
                spent = self.cost(t, a, b, paid)
                edge = self._edge(t, 0)
                if edge is not None:  # the last state that each can reach, counted from the other end
                    edge = b - a + 1 - np.searchsorted(edge, np.arange(b - a + 1), side="right")[::-1]
                after = _least((spent + after)[::-1], edge)[::-1] - spent
            found.append(after[: before - a + 1])
        found.reverse()
        return found

    def window_below(self, cost: float) -> Window:
        """Where staircases that cost less than `cost` can be, by their real costs without the daily penalty."""
        slots, came = self.instance.horizon, self.instance.arrived
        paid = np.concatenate([[0.0], np.cumsum(self.price)])
        first, end = self.window.low, self.window.high
        to_go = self.to_go(np.zeros(slots))[1:]
        limit = cost - self.base + 1e-9 * abs(cost) + 2 * self.rounding
        low, high = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int64)
        at, value = 0, np.zeros(1)
        for t in range(slots):
            a, b = max(at, int(first[t])), int(end[t])
            value = _widened(value, b - at + 1)
            if self.open[t] and len(value) > 1:
                edge = self._edge(t, at - (int(first[t - 1]) if t else 0))
                value = _start(value, self.cost(t, at, b, paid), 0.0, edge)
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


def _start(value: Floats, cost: Floats, charge: float, edge: Ints | None = None) -> Floats:
    """From each state to itself or a later one: the new values, along the last axis.

    Parameters
    ----------
    edge : the first state from which each can be reached; 0 for all where there is none.
    """
    reached = value - cost
    if charge <= 0:
        return np.asarray(cost + _least(reached, edge))
    index = np.arange(value.shape[-1])
    least = _least(reached[..., :-1], None if edge is None else np.minimum(edge[1:], index[:-1]))
    going = cost[1:] + least + charge
    if edge is not None:
        going = np.where(edge[1:] < index[1:], going, np.inf)
    result = value.copy()
    np.minimum(result[..., 1:], going, out=result[..., 1:])
    return result


def _origin(value: Floats, cost: Floats, charge: float, edge: Ints | None, state: int) -> int:
    """From which of the states before a slot its best start comes, as `_start` has it."""
    first = 0 if edge is None else int(edge[state])
    if charge <= 0:
        return first + int(np.argmin(value[first : state + 1] - cost[first : state + 1]))
    if first >= state:
        return state
    at = first + int(np.argmin(value[first:state] - cost[first:state]))
    return at if cost[state] + (value[at] - cost[at]) + charge < value[state] else state


def _least(values: Floats, edge: Ints | None) -> Floats:
    """The least value from `edge`, which never falls, up to each state, along the last axis."""
    if edge is None or not edge[-1:].any():
        return np.asarray(np.minimum.accumulate(values, axis=-1))
    free = int(np.searchsorted(edge, 1))  # the states before can be reached from all
    found = np.empty(values.shape)
    np.minimum.accumulate(values[..., :free], axis=-1, out=found[..., :free])
    begin = int(edge[free])
    low = values[..., begin:]  # the least of a run of 1, 2, 4, ... states, by its first; two of them cover any
    last = np.arange(free, values.shape[-1])
    power = np.frexp(last - edge[free:] + 1)[1] - 1
    for level in range(int(power.max()) + 1):
        if level:
            run = 1 << (level - 1)
            low = np.minimum(low[..., run:], low[..., :-run])
        mine = last[power == level]
        if len(mine):
            first = np.take(low, edge[mine] - begin, axis=-1)
            found[..., mine] = np.minimum(first, np.take(low, mine - begin + 1 - (1 << level), axis=-1))
    return found
