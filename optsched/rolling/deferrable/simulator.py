"""deferrable while time passes: capacity is revealed slot by slot (OSDEC, section 4)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.rolling.disturbances import Disturbances
from optsched.rolling.simulator import SNAPSHOT, Told
from optsched.rolling.slots import SlotSimulator
from optsched.schedules.deferrable import Cut, DeferrableSchedule, Start


class DeferrableSimulator(SlotSimulator[DeferrableInstance, DeferrableSchedule, Start]):
    """The truth of a replay of deferrable jobs."""

    truth: DeferrableInstance

    @property
    def slotted(self) -> DeferrableInstance:
        """Itself."""
        return self.truth

    def entries(self, decision: DeferrableSchedule) -> tuple[Start, ...]:
        """The starts."""
        return decision.starts

    def default_period(self) -> int:
        """Every slot: the capacity may differ from what was believed."""
        return 1

    @property
    def demand(self) -> Floats:
        """Cores."""
        return self.truth.columns.cores

    @property
    def capacity(self) -> Floats:
        """Cores, one place."""
        return self.truth.capacity_cores[None, :]

    def what_goes_wrong(self) -> Disturbances:
        """What exceeds the capacity is charged, and ends nothing."""
        return Disturbances(self.truth.outages, self.truth.cancelled, (1, self.truth.horizon))

    def alive(self, job: int) -> bool:
        """Its window and the horizon leave it a start."""
        return self.now <= min(int(self.truth.columns.latest[job]), self.truth.horizon - int(self.expected[job]))

    def left(self) -> Floats:
        """Capacity believed less what runs, from the present slot on."""
        day = max(1, round(86400 / self.truth.slot_s))
        share, _ = self.disturbances.believed(self.now)
        believed = self.believed("capacity", self.truth.nominal[None, :], self.now, day)[0]
        if self.truth.outages:
            believed = self.truth.left_of(believed, share[0])
        return np.asarray(np.maximum(0.0, believed - self.believed_load()[0]))

    def show(self) -> DeferrableInstance:
        """Capacity believed less what runs; windows from now on."""
        return self.truth.model_copy(
            update={
                "capacity": tuple(self.left().tolist()),
                "now": self.truth.now + self.now,
                "meta": {},
                "name": SNAPSHOT,
                "forecast": None,
                "jobs": tuple(rebased(self.truth.jobs[j], self.now, int(self.expected[j])) for j in self.waiting),
                "events": None,
                "running": self.runs(self.going),
                "ended": self.runs(self.over),
                "cut": tuple(self.stopped),
            }
        )

    def next_slot(self, start: Start) -> int:
        """The start."""
        return start.start

    def wakes(self) -> Iterable[int]:
        """The windows of waiting jobs open."""
        return (self.truth.jobs[j].earliest for j in self.waiting)

    def carry_out(self, start: Start, job: int) -> Told | None:
        """Start it."""
        if start.start:
            return None
        begun = Start(job=start.job, start=self.now)
        self.run(job, 0, begun)
        return begun.model_dump()

    def history(self) -> DeferrableSchedule:
        """The starts so far."""
        unended, horizon = self.unended(), self.truth.horizon
        whole = [start for j, start in self.started.items() if j not in unended]
        cut = [*self.cut, *((start, horizon) for start in unended.values())]
        cuts = tuple(Cut(**start.__dict__, until=until) for start, until in cut)
        return DeferrableSchedule(starts=tuple(whole), cut=cuts)


def rebased(job: Job, now: int, duration: int) -> Job:
    """A job as a snapshot of that slot shows it: known, its window from the slot on, and what it has waited counted."""
    return Job.model_construct(
        id=job.id,
        cores=job.cores,
        duration=duration,
        earliest=max(0, job.earliest - now),
        latest=job.latest - now,
        submitted=0,
        waited=job.waited + max(0, now - job.earliest),
    )
