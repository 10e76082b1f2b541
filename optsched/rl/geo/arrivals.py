"""How much has been asked of each site of late: what the snapshots of a replay have shown, remembered with a fading weight."""

from __future__ import annotations

import math

import numpy as np

from optsched.instances.base import Data, Floats

FADES_H = 4.0


class Kept(Data):
    """An `Arrivals` as JSON."""

    now: int
    known: tuple[str, ...]
    sums: tuple[float, ...]
    weight: float


class Arrivals:
    """GPU-slots asked for a slot, by site, each less the longer ago.

    Attributes
    ----------
    known
        Jobs of the last snapshot: what is not among them is new.
    """

    def __init__(self, hour: float) -> None:
        self.fade = 1.0 / (FADES_H * hour)
        self.now = -1
        self.known: frozenset[str] = frozenset()
        self.sums = np.zeros(0)
        self.weight = 0.0

    def see(self, now: int, names: list[str], source: np.ndarray, work: np.ndarray, sites: int) -> None:
        """The jobs that wait in slot `now`, where they were submitted, and their GPU-slots."""
        if not len(self.sums):
            self.sums = np.zeros(sites)
        elif now > self.now:
            kept = math.exp(-self.fade * (now - self.now))
            self.sums, self.weight = self.sums * kept, self.weight * kept + (1 - kept) / self.fade
        first, self.now = self.now < 0, now
        new = [i for i, name in enumerate(names) if name not in self.known]
        if new and not first:  # what waits when a replay begins may have come at any time
            np.add.at(self.sums, source[new], work[new])
        elif first:
            self.weight = 1.0
        self.known = frozenset(names)

    def rate(self, sites: int) -> Floats:
        """GPU-slots a slot, shape (P,)."""
        if not len(self.sums):
            return np.zeros(sites)
        return np.asarray(self.sums / max(self.weight, 0.25 / self.fade))

    def kept(self) -> Kept:
        """All of it."""
        return Kept(now=self.now, known=tuple(sorted(self.known)), sums=tuple(self.sums.tolist()), weight=self.weight)

    def recall(self, kept: Kept) -> None:
        """Go on from there."""
        self.now, self.known, self.weight = kept.now, frozenset(kept.known), kept.weight
        self.sums = np.array(kept.sums)
