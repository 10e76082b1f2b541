"""The bound: capacity and the daily demand priced, so that the cheapest staircase of `Paths` decides all the rest.

Two rows couple the jobs. Where something starts, the load keeps within the data centre (price `load` by slot). And each day's
caps should add up to a share of the work submitted (price `daily` by day). A cap is at most C where the queue is empty or its
head does not fit into the data centre, else at most the load with the head; with F what the inflexible load leaves of C, it is
so at most ``(load + head) C / F`` wherever the queue is not empty, and without ``C / F`` where no head can be too large.
What a day then lacks is convex in the sum of those caps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optsched.decomposition.vcc.fits import Window, sizes
from optsched.decomposition.vcc.paths import EPSILON, Path, Paths
from optsched.instances.base import Bools, Floats, Ints
from optsched.instances.vcc import VccInstance, occupied
from optsched.problems.vcc import Staircase

SPARE = 3  # numbers of empty slots told apart beyond what a day can ask for
ROUNDING = 1e-12  # of the parts' sum: float64 sums of a month of slots are far more exact


@dataclass(frozen=True)
class Prices:
    """Of an NCU of load in a slot, shape (T,), and of an NCU-hour of daily demand, shape (D,); not negative.

    `spare` is what of a day's price pays for the cap being at most C where the queue waits, and not for its being at most the
    load with the head: by slot, shape (T,), not negative; none where it is left out.
    """

    load: Floats
    daily: Floats
    spare: Floats | None = None


@dataclass(frozen=True)
class Charges:
    """Prices by slot, shape (T,) each: of an NCU of load, of one bounding a cap; of an NCU-hour that is spare, of the day."""

    load: Floats
    rate: Floats
    spare: Floats
    daily: Floats


@dataclass(frozen=True)
class Branch:
    """How many slots of each day may leave the queue empty, shape (D,) each."""

    least: Ints
    most: Ints

    def split(self, day: int, count: int) -> tuple[Branch, Branch]:
        """At most `count - 1` such slots on a day, or at least `count`."""
        most, least = self.most.copy(), self.least.copy()
        most[day], least[day] = count - 1, count
        return Branch(self.least, most), Branch(least, self.most)


@dataclass(frozen=True)
class Evaluated:
    """What prices prove, what the cheapest staircase lacks (the supergradient, `beyond` of `spare`), and that staircase."""

    bound: float
    overload: Floats
    lack: Floats
    beyond: Floats
    path: Path


class StaircaseRelaxation:
    """An instance with its coupling rows priced, within a window; with `fits`, no step for which there is surely no room."""

    def __init__(self, instance: VccInstance, window: Window | None = None, fits: bool = False) -> None:
        self.instance, self.paths = instance, Paths(instance, window, fits)
        size, h = instance.capacity_ncu, instance.slot_h
        left = size - instance.inflexible
        self.bounded = left > 1e-9 * size  # elsewhere any cap starts nothing
        self.whole_cap = np.where(self.bounded, h * size, 0.0)  # NCU-hours of a cap of 1 that starts something
        self.room = left - instance.running
        least, most = self._loads()
        largest = np.maximum.accumulate(self._largest())
        ever_full = most + largest > self.room * (1 - 1e-9)
        self.scale = np.where(self.bounded, np.where(ever_full, size / np.where(self.bounded, left, 1.0), 1.0), 0.0)
        self.most = most
        self.tight: Bools = most > self.room + 1e-9 * size
        # an empty queue has started all that has come, so what has come and cannot have ended runs
        jobs = instance.columns
        come = self._running(jobs.submitted, jobs.submitted + jobs.duration, jobs.ncu)
        self.when_empty = instance.running + np.maximum(come, least)
        self.lowest = np.where(self.bounded, np.minimum(size, (instance.running + least) * self.scale), 0.0) * h
        self.highest = np.where(self.bounded, np.minimum(size, (instance.running + most + largest) * self.scale), 0.0) * h
        self.days = len(instance.asked)
        free = np.bincount(instance.day, np.where(self.bounded, 0.0, size * h), minlength=self.days)
        asked = instance.demanded - free
        enough = int(np.ceil(max(0.0, float(asked.max())) / (size * h))) if instance.daily_penalty_per_ncu_h else 0
        self.top = min(instance.day_slots, enough + SPARE) if enough else 0  # so many empty slots, or more
        self.asked = asked[:, None] - size * h * np.arange(self.top + 1)  # what is still asked for, by day and empty slots
        self.range = np.stack([self._sums(self.lowest, False), self._sums(self.highest, True)])
        if self.top < instance.day_slots:
            self.range[0, :, -1] = 0.0
        self.whole = Branch(np.zeros(self.days, dtype=np.int64), np.full(self.days, self.top))

    def _running(self, start: Ints, end: Ints, ncu: Floats) -> Floats:
        real = end > start
        return np.asarray(np.maximum(0.0, occupied(start[real], end[real], ncu[real], self.instance.horizon)))

    def _loads(self) -> tuple[Floats, Floats]:
        """The least and the most load by slot of the staircases in the window."""
        jobs, window = self.instance.columns, self.paths.window
        many = np.arange(1, len(jobs.ncu) + 1)
        first, last = np.searchsorted(window.high, many), np.searchsorted(window.low, many)
        least = self._running(last, first + jobs.duration, jobs.ncu)
        return least, self._running(first, last + jobs.duration, jobs.ncu)

    @cached_property
    def excess(self) -> Floats:
        """By how much the load can exceed its room in a slot in which nothing starts, shape (T,)."""
        return np.asarray(self.excesses(0)[1])

    def excesses(self, slots: int) -> Floats:
        """By how much the load can exceed its room by how many slots ago something last started, shape (slots + 2, T).

        The last row is for all that is longer ago than `slots`. What was started fitted then, and part of it can have ended.
        """
        jobs, window, horizon = self.instance.columns, self.paths.window, self.instance.horizon
        many, done = sizes(self.instance)[0], 0
        slack = 4.0 * EPSILON * len(many) * float(many[-1])
        ends = np.zeros(horizon + 1)  # NCU of the jobs that have surely been started, by the slot after their last
        load = np.zeros((slots + 2, horizon))
        for t, (sure, able) in enumerate(zip(window.low.tolist(), window.high.tolist(), strict=True)):
            to = np.minimum(t + jobs.duration[done:able], horizon)
            ends += np.bincount(to[: sure - done], jobs.ncu[done:sure], horizon + 1)
            may = ends + np.bincount(to[sure - done :], jobs.ncu[sure:able], horizon + 1)
            running = np.cumsum(may[:t:-1])[::-1][1:]  # in the slots after t
            done, running = sure, np.minimum(running + slack, self.room[t])
            for ago in range(1, min(slots, len(running)) + 1):
                load[ago, t + ago] = running[ago - 1]
            load[-1, t + 1 + slots :] = np.maximum(load[-1, t + 1 + slots :], running[slots:])
        load[0] = self.room
        return np.asarray(np.maximum(0.0, np.minimum(self.most, load) - self.room))

    def _largest(self) -> Floats:
        """The largest job that may be at the head by slot."""
        window, ncu = self.paths.window, np.append(self.instance.columns.ncu, 0.0)
        most = [float(ncu[a : b + 1].max()) for a, b in zip(window.low.tolist(), window.high.tolist(), strict=True)]
        return np.array(most)

    def _sums(self, caps: Floats, largest: bool) -> Floats:
        """The least or most that a day's caps add up to with e empty slots among them, shape (D, top + 1)."""
        found = np.zeros((self.days, self.top + 1))
        for d in range(self.days):
            mine = np.sort(caps[self.instance.day == d])
            sums = np.concatenate([[0.0], np.cumsum(mine[::-1] if largest else mine)])
            e = np.arange(found.shape[1])
            found[d] = sums[np.maximum(0, len(mine) - e)]
        return found

    def daily(self, price: Floats, branch: Branch) -> tuple[Floats, Floats]:
        """Priced penalty by day and number of empty slots, and the sum of the other caps that attains it, (D, top + 1)."""
        penalty = self.instance.daily_penalty_per_ncu_h
        other = np.clip(self.asked, *self.range)
        cost = penalty * np.maximum(0.0, self.asked - other) + price[:, None] * other
        return np.where(self._allowed(branch), cost, np.inf), other

    def charges(self, prices: Prices) -> Charges:
        """The prices by slot."""
        daily = prices.daily[self.instance.day]
        spare = np.where(self.bounded, 0.0 if prices.spare is None else prices.spare, 0.0)
        rate = np.maximum(0.0, daily - spare) * self.instance.slot_h * self.scale
        return Charges(np.where(self.tight, prices.load, 0.0), rate, spare, daily)

    def __call__(self, prices: Prices, branch: Branch) -> Evaluated:
        """The priced optimum over the branch."""
        at = self.charges(prices)
        penalty, other = self.daily(prices.daily, branch)
        empty = at.rate * self.when_empty + at.spare * self.whole_cap
        path = self.paths.cheapest(at.load - at.rate, at.load * self.excess, -at.rate, empty, penalty)
        excess = self.excess, np.where(np.diff(path.started, prepend=0) > 0, 0.0, self.excess)
        return self.evaluated(at, path, excess, other[np.arange(self.days), path.empties], 0.0, [])

    def evaluated(
        self,
        at: Charges,
        path: Path,
        excess: tuple[Floats, Floats],
        wanted: Floats,
        counted: Floats | float,
        more: list[float],
    ) -> Evaluated:
        """What the cheapest staircase proves.

        Parameters
        ----------
        excess
            By how much the load may exceed its room at most, and on this path, shape (T,) each.
        wanted
            NCU-hours that a day should be given, shape (D,).
        counted
            Of them what a slot gives whose queue is empty, shape (T,).
        more
            What the bound consists of besides.
        """
        instance, h = self.instance, self.instance.slot_h
        if not np.isfinite(path.value):
            none = np.zeros(instance.horizon)
            return Evaluated(np.inf, none, np.zeros(self.days), none, path)
        stairs = Staircase(instance, path.started)
        parts = [self.paths.base, path.value, -float(at.load @ (self.room + excess[0]))]
        parts += [-float(at.rate @ instance.running), -float(at.spare @ self.whole_cap), *more]
        caps = (stairs.load + instance.running + stairs.head - np.where(stairs.empty, self.when_empty, 0.0)) * self.scale
        paying = np.where(at.spare < at.daily, caps * h, 0.0)  # by the load with the head
        given = np.bincount(instance.day, paying + np.where(stairs.empty, counted, 0.0), minlength=self.days)
        return Evaluated(
            bound=sum(parts) - ROUNDING * sum(map(abs, parts)) - self.paths.rounding,
            overload=np.where(self.tight, stairs.load - self.room - excess[1], 0.0),
            lack=wanted - given,
            beyond=np.where(self.bounded, paying - np.where(stairs.empty, 0.0, self.whole_cap), 0.0),
            path=path,
        )

    def lacking(self, sums: Floats) -> Floats:
        """Daily penalty if the caps of the slots that are not empty add up to `sums` by day, shape (D, top + 1)."""
        return np.asarray(self.instance.daily_penalty_per_ncu_h * np.maximum(0.0, self.asked - sums[:, None]))

    def with_daily(self, load: Floats, cost: Floats, branch: Branch | None = None) -> Path:
        """The cheapest staircase where a day costs `cost` by its empty slots, shape (D, top + 1), and load its price."""
        none = np.zeros(self.instance.horizon)
        if branch is not None:
            cost = np.where(self._allowed(branch), cost, np.inf)
        return self.paths.cheapest(np.where(self.tight, load, 0.0), none, none, none, cost)

    def _allowed(self, branch: Branch) -> Bools:
        count = np.arange(self.top + 1)
        return np.asarray((count >= branch.least[:, None]) & (count <= branch.most[:, None]))
