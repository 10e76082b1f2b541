"""Referee of deferrable: OSDEC's objective, eq. (1), with the violation summed over t - d + 1 .. t."""

from __future__ import annotations

from math import fsum

import numpy as np

from optsched.instances.base import Data, Floats, Natural
from optsched.instances.deferrable import DeferrableInstance
from optsched.schedules.base import Evaluation, Schedule, Violation, entry, job_violations

SIGNS = {"work": 1, "delay": -1, "overload": -1}


class Start(Data):
    """A job and its start slot."""

    job: str
    start: Natural


class DeferrableSchedule(Schedule):
    """Jobs that are started; the others are not run."""

    starts: tuple[Start, ...]


def load(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Floats:
    """Cores in use by slot, shape (T,); what would run past the horizon is cut off."""
    jobs = {job.id: j for j, job in enumerate(instance.jobs)}
    change = np.zeros(instance.horizon + 1)
    for start in schedule.starts:
        job = instance.jobs[entry(jobs, start.job, "job")]
        change[min(start.start, instance.horizon)] += job.cores
        change[min(start.start + job.duration, instance.horizon)] -= job.cores
    return np.cumsum(change)[:-1]


def evaluate(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Evaluation:
    """Components in core-slots: work done, delay and overload already priced by omega_1 and omega_2.

    Raises
    ------
    OptschedError : a start names an unknown job.
    """
    jobs = {job.id: job for job in instance.jobs}
    used = load(instance, schedule)
    started = [(jobs[start.job], start.start) for start in schedule.starts]
    return Evaluation.of(
        {
            "work": fsum(job.cores * job.duration for job, _ in started),
            "delay": instance.delay_penalty * fsum(start - job.earliest + job.waited for job, start in started),
            "overload": instance.overload_penalty * fsum(np.maximum(0.0, used - instance.capacity_cores)),
        },
        SIGNS,
    )


def check(instance: DeferrableInstance, schedule: DeferrableSchedule) -> list[Violation]:
    """Every violated rule, empty for a feasible schedule; overload is a cost here, not a violation."""
    jobs = {job.id: job for job in instance.jobs}
    found = list(job_violations((start.job for start in schedule.starts), set(jobs)))
    for start in schedule.starts:
        job = jobs.get(start.job)
        if job is None:
            continue
        end = start.start + job.duration
        for rule, amount in (
            ("starts before its earliest slot", job.earliest - start.start),
            ("starts after its latest slot", start.start - job.latest),
            ("runs past the horizon", end - instance.horizon),
        ):
            if amount > 0:
                found.append(Violation(rule, job=job.id, time=start.start, amount=amount))
    return found


SCHEDULES = (DeferrableSchedule,)
