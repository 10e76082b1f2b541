"""Picture of a geo schedule, planned or replayed: GPUs in use against capacity at every site, its price and its carbon."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from optsched.instances.geo import GeoInstance
from optsched.schedules.geo import GeoSchedule, load


def draw(instance: GeoInstance, schedule: GeoSchedule) -> Figure:
    """A panel a site: load and capacity on the left axis, price on the right; under it a strip of the carbon intensity.

    Prices and carbon have the same scale at all sites, so that they compare.
    """
    sites = len(instance.sites)
    tight = ConstrainedLayoutEngine(h_pad=0.02, hspace=0.0)
    figure = Figure(figsize=(10, min(60, 1.4 + 1.7 * sites)), layout=tight)
    grid = figure.subplots(2 * sites, 1, sharex=True, height_ratios=[9, 1] * sites)
    hours = np.arange(instance.horizon + 1) * instance.slot_s / 3600
    home = {job.id: job.source for job in instance.jobs}
    own = GeoSchedule(starts=tuple(start for start in schedule.starts if start.site == home[start.job]))
    used, local = load(instance, schedule), load(instance, own)
    grid[0].set_xlim(0, hours[-1])
    handles: dict[str, Any] = {}
    for n in range(sites):
        handles |= _site(grid[2 * n], instance, n, hours, used[n], local[n])
        strip = _carbon(grid[2 * n + 1], instance, n, hours)
    grid[-1].tick_params(bottom=True)
    grid[-1].set_xlabel("hours")
    bar = figure.colorbar(strip, ax=list(grid), fraction=0.02, pad=0.01, shrink=0.45, aspect=28)
    bar.set_label("grey strips: carbon intensity, g/kWh", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    away = sum(start.site != home[start.job] for start in schedule.starts)
    title = f"{instance.name}: {len(schedule.starts)} of {len(instance.jobs)} jobs run, {away} away from their source"
    title += f", {len(schedule.lost)} lost on the way" if schedule.lost else ""
    figure.suptitle(title, fontsize=10, parse_math=False)
    return figure


def _site(axes: Any, instance: GeoInstance, n: int, hours: Any, used: Any, local: Any) -> dict[str, Any]:
    """Draw a site; handles of the legend by label."""
    capacity = instance.capacity[n]
    axes.stairs(local, hours, fill=True, color="tab:blue", alpha=0.65, label="GPUs in use: jobs of the site")
    if (used > local).any():
        axes.stairs(used, hours, baseline=local, fill=True, color="tab:green", alpha=0.75, label="jobs of other sites")
    axes.stairs(capacity, hours, color="black", baseline=None, linewidth=1.2, label="capacity")
    axes.set_ylim(0, max(1, capacity.max(), used.max()) * 1.1)
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=6)
    axes.tick_params(labelsize=8, labelbottom=False, bottom=False)
    axes.set_ylabel(f"{instance.sites[n].id}\nGPUs", fontsize=8, parse_math=False)
    price = axes.twinx()
    price.stairs(instance.price[n], hours, color="tab:orange", baseline=None, linewidth=1.6, label="price")
    price.set_ylim(min(0.0, 1.1 * instance.price.min()), 1.1 * max(1e-9, instance.price.max()))
    price.tick_params(labelsize=8, labelcolor="tab:orange")
    price.set_ylabel("USD/MWh", fontsize=8, color="tab:orange")
    drawn = (axes.get_legend_handles_labels(), price.get_legend_handles_labels())
    return {label: handle for handles, labels in drawn for handle, label in zip(handles, labels, strict=True)}


def _carbon(axes: Any, instance: GeoInstance, n: int, hours: Any) -> Any:
    most = max(1.0, float(instance.carbon.max()))
    rows = instance.carbon[n][None, :]
    axes.set_yticks([])
    axes.tick_params(labelsize=8, bottom=False)
    return axes.pcolormesh(hours, [0, 1], rows, cmap="Greys", vmin=0, vmax=most, rasterized=True)
