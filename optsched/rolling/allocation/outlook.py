"""What a policy has seen come, and what it makes of that: futures drawn anew at every decision."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Data
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.rolling.allocation.futures import Arrivals, Futures, futures
from optsched.rolling.allocation.playout import Cluster

MOST, A_NODE = 32, 3  # jobs to come, or at least so many a node, or one a GPU: fewer are too few to tell that a queue will last


class Kept(Data):
    """An `Outlook` as JSON, but for its history."""

    rng: dict[str, object]
    jobs: tuple[Job, ...]


class Outlook:
    """Who has come so far, in the order in which it was seen, and the random numbers that draw who comes next.

    Parameters
    ----------
    seed
        Of what is drawn.
    history
        Jobs of past days.
    """

    def __init__(self, seed: int, history: Iterable[Job] = ()) -> None:
        self.rng = np.random.default_rng(seed)
        self.arrivals = Arrivals()
        for job in sorted(history, key=lambda job: job.submit_s):
            self.arrivals.add(job)
        self.arrivals.begin()
        self.came: dict[str, Job] = {}

    def observe(self, snapshot: AllocationInstance) -> None:
        """Who is new."""
        self._add(job for job in sorted(snapshot.known_jobs, key=lambda job: job.submit_s) if job.id not in self.came)

    def _add(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            self.came[job.id] = job
            self.arrivals.add(job)

    def ahead(self, snapshot: AllocationInstance, samples: int) -> tuple[Cluster, Futures]:
        """The snapshot's nodes, and its jobs with those that may come."""
        measured = urgency(snapshot, options(snapshot))
        cluster = Cluster.of(snapshot, measured.speed)
        work = measured.work[np.isfinite(measured.work)]
        usual = float(work.mean()) / cluster.whole if len(work) else 1.0
        most = max(MOST, A_NODE * int(cluster.nodes.sum()), int(cluster.total.sum()))
        drawn = self.arrivals.draw(self.rng, samples, snapshot.now_s, most, usual)
        return cluster, futures(snapshot, cluster.kind, cluster.gpus, self.arrivals, drawn)

    def kept(self) -> Kept:
        """What it remembers."""
        return Kept(rng=dict(self.rng.bit_generator.state), jobs=tuple(self.came.values()))

    def go_on(self, kept: Kept) -> None:
        """From there."""
        self.rng.bit_generator.state = kept.rng
        self._add(kept.jobs)
