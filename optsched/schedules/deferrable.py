"""Referee of deferrable: OSDEC's objective, eq. (1), with the violation summed over t - d + 1 .. t."""

from __future__ import annotations

from math import fsum

import numpy as np
from pydantic import SerializerFunctionWrapHandler, model_serializer

from optsched.instances.base import Data, Floats, Natural
from optsched.instances.deferrable import DeferrableInstance
from optsched.instances.grid import Whole, tally
from optsched.schedules.base import Evaluation, Schedule, Violation, entry, job_violations

SIGNS = {"work": 1, "delay": -1, "overload": -1}


class Start(Data):
    """A job and its start slot."""

    job: str
    start: Natural


class Cut(Start):
    """A run that a cancellation, or the horizon, has ended before its end, in the slot `until`: no work is done."""

    until: Natural


class DeferrableSchedule(Schedule):
    """Jobs that are started; the others are not run. In a replay with events some may be `cut` short."""

    starts: tuple[Start, ...]
    cut: tuple[Cut, ...] = ()

    @property
    def jobs_run(self) -> int:
        """How many jobs it runs."""
        return len({start.job for start in self.starts})

    @model_serializer(mode="wrap")
    def _brief(self, default: SerializerFunctionWrapHandler) -> dict[str, object]:
        data: dict[str, object] = default(self)
        return data if self.cut else {"starts": data["starts"]}


def load_units(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Whole:
    """Cores in use by slot, shape (T,), in whole units of the instance's grid; what would run past the horizon is cut off."""
    jobs, slots = {job.id: j for j, job in enumerate(instance.jobs)}, instance.horizon
    pairs = [(entry(jobs, start.job, "job"), start.start) for start in (*schedule.starts, *schedule.cut)]
    job, start = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    cores, ends = instance.units.cores[job], start + instance.columns.duration[job]
    ends[len(schedule.starts) :] = [ended.until for ended in schedule.cut]
    change = tally(np.minimum(start, slots), cores, slots + 1) - tally(np.minimum(ends, slots), cores, slots + 1)
    return np.cumsum(change)[:-1]


def load(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Floats:
    """The same in cores."""
    return instance.units.grid.value(load_units(instance, schedule))


def evaluate(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Evaluation:
    """Components in core-slots: work done, delay and overload already priced by omega_1 and omega_2.

    Raises
    ------
    OptschedError : a start names an unknown job.
    """
    jobs = {job.id: job for job in instance.jobs}
    over = np.maximum(0, load_units(instance, schedule) - instance.units.capacity)
    started = [(jobs[start.job], start.start) for start in schedule.starts]
    return Evaluation.of(
        {
            "work": fsum(job.cores * job.duration for job, _ in started),
            "delay": instance.delay_penalty * fsum(start - job.earliest + job.waited for job, start in started),
            "overload": instance.overload_penalty * fsum(instance.units.grid.value(over)),
        },
        SIGNS,
    )


def check(instance: DeferrableInstance, schedule: DeferrableSchedule) -> list[Violation]:
    """Every violated rule, empty for a feasible schedule; overload is a cost here, not a violation."""
    jobs = {job.id: job for job in instance.jobs}
    found = list(job_violations((start.job for start in (*schedule.starts, *schedule.cut)), set(jobs)))
    for start in (*schedule.starts, *schedule.cut):
        job = jobs.get(start.job)
        if job is None:
            continue
        cancelled = instance.cancelled.get(job.id)
        end = start.until if isinstance(start, Cut) else start.start + job.duration
        if isinstance(start, Cut) and not start.start < end < start.start + job.duration:
            found.append(Violation("cut short outside of its run", job.id, time=end))
        elif isinstance(start, Cut) and end not in (cancelled, instance.horizon):
            found.append(Violation("cut short by nothing", job.id, time=end))
        for rule, amount in (
            ("runs on after it was cancelled", 0 if cancelled is None else end - cancelled),
            ("starts before its earliest slot", job.earliest - start.start),
            ("starts after its latest slot", start.start - job.latest),
            ("runs past the horizon", end - instance.horizon),
        ):
            if amount > 0:
                found.append(Violation(rule, job=job.id, time=start.start, amount=amount))
    return found
