"""deferrable as a time-indexed problem: what every start slot of every job is worth (docs/formulations/deferrable.md)."""

from __future__ import annotations

from functools import partial

import numpy as np

from optsched.instances.base import Ints
from optsched.instances.deferrable import DeferrableInstance
from optsched.problems.time_indexed import TimeIndexedProblem, built_once, windows
from optsched.problems.view import TimeIndexedView
from optsched.schedules.deferrable import DeferrableSchedule, Start


@built_once
def time_indexed(instance: DeferrableInstance) -> TimeIndexedProblem:
    """One place; an option a job and start slot, worth cores * duration - omega_1 * (start - earliest)."""
    jobs = instance.columns
    job, start = windows(jobs.earliest, np.minimum(jobs.latest, instance.horizon - jobs.duration))
    return TimeIndexedProblem(
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


def to_schedule(instance: DeferrableInstance, options: TimeIndexedProblem, chosen: Ints) -> DeferrableSchedule:
    """The schedule of chosen options (indices into `options`)."""
    pairs = zip(options.job[chosen].tolist(), options.start[chosen].tolist(), strict=True)
    return DeferrableSchedule(starts=tuple(Start(job=instance.jobs[j].id, start=s) for j, s in pairs))


def selected(instance: DeferrableInstance, schedule: DeferrableSchedule) -> list[tuple[int, int, int]]:
    """(job, 0, start) of every start."""
    index = {job.id: j for j, job in enumerate(instance.jobs)}
    return [(index[start.job], 0, start.start) for start in schedule.starts]


def view(instance: DeferrableInstance) -> TimeIndexedView[DeferrableSchedule]:
    """Start slots of the jobs that are worth something."""
    full = time_indexed(instance)
    options = full.where(full.value > 0)
    return TimeIndexedView(
        problem=options,
        places=("cores",),
        schedule=partial(to_schedule, instance, options),
        selected=partial(selected, instance),
    )
