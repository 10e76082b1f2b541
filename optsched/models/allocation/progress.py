"""The other snapshot objective of a replay: what every second of running costs, since all is decided anew at the next event.

A job will need energy, be late and take GPU time from the others whenever it runs; at least what its best configuration asks
for.
What a configuration asks for beyond that is its regret. A run costs its regret for every second of its time, less the tardiness
weight that its job, faded by its slack, escapes in that second.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from optsched.instances.base import Floats
from optsched.models.allocation.look_ahead import LookAhead
from optsched.problems.allocation.urgency import urgency

PRICE = 0.3  # of `Urgency.price`, as in the priced dispatch
EAGER = 1e-3  # of the least that it asks for: a job that nothing presses runs on idle GPUs all the same
ESCAPED = 0.3  # of the faded weight: another job's end may let a job run almost as soon


class ProgressModel(LookAhead):
    """The packing of `LookAhead`, idle nodes left idle; the regret of a run per second, its node's cost shared by GPUs."""

    name: ClassVar[str] = "progress"
    opens_nodes: ClassVar[bool] = False

    def costs(self) -> tuple[Floats, float]:
        """Cost a second, by column."""
        listed, column = self.listed, self.listed.job[self.option]
        measured = urgency(self.instance, listed)
        besides = listed.tardiness + PRICE * measured.price * listed.time_s * listed.gpus * measured.speed[listed.node_class]
        least = np.full(len(self.instance.known_jobs), np.inf)
        np.minimum.at(least, listed.job, listed.energy + besides)
        regret = self.shared_energy() + besides[self.option] - (1 + EAGER) * least[column]
        cost = regret / listed.time_s[self.option] - ESCAPED * measured.weight[column]
        return np.asarray(cost * 1000, dtype=float), 0.0
