"""Histories with GPU time priced: each job runs on its own, spread over slots, where its energy, GPUs and delay cost least.

A job's work may be cut into pieces of any size, as long as it runs in one place at a time: preemption and migration are free,
nodes of a class are one pool of GPUs, and a slot's GPU time may be shared in any way. Energy is a node's at the best load. What
is kept is when the job ends: in its last slot it has run for as long as it has time there, after all slots before. So for each
last slot what remains is a knapsack, whose dual is a price of the job's work (`worth`), and any such price proves a bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optsched.decomposition.allocation.alone import best_share
from optsched.decomposition.allocation.forgiven import WHOLE, forgiven_s
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Bools, Floats, Ints
from optsched.solvers.csr import CsrMatrix

WORTHS = 28  # prices of work that are tried at first, and so many more for ends that leave hardly time
TIGHT = 1e4  # times the price at which a job is late for ever: what work may be worth before an end that leaves hardly time
ROUNDS = 30  # of finding the best worth for the best end, after which another one may be the best
STEPS = 7  # of each: the function is concave and piecewise linear
TINY = 1e-12  # cost that is none
CHUNK = 4_000_000  # numbers at once


@dataclass(frozen=True)
class Spread:
    """What prices prove, and the cheapest spread work of each job.

    Attributes
    ----------
    least
        Of each job, what it costs at least under the prices, shape (J,).
    cost
        Of the work found, energy and tardiness without the prices, shape (J,).
    usage
        Its GPU-seconds by class and slot, shape (J, K * T).
    """

    least: Floats
    cost: Floats
    usage: CsrMatrix


class SpreadRelaxation:
    """An instance over slots with given edges in seconds, shape (T + 1,), the first before anybody comes; then GPUs are free.

    Attributes
    ----------
    room
        GPU-seconds by class and slot, shape (K, T).
    never
        What each job costs that is run after the last edge, and where GPUs are free, shape (J,).
    """

    def __init__(self, instance: AllocationInstance, edges: Floats) -> None:
        classes = instance.node_classes
        ways = [(k, g) for k, c in enumerate(classes) for g in range(1, c.gpus + 1)]
        self.kind, self.gpus = np.array(ways, dtype=np.int64).reshape(-1, 2).T
        per_h = [best_share(instance.cost_per_h[k, : classes[k].gpus], g) for k, g in ways]
        self.energy = np.array(per_h) / 3600  # a second, shape (C,)
        known = instance.model_copy(update={"now_s": np.inf}).columns
        time_s = known.time_s[:, self.kind, self.gpus - 1]
        least = np.where(np.isnan(time_s), np.inf, time_s * (self.energy + known.weight_per_s[:, None])).min(axis=1)
        some = np.isfinite(least) & (least > TINY)  # the others cost nothing, or cannot run
        self.rate = np.nan_to_num(1.0 / time_s[some])  # of the work a second, 0 where a job cannot run so, shape (J, C)
        self.weight, self.slots = known.weight_per_s[some], len(edges) - 1
        submit, due = known.submit_s[some], known.due_s[some]
        submit, due = submit - forgiven_s(submit, due), due + forgiven_s(submit, due)
        self.room = np.array([c.gpus * len(c.nodes) for c in classes])[:, None] * np.diff(edges)
        # a job's own slots begin with its submission and are cut at its due date; the last one has no end
        begin = np.concatenate([np.maximum(edges, submit[:, None]), np.maximum(due, submit)[:, None], submit[:, None]], axis=1)
        self.begin = np.sort(begin, axis=1)
        self.length = np.diff(self.begin, axis=1, append=self.begin[:, -1:])  # of the last one 0: it is priced by itself
        self.slot = np.where(self.begin < edges[-1], np.searchsorted(edges, self.begin, side="right") - 1, self.slots)
        self.extra = np.where(self.begin >= due[:, None], self.weight[:, None], 0.0)  # a second in the last slot
        self.tardiness = self.weight[:, None] * np.maximum(0.0, self.begin - due[:, None])
        self.top = least[some]  # of all work, after the last edge
        low = 0.999 * np.where(self.rate > 0, np.nan_to_num(time_s[some]) * self.energy, np.inf).min(axis=1)
        low = np.clip(low, 1e-6 * self.top, 0.999 * self.top)
        usual = np.geomspace(low, self.top, WORTHS).T
        self.worths = np.concatenate([usual, np.geomspace(self.top, TIGHT * self.top, WORTHS // 2).T[:, 1:]], axis=1)
        self.never = self.top + self.tardiness[:, -1]

    def __call__(self, prices: Floats) -> Spread:
        """Under prices of a GPU-second, shape (K, T), not negative."""
        jobs, slots = self.begin.shape
        size = max(1, CHUNK // (slots * self.worths.shape[1]))
        charged = np.append(prices, np.zeros((len(prices), 1)), axis=1)[self.kind]
        charged = self.energy[:, None] + charged * self.gpus[:, None]  # of a way in a slot, a second, shape (C, T + 1)
        parts = [_Part(self, charged, slice(j, j + size)).best() for j in range(0, jobs, size)]
        if not parts:
            return Spread(np.zeros(0), np.zeros(0), CsrMatrix.identity(0, self.room.size))
        usage = CsrMatrix.stacked([part.usage for part in parts])
        return Spread(np.concatenate([p.least for p in parts]), np.concatenate([p.cost for p in parts]), usage)


class _Part:
    """Some jobs under prices."""

    def __init__(self, relaxed: SpreadRelaxation, charged: Floats, some: slice) -> None:
        self.relaxed, self.rate, self.extra = relaxed, relaxed.rate[some], relaxed.extra[some]
        self.slot, self.length = relaxed.slot[some], relaxed.length[some]
        self.tardiness, self.worths, self.top = relaxed.tardiness[some], relaxed.worths[some], relaxed.top[some]
        self.charged = np.moveaxis(charged[:, self.slot], 0, 1)  # shape (n, C, S)

    def best(self) -> Spread:
        """For every end the best of some worths; then the best of all for the end that looks best, until it is the best."""
        values = self._values()
        proven, at = values.max(axis=2), values.argmax(axis=2)
        value, cost = np.full((2, len(proven)), np.inf)
        time = np.zeros((*proven.shape, 2))
        way = np.zeros(time.shape, dtype=np.int64)
        exact = np.zeros(proven.shape, dtype=bool)
        for _ in range(ROUNDS):
            end = proven.argmin(axis=1)
            jobs = np.flatnonzero(~exact[np.arange(len(end)), end])
            if not len(jobs):
                break
            end = end[jobs]
            found = _Ends(self, jobs, end).best(at[jobs, end])
            proven[jobs, end] = np.maximum(proven[jobs, end], found.value)
            exact[jobs, end] = True
            better = found.value < value[jobs]
            kept = jobs[better]
            value[kept], cost[kept] = found.value[better], found.cost[better]
            time[kept], way[kept] = found.time[better], found.way[better]
        return Spread(proven.min(axis=1), cost, self._rows(time, way))

    def _values(self) -> Floats:
        """The bound by job, last slot and worth, shape (n, S, M)."""
        gain = np.full((*self.slot.shape, self.worths.shape[1]), -np.inf)  # a second, shape (n, S, M)
        for c in range(self.rate.shape[1]):
            rate = np.where(self.rate[:, c] > 0, self.rate[:, c], -np.inf)
            np.maximum(gain, self.worths[:, None, :] * rate[:, None, None] - self.charged[:, c, :, None], out=gain)
        before = np.maximum(gain, 0.0) * self.length[:, :, None]
        last = np.maximum(gain - self.extra[:, :, None], 0.0) * self.length[:, :, None]
        np.cumsum(before[:, :-1], axis=1, out=gain[:, 1:])
        gain[:, 0] = 0.0
        values = WHOLE * self.worths[:, None, :] - gain - last + self.tardiness[:, :, None]
        values[:, -1][self.worths > self.top[:, None]] = -np.inf  # after the last edge there is time enough
        return np.asarray(values)

    def _rows(self, time: Floats, way: Ints) -> CsrMatrix:
        """GPU-seconds by class and slot."""
        slots = self.relaxed.slots
        slot = np.broadcast_to(self.slot[:, :, None], time.shape)
        on = (time > 0) & (slot < slots)
        job = np.broadcast_to(np.arange(len(time))[:, None, None], time.shape)[on]
        place = self.relaxed.kind[way[on]] * slots + slot[on]
        shape = (len(time), self.relaxed.room.size)
        return CsrMatrix.at(job, place, time[on] * self.relaxed.gpus[way[on]], shape)


@dataclass(frozen=True)
class _Found:
    """By job: the bound, the cost without prices, and the time run by slot in two ways, shape (n, S, 2) as `way`."""

    value: Floats
    cost: Floats
    time: Floats
    way: Ints


class _Ends:
    """Some of a part's jobs, each with its last slot."""

    def __init__(self, part: _Part, jobs: Ints, end: Ints) -> None:
        self.part, self.jobs = part, jobs
        self.rate, self.charged = part.rate[jobs], part.charged[jobs]
        slots = np.arange(part.slot.shape[1])
        self.length = np.where(slots <= end[:, None], part.length[jobs], 0.0)
        self.extra = np.where(slots == end[:, None], part.extra[jobs], 0.0)
        self.late = part.tardiness[jobs, end]
        self.never = end == len(slots) - 1

    def best(self, at: Ints) -> _Found:
        """The best worth, between those around the one with number `at`, and the work mixed of that of its two sides."""
        part, row = self.part, np.arange(len(at))
        worths, most = part.worths[self.jobs], part.worths.shape[1] - 1
        low = np.where(at == 0, 0.0, worths[row, np.maximum(0, at - 1)])
        high = np.minimum(worths[row, np.minimum(most, at + 1)], np.where(self.never, part.top[self.jobs], np.inf))
        under, over = self._at(low), self._at(high)
        for _ in range(STEPS):
            gap = over.work - under.work
            cross = over.value - under.value + (WHOLE - under.work) * low - (WHOLE - over.work) * high
            worth = np.clip(np.where(gap > 0, cross / np.where(gap > 0, gap, 1.0), low), low, high)
            mid = self._at(worth)
            less = mid.work < WHOLE
            low, high = np.where(less, worth, low), np.where(less, high, worth)
            under, over = under.replaced(less, mid), over.replaced(~less, mid)
        gap = over.work - under.work
        share = np.where(gap > 0, np.clip((WHOLE - under.work) / np.where(gap > 0, gap, 1.0), 0.0, 1.0), 1.0)
        time = np.stack([under.time * (1 - share)[:, None], over.time * share[:, None]], axis=2)
        way = np.stack([under.way, over.way], axis=2)
        missing = np.maximum(0.0, WHOLE - under.work * (1 - share) - over.work * share)
        cost = (time * part.relaxed.energy[way]).sum(axis=(1, 2)) + (time.sum(axis=2) * self.extra).sum(axis=1) + self.late
        cost += missing * part.top[self.jobs] * np.where(self.never, 1.0, TIGHT)
        return _Found(np.maximum(under.value, over.value), cost, time, way)

    def _at(self, worth: Floats) -> _Work:
        """The best work at a worth."""
        gain = np.where(self.rate > 0, worth[:, None] * self.rate, -np.inf)[:, :, None] - self.charged
        way = gain.argmax(axis=1)
        best = np.take_along_axis(gain, way[:, None, :], axis=1)[:, 0] - self.extra
        time = np.where(best > 0, self.length, 0.0)
        work = (time * np.take_along_axis(self.rate, way, axis=1)).sum(axis=1)
        return _Work(WHOLE * worth - (time * best).sum(axis=1) + self.late, work, time, way)


@dataclass(frozen=True)
class _Work:
    """By job: the bound, the share of the work that is done, and by slot the time run and the way, shape (n, S)."""

    value: Floats
    work: Floats
    time: Floats
    way: Ints

    def replaced(self, where: Bools, other: _Work) -> _Work:
        """The other's jobs where told, else these."""
        return _Work(
            np.where(where, other.value, self.value),
            np.where(where, other.work, self.work),
            np.where(where[:, None], other.time, self.time),
            np.where(where[:, None], other.way, self.way),
        )
