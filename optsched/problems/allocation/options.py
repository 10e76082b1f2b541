"""Ways to run a job now, as columns: what every allocation formulation and heuristic starts from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats, Ints
from optsched.instances.grid import beyond


@dataclass(frozen=True)
class Options:
    """One row a known job, class of nodes and number of GPUs with an execution time, sorted in that order.

    Attributes
    ----------
    job, node_class, gpus : shape (n,). time_s : execution time. energy : pi_jn of (4k), currency.
    tardiness : w * max(0, now + t - d), currency. gain : tardiness minus what postponing the job costs.
    postponed : cost of postponing, by job, shape (J,): rho * w * max(0, now + H + M - d), (4j) gated (docs/errata.md, A3).
    """

    job: Ints
    node_class: Ints
    gpus: Ints
    time_s: Floats
    energy: Floats
    tardiness: Floats
    gain: Floats
    postponed: Floats

    def __len__(self) -> int:
        return len(self.job)

    @cached_property
    def index(self) -> dict[tuple[int, int, int], int]:
        """Row of each (job, node class, GPUs)."""
        columns = (self.job.tolist(), self.node_class.tolist(), self.gpus.tolist())
        return {key: o for o, key in enumerate(zip(*columns, strict=True))}


def options(instance: AllocationInstance) -> Options:
    """All options of the known jobs on the classes of nodes that the instance has."""
    jobs, now = instance.columns, instance.now_s
    job, node_class, less = np.nonzero(np.isfinite(jobs.time_s))
    time = jobs.time_s[job, node_class, less]
    late = beyond(jobs.due_s, now, instance.scheduling_interval_s, jobs.longest_s)
    postponed = instance.postponement_penalty * jobs.weight_per_s * late
    tardiness = jobs.weight_per_s[job] * beyond(jobs.due_s[job], now, time)
    return Options(
        job=job,
        node_class=node_class,
        gpus=less + 1,
        time_s=time,
        energy=time * instance.cost_per_h[node_class, less] / 3600,
        tardiness=tardiness,
        gain=tardiness - postponed[job],
        postponed=postponed,
    )
