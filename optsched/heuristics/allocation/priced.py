"""A dispatch rule that pays for GPU time: urgent jobs first, each where energy, tardiness and the GPU's price are least."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from optsched.heuristics.allocation.dispatch import fill
from optsched.heuristics.allocation.occupy_idle import occupy_idle_nodes
from optsched.instances.allocation import AllocationInstance
from optsched.instances.grid import beyond
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.schedules.allocation import AllocationSchedule, Assignment
from optsched.stop import Spare


@dataclass(frozen=True)
class Bidding:
    """How the rule weighs what a job asks for.

    Attributes
    ----------
    price
        Of a GPU-second, as a share of what it is worth to those that wait: an average one is worth less than one at the
        height of a queue.
    fade
        Over how much slack a job's weight fades, as a share of the time to clear all known work.
    short
        1 orders jobs by weight a unit of work, 0 by weight alone.
    shared
        Whether a GPU is charged its share of a full node, not what it costs alone.
    patience
        A job waits where the best way with room costs more a second, beyond its best way of all, than so many times its
        urgent weight.
    keeps
        Whether what runs goes on as it does.
    caution
        How many times as long as it seems a job is taken to last where it may be late.
    """

    price: float = 0.3
    fade: float = 1.0
    short: float = 0.0
    shared: bool = False
    patience: float = inf
    keeps: bool = False
    caution: float = 1.0


USUAL = Bidding()
MOST = 1e300  # of work: who can run nowhere has infinite work, and no weight


def priced(instance: AllocationInstance, seed: int = 0, *, spare: Spare | None = None) -> AllocationSchedule:
    """Jobs by urgency (tardiness weight, faded by slack), each at the least energy, tardiness and price of its GPU time."""
    return occupy_idle_nodes(instance, priced_dispatch(instance, spare=spare))


def priced_dispatch(
    instance: AllocationInstance,
    seed: int = 0,
    *,
    spare: Spare | None = None,
    bidding: Bidding = USUAL,
    held: Mapping[str, Assignment] | None = None,
) -> AllocationSchedule:
    """The rule without opening idle nodes.

    Parameters
    ----------
    held
        What runs, for rules that keep it.
    """
    listed = options(instance)
    measured = urgency(instance, listed, bidding.fade, bidding.caution)
    energy, tardiness = listed.energy, listed.tardiness
    if bidding.caution != 1.0:
        late = beyond(instance.columns.due_s[listed.job], instance.now_s, bidding.caution * listed.time_s)
        tardiness = instance.columns.weight_per_s[listed.job] * late
    if bidding.shared:
        most = np.array([c.gpus for c in instance.node_classes], dtype=int)[listed.node_class]
        energy = listed.time_s * listed.gpus / most * instance.cost_per_h[listed.node_class, most - 1] / 3600
    gpu_time = listed.time_s * listed.gpus * measured.speed[listed.node_class]
    score = energy + tardiness + bidding.price * measured.price * gpu_time
    begin = np.searchsorted(listed.job, np.arange(len(instance.known_jobs) + 1))
    ranked = np.lexsort((score, listed.job))
    if isfinite(bidding.patience):
        least = np.full(len(instance.known_jobs), np.inf)
        np.minimum.at(least, listed.job, score)
        regret = (score - least[listed.job]) / listed.time_s
        ranked = ranked[(regret <= bidding.patience * measured.weight[listed.job])[ranked]]
        begin = np.searchsorted(listed.job[ranked], np.arange(len(instance.known_jobs) + 1))
    size = bidding.short * np.log(np.clip(measured.work, 1e-9, MOST))
    order = np.argsort(size - measured.rank, kind="stable")
    kept = held if bidding.keeps else None
    return fill(instance, listed, order.tolist(), lambda j: ranked[begin[j] : begin[j + 1]].tolist(), kept, spare)
