"""Picture of day-ahead curves: each cluster's load before and after, against its carbon."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from optsched.instances.day_ahead import DayAheadInstance
from optsched.schedules.day_ahead import DayAheadSchedule, capacity_curve, flexible

MOST = 8  # clusters drawn


def draw(instance: DayAheadInstance, schedule: DayAheadSchedule) -> Figure:
    """A panel a cluster: nominal load, load after shifting, the virtual capacity curve, and carbon on the right axis."""
    shown = min(MOST, len(instance.clusters))
    figure = Figure(figsize=(10, 1 + 2.1 * shown), layout="constrained")
    panels = np.atleast_1d(figure.subplots(shown, 1, sharex=True))
    edges = np.arange(instance.hours + 1)
    after = instance.inflexible + flexible(instance, schedule)
    before = instance.inflexible + instance.demand[:, None] / instance.hours
    curve = capacity_curve(instance, schedule)
    for c, axes in enumerate(panels.tolist()):
        axes.stairs(instance.inflexible[c], edges, fill=True, color="0.85", label="inflexible")
        axes.stairs(before[c], edges, baseline=None, color="black", lw=1, ls="--", label="load before")
        axes.stairs(after[c], edges, baseline=None, color="tab:blue", lw=1.8, label="load after")
        axes.stairs(curve[c], edges, baseline=None, color="tab:red", lw=0.9, label="virtual capacity curve")
        axes.set_ylim(0, 1.15 * max(curve[c].max(), before[c].max()))
        axes.set_ylabel("NCU")
        axes.set_title(instance.clusters[c].id, loc="left", fontsize=9, parse_math=False)
        right = axes.twinx()
        right.stairs(instance.carbon[c], edges, baseline=None, color="tab:green", alpha=0.8, label="carbon")
        right.set_ylim(0)
        right.set_ylabel("kg/kWh", color="tab:green")
    panels[0].legend(ncols=4, loc="lower right", bbox_to_anchor=(1, 1), fontsize=8, frameon=False)
    panels[-1].set_xlabel("hour")
    panels[-1].set_xlim(0, instance.hours)
    figure.suptitle(f"{instance.name}: {shown} of {len(instance.clusters)} clusters", fontsize=10, parse_math=False)
    return figure
