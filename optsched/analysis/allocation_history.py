"""Picture of a replayed allocation: GPUs of every node over time, the jobs with their due dates, and what it cost an hour."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from optsched.analysis.allocation_levels import cost_rate, done_s, gpus_of, jobs_there, stretches
from optsched.analysis.heading import BESIDE, put_heading, short
from optsched.analysis.in_use import MOST_LANES, Span, draw_in_use, lanes_in, shade_nodes
from optsched.analysis.marks import BLUE, LEGEND, ORANGE, bars, due_key, fill_of, late_bars, late_key, legible, run_key
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.allocation import AllocationInstance
from optsched.report import number
from optsched.schedules.allocation import AllocationHistory, Run, evaluate

MOST_ROWS = 60  # jobs, up to which each has a row
WIDTH_IN = 9.5


def draw(instance: AllocationInstance, history: AllocationHistory) -> Figure:
    """Three panels over time: GPUs, jobs, and the energy's cost rate.

    A lane a GPU and a row a job where they are few; where they are many, how many GPUs are in use and how many jobs wait.

    Parameters
    ----------
    instance
        What was given.
    history
        What ran; all its jobs and nodes are the instance's.
    """
    lanes, count = sum(node.gpus for node in instance.nodes), len(instance.jobs)
    gpus_in = lanes_in(lanes) if lanes <= MOST_LANES else 2.6
    heights = [gpus_in, 0.7 + 0.19 * count if count <= MOST_ROWS else 2.2, 1.4]
    figure = Figure(figsize=(11, 1.6 + sum(heights)), layout="constrained")
    panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    end = max((run.end_s for run in history.runs), default=3600.0)
    time = TimeAxis.of(instance, end)
    due = {job.id: job.due_s for job in instance.jobs}
    if lanes <= MOST_LANES:
        _nodes(panels[0], instance, history, due, time, end)
    else:
        early: list[Span] = [(r.start_s, min(r.end_s, max(r.start_s, due[r.job])), r.gpus) for r in history.runs]
        late: list[Span] = [(max(r.start_s, min(r.end_s, due[r.job])), r.end_s, r.gpus) for r in history.runs]
        draw_in_use(panels[0], lanes, early, late, time)
    if count <= MOST_ROWS:
        _jobs(panels[1], instance, history, time, end)
    else:
        _queue(panels[1], instance, history, time, end)
    _cost(panels[2], instance, history, time)
    time.frame(panels[2], end, spare=0.01)
    done = done_s(history)
    tardy = sum(done[job.id] > job.due_s for job in instance.jobs if job.id in done)
    judged = evaluate(instance, history)
    money = ", ".join(f"{name} {number(value)}" for name, value in judged.components.items())
    decided = f"{len(done)} of {count} jobs run, {tardy} late; {money} {instance.currency}"
    put_heading(figure, instance, history, judged, decided)
    return figure


def _nodes(
    axes: Axes, instance: AllocationInstance, history: AllocationHistory, due: dict[str, float], time: TimeAxis, end: float
) -> None:
    colours = {job.id: fill_of(j) for j, job in enumerate(instance.jobs)}
    on_node = defaultdict(list)
    for run in sorted(history.runs, key=lambda run: (run.start_s, run.job)):
        on_node[run.node].append(run)
    base = 0
    blocks: list[tuple[float, float, float, Run]] = []  # middle, height, seconds after the due date, run
    for node in instance.nodes:
        for run, lanes in gpus_of(on_node[node.id], node.gpus):
            late = max(0.0, run.end_s - max(run.start_s, due[run.job]))
            for k, (low, count) in enumerate(stretches(lanes)):
                middle = base + low + count / 2
                blocks.append((middle, count - 0.1, late, run))
                if k == 0 and legible((run.end_s - run.start_s) / end * WIDTH_IN, run.job):
                    place = (float(time.at((run.start_s + run.end_s) / 2)), middle)
                    box = {"facecolor": colours[run.job], "edgecolor": "none", "pad": 1.2} if late else None
                    axes.text(*place, run.job, ha="center", va="center", fontsize=7.5, bbox=box, parse_math=False, clip_on=True)
        base += node.gpus
    shade_nodes(axes, instance.nodes)
    middle_, high, late_ = np.array([block[:3] for block in blocks]).reshape(-1, 3).T
    begin, stop = (time.at([getattr(run, f) for *_, run in blocks]) for f in ("start_s", "end_s"))
    fills = [colours[run.job] for *_, run in blocks]
    bars(axes, begin, stop - begin, middle_, high, facecolor=fills, edgecolor="0.2", lw=0.5, gid="runs")
    some, width = late_ > 0, late_ / time.scale_s
    late_bars(axes, (stop - width)[some], width[some], middle_[some], high[some])
    axes.legend(handles=[run_key("run of a job"), late_key()], ncols=2, **LEGEND)


def _jobs(axes: Axes, instance: AllocationInstance, history: AllocationHistory, time: TimeAxis, end: float) -> None:
    rows = {job.id: row for row, job in enumerate(instance.jobs)}
    begin, stop = (time.at([getattr(run, f) for run in history.runs]) for f in ("start_s", "end_s"))
    at = [rows[run.job] for run in history.runs]
    bars(axes, begin, stop - begin, at, 0.62, facecolor=[fill_of(row) for row in at], lw=0, gid="runs")
    done = done_s(history)
    submit, due = (np.array([getattr(job, f) for job in instance.jobs], dtype=float) for f in ("submit_s", "due_s"))
    ended = np.array([done.get(job.id, 0.0) for job in instance.jobs])
    since, row = np.maximum(due, 0), np.arange(len(rows))
    late = since < ended
    axes.hlines(row, time.at(submit), time.at(np.minimum(due, 1.01 * end)), color="0.75", lw=1, zorder=0)
    late_bars(axes, time.at(since[late]), time.at(ended[late]) - time.at(since[late]), row[late], 0.62)
    axes.plot(time.at(submit), row, ls="", marker=">", ms=6, color="0.2", mec="white", mew=0.7, label="submitted")
    within = due <= 1.01 * end
    axes.plot(time.at(due[within]), row[within], ls="", marker="|", ms=9, mew=1.8, color="black")
    axes.set_yticks(row, [short(job, BESIDE) for job in rows], fontsize=8 if len(rows) <= 30 else 6, parse_math=False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_ylabel("jobs")
    keys = [*axes.get_legend_handles_labels()[0], due_key("due (if within the axis)"), late_key()]
    axes.legend(handles=keys, ncols=3, **LEGEND)


def _queue(axes: Axes, instance: AllocationInstance, history: AllocationHistory, time: TimeAxis, end: float) -> None:
    """How many jobs wait (submitted, not done, not running) and run."""
    times, there, running = jobs_there(instance, history, end)
    edges = time.at(times)
    if len(times) > 1:
        axes.stairs(running[:-1], edges, fill=True, color=BLUE, label="jobs running")
        axes.stairs(there[:-1], edges, baseline=running[:-1], fill=True, color=ORANGE, label="jobs waiting")
    axes.set_ylim(0, 1.06 * max(1, int(there.max(initial=0))))
    axes.set_ylabel("jobs")
    axes.legend(ncols=2, **LEGEND)


def _cost(axes: Axes, instance: AllocationInstance, history: AllocationHistory, time: TimeAxis) -> None:
    """Cost rate of all nodes: each pays its rate while 1..G of its GPUs are in use."""
    times, rates = cost_rate(instance, history)
    if len(times):
        axes.stairs(rates, time.at(times), fill=True, color=ORANGE, label="cost rate of nodes in use")
        axes.legend(**LEGEND)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"energy cost\n{instance.currency}/h", fontsize=9, parse_math=False)
