"""FIFO played beside a policy on the same arrivals: what it has earned by now, and will have earned with the known jobs."""

from __future__ import annotations

import numpy as np

from optsched.heuristics.deferrable import dispatch, fifo
from optsched.instances.base import Data, Floats
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.schedules.deferrable import DeferrableSchedule


class Kept(Data):
    """What the shadow remembers; slots count from the beginning of the replay."""

    now: int
    own: tuple[float, ...]
    load: tuple[float, ...]
    waiting: tuple[tuple[str, float, int, int, int], ...]
    known: tuple[str, ...]
    plan: tuple[tuple[str, int], ...]
    earned: float


class Shadow:
    """FIFO from the first snapshot on, with the same capacity and jobs.

    Attributes
    ----------
    earned
        What its starts so far are worth.
    """

    def __init__(self) -> None:
        self.now = 0
        self.own: Floats = np.zeros(0)  # cores that the policy's starts take, by slot
        self.load: Floats = np.zeros(0)  # and its own
        self.waiting: dict[str, tuple[float, int, int, int]] = {}  # cores, duration, earliest, latest
        self.known: set[str] = set()
        self.plan: dict[str, int] = {}
        self.earned = 0.0

    def sees(self, snapshot: DeferrableInstance) -> float:
        """Go to the present of a snapshot; what the shadow has earned, and will have if nothing else comes."""
        until = snapshot.now + snapshot.horizon
        if len(self.load) < until:
            self.own, self.load = (np.concatenate([a, np.zeros(until - len(a))]) for a in (self.own, self.load))
        penalty = snapshot.delay_penalty
        for name in [name for name, start in self.plan.items() if start < snapshot.now]:
            self._start(name, self.plan[name], penalty)  # while nobody was asked
        self.now = snapshot.now
        for job in snapshot.jobs:
            if job.id not in self.known:
                self.known.add(job.id)
                ready = self.now + job.earliest - job.waited
                self.waiting[job.id] = (job.cores, job.duration, ready, self.now + job.latest)
        planned = dispatch(self._instance(snapshot), fifo)
        before, self.plan = self.earned, {start.job: self.now + start.start for start in planned.starts}
        to_come = sum(self._worth(name, start, penalty) for name, start in self.plan.items())
        for name in [name for name, start in self.plan.items() if start == self.now]:
            self._start(name, self.now, penalty)
        return before + to_come

    def _instance(self, snapshot: DeferrableInstance) -> DeferrableInstance:
        """What FIFO would see in the policy's place."""
        free = snapshot.capacity_cores + self.own[self.now :] - self.load[self.now :]
        self.waiting = {name: job for name, job in self.waiting.items() if job[3] >= self.now}
        jobs = tuple(
            Job.model_construct(
                id=name,
                cores=cores,
                duration=duration,
                earliest=max(0, ready - self.now),
                latest=latest - self.now,
                submitted=0,
                waited=max(0, self.now - ready),
            )
            for name, (cores, duration, ready, latest) in self.waiting.items()
        )
        return snapshot.model_copy(update={"capacity": tuple(np.maximum(0.0, free).tolist()), "jobs": jobs})

    def _worth(self, name: str, start: int, penalty: float) -> float:
        cores, duration, ready, _ = self.waiting[name]
        return cores * duration - penalty * (start - ready)

    def _start(self, name: str, start: int, penalty: float) -> None:
        self.earned += self._worth(name, start, penalty)
        cores, duration, _, _ = self.waiting.pop(name)
        del self.plan[name]
        self.load[start : start + duration] += cores

    def done(self, snapshot: DeferrableInstance, decided: DeferrableSchedule) -> None:
        """What the policy starts now takes room that the shadow would have."""
        sizes = {job.id: job for job in snapshot.jobs}
        for start in decided.starts:
            job = sizes[start.job]
            self.own[self.now : self.now + job.duration] += job.cores

    def kept(self) -> Kept:
        """All of it."""
        return Kept(
            now=self.now,
            own=tuple(self.own.tolist()),
            load=tuple(self.load.tolist()),
            waiting=tuple((name, *job) for name, job in self.waiting.items()),
            known=tuple(sorted(self.known)),
            plan=tuple(self.plan.items()),
            earned=self.earned,
        )

    @classmethod
    def of(cls, kept: Kept) -> Shadow:
        """As it was."""
        found = cls()
        found.now, found.earned = kept.now, kept.earned
        found.own, found.load = np.array(kept.own), np.array(kept.load)
        found.waiting = {row[0]: row[1:] for row in kept.waiting}
        found.known, found.plan = set(kept.known), dict(kept.plan)
        return found
