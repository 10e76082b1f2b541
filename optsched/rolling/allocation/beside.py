"""A rule played beside a policy, on the same arrivals: what it would have spent, and what it would have left to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Data
from optsched.rolling.allocation import ledger
from optsched.rolling.allocation.ledger import Ledger
from optsched.schedules.allocation import AllocationSchedule

DONE = 1e-9  # of a job's work

Decide = Callable[[AllocationInstance], AllocationSchedule]


class Kept(Data):
    """A `Beside` as JSON."""

    ledger: ledger.Kept
    jobs: dict[str, Job]
    seen: tuple[str, ...]
    now_s: float
    plan: AllocationSchedule | None


@dataclass
class Beside:
    """A cluster of its own, where a rule decides anew at every arrival and every end. What is moved loses no work here.

    Attributes
    ----------
    ledger
        What has been spent.
    jobs
        Unfinished, with the times that are left.
    seen
        Jobs of the last snapshot: whatever else comes is new.
    now_s
        Until when it has been played.
    plan
        What runs; None where it is time to decide.
    """

    ledger: Ledger = field(default_factory=Ledger)
    jobs: dict[str, Job] = field(default_factory=dict)
    seen: tuple[str, ...] = ()
    now_s: float = 0.0
    plan: AllocationSchedule | None = None

    def follow(self, snapshot: AllocationInstance, rule: Decide) -> AllocationInstance:
        """Play until the snapshot's present, take up what is new in it, and return the cluster as the rule would have it."""
        now = snapshot.now_s
        while self.jobs and self.now_s < now:
            here = self._snapshot(snapshot)
            if self.plan is None:
                self.plan = rule(here)
            self._advance(here, self.plan, now)
        self.now_s = now
        known = set(self.seen)
        if new := {job.id: job for job in snapshot.known_jobs if job.id not in known}:
            self.jobs |= new
            self.plan = None
        self.seen = tuple(job.id for job in snapshot.known_jobs)
        return self._snapshot(snapshot)

    def _snapshot(self, like: AllocationInstance) -> AllocationInstance:
        return like.model_copy(update={"now_s": self.now_s, "jobs": tuple(self.jobs.values())})

    def _advance(self, here: AllocationInstance, decision: AllocationSchedule, until_s: float) -> None:
        """Until the first job ends, or until then."""
        kinds = {node.id: node.gpu_type for node in here.nodes}
        times: dict[str, float] = {}
        for a in decision.assignments:
            time = self.jobs[a.job].time_s[kinds[a.node]][a.gpus - 1]
            assert time is not None
            times[a.job] = time
        passed = min([until_s - self.now_s, *times.values()])
        self.ledger.begin(here, decision)
        self.now_s = until_s if passed >= until_s - self.now_s else self.now_s + passed
        self.ledger.end(self.now_s)
        for job, time in times.items():
            left = 1 - passed / time
            if left <= DONE:
                del self.jobs[job]
                self.plan = None
            else:
                self.jobs[job] = _shorter(self.jobs[job], left)

    def kept(self) -> Kept:
        """All of it."""
        return Kept(ledger=self.ledger.kept(), jobs=self.jobs, seen=self.seen, now_s=self.now_s, plan=self.plan)

    @classmethod
    def of(cls, kept: Kept) -> Beside:
        """What was kept."""
        return cls(Ledger.of(kept.ledger), dict(kept.jobs), kept.seen, kept.now_s, kept.plan)


def _shorter(job: Job, left: float) -> Job:
    times = {kind: tuple(None if t is None else t * left for t in row) for kind, row in job.time_s.items()}
    return job.model_copy(update={"time_s": times})
