"""Who knows the future: what the rest of the instance makes every GPU worth, by site and slot.

The Lagrangian dual of what is left (waiting jobs, those still to come, the capacity that what runs leaves) prices them.
"""

from __future__ import annotations

import numpy as np

from optsched.decomposition.dual import solve_dual
from optsched.instances.base import Floats
from optsched.instances.geo import GeoInstance
from optsched.problems.geo import time_indexed
from optsched.rolling.geo.episode import Episode

ITERATIONS = (150, 40)  # of the dual: at first, and from the prices of last time
EVERY_H = 6.0  # between prices
STARTS = 5  # only every so manieth start of a job counts: a site's price hardly differs within minutes


class Teacher:
    """Prices of one episode.

    Attributes
    ----------
    prices
        USD a GPU and slot from slot `priced` on, shape (P, T).
    """

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.every = max(1, round(EVERY_H * episode.network.hour))
        self.prices: Floats | None = None
        self.priced = 0

    def left(self) -> GeoInstance:
        """The rest of the instance, as whoever knows the future sees it."""
        simulator = self.episode.simulator
        shown, now = simulator.show(), simulator.now
        coming = [self.episode.truth.jobs[int(j)] for j in simulator.order[simulator.seen :]]
        later = tuple(job.model_construct(**(job.__dict__ | {"submitted": job.submitted - now})) for job in coming)
        return shown.model_copy(update={"jobs": (*shown.jobs, *later)})

    def paid(self) -> Floats:
        """USD that a GPU pays at a site before each slot from the present on, shape (P, T + 1)."""
        now = self.episode.simulator.now
        if self.prices is None or now >= self.priced + self.every:
            program, _ = time_indexed(self.left())
            first = np.ones(len(program), dtype=bool)
            first[1:] = (program.job[1:] != program.job[:-1]) | (program.place[1:] != program.place[:-1])
            program = program.where((first | (program.start % STARTS == 0)) & (program.value > 0))
            start = None if self.prices is None else self.prices[:, now - self.priced :]
            self.prices = solve_dual(program, iterations=ITERATIONS[start is not None], start=start).prices
            self.priced = now
        left = self.prices[:, now - self.priced :]
        paid = np.zeros((left.shape[0], left.shape[1] + 1))
        np.cumsum(left, axis=1, out=paid[:, 1:])
        return paid
