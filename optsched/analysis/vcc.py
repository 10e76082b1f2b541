"""Picture of a vcc schedule: load under the cap, carbon, and the queue."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from optsched.analysis.heading import put_heading
from optsched.analysis.marks import GREEN, LEGEND, ORANGE, SKY, VERMILLION
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.vcc import VccInstance
from optsched.schedules.vcc import VccSchedule, evaluate, load


def draw(instance: VccInstance, schedule: VccSchedule) -> Figure:
    """Above: inflexible and flexible load, the cap on top of the inflexible; then carbon; below: NCU that wait.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided: a cap for every slot, and starts of the instance's jobs.
    """
    figure = Figure(figsize=(11, 8), layout="constrained")
    above, middle, below = figure.subplots(3, 1, sharex=True, height_ratios=[2.6, 1, 1])
    length = instance.horizon * instance.slot_s
    time = TimeAxis.of(instance, length, now_s=instance.now_s)
    edges = time.at(np.arange(instance.horizon + 1) * instance.slot_s)
    inflexible = instance.inflexible
    used, cap = inflexible + load(instance, schedule), inflexible + np.array(schedule.cap) * instance.capacity_ncu
    above.stairs(inflexible, edges, fill=True, color="0.75", label="inflexible load")
    above.stairs(used, edges, baseline=inflexible, fill=True, color=SKY, label="flexible load")
    above.stairs(cap, edges, baseline=None, color=VERMILLION, lw=1.1, label="inflexible load + cap")
    above.axhline(instance.capacity_ncu, color="black", lw=1, ls="--", label="capacity")
    # a cap may lie far above what the data centre holds: that it does is to be seen too
    above.set_ylim(0, 1.04 * max(instance.capacity_ncu, float(cap.max()), float(used.max())))
    above.set_ylabel("NCU")
    above.legend(ncols=4, **LEGEND)
    middle.stairs(instance.carbon, edges, baseline=None, color=GREEN, lw=1.4, label="carbon intensity")
    middle.set_ylim(0, 1.08 * max(1e-9, float(instance.carbon.max())))
    middle.set_ylabel("kg CO2/kWh")
    middle.legend(**LEGEND)
    queue = waiting(instance, schedule)
    below.stairs(queue, edges, fill=True, color=ORANGE, label="jobs not started yet")
    below.set_ylim(0, 1.08 * max(1e-9, float(queue.max())))
    below.set_ylabel("NCU waiting")
    below.legend(**LEGEND)
    time.frame(below, length)
    decided = f"{schedule.jobs_run} of {len(instance.jobs)} jobs started"
    put_heading(figure, instance, schedule, evaluate(instance, schedule), decided)
    return figure


def waiting(instance: VccInstance, schedule: VccSchedule) -> np.ndarray:
    """NCU of the jobs that have come and not been started for the first time, shape (T,)."""
    jobs = {job.id: job for job in instance.jobs}
    change = np.zeros(instance.horizon + 1)
    for job in instance.jobs:
        change[job.submitted] += job.ncu
    seen: set[str] = set()
    for start in sorted(schedule.starts, key=lambda piece: piece.start):
        if start.job not in seen:
            seen.add(start.job)
            change[start.start] -= jobs[start.job].ncu
    return np.maximum(0.0, np.cumsum(change)[:-1])
