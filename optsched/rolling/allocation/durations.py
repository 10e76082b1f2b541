"""How long jobs took beside what was told of them, and what that says of those that are not done.

Of jobs that somebody saw end it is known, of those that have run only that they take longer: a sample with censored
observations, whose distribution is that of E. L. Kaplan and P. Meier, Nonparametric Estimation from Incomplete Observations,
JASA 53(282), 1958. A job that has run for some time takes one of the longer times.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Data, Floats, Ints
from optsched.rolling.estimates import corrected
from optsched.schedules.allocation import Assignment

EXACT = 1e-3  # relative: who ends so near to what was told took as long as that
NONE = 1e-12  # of all jobs
MOST = 600.0  # of a logarithm
SPREAD = 0.5  # of a slope about 1, before anything is known
TOLD = 2.0  # so many ended jobs weigh as much as what is told
NEAR = 1e-5  # relative: times that are one but for their digits, and the least that is left of a job


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
class Law:
    """How long jobs take, as multiples of what can fairly be expected of what is told of them.

    Attributes
    ----------
    times, share
        Multiples, ascending, and the share of all jobs that take each; the rest takes longer than anybody knows.
    middle, slope
        Of what is told, a logarithm, and how much of the distance from it is to be believed.
    passed, told
        How long each known job has run, and what is told to be left of it, as such multiples, shape (J,).
    """

    times: Floats
    share: Floats
    middle: float
    slope: float
    passed: Floats
    told: Floats

    def fair(self, sizes: Floats) -> Floats:
        """What can be expected of jobs that begin, as a multiple of what is told, whose logarithm that is."""
        return _fair(sizes, self.middle, self.slope)

    @cached_property
    def _first(self) -> Ints:
        """The first of the longer times."""
        return np.searchsorted(self.times, self.passed * (1.0 + NEAR), side="right")

    def drawn(self, rng: np.random.Generator, samples: int) -> Floats:
        """What is left of the known jobs as a multiple of what is told, in so many samples, shape (S, J)."""
        left = self._takes(rng, samples, self._first) - self.passed
        return np.where(np.isfinite(left), np.maximum(left, NEAR * self.passed), self.told) / self.told

    def begun(self, rng: np.random.Generator, samples: int, coming: int) -> Floats:
        """The same of jobs that begin, shape (S, coming)."""
        takes = self._takes(rng, samples, np.zeros(coming, dtype=np.int64))
        return np.where(np.isfinite(takes), takes, self.times[-1])

    def _takes(self, rng: np.random.Generator, samples: int, first: Ints) -> Floats:
        until = np.cumsum(self.share)
        below = np.append(0.0, until)[first]
        at = below + rng.random((samples, len(first))) * (1.0 - below)
        return np.append(self.times, np.inf)[np.maximum(np.searchsorted(until, at, side="right"), first)]

    @cached_property
    def expected(self) -> Floats:
        """What is left of the known jobs in the mean, as a multiple of what is told, shape (J,)."""
        return self._mean(self._first, self.passed, self.told)

    @property
    def expected_begun(self) -> float:
        """The same of jobs that begin."""
        return float(self._mean(np.zeros(1, dtype=np.int64), np.zeros(1), self.times[-1:])[0])

    def _mean(self, first: Ints, passed: Floats, told: Floats) -> Floats:
        """Of the longer times; who may outlive them all then takes as long as told."""
        sums = np.cumsum(np.array([self.share, self.share * self.times])[:, ::-1], axis=1)[:, ::-1]
        among, whole = np.hstack([sums, np.zeros((2, 1))])[:, first]
        beyond = max(0.0, 1.0 - float(self.share.sum()))
        found = (np.maximum(whole - passed * among, 0.0) + beyond * told) / np.maximum(among + beyond, NONE) / told
        return np.where(among + beyond > NONE, np.maximum(found, NEAR), 1.0)


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

    def law(self, snapshot: AllocationInstance, came: Mapping[str, Job]) -> Law | None:
        """Of the known jobs; None as long as all jobs take what was told."""
        if not self.surprise:
            return None
        jobs = snapshot.known_jobs
        passed = np.array([self.passed.get(job.id, 0.0) for job in jobs])
        sizes, ended = np.array(self.ended).reshape(-1, 2).T
        firsts = np.array([size(came[job.id]) for job in jobs])
        middle = float(np.mean(np.append(sizes, firsts)))
        slope = _slope(sizes - middle, np.log(ended))
        fair = _fair(firsts, middle, slope)
        took, weights = np.append(ended / _fair(sizes, middle, slope), 1.0), np.append(np.ones(len(ended)), TOLD)
        times, share = survival(took, weights, (passed / fair)[passed > 0.0])
        told = np.maximum([_share(job, came[job.id]) for job in jobs], NONE)
        return Law(times, share, middle, slope, passed / fair, told / fair)


def size(job: Job) -> float:
    """The logarithm of the least time told of a job."""
    return log(min(time for times in job.time_s.values() for time in times if time))


def _slope(sizes: Floats, surprises: Floats) -> float:
    """How much longer jobs are that are told to be longer, in logarithms: least squares about 1, and drawn towards it."""
    noise = max(float(np.square(surprises).mean()), NEAR) if len(surprises) else 1.0
    return min(1.0, max(0.0, 1.0 + float(sizes @ surprises) / (float(sizes @ sizes) + noise / SPREAD**2)))


def _fair(sizes: Floats, middle: float, slope: float) -> Floats:
    """What jobs of those sizes can be expected to take, as a multiple of what is told."""
    return np.exp(np.clip((slope - 1.0) * (sizes - middle), -MOST, MOST))


def survival(ended: Floats, weights: Floats, running: Floats) -> tuple[Floats, Floats]:
    """Times at which jobs have ended, ascending, and the share of all jobs that take each, of which the rest take longer.

    Parameters
    ----------
    ended, weights
        How long a job took, and how many jobs that stands for.
    running
        How long a job that has not ended has run.
    """
    times, which = np.unique(ended, return_inverse=True)
    died = np.bincount(which, weights)
    risk = np.cumsum(died[::-1])[::-1] + len(running) - np.searchsorted(np.sort(running), times, side="left")
    lives = np.cumprod(1.0 - died / risk)
    return times, -np.diff(lives, prepend=1.0)


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
