"""Events of a replay in slots: when something comes about by itself, and what may be believed of the capacity then."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.events import SlotOutage

BEGUN = {"fails": "failed", "drains": "drained", "less": "lessened"}


class Disturbances:
    """What goes wrong, and when.

    Parameters
    ----------
    outages, cancelled
        Of the instance, in slots, and by id.
    shape
        Places and slots, (P, T).
    falls
        Slots in which a capacity that everybody knew of may end runs, since they may be longer than believed.

    Attributes
    ----------
    words
        What happens, by slot. gone : who is cancelled, by slot.
    """

    def __init__(
        self, outages: Sequence[SlotOutage], cancelled: Mapping[str, int], shape: tuple[int, int], falls: Iterable[int] = ()
    ) -> None:
        self.outages, self.shape = outages, shape
        told: dict[int, set[str]] = defaultdict(set)
        for outage in outages:
            told[outage.begin].add(BEGUN[outage.kind])
            told[outage.end].add("returned")
            if outage.begin < outage.expected < outage.end:
                told[outage.expected].add("delayed")
        self.gone: dict[int, list[str]] = defaultdict(list)
        for job, slot in cancelled.items():
            self.gone[slot].append(job)
            told[slot].add("cancelled")
        for slot in falls:
            told[slot].add("lessened")
        self.words = {slot: "+".join(sorted(told[slot])) for slot in sorted(told) if slot < shape[1]}
        self._slots = [*self.words, shape[1]]

    def next(self, now: int) -> int:
        """The next slot after the present one in which something happens; the horizon where there is none."""
        return self._slots[min(bisect_right(self._slots, now), len(self._slots) - 1)]

    def believed(self, now: int) -> tuple[Floats, Ints]:
        """What is believed of the places, shape (P, T - now) each.

        Returns
        -------
        The share of their capacity, and 1 where nothing more may start.
        """
        places, slots = self.shape
        share, shut = np.ones((places, slots - now)), np.zeros((places, slots - now), dtype=np.int64)
        for outage in self.outages:
            if outage.begin <= now < outage.end:
                over = outage.expected if outage.expected > now else slots
                part = share[outage.place, : over - now]
                np.minimum(part, outage.left, out=part)
                shut[outage.place, : over - now] |= outage.kind == "drains"
        return share, shut
