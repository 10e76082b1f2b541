"""How vcc's flexible jobs were served under the cap."""

from __future__ import annotations

import numpy as np

from optsched.instances.vcc import VccInstance
from optsched.rolling.served import Served, in_slots, served
from optsched.schedules.base import Schedule
from optsched.schedules.vcc import VccSchedule, runs


@served.register
def of_pieces(instance: VccInstance, schedule: Schedule) -> Served | None:
    """Of what the queue has started, on the capacity that inflexible load and earlier jobs leave."""
    assert isinstance(schedule, VccSchedule)
    pieces = np.array(runs(instance, schedule), dtype=np.int64).reshape(-1, 3)
    j, first, back = np.unique(pieces[:, 0], return_index=True, return_inverse=True)
    start, end, run = pieces[first, 1], np.zeros(len(j), dtype=np.int64), np.zeros(len(j), dtype=np.int64)
    np.maximum.at(end, back, pieces[:, 2])
    np.add.at(run, back, pieces[:, 2] - pieces[:, 1])
    ready = np.array([instance.jobs[k].submitted - instance.jobs[k].waited for k in j.tolist()], dtype=np.int64)
    size = np.array([instance.jobs[k].ncu for k in pieces[:, 0].tolist()], dtype=float)
    used = np.column_stack([pieces[:, 1], pieces[:, 2], size])
    return in_slots(
        ready, start, end, run, used, instance.capacity_ncu - instance.inflexible - instance.running, instance.slot_s
    )
