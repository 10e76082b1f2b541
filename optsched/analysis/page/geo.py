"""geo over time: jobs by site, GPUs in use against capacity at each, prices and carbon."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from optsched.analysis.page.timeline import (
    MOST_PLACES,
    Bars,
    Column,
    Curve,
    Panel,
    Piece,
    Role,
    Timeline,
    columns,
    lanes,
    slot_edges,
)
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.base import Floats
from optsched.instances.geo import GeoInstance
from optsched.schedules.geo import GeoSchedule, load

KINDS: tuple[tuple[str, Role], ...] = (
    ("window of a job not run", "left"),
    ("job of the site", "load"),
    ("job of another site", "other"),
)


def timeline(instance: GeoInstance, schedule: GeoSchedule) -> Timeline:
    """A band a site, then the jobs that are not run; panels of the busiest sites.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided.
    """
    length = instance.horizon * instance.slot_s
    home = {job.id: job.source for job in instance.jobs}
    own = GeoSchedule(starts=tuple(start for start in schedule.starts if start.site == home[start.job]))
    used, local = load(instance, schedule), load(instance, own)
    cut = load(instance, GeoSchedule(starts=(), cut=schedule.cut)).astype(float)
    shown = sorted(np.argsort(-used.sum(axis=1), kind="stable")[:MOST_PLACES].tolist())
    edges = slot_edges(instance.horizon, instance.slot_s)
    panels = [_site(instance, n, edges, used[n].astype(float), local[n].astype(float), cut[n]) for n in shown]
    panels += [
        _signal(instance, "Price of electricity", "USD/MWh", "price", instance.price, shown, edges),
        _signal(instance, "Carbon intensity", "g CO2/kWh", "carbon", instance.carbon, shown, edges),
    ]
    away = sum(start.site != home[start.job] for start in schedule.starts)
    decided = f"{len(schedule.starts)} of {len(instance.jobs)} jobs run, {away} away from their source"
    decided += f", {len(schedule.lost)} lost on the way" if schedule.lost else ""
    decided += f", {len(schedule.cut)} runs cut short" if schedule.cut else ""
    left_out = len(instance.sites) - len(shown)
    notes = (f"Panels are of the {MOST_PLACES} busiest of {len(instance.sites)} sites.",) if left_out else ()
    time = TimeAxis.of(instance, length, now_s=instance.now_s)
    return Timeline(time, length, decided, _bars(instance, schedule), tuple(panels), notes)


def _site(instance: GeoInstance, n: int, edges: Floats, used: Floats, local: Floats, cut: Floats) -> Panel:
    """GPUs in use by jobs of the site and of others."""
    curves = [Curve("jobs of the site", "load", edges, local, fill=True)]
    whole = used - cut
    if (whole > local).any():
        curves.insert(0, Curve("jobs of other sites", "other", edges, whole - local, base=local, fill=True))
    if cut.any():
        curves.insert(0, Curve("runs cut short", "over", edges, cut, base=whole, fill=True))
    curves.append(Curve("capacity", "capacity", edges, instance.capacity[n].astype(float)))
    return Panel(f"{instance.sites[n].id}: load against capacity", "GPUs", tuple(curves), px=110)


def _signal(instance: GeoInstance, title: str, unit: str, role: Role, values: Floats, sites: list[int], edges: Floats) -> Panel:
    """A curve a site."""
    curves = (Curve(instance.sites[n].id, role, edges, values[n], series=k) for k, n in enumerate(sites))
    return Panel(title, unit, tuple(curves), px=150)


def _bars(instance: GeoInstance, schedule: GeoSchedule) -> Bars:
    slot, starts = instance.slot_s, {start.job: start for start in schedule.starts}
    index = {job.id: j for j, job in enumerate(instance.jobs)}
    groups: dict[str | None, list[tuple[int, int, int, int]]] = defaultdict(list)  # kind, job, first slot, last slot
    for start in schedule.starts:
        job = instance.jobs[index[start.job]]
        kind = 1 if start.site == job.source else 2
        groups[start.site].append((kind, index[start.job], start.start, start.start + job.duration))
    for j, job in enumerate(instance.jobs):
        if job.id not in starts:
            close = min(job.submitted + job.slack + job.duration, instance.horizon)
            groups[None].append((0, j, min(job.submitted, close), close))
    pieces: list[Piece] = []
    rows: list[tuple[float, float, str]] = []
    top = 0.0
    for place in [*(site.id for site in instance.sites), None]:
        mine = groups[place]
        lane, count = lanes([begin for *_, begin, _ in mine], [end for *_, end in mine])
        for (kind, j, begin, end), row in zip(mine, lane, strict=True):
            pieces.append((kind, j, begin * slot, end * slot, top + row + 0.06, top + row + 0.94))
        bottom = top + max(count, 1)
        if place is not None or mine:
            rows.append((top, bottom, "not run" if place is None else place))
        top = bottom
    jobs = instance.jobs
    of = [starts.get(job.id) for job in jobs]
    ends = [None if s is None else (s.start + job.duration) * slot for s, job in zip(of, jobs, strict=True)]
    about = (
        Column("job", [job.id for job in jobs], "text"),
        Column("site", ["not run" if s is None else s.site for s in of], "text"),
        Column("start", [None if s is None else s.start * slot for s in of], "time"),
        Column("end", ends, "time"),
        Column("GPUs", [job.gpus for job in jobs]),
        Column("duration", [job.duration * slot for job in jobs], "span"),
        Column("submitted at", [job.source for job in jobs], "text"),
        Column("submitted", [job.submitted * slot for job in jobs], "time"),
        Column("left its source", [None if s is None or s.departure is None else s.departure * slot for s in of], "time"),
        Column("waits", [None if s is None else (s.start - j.submitted) * slot for s, j in zip(of, jobs, strict=True)], "span"),
        Column("latest start", [(job.submitted + job.slack) * slot for job in jobs], "time"),
    )
    return Bars("Jobs by site, a row for each that runs at a time", KINDS, *columns(pieces), about, tuple(rows))
