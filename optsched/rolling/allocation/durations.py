"""How long jobs took beside what was told of them, as allocation shows it, and what is believed of those that are not done."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Data, Floats
from optsched.rolling.estimates import corrected
from optsched.rolling.law import EXACT, NEAR, Law
from optsched.schedules.allocation import Assignment

NONE = 1e-12  # of what was told: next to nothing is left


class Running(Data):
    """A job that runs: where, how long it was told to take there, how long it had run before, and since when it works.

    It is not `seen` while its node drains.
    """

    node: str
    gpus: int
    whole_s: float
    began: float
    since_s: float
    seen: bool = True


class Took(Data):
    """What is remembered, as multiples of what was told of a job when it came.

    Attributes
    ----------
    running, passed
        Who runs, and how long each unfinished job has run.
    ended
        Of jobs that have ended: their `size`, and how long they took.
    """

    running: dict[str, Running]
    passed: dict[str, float]
    ended: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Known:
    """What a law says of the known jobs.

    Attributes
    ----------
    law
        How long jobs take.
    passed, told
        How long each has run, and what is told to be left of it, as multiples of what can fairly be expected, shape (J,).
    """

    law: Law
    passed: Floats
    told: Floats

    def drawn(self, rng: np.random.Generator, samples: int) -> Floats:
        """What is left of them as a multiple of what is told, in so many samples, shape (S, J)."""
        left = self.law.takes(rng, samples, self.law.first(self.passed)) - self.passed
        return np.where(np.isfinite(left), np.maximum(left, NEAR * self.passed), self.told) / self.told

    @cached_property
    def expected(self) -> Floats:
        """What is left of them in the mean, as a multiple of what is told, shape (J,)."""
        return self.law.mean_left(self.law.first(self.passed), self.passed, self.told)


class Durations:
    """What jobs have taken until now."""

    def __init__(self) -> None:
        self.running: dict[str, Running] = {}
        self.passed: dict[str, float] = {}
        self.ended: list[tuple[float, float]] = []

    @classmethod
    def going_on(cls, took: Took) -> Durations:
        """From there."""
        found = cls()
        found.running, found.passed, found.ended = dict(took.running), dict(took.passed), list(took.ended)
        return found

    def kept(self) -> Took:
        """As JSON."""
        return Took(running=self.running, passed=self.passed, ended=tuple(self.ended))

    def observe(self, snapshot: AllocationInstance, came: Mapping[str, Job], away: Collection[str]) -> None:
        """What has passed since the last decision; of those `away` nothing can be seen."""
        now, known = snapshot.now_s, {job.id: job for job in snapshot.known_jobs}
        before, self.passed = self.passed, {job: p for job, p in self.passed.items() if job in known or job in away}
        running, self.running = self.running, {}
        watched = not known.keys().isdisjoint(came)  # else nothing was decided until somebody came, and nobody saw who ended
        for job, run in running.items():
            passed = before.get(job, 0.0) + max(0.0, now - run.since_s) / run.whole_s
            if job in known:
                share = _share(known[job], came[job])
                told = _passed(share, passed)
                if abs(told - passed) <= NEAR * max(1.0, passed):
                    self.passed[job], self.running[job] = told, run.model_copy(update={"seen": True})
                else:  # its node has failed, or another policy has decided
                    self.passed[job] = _passed(share, run.began)
            elif job in away:
                self.running[job] = run.model_copy(update={"seen": False})
            elif run.seen and watched:
                most = corrected(1.0, before.get(job, 0.0))  # it may have ended before there was anything to decide
                passed = min(passed, most)
                self.ended.append((size(came[job]), max(passed, NEAR)))

    def decided(
        self, snapshot: AllocationInstance, came: Mapping[str, Job], runs: Mapping[str, Assignment], begun: Collection[str]
    ) -> None:
        """What runs from now on; who has `begun` anywhere else loses work."""
        before, now, kinds = self.running, snapshot.now_s, snapshot.type_of_node
        self.running = {job: run for job, run in before.items() if not run.seen}
        for job, a in runs.items():
            whole_s = came[job].time_s[kinds[a.node]][a.gpus - 1]
            assert whole_s is not None
            began, since = self.passed.get(job, 0.0), now + snapshot.migration_cost_s * (job in begun)
            last = before.get(job)
            if last is not None and (last.node, last.gpus) == (a.node, a.gpus):
                began, since = last.began, max(now, last.since_s)
            self.running[job] = Running(node=a.node, gpus=a.gpus, whole_s=whole_s, began=began, since_s=since)

    @property
    def surprise(self) -> bool:
        """Whether a job has not taken what was told."""
        ends = (abs(took - 1.0) > EXACT for _, took in self.ended)
        return any(ends) or any(passed > 1.0 + EXACT for passed in self.passed.values())

    def known(self, snapshot: AllocationInstance, came: Mapping[str, Job]) -> Known | None:
        """What to believe of the known jobs; None as long as all jobs take what was told."""
        if not self.surprise:
            return None
        jobs = snapshot.known_jobs
        passed = np.array([self.passed.get(job.id, 0.0) for job in jobs])
        sizes, ended = np.array(self.ended).reshape(-1, 2).T
        firsts = np.array([size(came[job.id]) for job in jobs])
        law = Law.learned(sizes, ended, firsts, passed)
        fair = law.fair(firsts)
        told = np.maximum([_share(job, came[job.id]) for job in jobs], NONE)
        return Known(law, passed / fair, told / fair)


def size(job: Job) -> float:
    """The logarithm of the least time told of a job."""
    return log(min(time for times in job.time_s.values() for time in times if time))


def _share(job: Job, first: Job) -> float:
    """What is told to be left of a job, as a multiple of what was told when it came."""
    return next(
        (
            now / then
            for kind, times in job.time_s.items()
            for now, then in zip(times, first.time_s[kind], strict=True)
            if now and then
        ),
        0.0,
    )


def _passed(share: float, about: float) -> float:
    """How long a job has run of which that is told to be left: of what that may be, what is nearest."""
    whole, found = 1.0, max(0.0, 1.0 - share)
    while whole <= about + share:
        whole *= 2.0
        found = min(found, max(0.0, whole - share), key=lambda passed: abs(passed - about))
    return found
