"""A choice of options with the loads it makes: jobs come and go, all starts of a job are judged at once."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.time_indexed import ALMOST, TimeIndexedProblem

NONE = -1  # option of a job that is left out


class Packing:
    """At most one option a job, and what is left of the capacity.

    Attributes
    ----------
    option : of each job, `NONE` if it is left out, shape (J,). residual_capacity : capacity less load, shape (P, T).
    value : objective of the choice, overload included.
    """

    def __init__(self, program: TimeIndexedProblem, chosen: Ints | None = None) -> None:
        chosen = np.zeros(0, dtype=np.int64) if chosen is None else chosen
        self.program = program
        option = np.full(len(program.demand), NONE, dtype=np.int64)
        option[program.job[chosen]] = chosen
        self.become(option)
        begins = np.searchsorted(program.job, np.arange(len(program.demand) + 1))
        self._begins: list[int] = begins.tolist()
        self._demand: list[float] = program.demand.tolist()
        self._duration: list[int] = program.duration.tolist()
        first, last = program.spans
        starts = last - program.duration - first + 1  # of a window, at every place
        unbroken = (starts == np.diff(begins)) & (len(program.capacity) == 1)
        self._first: list[int] = first.tolist()
        self._last: list[int] = last.tolist()
        self._unbroken: list[bool] = unbroken.tolist()  # every start of a window at the only place, in their order
        places, slots = program.capacity.shape
        self._sums = np.zeros((places, slots + 1), dtype=np.int32 if program.overload_price is None else np.float64)
        self._at = (program.place * starts[program.job] + program.start - first[program.job]).astype(np.int32)

    def become(self, option: Ints) -> None:
        """Another choice: the option of each job, shape (J,)."""
        self.option = option.copy()
        chosen = self.chosen
        self.residual_capacity = self.program.capacity - self.program.load(chosen)
        self.value = self.program.objective(chosen)

    @property
    def chosen(self) -> Ints:
        """The chosen options, sorted."""
        return np.asarray(self.option[self.option != NONE])

    def options(self, job: int) -> slice:
        """The job's options, as rows of the program."""
        return slice(self._begins[job], self._begins[job + 1])

    def rows(self, job: int) -> Ints:
        """The same, one by one."""
        return np.arange(self._begins[job], self._begins[job + 1])

    def net(self, job: int) -> Floats:
        """What each option of a job (now left out) would add to the objective; minus infinity where it does not fit."""
        some = self.options(job)
        lacks = self.lacks(job, slice(None), self._first[job], self._last[job])
        if lacks is not None:
            lacks = lacks.ravel() if self._unbroken[job] else lacks.ravel()[self._at[some]]
        return self.net_of(self.program.value[some], lacks)

    def lacks(self, job: int, places: slice, first: int, last: int) -> Floats | Ints | None:
        """What each start of a job from a slot on, which ends by `last`, lacks of its demand, in slots or, priced, in sum.

        Returns
        -------
        By place and start; None where none lacks anything.
        """
        demand, duration = self._demand[job], self._duration[job]
        room = self.residual_capacity[places, first:last]
        if self.program.overload_price is None:
            lacking: Floats | Bools = room < demand - ALMOST
        else:
            lacking = demand - room
            np.maximum(lacking, 0.0, out=lacking)
            np.minimum(lacking, demand, out=lacking)
        sums = self._sums[: len(room), : room.shape[1] + 1]
        np.add.accumulate(lacking, axis=1, out=sums[:, 1:])
        return sums[:, duration:] - sums[:, :-duration] if np.count_nonzero(sums[:, -1]) else None

    def fits(self, job: int, place: int, first: int, last: int) -> list[tuple[int, int]]:
        """Where a job fits between two slots: of every run of starts the first and the last, counted from `first`."""
        duration = self._duration[job]
        room = self.residual_capacity[place, first:last]
        taken = (room < self._demand[job] - ALMOST).tobytes()  # searched faster than an array
        latest = len(taken) - duration
        if taken.find(1, latest, duration) >= 0:  # a slot that every start needs
            return []
        found, begin = [], 0
        while 0 <= begin <= latest:
            end = taken.find(1, begin)
            if end < 0:
                end = len(taken)
            if end - begin >= duration:
                found.append((begin, end - duration))
            begin = taken.find(0, end)
        return found

    def net_of(self, value: Floats, lacks: Floats | Ints | None) -> Floats:
        """What options add to the objective, by their values and what they lack; minus infinity where capacity is hard."""
        if lacks is None:
            return value
        price = self.program.overload_price
        return np.where(lacks > 0, -np.inf, value) if price is None else np.asarray(value - price * lacks)

    def insert_best(self, job: int, score: Floats | None = None) -> bool:
        """Choose the option of most net value, or of most `score` among those that add something; whether the job has one."""
        if self._begins[job] == self._begins[job + 1]:
            return False
        net = self.net(job)
        liked = net if score is None else np.where(net > 0, score, -np.inf)
        best = int(liked.argmax())
        if not net[best] > 0 or liked[best] == -np.inf:
            return False
        self.insert(self._begins[job] + best, float(net[best]))
        return True

    def insert(self, option: int, net: float) -> None:
        """Choose an option whose net value is known."""
        job, start = int(self.program.job[option]), int(self.program.start[option])
        room = self.residual_capacity[self.program.place[option], start : start + self._duration[job]]
        room -= self._demand[job]
        self.option[job] = option
        self.value += net

    def add(self, option: int) -> None:
        """Choose an option of a job that is left out."""
        self.insert(option, 0.0)
        self.value += self._nets(int(self.program.job[option]))[0]

    def remove(self, job: int) -> None:
        """Leave a job out."""
        net, room = self._nets(job)
        room += self._demand[job]
        self.option[job] = NONE
        self.value -= net

    def _nets(self, job: int) -> tuple[float, Floats]:
        """What a job's option adds to the objective, and what is left of the capacity that it is in."""
        p, option = self.program, int(self.option[job])
        start = int(p.start[option])
        room = self.residual_capacity[p.place[option], start : start + self._duration[job]]
        net = float(p.value[option])
        if p.overload_price is not None:
            net -= p.overload_price * float(np.minimum(self._demand[job], np.maximum(0.0, -room)).sum())
        return net, room
