"""A dispatch rule that pays for GPU time: urgent jobs first, each where energy, tardiness and the GPU's price are least."""

from __future__ import annotations

import numpy as np

from optsched.heuristics.allocation.dispatch import fill
from optsched.heuristics.allocation.occupy_idle import occupy_idle_nodes
from optsched.instances.allocation import AllocationInstance
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.schedules.allocation import AllocationSchedule
from optsched.stop import Spare

PRICE = 0.3  # of `Urgency.price`: an average GPU-second is worth less than one at the height of a queue


def priced(instance: AllocationInstance, seed: int = 0, *, spare: Spare | None = None) -> AllocationSchedule:
    """Jobs by urgency (tardiness weight, faded by slack), each at the least energy, tardiness and price of its GPU time."""
    return occupy_idle_nodes(instance, priced_dispatch(instance, spare=spare))


def priced_dispatch(instance: AllocationInstance, seed: int = 0, *, spare: Spare | None = None) -> AllocationSchedule:
    """The rule without opening idle nodes."""
    listed = options(instance)
    measured = urgency(instance, listed)
    gpu_time = listed.time_s * listed.gpus * measured.speed[listed.node_class]
    score = listed.energy + listed.tardiness + PRICE * measured.price * gpu_time
    begin = np.searchsorted(listed.job, np.arange(len(instance.known_jobs) + 1))
    ranked = np.lexsort((score, listed.job))
    order = np.argsort(-measured.weight, kind="stable")
    return fill(instance, listed, order.tolist(), lambda j: ranked[begin[j] : begin[j + 1]].tolist(), spare=spare)
