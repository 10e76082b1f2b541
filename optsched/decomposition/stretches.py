"""Of every job the stretches of consecutive starts at one place: its best option is looked for in the most promising first."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.problems.packing import Packing
from optsched.problems.time_indexed import TimeIndexedProblem

Stretch = tuple[float, int, int, int, int, int]
"""The best score in it, its place, its first option, the one after its last, its first slot, the slot after its last one."""


class Stretches:
    """Options by a score, or by what they add where there is none.

    Parameters
    ----------
    score
        Shape (n,); what an option adds to the objective is never more than its value, so that either bounds a stretch.
    """

    def __init__(self, program: TimeIndexedProblem, score: Floats | None = None) -> None:
        self.program, self.score = program, score
        self._demand: list[float] = program.demand.tolist()
        self._duration: list[int] = program.duration.tolist()
        self._begins: list[int] = np.searchsorted(program.job, np.arange(len(program.demand) + 1)).tolist()
        self._known: dict[int, list[Stretch]] = {}  # of a job, as soon as it is asked for: there may be millions
        kind = np.int32 if program.overload_price is None else np.float64
        self._sums = np.zeros(program.capacity.shape[1] + 1, dtype=kind)

    def insert_best(self, packing: Packing, job: int, flush: bool = False) -> bool:
        """Choose the option of best score of those that add something to a packing; whether the job (left out) has one.

        Parameters
        ----------
        flush
            Only where it could not begin one slot earlier, or later.
        """
        top, option, adds = -np.inf, -1, 0.0
        duration = self._duration[job]
        for bound, place, begin, end, first, last in self.of(job):
            if bound <= top:
                break
            net = self._net(
                packing.residual_capacity[place, first:last], self.program.value[begin:end], self._demand[job], duration
            )
            may = net > 0
            if flush:
                may[1:-1] &= ~(may[:-2] & may[2:])
            liked = np.where(may, net if self.score is None else self.score[begin:end], -np.inf)
            best = int(liked.argmax())
            if liked[best] > top:
                top, option, adds = float(liked[best]), begin + best, float(net[best])
        if option < 0:
            return False
        packing.insert(option, adds)
        return True

    def of(self, job: int) -> list[Stretch]:
        """The job's, the most promising first."""
        if job not in self._known:
            p, begin, end = self.program, self._begins[job], self._begins[job + 1]
            place, start = p.place[begin:end], p.start[begin:end]
            score = (p.value if self.score is None else self.score)[begin:end]
            cut = np.flatnonzero((np.diff(place, prepend=-1) != 0) | (np.diff(start, prepend=-2) != 1))
            best = np.maximum.reduceat(score, cut) if len(cut) else score
            after = np.append(cut[1:], end - begin) if len(cut) else cut
            columns = (best, place[cut], begin + cut, begin + after, start[cut], start[after - 1] + self._duration[job])
            found = zip(*(column.tolist() for column in columns), strict=True)
            self._known[job] = sorted(found, key=lambda stretch: -stretch[0])
        return self._known[job]

    def _net(self, room: Floats, value: Floats, demand: float, duration: int) -> Floats:
        """What each start adds to the objective, in what is left of the capacity; minus infinity where it does not fit."""
        price = self.program.overload_price
        sums = self._sums[: len(room) + 1]
        lacks = room < demand - 1e-9 if price is None else np.minimum(np.maximum(demand - room, 0.0), demand)
        np.add.accumulate(lacks, out=sums[1:])
        if not sums[-1]:
            return value
        if price is None:
            return np.where(sums[duration:] == sums[:-duration], value, -np.inf)
        return np.asarray(value - price * (sums[duration:] - sums[:-duration]))
