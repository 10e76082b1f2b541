"""What a policy has seen come, and what it makes of that: futures drawn anew at every decision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Data
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.rolling.allocation.durations import Durations, Took, size
from optsched.rolling.allocation.futures import Arrivals, Futures, futures
from optsched.rolling.allocation.playout import Cluster
from optsched.schedules.allocation import Assignment

MOST, A_NODE = 32, 3  # jobs to come, or at least so many a node, or one a GPU: fewer are too few to tell that a queue will last


class Kept(Data):
    """An `Outlook` as JSON, but for its history."""

    rng: dict[str, object]
    jobs: tuple[Job, ...]
    took: Took | None = None  # in old files there is none


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
        self.past = len(self.arrivals.jobs)
        self.arrivals.begin()
        self.came: dict[str, Job] = {}
        self.durations = Durations()

    def observe(self, snapshot: AllocationInstance, away: Collection[str] = ()) -> None:
        """Who is new, and who has ended; what is `away` is out of sight."""
        self.durations.observe(snapshot, self.came, away)
        self._add(job for job in sorted(snapshot.known_jobs, key=lambda job: job.submit_s) if job.id not in self.came)

    def _add(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            self.came[job.id] = job
            self.arrivals.add(job)

    def decided(self, snapshot: AllocationInstance, runs: Mapping[str, Assignment], begun: Collection[str]) -> None:
        """What runs from now on; who has `begun` loses work anywhere else."""
        self.durations.decided(snapshot, self.came, runs, begun)

    def ahead(self, snapshot: AllocationInstance, samples: int) -> tuple[AllocationInstance, Cluster, Futures]:
        """The snapshot with the times to reckon with, its nodes, and its jobs with those that may come."""
        theirs = self.durations.known(snapshot, self.came)
        if theirs is not None:
            jobs = zip(snapshot.known_jobs, theirs.expected.tolist(), strict=True)
            snapshot = snapshot.model_copy(update={"jobs": tuple(job.lasting(multiple) for job, multiple in jobs)})
        measured = urgency(snapshot, options(snapshot))
        cluster = Cluster.of(snapshot, measured.speed)
        work = measured.work[np.isfinite(measured.work)]
        usual = float(work.mean()) / cluster.whole if len(work) else 1.0
        most = max(MOST, A_NODE * int(cluster.nodes.sum()), int(cluster.total.sum()))
        drawn = self.arrivals.draw(self.rng, samples, snapshot.now_s, most, usual)
        found = futures(snapshot, cluster.kind, cluster.gpus, self.arrivals, drawn)
        if theirs is None:
            return snapshot, cluster, found
        law = theirs.law
        known, whole = theirs.drawn(self.rng, samples) / theirs.expected, law.begun(self.rng, samples, most)
        who, which = np.unique(drawn[0], return_inverse=True)
        fair = law.fair(np.array([size(self.arrivals.jobs[i]) for i in who.tolist()]))[which.reshape(drawn[0].shape)]
        told = drawn[0] >= self.past  # a history holds the truth
        coming, reckoned = np.where(told, fair * whole, 1.0), np.where(told, fair * law.expected_begun, 1.0)
        return snapshot, cluster, found.surprising(np.hstack([known, coming]), np.hstack([np.ones(known.shape), reckoned]))

    def kept(self) -> Kept:
        """What it remembers."""
        return Kept(rng=dict(self.rng.bit_generator.state), jobs=tuple(self.came.values()), took=self.durations.kept())

    def go_on(self, kept: Kept) -> None:
        """From there."""
        self.rng.bit_generator.state = kept.rng
        self._add(kept.jobs)
        self.durations = Durations() if kept.took is None else Durations.going_on(kept.took)
