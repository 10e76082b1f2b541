"""Picture of an allocation: a Gantt chart, a lane for each GPU of each node; of a replay, what happened."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from optsched.analysis import allocation_history
from optsched.analysis.heading import BESIDE, put_heading, short
from optsched.analysis.in_use import MOST_LANES, draw_in_use, lanes_in, shade_nodes
from optsched.analysis.marks import LEGEND, bars, due_key, fill_of, late_bars, late_key, legible, run_key
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.allocation import AllocationInstance, Node
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule, evaluate

NAMED = 6  # postponed jobs, up to which each is named
WIDTH_IN = 8.5


@dataclass(frozen=True)
class Bar:
    """A job on a node from now on: which (its place among the known jobs), GPUs, seconds, and seconds until it is due."""

    job: str
    index: int
    node: str
    gpus: int
    time_s: float
    due_s: float
    weight_per_s: float

    @property
    def late_s(self) -> float:
        """Of its time, what lies after its due date."""
        return min(self.time_s, max(0.0, self.time_s - self.due_s))

    @property
    def cost(self) -> float:
        """Weighted tardiness."""
        return self.weight_per_s * max(0.0, self.time_s - self.due_s)


def draw(
    instance: AllocationInstance,
    schedule: AllocationSchedule | AllocationHistory,
) -> Figure:
    """A snapshot's decision, or the history of a replay.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided or done; all its jobs and nodes are the instance's.
    """
    if isinstance(schedule, AllocationHistory):
        return allocation_history.draw(instance, schedule)
    return _snapshot(instance, schedule)


def _snapshot(instance: AllocationInstance, schedule: AllocationSchedule) -> Figure:
    """Nodes from top to bottom, time from now; a bar as high as its GPUs, hatched where the job is late.

    Of many nodes those with the most tardiness are drawn, under all GPUs in use over time.
    """
    placed = _bars(instance, schedule)
    nodes = _shown(instance, placed)
    lanes, all_shown = sum(node.gpus for node in nodes), len(nodes) == len(instance.nodes)
    heights = [*([] if all_shown else [2.2]), lanes_in(lanes)]
    figure = Figure(figsize=(10, 1.6 + sum(heights)), layout="constrained")
    panels = figure.subplots(len(heights), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    end = max((bar.time_s for bar in placed), default=3600.0)
    end = max([end, *(bar.due_s for bar in placed if bar.due_s < 2 * end)])
    time = TimeAxis.of(instance, end, now_s=instance.now_s, relative=True)
    if not all_shown:
        _totals(panels[0], instance, placed, time)
    _gantt(panels[-1], nodes, placed, time, end)
    time.frame(panels[-1], end, spare=0.03)
    running = {bar.job for bar in placed}
    postponed = [job.id for job in instance.known_jobs if job.id not in running]
    decided = f"{len(running)} jobs running, {len(postponed)} postponed"
    decided += f" ({', '.join(short(job, BESIDE) for job in postponed)})" if 0 < len(postponed) <= NAMED else ""
    which = "with the most tardiness" if any(bar.late_s for bar in placed) else "that stand first"
    decided += "" if all_shown else f"; the {len(nodes)} of {len(instance.nodes)} nodes {which}"
    put_heading(figure, instance, schedule, evaluate(instance, schedule), decided)
    return figure


def _bars(instance: AllocationInstance, schedule: AllocationSchedule) -> list[Bar]:
    jobs = {job.id: (j, job) for j, job in enumerate(instance.known_jobs)}
    kinds = {node.id: node.gpu_type for node in instance.nodes}
    found = []
    for a in schedule.assignments:
        j, job = jobs[a.job]
        time = job.time_s[kinds[a.node]][a.gpus - 1] or 0.0
        found.append(Bar(job.id, j, a.node, a.gpus, time, job.due_s - instance.now_s, job.weight_per_s))
    return found


def _shown(instance: AllocationInstance, placed: list[Bar]) -> list[Node]:
    """All nodes if they are few, else those with the most tardiness, the most first."""
    if sum(node.gpus for node in instance.nodes) <= MOST_LANES:
        return list(instance.nodes)
    cost: dict[str, float] = defaultdict(float)
    for bar in placed:
        cost[bar.node] += bar.cost
    worst = sorted(instance.nodes, key=lambda node: -cost[node.id])
    full = np.cumsum([node.gpus for node in worst])
    return worst[: max(1, int(np.searchsorted(full, MOST_LANES, side="right")))]


def _totals(axes: Axes, instance: AllocationInstance, placed: list[Bar], time: TimeAxis) -> None:
    early = [(0.0, bar.time_s - bar.late_s, bar.gpus) for bar in placed]
    late = [(bar.time_s - bar.late_s, bar.time_s, bar.gpus) for bar in placed]
    draw_in_use(axes, sum(node.gpus for node in instance.nodes), early, late, time)


def _gantt(axes: Axes, nodes: list[Node], placed: list[Bar], time: TimeAxis, end: float) -> None:
    on_node = defaultdict(list)
    for bar in placed:
        on_node[bar.node].append(bar)
    rows: list[tuple[float, Bar]] = []
    base = 0
    for node in nodes:
        lane = base
        for bar in on_node[node.id]:
            rows.append((lane + bar.gpus / 2, bar))
            lane += bar.gpus
        base += node.gpus
    shade_nodes(axes, nodes)
    middle = np.array([row for row, _ in rows])
    high, length, late, due = (
        np.array([getattr(bar, f) for _, bar in rows], dtype=float) for f in ("gpus", "time_s", "late_s", "due_s")
    )
    colours = [fill_of(bar.index) for _, bar in rows]
    left, right = time.at(0 * length), time.at(length)
    bars(axes, left, right - left, middle, high - 0.12, facecolor=colours, edgecolor="0.25", lw=0.6, gid="jobs")
    some = late > 0
    begin = time.at(length - late)
    late_bars(axes, begin[some], (right - begin)[some], middle[some], (high - 0.12)[some])
    for row, bar in rows:
        if legible(bar.time_s / end * WIDTH_IN, bar.job):
            place = (float(time.at(bar.time_s / 2)), row)
            box = {"facecolor": fill_of(bar.index), "edgecolor": "none", "pad": 1.2} if bar.late_s else None
            axes.text(*place, bar.job, ha="center", va="center", fontsize=8, parse_math=False, bbox=box)
    known = (due > 0) & (due <= end)
    axes.vlines(time.at(due[known]), (middle - high / 2)[known] + 0.06, (middle + high / 2)[known] - 0.06, color="black", lw=2)
    axes.legend(handles=[run_key("job"), late_key(), due_key("due (if within the axis)")], ncols=3, **LEGEND)
