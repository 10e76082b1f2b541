"""How deferrable jobs were served."""

from __future__ import annotations

import numpy as np

from optsched.instances.deferrable import DeferrableInstance
from optsched.rolling.served import Served, in_slots, served
from optsched.schedules.base import Schedule
from optsched.schedules.deferrable import DeferrableSchedule


@served.register
def of_starts(instance: DeferrableInstance, schedule: Schedule) -> Served | None:
    """Of a schedule's starts; a job is ready when its window opens."""
    assert isinstance(schedule, DeferrableSchedule)
    index, jobs = {job.id: j for j, job in enumerate(instance.jobs)}, instance.columns
    j = np.array([index[start.job] for start in schedule.starts], dtype=np.int64)
    start = np.array([start.start for start in schedule.starts], dtype=np.int64)
    run, ready = jobs.duration[j], jobs.earliest[j] - jobs.waited[j]
    pieces = np.column_stack([start, start + run, jobs.cores[j]])
    return in_slots(ready, start, start + run, run, pieces, instance.capacity_cores, instance.slot_s)
