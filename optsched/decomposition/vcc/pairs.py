"""The bound that remembers the last slot: a shortest path over (slot, jobs started, how many of them just now).

What has just been started still runs, but for jobs of one slot, so what starts next has to fit beside it as well. The more has
just been started the less can have ended: the best history with at most so many is one running minimum more. Where the queue
is empty a cap of 1 is priced and not counted, so that there are no layers; days are not branched on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from optsched.decomposition.vcc.fits import sizes
from optsched.decomposition.vcc.paths import EPSILON, Path
from optsched.decomposition.vcc.relaxation import Branch, Evaluated, Prices, StaircaseRelaxation
from optsched.instances.base import Floats, Ints

MOST_STATES = 4_000_000
Small = npt.NDArray[np.int32]


class PairRelaxation:
    """A relaxation with `fits`, and what has just been started as a second state."""

    def __init__(self, relaxed: StaircaseRelaxation) -> None:
        self.relaxed, self.instance, self.paths = relaxed, relaxed.instance, relaxed.paths
        self.tight, self.days, self.room = relaxed.tight, relaxed.days, relaxed.room
        window, instance = self.paths.window, self.instance
        self.high = window.high
        self.low = np.concatenate([[0], window.low])  # before each slot, and after the last one
        self.most = [self._most(t) for t in range(instance.horizon)]  # jobs that a slot can start
        after = self.high - self.low[1:] + 1
        before = np.concatenate([[0], self.high[:-1]]) - self.low[:-1] + 1
        counts = [int(n) * (m + 1) for n, m in zip(np.maximum(after, before), self.most, strict=True)]
        self.small = bool(self.paths.edges) and sum(counts) <= MOST_STATES
        self.upto, self.free = sizes(instance)
        self.beside = [self._beside(t) for t in range(instance.horizon)] if self.small else []
        size, h = instance.capacity_ncu, instance.slot_h
        whole = np.bincount(instance.day, minlength=self.days) * size * h
        free = np.where(relaxed.bounded, 0.0, size * h)  # NCU-hours of slots in which any cap starts nothing
        self.wanted = np.minimum(instance.demanded, whole)  # what a day lacks beyond is lacking anyway
        self.wanted -= np.bincount(instance.day, free, minlength=self.days)
        self.lacking = instance.daily_penalty_per_ncu_h * float(np.maximum(0.0, instance.demanded - whole).sum())

    def _most(self, t: int) -> int:
        edge = self.paths.edges[t] if self.paths.edges else None
        index = np.arange(int(self.high[t] - self.low[t]) + 1)
        return int((index if edge is None else index - edge).max())

    def _beside(self, t: int) -> Small:
        """Before slot t, by state and jobs to start: how many numbers of just started jobs, from 0 on, leave the room for them.

        Shape (states, most + 1).
        """
        many = np.arange(self.most[t] + 1)
        if t == 0:
            fit = self.upto[np.minimum(many, len(self.upto) - 1)] <= self.free[0]
            return np.asarray(fit[None, :], dtype=np.int32)
        jobs, end = self.instance.columns, int(self.high[t])
        first = np.searchsorted(self.high, np.arange(1, end + 1))
        ended = np.concatenate([[0.0], np.cumsum(np.where(first + jobs.duration[:end] <= t, jobs.ncu[:end], 0.0))])
        short = np.concatenate([[0.0], np.cumsum(np.where(jobs.duration[:end] == 1, jobs.ncu[:end], 0.0))])
        state = np.arange(int(self.low[t]), int(self.high[t - 1]) + 1)
        before = np.maximum(0, state[:, None] - np.arange(self.most[t - 1] + 1))
        gone = ended[before] + short[state][:, None] - short[before]
        gone = np.minimum.accumulate(gone, axis=1)
        need = self.upto[np.minimum(state[:, None] + many, end)] - self.free[t]
        apart = (np.arange(len(state)) * 4.0 * (self.upto[-1] + self.instance.capacity_ncu))[:, None]
        slack = 1e-9 * self.instance.capacity_ncu + 8 * EPSILON * float(apart[-1, 0])  # `apart` rounds
        place = np.searchsorted((apart - gone).ravel(), (apart - need).ravel() + slack, side="right").reshape(need.shape)
        place -= np.arange(len(state))[:, None] * gone.shape[1]
        return np.asarray(np.clip(place, 0, gone.shape[1]), dtype=np.int32)

    def __call__(self, prices: Prices, branch: Branch) -> Evaluated:
        """The priced optimum; of the branch nothing is known here."""
        relaxed, at = self.relaxed, self.relaxed.charges(prices)
        empty = at.rate * relaxed.when_empty + (at.spare - at.daily) * relaxed.whole_cap
        value, started = self._cheapest(at.load - at.rate, at.load * relaxed.excess, -at.rate, empty)
        empties = np.bincount(self.instance.day, started == self.instance.arrived, minlength=self.days)
        path = Path(value, started, empties.astype(np.int64))
        return relaxed.evaluated(at, path, self.wanted, relaxed.whole_cap, [self.lacking, float(prices.daily @ self.wanted)])

    def _cheapest(self, load_price: Floats, start: Floats, head: Floats, empty: Floats) -> tuple[float, Ints]:
        """Value and jobs started by slot of the cheapest staircase; the prices as for `Paths.cheapest`."""
        paths, came, low = self.paths, self.instance.arrived, self.low
        paid = np.concatenate([[0.0], np.cumsum(paths.price + load_price)])
        paths.highest = max(paths.highest, float(np.abs(paid).max()))
        value = np.zeros((1, 1))  # by state and jobs just started
        back: list[Small] = []
        for t, b in enumerate(self.high.tolist()):
            best = np.minimum.accumulate(value, axis=1)
            which = np.maximum.accumulate(np.where(value <= best, np.arange(value.shape[1]), 0), axis=1).astype(np.int32)
            beside = self.beside[t]
            at = np.maximum(0, beside - 1)
            going = np.where(beside > 0, np.take_along_axis(best, at, axis=1), np.inf)
            came_from = np.take_along_axis(which, at, axis=1)
            if paths.open[t]:
                spent = paths.cost(t, int(low[t]), b, paid)
                padded = np.append(spent, np.full(going.shape[1], np.inf))
                windows = np.lib.stride_tricks.sliding_window_view(padded, going.shape[1])[: len(going)]
                going = going + (windows - spent[: len(going), None] + float(start[t]))
            else:
                going[:] = np.inf
            going[:, 0], came_from[:, 0] = best[:, -1], which[:, -1]
            value, origin = _turned(going, came_from, int(low[t + 1] - low[t]), int(b - low[t + 1] + 1))
            heads = paths.ncu[int(low[t + 1]) : min(b + 1, int(came[t]))] * head[t]
            value[: len(heads)] += heads[:, None]
            if b == came[t]:
                value[-1] += empty[t]
            back.append(origin)
        least = int(value.argmin())
        if not np.isfinite(value.flat[least]):
            return np.inf, np.zeros(len(back), dtype=np.int64)
        k, just = divmod(least, value.shape[1])
        k += int(low[-1])
        started = np.zeros(len(back), dtype=np.int64)
        for t in range(len(back) - 1, -1, -1):
            started[t] = k
            k, just = k - just, int(back[t][k - int(low[t + 1]), just])
        return float(value.flat[least]), started


def _turned(going: Floats, origin: Small, first: int, count: int) -> tuple[Floats, Small]:
    """From (state before, jobs started) to (state after, jobs started), for the states after from `first` on."""
    width = going.shape[1]
    before = np.arange(first, first + count)[:, None] - np.arange(width)
    real = (before >= 0) & (before < len(going))
    place = np.clip(before, 0, len(going) - 1) * width + np.arange(width)
    return np.where(real, going.ravel()[place], np.inf), np.where(real, origin.ravel()[place], 0).astype(np.int32)
