"""What the optimum charges for capacity: the prices that prove its bound of all jobs that are to come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optsched.decomposition.dual import solve_dual
from optsched.instances.base import Floats
from optsched.instances.deferrable import DeferrableInstance
from optsched.problems.deferrable import time_indexed
from optsched.rolling.deferrable.play import Play
from optsched.rolling.deferrable.simulator import rebased

ITERATIONS = (200, 60)  # of the dual: at first, and from the prices of last time
AGAIN = 12  # slots for which prices are kept: what the learner does changes what the rest is worth


def rest(play: Play) -> DeferrableInstance:
    """All that is left of the truth: jobs not started, also those not yet submitted, and capacity that running ones leave."""
    simulator = play.simulator
    truth, now = simulator.truth, simulator.now
    left = np.maximum(0.0, simulator.capacity[0, now:] - simulator.load[0, now:])
    left_over = (job for j, job in enumerate(truth.jobs) if j not in simulator.started and job.latest >= now)
    jobs = tuple(rebased(job, now, job.duration) for job in left_over)
    return truth.model_copy(update={"jobs": jobs, "capacity": tuple(left.tolist()), "now": truth.now + now})


@dataclass
class Teacher:
    """Prices of capacity for one replay, renewed as it goes."""

    prices: Floats | None = None
    priced_at: int = 0

    def charge(self, play: Play) -> Floats:
        """Core-slots that a core costs in each slot from the present on, shape (T,): multipliers of the capacity."""
        now = play.simulator.now
        start = None if self.prices is None else self.prices[now - self.priced_at :]
        if start is None or now >= self.priced_at + AGAIN:
            program = time_indexed(rest(play))
            worth = program.where(program.value > 0)
            if len(worth):
                given = None if start is None else start[None, :]
                found = solve_dual(worth, iterations=ITERATIONS[start is not None], start=given).prices[0]
            else:
                found = np.zeros(play.simulator.truth.horizon - now)
            self.prices, self.priced_at, start = found, now, found
        assert start is not None
        return start
