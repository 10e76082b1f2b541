"""How geo's jobs were served: on the way they wait."""

from __future__ import annotations

import numpy as np

from optsched.instances.geo import GeoInstance
from optsched.rolling.served import Served, in_slots, served
from optsched.schedules.base import Schedule
from optsched.schedules.geo import GeoSchedule


@served.register
def of_starts(instance: GeoInstance, schedule: Schedule) -> Served | None:
    """Of a schedule's starts, over the GPUs of all sites."""
    assert isinstance(schedule, GeoSchedule)
    index, jobs = {job.id: j for j, job in enumerate(instance.jobs)}, instance.columns
    j = np.array([index[start.job] for start in schedule.starts], dtype=np.int64)
    start = np.array([start.start for start in schedule.starts], dtype=np.int64)
    run = jobs.duration[j]
    pieces = np.column_stack([start, start + run, jobs.gpus[j]])
    capacity = np.asarray(instance.capacity, dtype=float).sum(axis=0)
    return in_slots(jobs.submitted[j], start, start + run, run, pieces, capacity, instance.slot_s)
