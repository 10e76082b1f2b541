"""What caps cost, followed from snapshots alone: an agent's own, and a rule's that is played beside it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from optsched.instances.base import Data, Floats
from optsched.instances.vcc import VccInstance

ROUNDING = 1e-9  # of what fits; caps that hold a job back are made just too small for it


def room(cap: Floats, capacity: float, inflexible: float) -> Floats:
    """What may run under a cap: less than one that is just too small for a job, and all that cap 1 has room for."""
    capped = cap * capacity * np.where(cap < 1.0, 1 - ROUNDING, 1 + ROUNDING)
    return np.asarray(np.minimum(capped, (capacity - inflexible) * (1 + ROUNDING)))


Waiting = tuple[float, int, int]
"""NCU, slots to run, slot of submission."""


class Kept(Data):
    """A `Beside` as JSON."""

    spent: float
    load: float
    allotted: float
    waiting: tuple[Waiting, ...]
    leaving: tuple[tuple[int, float], ...]
    billed: float
    last: int


@dataclass
class Beside:
    """The queue of a replay under somebody's caps, and what it has cost; nothing is evicted.

    Attributes
    ----------
    spent
        Priced as in the objective, for the slots so far.
    load
        Flexible load that runs, NCU.
    allotted
        NCU-hours that the day's caps add up to so far.
    waiting
        The head first.
    leaving
        NCU by the slot in which they leave.
    billed
        Carbon that the last slot was charged with: what was believed of it.
    last
        That slot; -1 before any.
    """

    spent: float = 0.0
    load: float = 0.0
    allotted: float = 0.0
    waiting: deque[Waiting] = field(default_factory=deque)
    leaving: dict[int, float] = field(default_factory=dict)
    billed: float = 0.0
    last: int = -1

    def correct(self, snapshot: VccInstance) -> None:
        """Charge the slot before with the carbon that came, where it has been charged at all."""
        if snapshot.carbon_before is not None and self.last == snapshot.now - 1:
            priced = snapshot.carbon_price * snapshot.kw_per_ncu * snapshot.slot_h
            self.spent += priced * self.load * (snapshot.carbon_before - self.billed)

    def join(self, now: int, jobs: list[Waiting]) -> None:
        """What has ended leaves, and what is submitted in slot `now` joins the queue."""
        for slot in [slot for slot in self.leaving if slot <= now]:  # earlier ones where nobody was asked for a while
            self.load = max(0.0, self.load - self.leaving.pop(slot))
        self.waiting.extend(jobs)

    def step(self, snapshot: VccInstance, k: int, cap: float, asked: float) -> None:
        """Slot `k` of the snapshot under a cap, on a day that asks for `asked` NCU-hours by then."""
        now, h, capacity = snapshot.now + k, snapshot.slot_h, snapshot.capacity_ncu
        most = float(room(np.array(cap), capacity, float(snapshot.inflexible[k])))
        late = 0.0
        while self.waiting and self.load + self.waiting[0][0] <= most:
            ncu, slots, submitted = self.waiting.popleft()
            self.load += ncu
            self.leaving[now + slots] = self.leaving.get(now + slots, 0.0) + ncu
            late += ncu * max(0, now - submitted - snapshot.delay_limit_slots)
        self.allotted += cap * capacity * h
        self.spent += snapshot.delay_penalty_per_ncu_h * h * late
        self.billed, self.last = float(snapshot.carbon[k]), now
        self.spent += snapshot.carbon_price * snapshot.kw_per_ncu * h * self.load * self.billed
        if snapshot.ends_day[k]:
            lacking = snapshot.daily_fraction * asked - self.allotted
            self.spent += snapshot.daily_penalty_per_ncu_h * max(0.0, lacking)
            self.allotted = 0.0

    def kept(self) -> Kept:
        """All of it."""
        return Kept(
            spent=self.spent,
            load=self.load,
            allotted=self.allotted,
            waiting=tuple(self.waiting),
            leaving=tuple(self.leaving.items()),
            billed=self.billed,
            last=self.last,
        )

    @classmethod
    def of(cls, kept: Kept) -> Beside:
        """What was kept."""
        return cls(kept.spent, kept.load, kept.allotted, deque(kept.waiting), dict(kept.leaving), kept.billed, kept.last)
