"""Picture of a geo schedule: GPUs in use against capacity at every site, with the price."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from optsched.instances.geo import GeoInstance
from optsched.schedules.geo import GeoSchedule, load


def draw(instance: GeoInstance, schedule: GeoSchedule) -> Figure:
    """A panel a site, hours from the start: load and capacity on the left axis, price on the right."""
    sites = len(instance.sites)
    figure = Figure(figsize=(10, 1.2 + 1.7 * sites), layout="constrained")
    panels = np.atleast_1d(figure.subplots(sites, 1, sharex=True))
    hours = np.arange(instance.horizon + 1) * instance.slot_s / 3600
    used = load(instance, schedule)
    for n, (axes, site) in enumerate(zip(panels, instance.sites, strict=True)):
        axes.stairs(used[n], hours, fill=True, color="tab:blue", alpha=0.6)
        axes.stairs(instance.capacity[n], hours, color="black", baseline=None, linewidth=1)
        axes.set_ylim(0, max(1, instance.capacity[n].max() * 1.08))
        axes.set_ylabel(f"{site.id}\nGPUs", fontsize=8, parse_math=False)
        price = axes.twinx()
        price.stairs(instance.price[n], hours, color="tab:orange", baseline=None)
        price.set_ylabel("USD/MWh", fontsize=8, color="tab:orange")
    panels[-1].set_xlabel("hours (blue: GPUs in use; black: capacity; orange: price)")
    jobs = {job.id: job for job in instance.jobs}
    away = sum(start.site != jobs[start.job].source for start in schedule.starts)
    figure.suptitle(
        f"{instance.name}: {len(schedule.starts)} of {len(instance.jobs)} jobs run, {away} away from their source",
        fontsize=10,
        parse_math=False,
    )
    return figure
