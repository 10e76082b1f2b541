"""Picture of a replayed allocation: GPUs of every node over time, the jobs with their due dates, and what it cost an hour."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from optsched.instances.allocation import AllocationInstance
from optsched.schedules.allocation import AllocationHistory, Run, evaluate
from optsched.schedules.allocation.history import levels_by_node

COLOURS = [matplotlib.colormaps["tab20"](i) for i in (*range(0, 20, 2), *range(1, 20, 2))]
MOST_ROWS = 60
CHARACTER_IN = 0.075  # width of a character of a label


def draw(instance: AllocationInstance, history: AllocationHistory) -> Figure:
    """Three panels over hours: a lane a GPU, a row a job (if they are few), and the energy's cost rate."""
    lanes = sum(node.gpus for node in instance.nodes)
    shown = len(instance.jobs) <= MOST_ROWS
    heights = [max(1.6, min(24, 0.34 * lanes)), *([0.7 + 0.19 * len(instance.jobs)] if shown else []), 1.2]
    figure = Figure(figsize=(11, 1.2 + sum(heights)), layout="constrained")
    panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    end = max((run.end_s for run in history.runs), default=3600.0) / 3600
    panels[0].set_xlim(0, 1.01 * end)
    _nodes(panels[0], instance, history, end)
    if shown:
        _jobs(panels[1], instance, history)
    _cost(panels[-1], instance, history)
    panels[-1].set_xlabel("hours")
    done = _done(history)
    late = sum(done[job.id] > job.due_s for job in instance.jobs if job.id in done)
    judged = evaluate(instance, history).components
    money = ", ".join(f"{name} {value:.4g} {instance.currency}" for name, value in judged.items())
    title = f"{instance.name}: {len(done)} jobs run, {late} late; {money}"
    figure.suptitle(title, fontsize=10, parse_math=False)
    return figure


def _nodes(axes: Any, instance: AllocationInstance, history: AllocationHistory, end: float) -> None:
    colours = {job.id: COLOURS[j % len(COLOURS)] for j, job in enumerate(instance.jobs)}
    on_node = defaultdict(list)
    for run in sorted(history.runs, key=lambda run: (run.start_s, run.job)):
        on_node[run.node].append(run)
    base, middles, labels = 0, [], []
    for n, node in enumerate(instance.nodes):
        axes.axhspan(base, base + node.gpus, color="0.94" if n % 2 else "0.98", zorder=0)
        for run, lanes in _lanes(on_node[node.id], node.gpus):
            start, length = run.start_s / 3600, (run.end_s - run.start_s) / 3600
            fits = length / end * 9.5 > CHARACTER_IN * len(run.job) + 0.04
            for k, (low, count) in enumerate(_blocks(lanes)):
                colour = colours[run.job]
                axes.barh(base + low + count / 2, length, left=start, height=count - 0.1, color=colour, edgecolor="0.2", lw=0.5)
                if fits and k == 0:
                    place = (start + length / 2, base + low + count / 2)
                    axes.text(*place, run.job, ha="center", va="center", fontsize=7.5, parse_math=False, clip_on=True)
        middles.append(base + node.gpus / 2)
        labels.append(f"{node.id}\n{node.gpus} x {node.gpu_type}" if node.gpus > 1 else f"{node.id} (1 x {node.gpu_type})")
        base += node.gpus
    axes.set_yticks(middles, labels, fontsize=8 if base <= 40 else 5, parse_math=False)
    axes.set_ylim(base, 0)
    axes.set_ylabel("GPUs by node")


def _lanes(runs: list[Run], gpus: int) -> list[tuple[Run, list[int]]]:
    """The GPUs of each run, by start: those that the job had last if they are free, else the lowest that are free."""
    free_from, last, found = [0.0] * gpus, dict[str, list[int]](), []
    for run in runs:
        free = [lane for lane in range(gpus) if free_from[lane] <= run.start_s]
        before = last.get(run.job, [])
        lanes = sorted(sorted(free, key=lambda lane: (lane not in before, lane))[: run.gpus])
        for lane in lanes:
            free_from[lane] = run.end_s
        last[run.job] = lanes
        found.append((run, lanes))
    return found


def _blocks(lanes: list[int]) -> list[tuple[int, int]]:
    """(first lane, number of lanes) of each stretch of neighbours."""
    stretches = [[lane for _, lane in group] for _, group in groupby(enumerate(lanes), key=lambda pair: pair[1] - pair[0])]
    return [(stretch[0], len(stretch)) for stretch in stretches]


def _done(history: AllocationHistory) -> dict[str, float]:
    """When each job ended, in seconds."""
    done: dict[str, float] = {}
    for run in history.runs:
        done[run.job] = max(done.get(run.job, 0.0), run.end_s)
    return done


def _jobs(axes: Any, instance: AllocationInstance, history: AllocationHistory) -> None:
    rows = {job.id: row for row, job in enumerate(instance.jobs)}
    for run in history.runs:
        length, colour = (run.end_s - run.start_s) / 3600, COLOURS[rows[run.job] % len(COLOURS)]
        axes.barh(rows[run.job], length, left=run.start_s / 3600, height=0.62, color=colour)
    done = _done(history)
    submit = np.array([job.submit_s for job in instance.jobs]) / 3600
    due = np.array([job.due_s for job in instance.jobs]) / 3600
    ended = np.array([done.get(job.id, 0.0) for job in instance.jobs]) / 3600
    late, row = np.maximum(due, 0) < ended, np.arange(len(rows))
    axes.hlines(row, submit, due, color="0.75", lw=1, zorder=0)
    axes.plot(submit, row, ls="", marker=">", ms=6, color="0.2", mec="white", mew=0.7, label="submitted")
    axes.plot(due, row, ls="", marker="|", ms=9, mew=1.8, color="black", label="due (if within the axis)")
    if late.any():
        axes.hlines(row[late] + 0.42, np.maximum(due, 0)[late], ended[late], color="crimson", lw=2, label="late")
    size = 8 if len(rows) <= 30 else 6
    axes.set_yticks(row, list(rows), fontsize=size, parse_math=False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_ylabel("jobs")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, fontsize=8, frameon=False, borderaxespad=0.1)


def _cost(axes: Any, instance: AllocationInstance, history: AllocationHistory) -> None:
    """Cost rate of all nodes: each pays its rate while 1..G of its GPUs are in use."""
    kinds = {node.id: instance.gpu_types[node.gpu_type].node_cost_per_h for node in instance.nodes}
    change: dict[float, float] = defaultdict(float)
    for node, levels in levels_by_node(history).items():
        for start, end, used in levels:
            rate = kinds[node][used - 1] if used else 0.0
            change[start] += rate
            change[end] -= rate
    times = sorted(change)
    if times:
        rates = np.maximum(0.0, np.cumsum([change[t] for t in times])[:-1])
        axes.stairs(rates, np.array(times) / 3600, fill=True, color="tab:orange", alpha=0.7)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"energy cost\n{instance.currency}/h", fontsize=9, parse_math=False)
