"""Who came when, by hour: what futures are drawn from, and whether there are more or fewer of late than these hours have."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Generic, TypeVar

import numpy as np

from optsched.rolling.slotted import Slotted, SlottedJob

RECENT = 6  # whole hours that say how many come of late
SPREAD = 0.2  # relative: of the number that comes of late, as far as is known before
J = TypeVar("J", bound=SlottedJob)

Hour = tuple[int, bool, list[tuple[int, J]]]  # its first slot, whether it is of other days, and (slots after that, job)


def hour_and_day(slot_s: float) -> tuple[int, int]:
    """In slots, one at least."""
    return max(1, round(3600 / slot_s)), max(1, round(86400 / slot_s))


def whole_hours(past: Slotted[J]) -> range:
    """Those of past days, counted from the midnight before."""
    hour, day = hour_and_day(past.slot_s)
    phase = past.now % day
    return range(-(-phase // hour), (phase + past.horizon) // hour)


class Arrivals(Generic[J]):
    """Which jobs came when, by block of an hour: what futures are drawn from.

    Attributes
    ----------
    offset, whole
        Where the present stretch begins, in slots, and its whole blocks.
    """

    def __init__(self, block: int, day: int) -> None:
        self.block, self.blocks_a_day = max(1, block), max(1, day // max(1, block))
        self.jobs: dict[int, list[tuple[int, J]]] = defaultdict(list)
        self.count = 0

    def begin(self, slots: int) -> None:
        """Room for a stretch of `slots` slots, on whole days so that hours of the day stay aligned."""
        self.offset, self.whole = self.count * self.block, slots // self.block
        self.count += math.ceil(slots / (self.block * self.blocks_a_day)) * self.blocks_a_day

    def add(self, slot: int, job: J) -> None:
        """A job submitted in a slot of the present stretch."""
        at = self.offset + slot
        self.jobs[at // self.block].append((at % self.block, job))

    def future(
        self, known: list[range], first: int, last: int, like_last: int | None, rng: np.random.Generator
    ) -> list[Hour[J]]:
        """One drawn future over the slots first..last of the present stretch: the blocks of it, each one of `known` again.

        Where the same hour of no other day is known it is one of the `like_last` latest that are, or any of them.
        """
        drawn: list[Hour[J]] = []
        for block in range(first // self.block, last // self.block + 1) if any(known) else ():
            alike = [range(r.start + (block - r.start) % self.blocks_a_day, r.stop, self.blocks_a_day) for r in known]
            hours = alike if any(alike) else known
            count = sum(map(len, hours))
            of = count if any(alike) or like_last is None else min(like_last, count)
            hour = _nth(hours, count - of + int(rng.integers(of)))
            drawn.append((block * self.block, hour * self.block < self.offset, self.jobs.get(hour, [])))
        return drawn

    def level(self, before: range, own: range, slots: int) -> tuple[float, float]:
        """How many come of late, as a multiple of what the same hours of the day have on other days, and how sure that is.

        The mean of a gamma distribution around 1, given the jobs of the last hours, and its coefficient of variation; counts
        vary by as much more than those of a Poisson process as those of all hours do. Who comes too late to end within the
        stretch is never seen, so that only those of other days count that would not. An hour that no other day has tells
        nothing.

        Parameters
        ----------
        before, own
            Whole hours of a history, and of the present stretch so far.
        slots
            Of the present stretch.
        """
        late, others = own[-RECENT:], [*before, *own[: -RECENT or None]]
        every = np.array([len(self.jobs.get(hour, ())) for hour in others], dtype=float)
        if not late or not every.any():
            return 1.0, SPREAD
        came = usual = 0.0
        for hour in late:
            if alike := [other for other in others if (other - hour) % self.blocks_a_day == 0]:
                left = self.offset + slots - hour * self.block
                came += len(self.jobs.get(hour, ()))
                usual += sum(self._ending(other, left) for other in alike) / len(alike)
        scatter = max(1.0, float(every.var() / every.mean()))
        prior = scatter / SPREAD**2
        return (came + prior) / (usual + prior), math.sqrt(scatter / (came + prior))

    def _ending(self, hour: int, slots: int) -> int:
        """Jobs of an hour that may end so many slots after its beginning."""
        return sum(after + job.duration <= slots for after, job in self.jobs.get(hour, ()))


def _nth(ranges: list[range], n: int) -> int:
    """The number at that place, one range after the other."""
    for numbers in ranges:
        if n < len(numbers):
            return numbers[n]
        n -= len(numbers)
    raise IndexError(n)
