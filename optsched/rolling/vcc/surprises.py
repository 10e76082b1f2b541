"""How carbon came other than it was believed: the same hours of past days, whose errors may come again."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Data, Floats
from optsched.instances.vcc import VccInstance

DAYS = 6  # that are remembered, and may come again
A_DAY = 24  # beliefs of a day that are remembered


class Kept(Data):
    """A `Surprises` as JSON."""

    first: int
    came: tuple[float | None, ...]
    told: tuple[tuple[int, tuple[float, ...]], ...]


class Surprises:
    """Beliefs of carbon, and what came.

    Attributes
    ----------
    came
        Carbon of the slots from `first` on to the one before the present, NaN where nobody has said.
    told
        What was believed from a slot on, by that slot.
    """

    def __init__(self, kept: Kept | None = None) -> None:
        self.first = 0 if kept is None else kept.first
        self.came = [] if kept is None else [np.nan if value is None else value for value in kept.came]
        self.told = {} if kept is None else {slot: np.array(ahead) for slot, ahead in kept.told}

    def observe(self, snapshot: VccInstance, slots: int) -> None:
        """What came in the slot before, and what is believed of so many from the present one on."""
        now, day = snapshot.now, snapshot.day_slots
        if not (self.came or self.told):
            self.first = now
        elif (missed := now - self.first - len(self.came)) > 0:  # more than one where nobody was asked for a while
            self.came += [*[np.nan] * (missed - 1), np.nan if snapshot.carbon_before is None else snapshot.carbon_before]
        if now % _stride(day) == 0:
            self.told[now] = snapshot.carbon[:slots]
        if (old := len(self.came) - (DAYS + 1) * day) > 0:
            self.first, self.came = self.first + old, self.came[old:]
        self.told = {slot: ahead for slot, ahead in self.told.items() if slot >= self.first}

    def possible(self, snapshot: VccInstance, slots: int) -> Floats:
        """Carbon of so many slots from the present one on, shape (C, slots): as believed, then off as on each past day."""
        now, day, believed = snapshot.now, snapshot.day_slots, snapshot.carbon[:slots]
        found, stride = [believed], _stride(day)
        for past in range(1, DAYS + 1):
            since = now - past * day
            since -= since % stride  # an error goes with how far ahead was believed, not with the minute
            if since in self.told:
                found.append(np.maximum(0.0, believed + self._error(since, len(believed))))
        return np.array(found)

    def _error(self, since: int, slots: int) -> Floats:
        """By how much what came from slot `since` on was above what was believed then; 0 where not known."""
        told = self.told[since][:slots]
        came = np.array(self.came[since - self.first :][: len(told)])
        error = np.zeros(slots)
        error[: len(came)] = np.nan_to_num(came - told[: len(came)])
        return error

    def kept(self) -> Kept:
        """All of it."""
        came = tuple(None if np.isnan(value) else float(value) for value in self.came)
        told = tuple((slot, tuple(ahead.tolist())) for slot, ahead in self.told.items())
        return Kept(first=self.first, came=came, told=told)


def _stride(day: int) -> int:
    """Slots from one remembered belief to the next."""
    return max(1, day // A_DAY)
