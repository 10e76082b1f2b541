"""Picture of a deferrable schedule, planned or replayed: load against capacity, and the Gantt chart under it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.schedules.deferrable import DeferrableSchedule, load

MOST_BARS = 400
LEGEND = {"loc": "lower right", "bbox_to_anchor": (1, 1), "fontsize": 8, "frameon": False, "borderaxespad": 0.1}


def draw(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Figure:
    """Above: cores in use and capacity by slot, overload in red. Below: a bar a job, its window in grey."""
    starts = {start.job: start.start for start in schedule.starts}
    ordered = sorted(instance.jobs, key=lambda job: (job.id not in starts, starts.get(job.id, job.earliest), job.id))
    figure = Figure(figsize=(10, 4.5 + 0.22 * min(40, max(8, len(ordered)))), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.6, 1 + 0.22 * min(40, max(8, len(ordered)))])
    _load(above, instance, schedule)
    _bars(below, instance, ordered[:MOST_BARS], starts)
    below.set_ylabel("jobs by start, then those not run" + (f" (first {MOST_BARS})" if len(ordered) > MOST_BARS else ""))
    below.set_xlabel(f"time, in slots of {instance.slot_s:g} s")
    below.set_xlim(0, instance.horizon)
    figure.suptitle(f"{instance.name}: {len(starts)} of {len(instance.jobs)} jobs run", fontsize=10, parse_math=False)
    return figure


def _load(axes: Any, instance: DeferrableInstance, schedule: DeferrableSchedule) -> None:
    edges = np.arange(instance.horizon + 1)
    used, capacity = load(instance, schedule), instance.capacity_cores
    axes.stairs(used, edges, fill=True, color="tab:blue", alpha=0.6, label="load")
    over = np.maximum(0.0, used - capacity)
    if over.any():
        label = f"overload, {over.sum():g} core-slots in all"
        axes.stairs(used, edges, baseline=np.minimum(used, capacity), fill=True, color="crimson", label=label)
    axes.stairs(capacity, edges, color="black", baseline=None, label="capacity")
    axes.set_ylabel("cores")
    axes.set_ylim(0, 1.06 * max(1.0, capacity.max(), used.max()))
    axes.legend(ncols=3, **LEGEND)


def _bars(axes: Any, instance: DeferrableInstance, jobs: list[Job], starts: dict[str, int]) -> None:
    """Run jobs with the time that they waited, and the windows that the others had."""
    row = np.arange(len(jobs))
    ran = np.array([job.id in starts for job in jobs], dtype=bool)
    earliest, latest, duration = (np.array([getattr(job, f) for job in jobs]) for f in ("earliest", "latest", "duration"))
    start = np.array([starts.get(job.id, 0) for job in jobs])
    close = np.minimum(latest + duration, instance.horizon)
    axes.barh(row, close - earliest, left=earliest, height=0.9, color="0.9", label="window")
    if ran.any():
        axes.barh(row[ran], duration[ran], left=start[ran], height=0.8, color="tab:blue", label="run")
    if not ran.all():
        width = (close - earliest)[~ran]
        style = {"facecolor": "none", "edgecolor": "tab:red", "lw": 0.8, "hatch": "////" if len(jobs) <= 40 else None}
        axes.barh(row[~ran], width, left=earliest[~ran], height=0.8, alpha=0.6, label="not run", **style)
    names = [job.id for job in jobs] if len(jobs) <= 40 else []
    axes.set_yticks(range(len(names)), names, fontsize=7, parse_math=False)
    axes.set_ylim(max(1, len(jobs)) - 0.4, -0.6)
    axes.legend(ncols=3, **LEGEND)
