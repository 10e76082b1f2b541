"""allocation over time: jobs on the GPUs of each node, GPUs in use, and in a replay who waits and what it costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from optsched.analysis.allocation_levels import cost_rate, done_s, gpus_of, jobs_there, stretches
from optsched.analysis.page.timeline import Bars, Column, Curve, Mark, Panel, Piece, Role, Timeline, columns
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.allocation import AllocationInstance, Job
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule

KINDS: tuple[tuple[str, Role], ...] = (("job", "job"), ("after its due date", "late"))
INSET = 0.06  # of a row, above and below a bar
HOUR_S = 3600.0

Span = tuple[float, float, int]
"""From, to (seconds) and GPUs."""


def timeline(instance: AllocationInstance, schedule: AllocationSchedule | AllocationHistory) -> Timeline:
    """A snapshot's decision from now on, or the history of a replay.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided or done.
    """
    return _history(instance, schedule) if isinstance(schedule, AllocationHistory) else _snapshot(instance, schedule)


def _rows(instance: AllocationInstance) -> tuple[tuple[float, float, str], ...]:
    base, found = 0, []
    for node in instance.nodes:
        found.append((float(base), float(base + node.gpus), f"{node.id} ({node.gpus} x {node.gpu_type})"))
        base += node.gpus
    return tuple(found)


def _snapshot(instance: AllocationInstance, schedule: AllocationSchedule) -> Timeline:
    jobs = instance.known_jobs
    index, kinds = {job.id: j for j, job in enumerate(jobs)}, {node.id: node.gpu_type for node in instance.nodes}
    top = {node.id: row[0] for node, row in zip(instance.nodes, _rows(instance), strict=True)}
    due = [job.due_s - instance.now_s for job in jobs]
    pieces: list[Piece] = []
    marks: list[tuple[float, float, float]] = []
    ends: dict[int, float] = {}
    placed: dict[int, tuple[str, int]] = {}
    for a in sorted(schedule.assignments, key=lambda a: index[a.job]):
        j = index[a.job]
        end = jobs[j].time_s[kinds[a.node]][a.gpus - 1] or 0.0
        edges = (top[a.node] + INSET, top[a.node] + a.gpus - INSET)
        pieces.append((0, j, 0.0, end, *edges))
        if end > due[j]:
            pieces.append((1, j, max(0.0, due[j]), end, *edges))
        elif due[j] > 0:
            marks.append((due[j], *edges))
        top[a.node] += a.gpus
        ends[j], placed[j] = end, (a.node, a.gpus)
    length = max(ends.values(), default=HOUR_S)
    marks = [mark for mark in marks if mark[0] <= 2 * length]
    length = max([length, *(at for at, *_ in marks)])
    about = (
        Column("job", [job.id for job in jobs], "text"),
        Column("node", [placed[j][0] if j in placed else "postponed" for j in range(len(jobs))], "text"),
        Column("GPUs", [placed[j][1] if j in placed else None for j in range(len(jobs))]),
        Column("runs for", [ends.get(j) for j in range(len(jobs))], "span"),
        Column("due", due, "time"),
        Column("late", [max(0.0, ends[j] - due[j]) if j in ends else None for j in range(len(jobs))], "span"),
        Column(f"tardiness weight, {instance.currency}/h", [job.weight_per_s * HOUR_S for job in jobs]),
    )
    spans = [(0.0, end, placed[j][1], due[j]) for j, end in ends.items()]
    return Timeline(
        TimeAxis.of(instance, length, now_s=instance.now_s, relative=True),
        length,
        f"{len(ends)} jobs running, {len(jobs) - len(ends)} postponed",
        _gantt(instance, pieces, about, (), marks),
        (_use(instance, spans, length),),
    )


def _history(instance: AllocationInstance, history: AllocationHistory) -> Timeline:
    jobs = instance.jobs
    index, rows = {job.id: j for j, job in enumerate(jobs)}, _rows(instance)
    on_node = defaultdict(list)
    for run in sorted(history.runs, key=lambda run: (run.start_s, run.job)):
        on_node[run.node].append(run)
    pieces: list[Piece] = []
    where: list[str] = []
    gpus: list[int] = []
    for node, (top, _, _) in zip(instance.nodes, rows, strict=True):
        for run, lanes in gpus_of(on_node[node.id], node.gpus):
            j = index[run.job]
            for low, count in stretches(lanes):
                edges = (top + low + INSET, top + low + count - INSET)
                mine: list[Piece] = [(0, j, run.start_s, run.end_s, *edges)]
                if run.end_s > jobs[j].due_s:
                    mine.append((1, j, max(run.start_s, jobs[j].due_s), run.end_s, *edges))
                pieces += mine
                where += [node.id] * len(mine)
                gpus += [run.gpus] * len(mine)
    end = max((run.end_s for run in history.runs), default=HOUR_S)
    done = done_s(history)
    own = (Column("node", where, "text"), Column("GPUs", gpus))
    spans = [(run.start_s, run.end_s, run.gpus, jobs[index[run.job]].due_s) for run in history.runs]
    times, there, running = jobs_there(instance, history, end)
    queue = (
        Curve("jobs waiting", "queue", times, (there - running)[:-1].astype(float), base=running[:-1].astype(float), fill=True),
        Curve("jobs running", "running", times, running[:-1].astype(float), fill=True),
    )
    at, rates = cost_rate(instance, history)
    cost = (Curve("cost rate of nodes in use", "cost", at, rates, fill=True),)
    tardy = sum(done[job.id] > job.due_s for job in jobs if job.id in done)
    panels = [_use(instance, spans, end)]
    panels += [Panel("Jobs waiting and running", "jobs", queue, px=130)] if len(times) > 1 else []
    panels += [Panel("Energy cost", f"{instance.currency}/h", cost, px=110)] if len(at) > 1 else []
    return Timeline(
        TimeAxis.of(instance, end),
        end,
        f"{len(done)} of {len(jobs)} jobs run, {tardy} late",
        _gantt(instance, pieces, _served(jobs, history, done), own, []),
        tuple(panels),
    )


def _served(jobs: Sequence[Job], history: AllocationHistory, done: dict[str, float]) -> tuple[Column, ...]:
    first: dict[str, float] = {}
    for run in history.runs:
        first[run.job] = min(first.get(run.job, run.start_s), run.start_s)
    return (
        Column("job", [job.id for job in jobs], "text"),
        Column("submitted", [job.submit_s for job in jobs], "time"),
        Column("first start", [first.get(job.id) for job in jobs], "time"),
        Column("done", [done.get(job.id) for job in jobs], "time"),
        Column("waits", [first[job.id] - job.submit_s if job.id in first else None for job in jobs], "span"),
        Column("due", [job.due_s for job in jobs], "time"),
        Column("late", [max(0.0, done[job.id] - job.due_s) if job.id in done else None for job in jobs], "span"),
    )


def _gantt(
    instance: AllocationInstance,
    pieces: list[Piece],
    about: tuple[Column, ...],
    own: tuple[Column, ...],
    due: list[tuple[float, float, float]],
) -> Bars:
    at, low, high = np.array(due, dtype=float).reshape(-1, 3).T
    marks = (Mark("due", at, low, high),) if due else ()
    return Bars("Jobs on the GPUs of each node", KINDS, *columns(pieces), about, _rows(instance), own, marks)


def _use(instance: AllocationInstance, spans: Iterable[tuple[float, float, int, float]], end_s: float) -> Panel:
    """GPUs in use by jobs before and after their due dates; spans are from, to, GPUs and due date."""
    parts: list[list[Span]] = [[], []]
    for begin, end, gpus, due in spans:
        split = max(begin, min(end, due))
        parts[0].append((begin, split, gpus))
        parts[1].append((split, end, gpus))
    times = np.unique([0.0, end_s, *(t for rows in parts for begin, end, _ in rows for t in (begin, end))])
    change = np.zeros((2, len(times)))
    for k, rows in enumerate(parts):
        starts, stops, sizes = np.array(rows, dtype=float).reshape(-1, 3).T
        np.add.at(change[k], np.searchsorted(times, starts), sizes)
        np.add.at(change[k], np.searchsorted(times, stops), -sizes)
    early, late = np.cumsum(change, axis=1)[:, :-1]
    count = float(sum(node.gpus for node in instance.nodes))
    curves = [
        Curve("used before due dates", "load", times, early, base=late, fill=True),
        Curve("all GPUs", "capacity", times, np.full(len(times) - 1, count)),
    ]
    if late.any():
        curves.insert(1, Curve("used after due dates", "over", times, late, fill=True))
    return Panel("Load against capacity", "GPUs", tuple(curves), px=170)
