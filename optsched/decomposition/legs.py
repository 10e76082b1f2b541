"""Legs: the search cools again and again, and what the last of these legs held is chosen from exactly.

Where there is time to cool more than once, each leg ends elsewhere, and is best at some places and in some stretches of time:
a choice among what all of them held has the best of each (solution merging, as in CMSA: Blum, Pinacho, López-Ibáñez and Lozano,
Computers & Operations Research 68, 2016).
"""

from __future__ import annotations

from collections import deque

import numpy as np

from optsched.decomposition.recreate import EJECTIONS, PLACES, TRIES
from optsched.instances.base import Bools

A_JOB = 20  # ruins of a leg
LEGS, JOBS_A_LEG = 5, 200  # for which there must be time: so many, and one more for so many jobs, as choosing takes longer
COOLED = 0.8  # of a leg: what is held from then on is merged
KEPT, LEAST = 10, 2  # legs that are merged: at most, and where that takes too long
LONG = 2  # legs, that one leg for the rest of the time must have room for
TOO_LONG, LAST = 0.8, 0.8  # of a leg, for merging; of what is left, for a last leg that is a short one


class Legs:
    """Of a search of so many jobs.

    Attributes
    ----------
    least : legs for which there must be time. turns : of a leg, each some ruins at a slot.
    turn_s : seconds that one took, where somebody counts them. kept : how many of the last legs are merged.
    """

    def __init__(self, jobs: int) -> None:
        self.least = LEGS + jobs / JOBS_A_LEG
        self.turns = max(PLACES, A_JOB * jobs // (TRIES + EJECTIONS))
        self.turn_s = 0.0
        self.kept = KEPT
        self._held: deque[Bools] = deque(maxlen=KEPT)

    @property
    def seconds(self) -> float:
        """That a leg takes."""
        return self.turns * self.turn_s

    def worth(self, turns: float) -> bool:
        """Whether so many turns are enough of them."""
        return turns >= self.least * self.turns

    def turns_in(self, seconds: float) -> int:
        """Of the next leg, which cools in time."""
        return self.turns if seconds >= self.seconds else max(PLACES, int(LAST * seconds / self.turn_s))

    def add(self, held: Bools) -> None:
        """The options, shape (n,), that one more leg has held when it was cold."""
        self._held.append(held)

    def merged(self) -> Bools | None:
        """What the last legs have held, shape (n,); None while there is but one."""
        last = list(self._held)[-self.kept :]
        return np.logical_or.reduce(last) if len(last) > 1 else None

    def took(self, seconds: float) -> bool:
        """Half as many next time if choosing from that took too long, else more; whether it did with the fewest."""
        merged, long = min(self.kept, len(self._held)), seconds > TOO_LONG * self.seconds
        self.kept = max(LEAST, merged // 2) if long else min(KEPT, self.kept + 1)
        return long and merged <= LEAST
