"""Picture of day-ahead curves: each cluster's load before and after, against its carbon."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from optsched.analysis.heading import put_heading, short
from optsched.analysis.marks import BLUE, GREEN, VERMILLION
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.day_ahead import DayAheadInstance
from optsched.schedules.day_ahead import DayAheadSchedule, capacity_curve, evaluate, flexible

MOST = 8  # clusters drawn


def draw(instance: DayAheadInstance, schedule: DayAheadSchedule) -> Figure:
    """A panel a cluster: nominal load, load after shifting, the virtual capacity curve, and carbon on the right axis.

    Of more than eight clusters those with the most to shift are drawn.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided: a curve for every cluster.
    """
    count = len(instance.clusters)
    chosen = sorted(np.argsort(-instance.demand, kind="stable")[:MOST].tolist())
    figure = Figure(figsize=(10, 1.4 + 2.1 * len(chosen)), layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(chosen), 1, sharex=True)).tolist()
    time = TimeAxis.of(instance, instance.hours * 3600)
    edges = time.at(np.arange(instance.hours + 1) * 3600)
    after = instance.inflexible + flexible(instance, schedule)
    before = instance.inflexible + instance.demand[:, None] / instance.hours
    curve = capacity_curve(instance, schedule)
    handles, labels = [], []
    for c, axes in zip(chosen, panels, strict=True):
        axes.stairs(instance.inflexible[c], edges, fill=True, color="0.85", label="inflexible load")
        axes.stairs(before[c], edges, baseline=None, color="black", lw=1, ls="--", label="load before")
        axes.stairs(after[c], edges, baseline=None, color=BLUE, lw=1.8, label="load after")
        axes.stairs(curve[c], edges, baseline=None, color=VERMILLION, lw=1.1, label="virtual capacity curve")
        axes.set_ylim(0, 1.08 * max(curve[c].max(), before[c].max(), after[c].max()))
        axes.set_ylabel("NCU")
        axes.set_title(short(instance.clusters[c].id), loc="left", fontsize=9, parse_math=False)
        right = axes.twinx()
        right.stairs(instance.carbon[c], edges, baseline=None, color=GREEN, lw=1.2, ls="-.", label="carbon intensity (right)")
        right.set_ylim(0, 1.08 * max(1e-9, instance.carbon.max()))
        right.set_ylabel("kg CO2/kWh", color=GREEN)
        right.tick_params(labelcolor=GREEN)
        drawn = [axes.get_legend_handles_labels(), right.get_legend_handles_labels()]
        handles, labels = ([*a, *b] for a, b in zip(*drawn, strict=True))
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    time.frame(panels[-1], instance.hours * 3600)
    decided = f"{count} cluster{'s' if count > 1 else ''}"
    decided += f", the {MOST} with the most to shift" if count > MOST else ""
    put_heading(figure, instance, schedule, evaluate(instance, schedule), decided)
    return figure
