"""What past days of a data centre tell: who came at which hour, and how often a lump of jobs came at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.rolling.vcc.beside import Waiting
from optsched.rolling.vcc.lanes import DURATIONS, by_duration

LUMPS = ((0.5, 1 / 7), (1.0, 1 / 14), (2.0, 1 / 21), (3.0, 1 / 42))  # of a usual day's work, at once; how likely on a day
BELIEVED = 2.0  # days of a history count as much as that: about half a lump, which is Jeffreys' prior of a rate


@dataclass(frozen=True)
class Past:
    """Hours of whole days, and lumps.

    Attributes
    ----------
    day
        Slots of a day.
    work
        NCU submitted, by slot from a day's first on, and by `DURATIONS`.
    asked
        NCU-hours that each day's slots submit.
    lumps
        Their size, of a usual day's work, and how likely they are on a day.
    lumpy
        Whether one of these days had one; None where nobody knows.
    """

    day: int
    work: tuple[Floats, ...]
    asked: tuple[tuple[float, ...], ...]
    lumps: tuple[tuple[float, float], ...]
    lumpy: bool | None

    @classmethod
    def of(cls, instance: VccInstance) -> Past:
        """The whole days of an instance."""
        day = instance.day_slots
        hours: list[list[Waiting]] = [[] for _ in range(instance.horizon)]
        midnight = -instance.now % day
        slots = max(0, instance.horizon - midnight) // day * day
        if not slots:
            return NOTHING
        for job in (job for job in instance.jobs if not job.waited):
            hours[job.submitted].append((job.ncu, job.duration, job.submitted))
        work = [by_duration(jobs) for jobs in hours[midnight : midnight + slots]]
        days = [np.array(work[first : first + day]) for first in range(0, slots, day)]
        asked = [tuple((hours @ DURATIONS * instance.slot_h).tolist()) for hours in days]
        return cls(day, tuple(work), tuple(asked), *_lumps(days))

    def before(self, slot: int) -> Sequence[Floats]:
        """Hours that lead up to that slot: they end at the same time of the day as the one before it."""
        time = slot % self.day
        return self.work[: (len(self.work) - time) // self.day * self.day + time]


NOTHING = Past(1, (), (), LUMPS, lumpy=None)


def usual_day(days: Sequence[Floats]) -> Floats:
    """The median one by work."""
    return sorted(days, key=lambda hours: float((hours @ DURATIONS).sum()))[(len(days) - 1) // 2]


def _lumps(days: Sequence[Floats]) -> tuple[tuple[tuple[float, float], ...], bool | None]:
    """How likely they are after so many days: as believed before, drawn towards what came on top of what is usual then.

    And whether any came.
    """
    usual = usual_day(days) @ DURATIONS
    if not usual.any():
        return LUMPS, None
    largest = [float((hours @ DURATIONS - usual).max()) for hours in days]
    sizes, rates = np.array(LUMPS).T
    came = np.histogram(largest, [*(sizes * float(usual.sum())), np.inf])[0]
    likely = (BELIEVED * rates + came) / (BELIEVED + len(days))
    return tuple(zip(sizes.tolist(), likely.tolist(), strict=True)), bool(came.any())
