"""Picture of a deferrable schedule, planned or replayed: load against capacity, and the Gantt chart under it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from optsched.analysis.heading import BESIDE, put_heading, short
from optsched.analysis.marks import BLUE, LEGEND, ORANGE, SKY, TOO_MUCH, VERMILLION, Style, bars, rows_high
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.schedules.deferrable import DeferrableSchedule, evaluate, load

NAMED = 40  # jobs, up to which each is named
DENSE = 500  # slots, beyond which lines are thin


def draw(instance: DeferrableInstance, schedule: DeferrableSchedule) -> Figure:
    """Above: cores in use and capacity over time, overload hatched. Below: a bar a job on its window.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided; all its jobs are the instance's.
    """
    starts = {start.job: start.start for start in schedule.starts}
    ordered = sorted(instance.jobs, key=lambda job: (job.id not in starts, starts.get(job.id, job.earliest), job.id))
    height = 1 + 0.22 * min(NAMED, max(8, len(ordered)))
    figure = Figure(figsize=(10, 3.7 + height), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.6, height])
    length = instance.horizon * instance.slot_s
    time = TimeAxis.of(instance, length, now_s=instance.now_s)
    _load(above, instance, schedule, time)
    _bars(below, instance, ordered, starts, time)
    time.frame(below, length)
    decided = f"{len(starts)} of {len(instance.jobs)} jobs run"
    decided += f", {len(schedule.cut)} runs cut short" if schedule.cut else ""
    put_heading(figure, instance, schedule, evaluate(instance, schedule), decided)
    return figure


def _load(axes: Axes, instance: DeferrableInstance, schedule: DeferrableSchedule, time: TimeAxis) -> None:
    edges = time.at(np.arange(instance.horizon + 1) * instance.slot_s)
    used, capacity = load(instance, schedule), instance.capacity_cores
    axes.stairs(used, edges, fill=True, color=SKY, label="load")
    over = np.maximum(0.0, used - capacity)
    if over.any():
        label = f"overload, {over.sum():g} core-slots in all"
        axes.stairs(used, edges, baseline=np.minimum(used, capacity), fill=True, label=label, **TOO_MUCH)
    axes.stairs(capacity, edges, color="black", baseline=None, lw=1.2 if instance.horizon <= DENSE else 0.6, label="capacity")
    axes.set_ylabel("cores in use")
    axes.set_ylim(0, 1.06 * max(1.0, capacity.max(), used.max()))
    axes.legend(ncols=3, **LEGEND)


def _bars(axes: Axes, instance: DeferrableInstance, jobs: list[Job], starts: dict[str, int], time: TimeAxis) -> None:
    """Run jobs with the time that they waited, and the windows that the others had."""
    row, high = np.arange(len(jobs)), rows_high(len(jobs))
    ran = np.array([job.id in starts for job in jobs], dtype=bool)
    fields = ((job.earliest, job.latest, job.duration, starts.get(job.id, 0)) for job in jobs)
    earliest, latest, duration, start = np.array(list(fields), dtype=np.int64).reshape(len(jobs), 4).T
    close = np.minimum(latest + duration, instance.horizon)

    def span(begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        left, right = time.at(begin * instance.slot_s), time.at(end * instance.slot_s)
        return left, right - left

    bars(axes, *span(earliest[ran], close[ran]), row[ran], high, facecolor="0.88", lw=0, gid="window")
    bars(axes, *span(start[ran], (start + duration)[ran]), row[ran], high, facecolor=BLUE, lw=0, gid="run")
    few = len(jobs) <= NAMED
    style: Style = {"facecolor": ORANGE, "lw": 0}
    if few:
        style = {"facecolor": "white", "edgecolor": VERMILLION, "lw": 0.8, "hatch": "////"}
    bars(axes, *span(earliest[~ran], close[~ran]), row[~ran], high, gid="not run", **style)
    if few:
        axes.set_yticks(row, [short(job.id, BESIDE) for job in jobs], fontsize=7, parse_math=False)
    axes.set_ylim(max(1, len(jobs)) - 0.4, -0.6)
    axes.set_ylabel("jobs by start, then those not run")
    keys = [Patch(color="0.88", label="window")] + [Patch(color=BLUE, label="run")] * bool(ran.any())
    keys += [Patch(label="window of a job not run", **style)] * bool(not ran.all())
    axes.legend(handles=keys, ncols=3, **LEGEND)
