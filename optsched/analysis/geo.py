"""Picture of a geo schedule, planned or replayed: GPUs in use against capacity at every site, its price and its carbon."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from optsched.analysis.heading import BESIDE, put_heading, short
from optsched.analysis.marks import GREEN, ORANGE, SKY, VERMILLION
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance
from optsched.schedules.geo import GeoSchedule, evaluate, load

MOST = 12  # sites drawn


def draw(instance: GeoInstance, schedule: GeoSchedule) -> Figure:
    """A panel a site: load and capacity on the left axis, price on the right; under it a strip of the carbon intensity.

    Prices and carbon have the same scale at all sites, so that they compare. Of more than twelve sites those with the most in
    use are drawn.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided; all its jobs are the instance's.
    """
    home = {job.id: job.source for job in instance.jobs}
    own = GeoSchedule(starts=tuple(start for start in schedule.starts if start.site == home[start.job]))
    used, local = load(instance, schedule), load(instance, own)
    cut = load(instance, GeoSchedule(starts=(), cut=schedule.cut))
    shown = sorted(np.argsort(-used.sum(axis=1), kind="stable")[:MOST].tolist())
    tight = ConstrainedLayoutEngine(h_pad=0.02, hspace=0.0)
    figure = Figure(figsize=(10, 1.6 + 1.7 * len(shown)), layout=tight)
    grid = figure.subplots(2 * len(shown), 1, sharex=True, height_ratios=[9, 1] * len(shown))
    length = instance.horizon * instance.slot_s
    time = TimeAxis.of(instance, length, now_s=instance.now_s)
    edges = time.at(np.arange(instance.horizon + 1) * instance.slot_s)
    handles: dict[str, Artist] = {}
    for row, n in enumerate(shown):
        handles |= _site(grid[2 * row], instance, n, edges, used[n], local[n], cut[n])
        strip = _carbon(grid[2 * row + 1], instance, n, edges)
    time.frame(grid[-1], length)
    grid[-1].tick_params(bottom=True)
    bar = figure.colorbar(strip, ax=list(grid), fraction=0.02, pad=0.01, shrink=0.45, aspect=28)
    bar.set_label("grey strips: carbon intensity, g CO2/kWh", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    away = sum(start.site != home[start.job] for start in schedule.starts)
    decided = f"{len(schedule.starts)} of {len(instance.jobs)} jobs run, {away} away from their source"
    decided += f", {len(schedule.lost)} lost on the way" if schedule.lost else ""
    decided += f", {len(schedule.cut)} runs cut short" if schedule.cut else ""
    decided += f"; the {MOST} busiest of {len(instance.sites)} sites" if len(instance.sites) > MOST else ""
    put_heading(figure, instance, schedule, evaluate(instance, schedule), decided)
    return figure


def _site(axes: Axes, instance: GeoInstance, n: int, edges: Floats, used: Ints, local: Ints, cut: Ints) -> dict[str, Artist]:
    """Draw a site; handles of the legend by label."""
    capacity = instance.capacity[n]
    axes.stairs(local, edges, fill=True, color=SKY, label="GPUs in use: jobs of the site")
    whole = used - cut
    if (whole > local).any():
        axes.stairs(whole, edges, baseline=local, fill=True, color=GREEN, label="jobs of other sites")
    if cut.any():
        axes.stairs(used, edges, baseline=whole, fill=True, color=ORANGE, label="runs cut short")
    axes.stairs(capacity, edges, color="black", baseline=None, linewidth=1.2, label="capacity")
    axes.set_ylim(0, max(1, capacity.max(), used.max()) * 1.1)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.tick_params(labelsize=8, labelbottom=False, bottom=False)
    axes.set_ylabel(f"{short(instance.sites[n].id, BESIDE)}\nGPUs", fontsize=8, parse_math=False)
    price = axes.twinx()
    price.stairs(instance.price[n], edges, color=VERMILLION, baseline=None, linewidth=1.6, label="price (right)")
    price.set_ylim(min(0.0, 1.1 * instance.price.min()), 1.1 * max(1e-9, instance.price.max()))
    price.tick_params(labelsize=8, labelcolor=VERMILLION)
    price.set_ylabel("USD/MWh", fontsize=8, color=VERMILLION)
    drawn = (axes.get_legend_handles_labels(), price.get_legend_handles_labels())
    return {label: handle for handles, labels in drawn for handle, label in zip(handles, labels, strict=True)}


def _carbon(axes: Axes, instance: GeoInstance, n: int, edges: Floats) -> QuadMesh:
    most = max(1.0, float(instance.carbon.max()))
    axes.set_yticks([])
    axes.tick_params(labelsize=8, bottom=False)
    return axes.pcolormesh(edges, [0, 1], instance.carbon[n][None, :], cmap="Greys", vmin=0, vmax=most, rasterized=True)
