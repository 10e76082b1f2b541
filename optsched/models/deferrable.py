"""deferrable: OSDEC's program, eq. (1), time-indexed with soft capacity."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Ints
from optsched.instances.deferrable import DeferrableInstance
from optsched.models.base import Model
from optsched.models.time_indexed import CoverForm, Program, StateForm, TimeIndexed, windows
from optsched.schedules.deferrable import DeferrableSchedule, Start


def program(instance: DeferrableInstance) -> Program:
    """One place; an option a job and start slot, worth cores * duration - omega_1 * (start - earliest)."""
    jobs = instance.columns
    job, start = windows(jobs.earliest, np.minimum(jobs.latest, instance.horizon - jobs.duration))
    return Program(
        job=job,
        place=np.zeros(len(job), dtype=np.int64),
        start=start,
        value=(jobs.cores * jobs.duration)[job] - instance.delay_penalty * (start - (jobs.earliest - jobs.waited)[job]),
        demand=jobs.cores,
        duration=jobs.duration,
        capacity=instance.capacity_cores[None, :],
        overload_price=instance.overload_penalty,
        constant=0.0,
    )


def to_schedule(instance: DeferrableInstance, options: Program, chosen: Ints) -> DeferrableSchedule:
    """The schedule of chosen options (indices into `options`)."""
    pairs = zip(options.job[chosen].tolist(), options.start[chosen].tolist(), strict=True)
    return DeferrableSchedule(starts=tuple(Start(job=instance.jobs[j].id, start=s) for j, s in pairs))


def selected(instance: DeferrableInstance, schedule: DeferrableSchedule) -> list[tuple[int, int, int]]:
    """(job, 0, start) of every start."""
    index = {job.id: j for j, job in enumerate(instance.jobs)}
    return [(index[start.job], 0, start.start) for start in schedule.starts]


class _Deferrable(TimeIndexed[DeferrableInstance, DeferrableSchedule]):
    def options(self) -> Program:
        """The instance's program."""
        return program(self.instance)

    def schedule(self, chosen: Ints) -> DeferrableSchedule:
        """Starts of the chosen options."""
        return to_schedule(self.instance, self.program, chosen)

    def selected(self, schedule: DeferrableSchedule) -> list[tuple[int, int, int]]:
        """(job, 0, start) of every start."""
        return selected(self.instance, schedule)


class DeferrableState(_Deferrable, StateForm[DeferrableInstance, DeferrableSchedule]):
    """Load as a state: three non-zeros an option; the recommended form."""


class DeferrableCover(_Deferrable, CoverForm[DeferrableInstance, DeferrableSchedule]):
    """A row a slot over the covering options; the printed eq. (1), with its sum over t' mended."""


FORMULATIONS: dict[str, type[Model]] = {m.name: m for m in (DeferrableState, DeferrableCover)}  # type: ignore[type-arg]
