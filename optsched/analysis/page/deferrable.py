"""deferrable over time: a bar a job on its window, and cores in use against capacity."""

from __future__ import annotations

import numpy as np

from optsched.analysis.page.timeline import Bars, Column, Curve, Panel, Piece, Role, Timeline, columns, slot_edges
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.deferrable import DeferrableInstance
from optsched.schedules.deferrable import DeferrableSchedule, load

KINDS: tuple[tuple[str, Role], ...] = (("window", "window"), ("run", "run"), ("window of a job not run", "left"))


def timeline(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Timeline:
    """Rows by start, then those not run.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided.
    """
    length = instance.horizon * instance.slot_s
    used, capacity = load(instance, schedule), instance.capacity_cores
    over, edges = np.maximum(0.0, used - capacity), slot_edges(instance.horizon, instance.slot_s)
    curves = [Curve("load", "load", edges, used - over, fill=True), Curve("capacity", "capacity", edges, capacity)]
    if over.any():
        curves.insert(0, Curve("overload", "over", edges, over, base=used - over, fill=True))
    ran = len(schedule.starts)
    return Timeline(
        TimeAxis.of(instance, length, now_s=instance.now_s),
        length,
        f"{ran} of {len(instance.jobs)} jobs run" + (f", {len(schedule.cut)} runs cut short" if schedule.cut else ""),
        _bars(instance, schedule),
        (Panel("Load against capacity", "cores", tuple(curves), px=190),),
    )


def _bars(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Bars:
    slot, starts = instance.slot_s, {start.job: start.start for start in schedule.starts}
    jobs = sorted(instance.jobs, key=lambda job: (job.id not in starts, starts.get(job.id, job.earliest), job.id))
    pieces: list[Piece] = []
    for row, job in enumerate(jobs):
        start, close = starts.get(job.id), min(job.latest + job.duration, instance.horizon)
        edges = (row + 0.08, row + 0.92)
        pieces.append((2 if start is None else 0, row, job.earliest * slot, close * slot, *edges))
        if start is not None:
            pieces.append((1, row, start * slot, (start + job.duration) * slot, *edges))
    waits = [None if job.id not in starts else (starts[job.id] - job.earliest + job.waited) * slot for job in jobs]
    about = (
        Column("job", [job.id for job in jobs], "text"),
        Column("start", [starts[job.id] * slot if job.id in starts else None for job in jobs], "time"),
        Column("end", [(starts[job.id] + job.duration) * slot if job.id in starts else None for job in jobs], "time"),
        Column("cores", [job.cores for job in jobs]),
        Column("duration", [job.duration * slot for job in jobs], "span"),
        Column("waits", waits, "span"),
        Column("earliest start", [job.earliest * slot for job in jobs], "time"),
        Column("latest start", [job.latest * slot for job in jobs], "time"),
    )
    rows = tuple((float(row), row + 1.0, job.id) for row, job in enumerate(jobs))
    return Bars("Jobs by start, then those not run", KINDS, *columns(pieces), about, rows)
