"""Lifted cover inequalities: jobs that do not fit beside each other in a slot, which a price for capacity lets in by halves.

Of jobs that together exceed the capacity of a place in a slot one does not run there. Lifted, the others of the place count
too (Letchford and Souli, Operations Research Letters 47, 2019): what one of them counts depends on its demand alone, but for
the smaller jobs of the cover, which count one each. With a price a cover is a part of the Lagrangian dual like any other, so
that anybody can work out what prices of capacity and of covers prove together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.time_indexed import TimeIndexedProblem

LEAST = 0.02  # by which a cover is violated, to be looked at
SOME = 1e-6  # of a job in a slot


@dataclass(frozen=True)
class Covers:
    """Inequalities of a program: in `slot` of `place` jobs count as much as `limit` at most.

    Attributes
    ----------
    place, slot, size : shape (C,); of the cover's jobs one does not run.
    count : of a job by its demand, among all demands in order, shape (C, K).
    jobs : of the covers, one cover after the other, shape (M,). one : which of them count one instead, shape (M,).
    price : objective a unit of the limit, not negative, shape (C,).
    """

    place: Ints
    slot: Ints
    size: Ints
    count: Floats
    jobs: Ints
    one: Bools
    price: Floats

    def __len__(self) -> int:
        return len(self.place)

    @property
    def limit(self) -> Floats:
        """What jobs count together at most, shape (C,)."""
        return np.asarray(self.size - 1.0)

    @property
    def rent(self) -> float:
        """What prices earn at the limits: their part of the dual value."""
        return float(self.price @ self.limit)

    def where(self, keep: Bools) -> Covers:
        """Some of them."""
        has = np.repeat(keep, self.size)
        rows = (self.place[keep], self.slot[keep], self.size[keep], self.count[keep])
        return Covers(*rows, self.jobs[has], self.one[has], self.price[keep])

    def slopes(self, program: TimeIndexedProblem) -> Floats:
        """How much beyond the limit jobs count at most for every step of overload, shape (C,); nothing where there is none.

        What may count most in so much capacity is the best filling of a knapsack, in which but the cover's own jobs there may
        be any number of each demand. Far beyond the capacity it is no more than the densest demand fills it with.
        """
        if program.overload_price is None or not len(self):
            return np.zeros(len(self))
        weights = (np.unique(program.demand) / program.step).astype(np.int64)
        room = (program.within[self.place, self.slot] / program.step).astype(np.int64)
        own = np.full((len(self), int(self.size.max()) + 1), np.inf)  # what so many of the cover's smaller jobs take
        begin = np.cumsum(self.size) - self.size
        for number, first in enumerate(begin.tolist()):
            jobs = self.jobs[first : first + self.size[number]][self.one[first : first + self.size[number]]]
            own[number, : len(jobs) + 1] = np.cumsum(np.append(0.0, np.sort(program.demand[jobs] / program.step)))
        beyond = int(room.max(initial=1)) + 1
        filled = np.zeros((len(self), int(room.max(initial=0)) + beyond + 1))
        for units in range(1, filled.shape[1]):
            fits = weights <= units
            inside = self.count[:, fits] + filled[:, units - weights[fits]]
            filled[:, units] = np.maximum(filled[:, units - 1], inside.max(axis=1, initial=0.0))
        steps, most = np.arange(1, beyond + 1), np.zeros((len(self), beyond))
        for number in range(own.shape[1]):
            left = room[:, None] + steps - own[:, number, None]
            counts = number + np.take_along_axis(filled, np.maximum(0, left).clip(0, filled.shape[1] - 1).astype(np.int64), 1)
            most = np.maximum(most, np.where(left >= 0, counts, 0.0))
        limit, dense = self.limit, (self.count / weights).max(axis=1)
        near = (np.maximum(0.0, most - limit[:, None]) / steps).max(axis=1)
        far = dense + np.maximum(0.0, own.shape[1] - 1 + dense * room - limit) / (beyond + 1)
        return np.asarray(np.maximum(near, far))

    def paid(self, program: TimeIndexedProblem) -> Floats:
        """What every option of a program pays for covers, shape (n,)."""
        places, slots = program.capacity.shape
        kinds = np.unique(program.demand, return_inverse=True)[1]
        by_kind = np.zeros((places, slots + 1, self.count.shape[1]))
        np.add.at(by_kind, (self.place, self.slot + 1), self.price[:, None] * self.count)
        upto = np.cumsum(by_kind, axis=1, dtype=np.longdouble).astype(float)
        kind, end = kinds[program.job], program.start + program.duration[program.job]
        paid = upto[program.place, end, kind] - upto[program.place, program.start, kind]
        own, job = np.repeat(np.arange(len(self)), self.size)[self.one], self.jobs[self.one]
        more = self.price[own] * (1.0 - self.count[own, kinds[job]])
        first, last = _running(program, job, self.place[own], self.slot[own])
        change = np.zeros(len(program) + 1, dtype=np.longdouble)
        np.add.at(change, first, more)
        np.subtract.at(change, last, more)
        return np.asarray(paid + np.cumsum(change)[:-1].astype(float))

    def rows(self, program: TimeIndexedProblem) -> tuple[Ints, Ints, Floats]:
        """As rows of a matrix over the options of a program: where each begins, its options, and what they count."""
        kinds = np.unique(program.demand, return_inverse=True)[1][program.job]
        end = program.start + program.duration[program.job]
        at = [np.flatnonzero(program.place == place) for place in range(program.capacity.shape[0])]
        own = np.split(np.where(self.one, self.jobs, -1), np.cumsum(self.size)[:-1])
        begins, options, counts = [0], list[Ints](), list[Floats]()
        for number in range(len(self)):
            here, slot = at[self.place[number]], self.slot[number]
            here = here[(program.start[here] <= slot) & (end[here] > slot)]
            count = self.count[number, kinds[here]]
            count[np.isin(program.job[here], own[number])] = 1.0
            options.append(here[count > 0])
            counts.append(count[count > 0])
            begins.append(begins[-1] + len(options[-1]))
        return np.array(begins), np.concatenate([*options, np.zeros(0, np.int64)]), np.concatenate([*counts, np.zeros(0)])


def _running(program: TimeIndexedProblem, job: Ints, place: Ints, slot: Ints) -> tuple[Ints, Ints]:
    """Of jobs the options that run in a slot of a place: the first, and the one after the last, shape (M,) each."""
    places, slots = program.capacity.shape
    keys, row = (program.job * places + program.place) * slots + program.start, (job * places + place) * slots
    begin = np.maximum(0, slot - program.duration[job] + 1)
    return np.searchsorted(keys, row + begin), np.searchsorted(keys, row + slot, side="right")


def together(parts: Sequence[Covers]) -> Covers:
    """Several as one."""
    return Covers(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Covers)))


def cover(program: TimeIndexedProblem, place: int, slot: int, jobs: Ints) -> Covers | None:
    """The inequality of jobs of a place and slot; None if they fit there together, or loads have no steps to be counted in."""
    if program.step == 0 or len(jobs) < 2:
        return None
    weights = program.demand[jobs]
    lifted = lift(np.sort(weights)[::-1], program.within[place, slot], np.unique(program.demand))
    if lifted is None:
        return None
    count, small = lifted
    where, when, size = np.array([[place], [slot], [len(jobs)]], dtype=np.int64)
    return Covers(where, when, size, count[None], jobs, weights <= small, np.zeros(1))


def lift(weights: Floats, room: float, demands: Floats) -> tuple[Floats, float] | None:
    """What jobs count beside a cover, by demand; and the demand up to which its own jobs count one.

    All numbers are whole, and so exact.

    Parameters
    ----------
    weights
        Of the cover, the largest first.
    room
        That they exceed.
    """
    size, excess = len(weights), float(weights.sum()) - room
    if excess <= 0 or room <= 0:
        return None
    # the weight, top / parts, to which the largest are cut so that all fit exactly
    sums = np.cumsum(weights) - np.arange(1, size + 1) * np.append(weights[1:], 0.0)  # cut off down to the next weight
    cut = int(np.argmax(sums >= excess)) + 1
    top, parts = float(weights[:cut].sum()) - excess, cut
    upto = np.cumsum(np.minimum(weights * parts, top))
    larger = int(np.count_nonzero(weights * parts > top))
    scaled = demands * parts
    count = np.searchsorted(upto, scaled).astype(float)
    whole = scaled / top
    even = (scaled % top == 0) & (whole >= 1) & (whole <= larger - 1)
    return count + 0.5 * even, top / parts


def violated(program: TimeIndexedProblem, share: Floats, most: int) -> Covers | None:
    """Covers that a fractional choice violates, those first that it violates most; None where there are none.

    Parameters
    ----------
    share
        How much of each option is chosen, shape (n,).
    """
    used = np.flatnonzero(share > SOME)
    found: list[tuple[float, Covers]] = []
    for place in range(program.capacity.shape[0]):
        here = used[program.place[used] == place]
        jobs, row = np.unique(program.job[here], return_inverse=True)
        runs = np.zeros((len(jobs), program.capacity.shape[1] + 1))
        np.add.at(runs, (row, program.start[here]), share[here])
        np.subtract.at(runs, (row, program.start[here] + program.duration[program.job[here]]), share[here])
        runs = np.cumsum(runs, axis=1)
        kinds = np.unique(program.demand, return_inverse=True)[1][jobs]
        for slot in np.unique(program.start[here]).tolist():  # who runs between two starts has run at the first
            within = program.within[place, slot]
            for members in _candidates(program.demand[jobs], runs[:, slot], within):
                made = cover(program, place, slot, jobs[members])
                if made is None:
                    continue
                count = made.count[0, kinds]
                count[np.isin(jobs, made.jobs[made.one])] = 1.0
                beyond = float(count @ runs[:, slot] - made.limit[0])
                if beyond > LEAST:
                    found.append((beyond / float(made.limit[0]) ** 0.5, made))
    found.sort(key=lambda each: -each[0])
    return together([made for _, made in found[:most]]) if found else None


def _candidates(weights: Floats, runs: Floats, room: float) -> list[Ints]:
    """Minimal covers among jobs of which so much runs: of those that run most, and of those that lack least for their size."""
    on = np.flatnonzero(runs > SOME)
    if not (runs[on] < 1 - SOME).any():
        return []
    found = list[Ints]()
    for order in (np.lexsort((-weights[on], -runs[on])), np.argsort((1 - runs[on]) / weights[on], kind="stable")):
        upto = np.cumsum(weights[on][order])
        last = int(np.searchsorted(upto, room, side="right"))
        if last == len(on):
            return found
        members, excess = on[order[: last + 1]], float(upto[last]) - room
        for member in members[np.argsort(runs[members], kind="stable")].tolist():  # without it the others exceed the room still
            if weights[member] < excess:
                members, excess = members[members != member], excess - float(weights[member])
        found.append(np.sort(members))
    return found[:1] if len(found) > 1 and np.array_equal(found[0], found[1]) else found
