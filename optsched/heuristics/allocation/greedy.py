"""allocation: a feasible schedule in milliseconds, for a start and for when time runs out."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.models.allocation.options import Options, options
from optsched.schedules.allocation import AllocationSchedule, Assignment


def greedy(instance: AllocationInstance, seed: int = 0) -> AllocationSchedule:
    """One quick construction: a feasible schedule in milliseconds, and the start of `exact`.

    Cover the nodes that must be in use by a matching, then fill free GPUs with the options of most gain a GPU.

    With `use_all_nodes` each class of nodes receives as many jobs as a maximum matching gives it: per class the jobs whose
    postponement is dearest, each with its best configuration. After that, and from scratch otherwise, options in
    order of gain a GPU go to the fullest node that has room.
    """
    listed = options(instance)
    free = {k: [(c.gpus, n) for n in c.nodes] for k, c in enumerate(instance.node_classes)}
    taken: dict[int, tuple[int, int]] = {}  # job -> (node, gpus)
    if instance.use_all_nodes:
        _cover(instance, listed, free, taken)
    opened = {node for node, _ in taken.values()}
    by_gain = np.argsort(listed.gain / np.maximum(listed.gpus, 1), kind="stable")
    for o in by_gain[listed.gain[by_gain] < 0].tolist():
        job, k, gpus = int(listed.job[o]), int(listed.node_class[o]), int(listed.gpus[o])
        if job in taken:
            continue
        fitting = [(left, n) for left, n in free[k] if left >= gpus]
        if not fitting:
            continue
        left, node = min(fitting, key=lambda slot: (slot[1] not in opened, slot[0], slot[1]))
        if node not in opened and listed.gain[o] + listed.energy[o] >= 0:
            continue  # a node of its own costs more than the job gains
        opened.add(node)
        free[k].remove((left, node))
        free[k].append((left - gpus, node))
        taken[job] = (node, gpus)
    return AllocationSchedule(
        assignments=tuple(
            Assignment(job=instance.known_jobs[j].id, node=instance.nodes[n].id, gpus=g) for j, (n, g) in sorted(taken.items())
        )
    )


def _cover(
    instance: AllocationInstance,
    listed: Options,
    free: dict[int, list[tuple[int, int]]],
    taken: dict[int, tuple[int, int]],
) -> None:
    total = listed.gain + listed.energy
    best: dict[tuple[int, int], int] = {}
    for o in np.argsort(total, kind="stable").tolist():
        best.setdefault((int(listed.job[o]), int(listed.node_class[o])), o)
    groups: dict[tuple[bool, ...], list[int]] = defaultdict(list)
    for j, signature in enumerate(map(tuple, instance.runnable.tolist())):
        groups[signature].append(j)
    for signature, flow in instance.matching.items():
        waiting = set(groups[signature])
        for k, count in flow.items():
            for j in sorted(waiting, key=lambda j: (total[best[j, k]], j))[:count]:
                waiting.discard(j)
                gpus = int(listed.gpus[best[j, k]])
                index = next(i for i, (left, _) in enumerate(free[k]) if left == instance.node_classes[k].gpus)
                left, node = free[k].pop(index)
                free[k].append((left - gpus, node))
                taken[j] = (node, gpus)
