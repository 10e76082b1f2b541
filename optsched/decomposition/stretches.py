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
        self._known: dict[int, list[Stretch]] = {}  # of a job, as soon as it is asked for: there may be millions
        self._look = self._fitting if program.overload_price is None else self._paying

    def insert_best(self, packing: Packing, job: int, places: list[bool], flush: bool = False) -> bool:
        """Choose the option of best score of those that add something to a packing; whether the job (left out) has one.

        Parameters
        ----------
        places
            Which may be taken.
        flush
            Only where it could not begin one slot earlier, or later.
        """
        top, option, adds = -np.inf, -1, 0.0
        for stretch in self._of(packing, job):
            if stretch[0] <= top:
                break
            if not places[stretch[1]]:
                continue
            liked, best, net = self._look(packing, job, stretch, flush)
            if liked > top:
                top, option, adds = liked, best, net
        if option < 0:
            return False
        packing.insert(option, adds)
        return True

    def _paying(self, packing: Packing, job: int, stretch: Stretch, flush: bool) -> tuple[float, int, float]:
        """Of a stretch the best score, its option and what that adds, where overload is paid for."""
        _, place, begin, end, first, last = stretch
        lacks = packing.lacks(job, slice(place, place + 1), first, last)
        net = packing.net_of(self.program.value[begin:end], None if lacks is None else lacks[0])
        may = net > 0
        if flush:
            may[1:-1] &= ~(may[:-2] & may[2:])
        liked = np.where(may, net if self.score is None else self.score[begin:end], -np.inf)
        best = int(liked.argmax())
        return float(liked[best]), begin + best, float(net[best])

    def _fitting(self, packing: Packing, job: int, stretch: Stretch, flush: bool) -> tuple[float, int, float]:
        """The same where capacity is hard: of every run of starts that fit."""
        _, place, begin, _, first, last = stretch
        score = self.program.value if self.score is None else self.score
        top, option = -np.inf, -1
        for low, high in packing.fits(job, place, first, last):
            if flush:
                best = begin + (low if score[begin + low] >= score[begin + high] else high)
            else:
                best = begin + low + int(score[begin + low : begin + high + 1].argmax())
            if score[best] > top:
                top, option = float(score[best]), best
        return top, option, float(self.program.value[option])

    def _of(self, packing: Packing, job: int) -> list[Stretch]:
        """The job's, the most promising first."""
        if job not in self._known:
            p, rows = self.program, packing.rows(job)
            some = rows[p.value[rows] > 0]  # nobody wants the others
            place, start = p.place[some], p.start[some]
            cut = np.flatnonzero((np.diff(place, prepend=-1) != 0) | (np.diff(start, prepend=-2) != 1))
            after = np.append(cut, len(start))[1:]
            score = (p.value if self.score is None else self.score)[some]
            last = start[after - 1] + p.duration[job]
            best = [float(score[begin:end].max()) for begin, end in zip(cut.tolist(), after.tolist(), strict=True)]
            columns = (place[cut], some[cut], some[after - 1] + 1, start[cut], last)
            found = zip(best, *(column.tolist() for column in columns), strict=True)
            self._known[job] = sorted(found, key=lambda stretch: -stretch[0])
        return self._known[job]
