"""How allocation served its jobs: from a history's runs."""

from __future__ import annotations

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.rolling.served import Served, served
from optsched.schedules.allocation import AllocationHistory
from optsched.schedules.base import Schedule


@served.register
def of_history(instance: AllocationInstance, schedule: Schedule) -> Served | None:
    """Of a history; None for a snapshot's schedule, which says what runs now and nothing of waiting."""
    if not isinstance(schedule, AllocationHistory):
        return None
    submit = {job.id: job.submit_s for job in instance.jobs}
    begun: dict[str, float] = {}
    ended: dict[str, float] = {}
    ran: dict[str, float] = {}
    for run in schedule.runs:
        begun[run.job] = min(begun.get(run.job, run.start_s), run.start_s)
        ended[run.job] = max(ended.get(run.job, run.end_s), run.end_s)
        ran[run.job] = ran.get(run.job, 0.0) + run.end_s - run.start_s
    return Served(
        ready_s=np.array([submit[job] for job in begun]),
        start_s=np.array(list(begun.values())),
        end_s=np.array([ended[job] for job in begun]),
        run_s=np.array([ran[job] for job in begun]),
        pieces=np.array([(run.start_s, run.end_s, run.gpus) for run in schedule.runs], dtype=float).reshape(-1, 3),
        edges_s=np.array([0.0, np.inf]),
        capacity=np.array([float(sum(node.gpus for node in instance.nodes))]),
    )
