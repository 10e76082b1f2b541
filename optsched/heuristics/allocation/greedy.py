"""allocation: a feasible schedule in milliseconds, for a start and for when time runs out."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from optsched.heuristics.allocation.nodes import Nodes
from optsched.instances.allocation import AllocationInstance
from optsched.problems.allocation.options import Options, options
from optsched.schedules.allocation import AllocationSchedule, Assignment
from optsched.stop import Spare

EVERY = 256  # options: how often it is asked whether there is time


def greedy(instance: AllocationInstance, seed: int = 0, *, spare: Spare | None = None) -> AllocationSchedule:
    """One quick construction: a feasible schedule in milliseconds, and the start of `exact`.

    Cover the nodes that must be in use by a matching, then fill free GPUs with the options of most gain a GPU.

    With `use_all_nodes` each class of nodes receives as many jobs as a maximum matching gives it: per class the jobs whose
    postponement is dearest, each with its best configuration. After that, and from scratch otherwise, options in
    order of gain a GPU go to the fullest node that has room.
    """
    listed = options(instance)
    taken: dict[int, tuple[int, int]] = {}  # job -> (node, gpus)
    if instance.use_all_nodes:
        _cover(instance, listed, taken)
    opened = dict(taken.values())
    used = [Nodes(c.gpus, [(c.gpus - opened[n], n) for n in c.nodes if n in opened]) for c in instance.node_classes]
    idle = [Nodes(c.gpus, [(c.gpus, n) for n in c.nodes if n not in opened]) for c in instance.node_classes]
    by_gain = np.argsort(listed.gain / np.maximum(listed.gpus, 1), kind="stable")
    by_gain = by_gain[listed.gain[by_gain] < 0]
    alone = (listed.gain + listed.energy)[by_gain] < 0  # whether the job gains more than a node of its own costs
    columns = (listed.job[by_gain], listed.node_class[by_gain], listed.gpus[by_gain], alone)
    for i, (job, k, gpus, pays) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        if spare is not None and i and i % EVERY == 0 and not spare():
            break
        if job in taken:
            continue
        found = used[k].take(gpus) or (idle[k].take(gpus) if pays else None)
        if found is None:
            continue
        left, node = found
        used[k].put(left - gpus, node)
        taken[job] = (node, gpus)
    return AllocationSchedule(
        assignments=tuple(
            Assignment(job=instance.known_jobs[j].id, node=instance.nodes[n].id, gpus=g) for j, (n, g) in sorted(taken.items())
        )
    )


def _cover(instance: AllocationInstance, listed: Options, taken: dict[int, tuple[int, int]]) -> None:
    """A job of its own for every node that must be in use."""
    total = listed.gain + listed.energy
    best: dict[tuple[int, int], int] = {}
    order = np.argsort(total, kind="stable")
    for o, key in zip(
        order.tolist(), zip(listed.job[order].tolist(), listed.node_class[order].tolist(), strict=True), strict=True
    ):
        best.setdefault(key, o)
    groups: dict[tuple[bool, ...], list[int]] = defaultdict(list)
    for j, signature in enumerate(map(tuple, instance.runnable.tolist())):
        groups[signature].append(j)
    nodes = [iter(c.nodes) for c in instance.node_classes]
    for signature, flow in instance.matching.items():
        waiting = set(groups[signature])
        for k, count in flow.items():
            for j in sorted(waiting, key=lambda j: (total[best[j, k]], j))[:count]:
                waiting.discard(j)
                taken[j] = (next(nodes[k]), int(listed.gpus[best[j, k]]))
