"""Picture of a vcc schedule: load under the cap, carbon, and the queue."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from optsched.instances.vcc import VccInstance
from optsched.schedules.vcc import VccSchedule, load

LEGEND = {"loc": "lower right", "bbox_to_anchor": (1, 1), "fontsize": 8, "frameon": False, "borderaxespad": 0.1}


def draw(instance: VccInstance, schedule: VccSchedule) -> Figure:
    """Above: inflexible and flexible load, the cap on top of the inflexible; then carbon; below: NCU that wait."""
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    above, middle, below = figure.subplots(3, 1, sharex=True, height_ratios=[2.4, 1, 1])
    edges = np.arange(instance.horizon + 1)
    flexible, inflexible = load(instance, schedule), instance.inflexible
    above.stairs(inflexible, edges, fill=True, color="0.75", label="inflexible load")
    above.stairs(
        inflexible + flexible, edges, baseline=inflexible, fill=True, color="tab:blue", alpha=0.7, label="flexible load"
    )
    cap = np.array(schedule.cap) * instance.capacity_ncu
    top = 1.25 * max(float((inflexible + flexible).max()), 1e-9)
    above.stairs(
        np.minimum(inflexible + cap, instance.capacity_ncu), edges, baseline=None, color="tab:red", lw=0.9, label="cap"
    )
    if top > instance.capacity_ncu:
        above.axhline(instance.capacity_ncu, color="black", lw=0.8, label="capacity")
    above.set_ylim(0, min(top, 1.05 * instance.capacity_ncu))
    above.set_ylabel("NCU")
    above.legend(ncols=4, **LEGEND)
    middle.stairs(instance.carbon, edges, baseline=None, color="tab:green")
    middle.set_ylim(0)
    middle.set_ylabel("kg CO2/kWh")
    below.stairs(waiting(instance, schedule), edges, fill=True, color="tab:orange", alpha=0.7)
    below.set_ylabel("NCU waiting")
    below.set_xlabel(f"time, in slots of {instance.slot_s:g} s")
    below.set_xlim(0, instance.horizon)
    started = schedule.jobs_run
    figure.suptitle(f"{instance.name}: {started} of {len(instance.jobs)} jobs started", fontsize=10, parse_math=False)
    return figure


def waiting(instance: VccInstance, schedule: VccSchedule) -> np.ndarray:
    """NCU of the jobs that have come and not been started for the first time, shape (T,)."""
    jobs = {job.id: job for job in instance.jobs}
    change = np.zeros(instance.horizon + 1)
    for job in instance.jobs:
        change[job.submitted] += job.ncu
    seen: set[str] = set()
    for start in schedule.starts:
        if start.job not in seen:
            seen.add(start.job)
            change[start.start] -= jobs[start.job].ncu
    return np.maximum(0.0, np.cumsum(change)[:-1])
