"""Lifted cover inequalities: jobs that do not fit beside each other in a slot, which a price for capacity lets in by halves.

Of jobs that together exceed the capacity of a place in a slot one does not run there. Lifted, the others of the place count
too (Letchford and Souli, Operations Research Letters 47, 2019): what one of them counts depends on its demand alone, but for
the smaller jobs of the cover, which count one each. With a price a cover is a part of the Lagrangian dual like any other, so
that anybody can work out what prices of capacity and of covers prove together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.ranks import begins
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Spare

LEAST = 0.02  # by which a cover is violated, to be looked at
SOME = 1e-6  # of a job in a slot
MOST_STEPS = 400  # of a capacity that may be exceeded: what covers let in then is worked out for each
MOST_PRICES = 20_000_000  # by place, slot and demand


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

        Near the capacity it is by the best filling of that many steps (`_filled`), further away than twice it by the demand
        that fills them most densely.
        """
        if program.overload_price is None or not len(self):
            return np.zeros(len(self))
        weights = (program.kinds[0] / program.step).astype(np.int64)
        room = (program.within[self.place, self.slot] / program.step).astype(np.int64)
        beyond = int(room.max()) + 1
        most = self._filled(program, weights, room, beyond)
        near = (np.maximum(0.0, most - self.limit[:, None]) / np.arange(1, beyond + 1)).max(axis=1)
        dense = (self.count / weights).max(axis=1)
        far = dense + np.maximum(0.0, self.size + dense * room - self.limit) / (beyond + 1)
        return np.asarray(np.maximum(near, far))

    def _filled(self, program: TimeIndexedProblem, weights: Ints, room: Ints, beyond: int) -> Floats:
        """What jobs count at most where so many steps more than `room` are in use, from one on, shape (C, beyond).

        A knapsack in which but the cover's own small jobs there may be any number of each demand.

        Parameters
        ----------
        weights, room : demands, shape (K,), and capacities, shape (C,), in steps.
        """
        filled = np.zeros((len(self), int(room.max()) + beyond + 1))
        for units in range(1, filled.shape[1]):
            fits = weights <= units
            inside = self.count[:, fits] + filled[:, units - weights[fits]]
            filled[:, units] = np.maximum(filled[:, units - 1], inside.max(axis=1, initial=0.0))
        taken = np.full((len(self), int(self.size.max()) + 1), np.inf)  # by so many of the cover's small jobs, the smallest
        for number, small in enumerate(self._small()):
            steps = np.sort(program.demand[small]) / program.step
            taken[number, : len(small) + 1] = np.cumsum(np.append(0.0, steps))
        used, most = room[:, None] + np.arange(1, beyond + 1), np.zeros((len(self), beyond))
        for number in range(taken.shape[1]):
            left = used - taken[:, number, None]
            inside = np.take_along_axis(filled, left.clip(0, filled.shape[1] - 1).astype(np.int64), 1)
            most = np.maximum(most, np.where(left >= 0, number + inside, 0.0))
        return most

    def _small(self) -> list[Ints]:
        """Of each cover those of its jobs that count one."""
        end = np.cumsum(self.size)
        return [self.jobs[first:last][self.one[first:last]] for first, last in zip(end - self.size, end, strict=True)]

    def paid(self, program: TimeIndexedProblem) -> Floats:
        """What every option of a program pays for covers, shape (n,)."""
        (places, slots), kinds = program.capacity.shape, program.kinds[1]
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
        end = program.start + program.duration[program.job]
        at = [np.flatnonzero(program.place == place) for place in range(program.capacity.shape[0])]
        first, options, counts = [0], list[Ints](), list[Floats]()
        for place, slot, count, small in zip(self.place, self.slot, self.count, self._small(), strict=True):
            here = at[place][(program.start[at[place]] <= slot) & (end[at[place]] > slot)]
            each = _counted(program, count, small, program.job[here])
            options.append(here[each > 0])
            counts.append(each[each > 0])
            first.append(first[-1] + len(options[-1]))
        return np.array(first), np.concatenate([*options, np.zeros(0, np.int64)]), np.concatenate([*counts, np.zeros(0)])


def suit(program: TimeIndexedProblem) -> bool:
    """Whether covers can be found and priced: loads are whole numbers, of few steps where capacity may be exceeded."""
    places, slots = program.capacity.shape
    if program.step == 0 or places * (slots + 1) * len(program.kinds[0]) > MOST_PRICES:
        return False
    return program.overload_price is None or float(program.within.max(initial=0.0)) <= MOST_STEPS * program.step


def _counted(program: TimeIndexedProblem, count: Floats, small: Ints, jobs: Ints) -> Floats:
    """What jobs count in a cover, shape (J',): by their demand, and its own small ones one."""
    return np.where(np.isin(jobs, small), 1.0, count[program.kinds[1][jobs]])


def _running(program: TimeIndexedProblem, job: Ints, place: Ints, slot: Ints) -> tuple[Ints, Ints]:
    """Of jobs the options that run in a slot of a place: the first, and the one after the last, shape (M,) each."""
    keys, begin = program.keys(program.job, program.place, program.start), np.maximum(0, slot - program.duration[job] + 1)
    first, last = program.keys(job, place, begin), program.keys(job, place, slot)
    return np.searchsorted(keys, first), np.searchsorted(keys, last, side="right")


def together(parts: Sequence[Covers]) -> Covers:
    """Several as one."""
    return Covers(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Covers)))


def cover(program: TimeIndexedProblem, place: int, slot: int, jobs: Ints) -> Covers | None:
    """The inequality of jobs of a place and slot; None if they fit there together, or loads have no steps to be counted in."""
    if program.step == 0 or len(jobs) < 2:
        return None
    weights = program.demand[jobs]
    lifted = lift(np.sort(weights)[::-1], float(program.within[place, slot]), program.kinds[0])
    if lifted is None:
        return None
    count, small = lifted
    where, when, size = np.array([[place], [slot], [len(jobs)]], dtype=np.int64)
    return Covers(where, when, size, count[None], jobs, weights <= small, np.zeros(1))


def lift(weights: Floats, room: float, demands: Floats) -> tuple[Floats, float] | None:
    """What jobs count beside a cover, by demand, shape (K,), and the demand up to which its own jobs count one.

    None where the cover fits. All numbers are whole, and so exact.

    Parameters
    ----------
    weights
        Of the cover, the largest first, shape (M,).
    room
        That they exceed.
    demands
        In order, shape (K,).
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


def violated(program: TimeIndexedProblem, share: Floats, most: int, spare: Spare) -> Covers | None:
    """Covers that a fractional choice violates, those first that it violates most; None where there are none.

    Parameters
    ----------
    share
        How much of each option is chosen, shape (n,).
    spare
        Whether there is time left; else what has been found.
    """
    found = sorted(_violations(program, share, spare), key=lambda each: -each[0])
    return together([made for _, made in found[:most]]) if found else None


def any_violated(program: TimeIndexedProblem, share: Floats, spare: Spare) -> bool:
    """Whether there is one."""
    return next(_violations(program, share, spare), None) is not None


def _violations(program: TimeIndexedProblem, share: Floats, spare: Spare) -> Iterator[tuple[float, Covers]]:
    """By place and slot: how much each is violated, beside the root of its limit, and the cover."""
    used = np.flatnonzero(share > SOME)
    used = used[np.lexsort((program.start[used], program.place[used]))]
    end, runs = program.start + program.duration[program.job], used[:0]
    for moment in np.split(used, begins(program.place[used] * program.capacity.shape[1] + program.start[used])[1:]):
        if not len(moment) or not spare():
            return
        place, slot = int(program.place[moment[0]]), int(program.start[moment[0]])  # who runs between two starts has run before
        runs = np.concatenate([runs[(program.place[runs] == place) & (end[runs] > slot)], moment])
        jobs, row = np.unique(program.job[runs], return_inverse=True)
        part = np.bincount(row, share[runs]).astype(float)
        for members in _candidates(program.demand[jobs], part, float(program.within[place, slot])):
            made = cover(program, place, slot, jobs[members])
            if made is not None:
                beyond = float(_counted(program, made.count[0], made.jobs[made.one], jobs) @ part - made.limit[0])
                if beyond > LEAST:
                    yield beyond / float(made.limit[0]) ** 0.5, made


def _candidates(weights: Floats, runs: Floats, room: float) -> list[Ints]:
    """Minimal covers among jobs of which so much runs: of those that run most, and of those that lack least for their size.

    Parameters
    ----------
    weights, runs : of the jobs, shape (J',).
    """
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
