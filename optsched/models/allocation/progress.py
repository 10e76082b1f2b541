"""The other snapshot objective of a replay: what every second of running brings, since all is decided anew at the next event.

A job that is done is worth the energy that it will not need, the lateness that it escapes and the GPU time that it no longer
takes from others; a run is worth that, less its own energy and tardiness, for every second of its time.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from optsched.instances.base import Floats
from optsched.models.allocation.look_ahead import LookAhead
from optsched.models.allocation.urgency import urgency

OWN_TARDINESS = 0.3  # a run seldom stays as it is to its end, so its tardiness there counts less


class Progress(LookAhead):
    """The packing of `LookAhead`; the worth of a job per second of its run."""

    name: ClassVar[str] = "progress"

    def costs(self) -> tuple[Floats, float]:
        """Cost a second, by column."""
        listed, column = self.listed, self.listed.job[self.option]
        measured = urgency(self.instance, listed)
        _, cheapest, wait = self.waiting()
        escaped = self.instance.columns.weight_per_s * np.maximum(0.0, wait - measured.slack)
        worth = self.waiting_energy * cheapest + escaped + measured.price * measured.work
        own = self.shared_energy() + OWN_TARDINESS * listed.tardiness[self.option]
        return np.asarray((own - worth[column]) / listed.time_s[self.option] * 1000, dtype=float), 0.0
