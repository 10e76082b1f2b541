"""Who knows the future: what every action in a round is worth at the prices that the rest of the instance gives capacity.

The Lagrangian dual of what is left (waiting jobs, those still to come, the capacity that what runs leaves) prices every GPU by
site and slot. An action is worth what the job then earns less what it pays; postponing is worth the best of what is left later.
"""

from __future__ import annotations

import numpy as np

from optsched.decomposition.dual import solve_dual
from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance
from optsched.problems.geo import time_indexed
from optsched.rl.geo.actors import best_legal
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
        self.every = max(1, round(EVERY_H * episode.day / 24))
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

    def values(self) -> tuple[Ints, Floats]:
        """The jobs asked about, and what postponing them and running them at every site is worth, shapes (n,), (n, 1 + P).

        As shares of what a job earns at best; never is worth zero.
        """
        rounds, sight = self.episode.rounds, self.episode.sight
        assert rounds is not None
        asked, paid, rows = rounds.asked[rounds.asked >= 0], self.paid(), rounds.rows
        found = np.full((len(asked), 1 + rounds.sites), -np.inf)
        for i, j in enumerate(asked.tolist()):
            gpus, duration, best, wait = int(rows.gpus[j]), int(rows.duration[j]), float(sight.best[j]), 0.0
            for n in range(rounds.sites):
                first, last = int(rounds.first[j, n]), int(rounds.last[j, n])
                if first > last:
                    continue
                start = np.arange(first, last + 1)
                end = start + duration
                earned = rounds.signals.upto(np.full(len(start), n), end) - rounds.signals.upto(np.full(len(start), n), start)
                worth = gpus * (earned - paid[n, end] + paid[n, start]) - rounds.cost[j, n]
                found[i, 1 + n] = worth[0] / best
                wait = max(wait, float(worth[1:].max(initial=0.0)) / best)
            found[i, 0] = wait
        return asked, found

    def act(self, values: Floats) -> Ints:
        """What is worth most of what is legal."""
        rounds = self.episode.rounds
        assert rounds is not None
        mine = np.flatnonzero(rounds.asked >= 0)
        actions = np.zeros(rounds.sites, dtype=np.int64)
        actions[mine] = best_legal(values, rounds.legal[mine])
        return actions
