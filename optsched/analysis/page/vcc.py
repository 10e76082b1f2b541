"""vcc over time: load under the cap, carbon, the queue, and a bar a job from its submission."""

from __future__ import annotations

import numpy as np

from optsched.analysis.page.timeline import Bars, Column, Curve, Panel, Piece, Role, Timeline, columns, slot_edges
from optsched.analysis.time_axis import TimeAxis
from optsched.analysis.vcc import waiting
from optsched.instances.vcc import VccInstance
from optsched.schedules.vcc import VccSchedule, load, runs

KINDS: tuple[tuple[str, Role], ...] = (
    ("waits", "queue"),
    ("run", "run"),
    ("not started", "left"),
    ("late beyond the limit", "late"),
)


def timeline(instance: VccInstance, schedule: VccSchedule) -> Timeline:
    """Rows in the order of the queue.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided: a cap for every slot, and what it starts.
    """
    length, fixed = instance.horizon * instance.slot_s, instance.inflexible
    edges, flexible = slot_edges(instance.horizon, instance.slot_s), load(instance, schedule)
    cap = np.array(schedule.cap) * instance.capacity_ncu
    curves = (
        Curve("flexible load", "load", edges, flexible, base=fixed, fill=True),
        Curve("inflexible load", "fixed", edges, fixed, fill=True),
        Curve("cap on the flexible load (above the inflexible)", "cap", edges, cap, base=fixed),
        Curve("capacity", "capacity", edges, np.full(instance.horizon, instance.capacity_ncu)),
    )
    panels = (
        Panel("Load under the cap", "NCU", curves, px=230),
        Panel("Carbon intensity", "kg CO2/kWh", (Curve("carbon intensity", "carbon", edges, instance.carbon),), px=120),
        Panel("Queue", "NCU", (Curve("jobs not started yet", "queue", edges, waiting(instance, schedule), fill=True),), px=120),
    )
    decided = f"{schedule.jobs_run} of {len(instance.jobs)} jobs started"
    time = TimeAxis.of(instance, length, now_s=instance.now_s)
    return Timeline(time, length, decided, _bars(instance, schedule), panels)


def _bars(instance: VccInstance, schedule: VccSchedule) -> Bars:
    slot, horizon = instance.slot_s, instance.horizon
    order = instance.queue.tolist()
    row = {j: r for r, j in enumerate(order)}
    jobs = [instance.jobs[j] for j in order]
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    pieces: list[Piece] = []
    for j, begin, end in runs(instance, schedule):
        first.setdefault(row[j], begin)
        last[row[j]] = end
        pieces.append((1, row[j], begin * slot, end * slot, row[j] + 0.08, row[j] + 0.92))
    due = instance.due.tolist()
    for r, job in enumerate(jobs):
        until = first.get(r, horizon)
        edges = (r + 0.08, r + 0.92)
        if until > job.submitted:
            pieces.append((0 if r in first else 2, r, job.submitted * slot, until * slot, *edges))
        if until > max(due[r], job.submitted):
            pieces.append((3, r, max(due[r], job.submitted) * slot, until * slot, *edges))
    pieces.sort(key=lambda piece: piece[0])
    count = range(len(jobs))
    waits = [(first[r] - job.submitted + job.waited) * slot if r in first else None for r, job in enumerate(jobs)]
    about = (
        Column("job", [job.id for job in jobs], "text"),
        Column("start", [first[r] * slot if r in first else None for r in count], "time"),
        Column("end", [last[r] * slot if r in first else None for r in count], "time"),
        Column("NCU", [job.ncu for job in jobs]),
        Column("duration", [job.duration * slot for job in jobs], "span"),
        Column("submitted", [job.submitted * slot for job in jobs], "time"),
        Column("waits", waits, "span"),
        Column("starts free of charge until", [(due[r] + 1) * slot for r in count], "time"),
        Column("late", [max(0, first[r] - due[r]) * slot if r in first else None for r in count], "span"),
    )
    rows = tuple((float(r), r + 1.0, job.id) for r, job in enumerate(jobs))
    return Bars("Jobs in the order of the queue", KINDS, *columns(pieces), about, rows)
