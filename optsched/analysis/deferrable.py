"""Picture of a deferrable schedule: load against capacity, and the Gantt chart under it."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from optsched.instances.deferrable import DeferrableInstance
from optsched.schedules.deferrable import DeferrableSchedule, load

MOST_BARS = 400


def draw(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Figure:
    """Above: cores in use and capacity by slot, overload in red. Below: a bar a job, its window in grey."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 3])
    edges = np.arange(instance.horizon + 1)
    used, capacity = load(instance, schedule), instance.capacity_cores
    above.stairs(used, edges, fill=True, color="tab:blue", alpha=0.6, label="load")
    above.stairs(used, edges, baseline=np.minimum(used, capacity), fill=True, color="crimson", label="overload")
    above.stairs(capacity, edges, color="black", baseline=None, label="capacity")
    above.set_ylabel("cores")
    above.set_ylim(0, 1.18 * max(1.0, capacity.max(), used.max()))
    above.legend(loc="upper right", fontsize=8, ncols=3)
    jobs = {job.id: job for job in instance.jobs}
    starts = sorted(schedule.starts, key=lambda s: (s.start, s.job))[:MOST_BARS]
    for row, start in enumerate(starts):
        job = jobs[start.job]
        window = min(job.latest + job.duration, instance.horizon) - job.earliest
        below.barh(row, window, left=job.earliest, height=0.9, color="0.9")
        below.barh(row, job.duration, left=start.start, height=0.8, color="tab:blue")
    below.set_ylim(max(1, len(starts)) - 0.4, -0.6)
    names = [start.job for start in starts] if len(starts) <= 40 else []
    below.set_yticks(range(len(names)), names, fontsize=7, parse_math=False)
    below.set_ylabel("jobs by start, windows in grey" + (f" (first {MOST_BARS})" if len(schedule.starts) > MOST_BARS else ""))
    below.set_xlabel(f"slots of {instance.slot_s:g} s")
    figure.suptitle(f"{instance.name}: {len(schedule.starts)} of {len(instance.jobs)} jobs run", fontsize=10, parse_math=False)
    return figure
