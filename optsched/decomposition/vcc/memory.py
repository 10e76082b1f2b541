"""The bound that remembers the last slots: a shortest path over (slot, jobs started, how many in each of the last slots).

What has been started lately still runs, but for short jobs, so what starts next has to fit beside it as well. The more was
started in the last slot that is remembered the less can have ended: the best history with at most so many there is one running
minimum more. Where the queue is empty a cap of 1 is priced and not counted, so that there are no layers; days are not branched
on.
"""

from __future__ import annotations

from math import prod

import numpy as np

from optsched.decomposition.vcc.fits import sizes
from optsched.decomposition.vcc.paths import EPSILON, Path
from optsched.decomposition.vcc.relaxation import Branch, Evaluated, Prices, StaircaseRelaxation
from optsched.instances.base import Floats, Ints

MOST_STATES = 20_000_000  # over all slots; 0.7 s an evaluation


class MemoryRelaxation:
    """A relaxation with `fits`, and what was started in each of the last slots as further states.

    Attributes
    ----------
    slots : that are remembered. small : whether its states can be gone through.
    """

    def __init__(self, relaxed: StaircaseRelaxation, slots: int) -> None:
        self.relaxed, self.instance, self.paths, self.slots = relaxed, relaxed.instance, relaxed.paths, slots
        self.tight, self.days, self.room = relaxed.tight, relaxed.days, relaxed.room
        window, instance = self.paths.window, self.instance
        self.high = window.high
        self.low = np.concatenate([[0], window.low])  # before each slot, and after the last one
        most = [self._most(t) for t in range(instance.horizon)] if self.paths.edges else []  # jobs that a slot can start
        self.most = [0] * slots + most  # and in the slots before the first
        after = self.high - self.low[1:] + 1
        before = np.concatenate([[0], self.high[:-1]]) - self.low[:-1] + 1
        lately = [prod(n + 1 for n in self.most[t + 1 : t + slots + 1]) for t in range(len(most))]
        states = sum(int(n) * m for n, m in zip(np.maximum(after, before), lately, strict=False))
        self.small = 0 < states <= MOST_STATES
        self.upto, self.free = sizes(instance)
        size, h = instance.capacity_ncu, instance.slot_h
        whole = np.bincount(instance.day, minlength=self.days) * size * h
        free = np.where(relaxed.bounded, 0.0, size * h)  # NCU-hours of slots in which any cap starts nothing
        self.wanted = np.minimum(instance.demanded, whole)  # what a day lacks beyond is lacking anyway
        self.wanted -= np.bincount(instance.day, free, minlength=self.days)
        self.lacking = instance.daily_penalty_per_ncu_h * float(np.maximum(0.0, instance.demanded - whole).sum())
        self.beside, self.excess = list[Ints](), np.zeros((slots + 2, instance.horizon))  # when they are first needed

    def _most(self, t: int) -> int:
        edge = self.paths.edges[t]
        index = np.arange(int(self.high[t] - self.low[t]) + 1)
        return int((index if edge is None else index - edge).max())

    def _beside(self, t: int) -> Ints:
        """Before slot t: with how many numbers of jobs started in the first slot remembered, from 0 on, those to start fit.

        Shape (states, jobs started + 1 of each later slot, jobs to start + 1).
        """
        jobs, end = self.instance.columns, int(self.high[t])
        first = np.searchsorted(self.high, np.arange(1, end + 1))
        ended = np.concatenate([[0.0], np.cumsum(np.where(first + jobs.duration[:end] <= t, jobs.ncu[:end], 0.0))])
        lately = self.most[t : t + self.slots][::-1]  # that each slot before t can have started, the last one first
        state = np.arange(int(self.low[t]), (int(self.high[t - 1]) if t else 0) + 1)
        begun: Ints = state.reshape(-1, *[1] * self.slots)
        gone: Floats = np.zeros(begun.shape)
        for ago, many in enumerate(lately, start=1):  # of those that a slot started the short ones have ended
            before = np.maximum(0, begun - np.arange(many + 1).reshape(-1, *[1] * (self.slots - ago)))
            short = np.concatenate([[0.0], np.cumsum(np.where(jobs.duration[:end] <= ago, jobs.ncu[:end], 0.0))])
            gone, begun = gone + (short[begun] - short[before]), before
        gone = np.minimum.accumulate(gone + ended[begun], axis=-1).reshape(-1, lately[-1] + 1)
        to = state[:, None] + np.arange(self.most[t + self.slots] + 1)
        need = np.repeat(self.upto[np.minimum(to, end)] - self.free[t], len(gone) // len(to), axis=0)
        apart = (np.arange(len(gone)) * 4.0 * (self.upto[-1] + self.instance.capacity_ncu))[:, None]
        slack = 1e-9 * self.instance.capacity_ncu + 8 * EPSILON * float(apart[-1, 0])  # `apart` rounds
        place = np.searchsorted((apart - gone).ravel(), (apart - need).ravel() + slack, side="right").reshape(need.shape)
        place -= np.arange(len(gone))[:, None] * gone.shape[1]
        return np.asarray(np.clip(place, 0, gone.shape[1])).reshape(len(to), *[many + 1 for many in lately[:-1]], -1)

    def __call__(self, prices: Prices, branch: Branch) -> Evaluated:
        """The priced optimum; of the branch nothing is known here."""
        relaxed, at = self.relaxed, self.relaxed.charges(prices)
        if not self.beside:
            self.beside = [self._beside(t) for t in range(self.instance.horizon)]
            self.excess = relaxed.excesses(self.slots)
        empty = at.rate * relaxed.when_empty + (at.spare - at.daily) * relaxed.whole_cap
        largest = self.excess.max(axis=0)
        charges = at.load * (largest - self.excess)
        value, started = self._cheapest(at.load - at.rate, charges, -at.rate, empty)
        empties = np.bincount(self.instance.day, started == self.instance.arrived, minlength=self.days)
        path = Path(value, started, empties.astype(np.int64))
        excess = largest, self.excess[self._ago(started), np.arange(len(started))]
        more = [self.lacking, float(prices.daily @ self.wanted)]
        return relaxed.evaluated(at, path, excess, self.wanted, relaxed.whole_cap, more)

    def _ago(self, started: Ints) -> Ints:
        """How many slots ago something last started, at most one more than are remembered, shape (T,)."""
        slots = np.arange(len(started))
        last = np.maximum.accumulate(np.where(np.diff(started, prepend=0) > 0, slots, -len(slots)))
        return np.asarray(np.minimum(slots - last, self.slots + 1))

    def _cheapest(self, load_price: Floats, charges: Floats, head: Floats, empty: Floats) -> tuple[float, Ints]:
        """Value and jobs started by slot of the cheapest staircase.

        Parameters
        ----------
        load_price, head, empty : as for `Paths.cheapest`. charges : by how many slots ago something last started, by slot.
        """
        paths, came, low = self.paths, self.instance.arrived, self.low
        paid = np.concatenate([[0.0], np.cumsum(paths.price + load_price)])
        paths.highest = max(paths.highest, float(np.abs(paid).max()))
        flat = [1] * (self.slots - 1)
        value = np.zeros((1, *flat, 1))  # by state and jobs started in each of the last slots, the last one first
        passed: list[Floats] = []
        for t, b in enumerate(self.high.tolist()):
            passed.append(value)
            beside = self.beside[t]
            best = np.full((*value.shape[:-1], value.shape[-1] + 1), np.inf)  # of none, one, two, ... numbers of jobs
            np.minimum.accumulate(value, axis=-1, out=best[..., 1:])
            going = np.take_along_axis(best, beside, axis=-1)
            if paths.open[t]:
                spent = paths.cost(t, int(low[t]), b, paid)
                padded = np.append(spent, np.full(going.shape[-1], np.inf))
                windows = np.lib.stride_tricks.sliding_window_view(padded, going.shape[-1])[: len(going)]
                more = windows - spent[: len(going), None] + float(charges[0, t])
                going += more.reshape(len(going), *flat, -1)
            else:
                going[:] = np.inf
            going[..., 0] = self._still(value, charges[:, t])
            value = _turned(going, int(low[t + 1] - low[t]), int(b - low[t + 1] + 1))
            heads = paths.ncu[int(low[t + 1]) : min(b + 1, int(came[t]))] * head[t]
            value[: len(heads)] += heads.reshape(-1, 1, *flat)
            if b == came[t]:
                value[-1] += empty[t]
        least = int(value.argmin())
        if not np.isfinite(value.flat[least]):
            return np.inf, np.zeros(len(passed), dtype=np.int64)
        return float(value.flat[least]), self._trace(np.unravel_index(least, value.shape), passed, charges)

    def _still(self, value: Floats, charges: Floats) -> Floats:
        """By state and jobs started in each of the last slots but one: the best without a start in this one."""
        found, idle = value.min(axis=-1), value
        for ago in range(1, self.slots):
            begun: tuple[slice | int, ...] = (slice(None), *[0] * (ago - 1), slice(1, None))
            found[begun] += charges[ago]
            idle = idle[:, 0]
        never: tuple[slice | int, ...] = (slice(None), *[0] * (self.slots - 1))
        found[never] = np.minimum(idle[:, 0] + charges[-1], idle[:, 1:].min(axis=1, initial=np.inf) + charges[-2])
        return np.asarray(found)

    def _trace(self, place: tuple[np.intp, ...], passed: list[Floats], charges: Floats) -> Ints:
        """Jobs started by slot of the history that ends at that place."""
        k, *lately = map(int, place)
        k += int(self.low[-1])
        started = np.zeros(len(passed), dtype=np.int64)
        for t in range(len(passed) - 1, -1, -1):
            started[t] = k
            many, *lately = lately
            k -= many
            before = (k - int(self.low[t]), *lately)
            value = passed[t][before]
            if many:
                value = value[: self.beside[t][(*before, many)]]
            elif not any(lately):
                value = value + np.append(charges[-1, t], np.full(len(value) - 1, charges[-2, t]))
            lately.append(int(value.argmin()))
        return started


def _turned(going: Floats, first: int, count: int) -> Floats:
    """From (state before, ..., jobs started) to (state after, jobs started, ...), for the states after from `first` on."""
    value = np.full((count, going.shape[-1], *going.shape[1:-1]), np.inf)
    for many in range(going.shape[-1]):
        begin = max(0, first - many)  # of the states before
        end = min(len(going), first + count - many)
        if begin < end:
            value[begin + many - first : end + many - first, many] = going[begin:end, ..., many]
    return value
