"""What every job costs at least, as if it were alone."""

from __future__ import annotations

from math import fsum

import numpy as np

from optsched.decomposition.allocation.forgiven import WHOLE, forgiven_s
from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Floats


def lonely_bound(instance: AllocationInstance) -> float:
    """A bound on the realised cost (energy and tardiness) that takes every job as if alone.

    A job runs from its submission on, its node's cost shared at the best rate that any load of a node can give. It may mix its
    configurations, as a history may: energy and time are then mixed alike, so that only pure configurations and the mixes of
    two that end exactly at the due date can be best.
    """
    return fsum(_alone(instance, job) for job in instance.jobs)


def best_share(costs: Floats, gpus: int) -> float:
    """What so many GPUs cost of a node at the load that is best for them, from the node's cost by GPUs in use, shape (G,)."""
    return float((costs[gpus - 1 :] * gpus / np.arange(gpus, len(costs) + 1)).min())


def _alone(instance: AllocationInstance, job: Job) -> float:
    times, energies = [], []
    for node in {(n.gpu_type, n.gpus) for n in instance.nodes}:
        kind, most = node
        costs = np.array(instance.gpu_types[kind].node_cost_per_h[:most])
        for g, time in enumerate(job.time_s.get(kind, ())[:most], start=1):
            if time is not None:
                times.append(WHOLE * time)
                energies.append(WHOLE * time / 3600 * best_share(costs, g))
    if not times:
        return 0.0
    t, e = np.array(times), np.array(energies)
    allowed = job.due_s - job.submit_s + float(forgiven_s(np.array(job.submit_s), np.array(job.due_s)))
    best = float((e + job.weight_per_s * np.maximum(0.0, t - allowed)).min())
    slow, fast = np.flatnonzero(t > allowed), np.flatnonzero(t <= allowed)
    if len(slow) and len(fast):
        share = (allowed - t[fast][:, None]) / (t[slow][None, :] - t[fast][:, None])
        best = min(best, float((e[fast][:, None] * (1 - share) + e[slow][None, :] * share).min()))
    return best
