"""Nodes by name, for a schedule that has only counted them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Ints
from optsched.problems.allocation.options import Options
from optsched.problems.allocation.patterns import Pattern
from optsched.schedules.allocation import AllocationSchedule, Assignment


def named(
    instance: AllocationInstance,
    listed: Options,
    sizes: Sequence[tuple[int, ...]],
    firsts: Sequence[Sequence[tuple[int, Pattern]]],
    others: Ints,
) -> AllocationSchedule:
    """Firsts take nodes of their class, others the open slots of their size, both in order of time.

    Parameters
    ----------
    sizes : of each class, what the entries of its patterns count.
    firsts : of each class, (option, pattern of its node, itself included).
    others : options that run beside a first; there is a slot for each.
    """
    assignments: list[tuple[int, int]] = []
    for k, node_class in enumerate(instance.node_classes):
        nodes = iter(node_class.nodes)
        open_slots: dict[int, list[int]] = defaultdict(list)
        for option, pattern in sorted(firsts[k], key=lambda pair: listed.time_s[pair[0]]):
            node, first = next(nodes), int(listed.gpus[option])
            assignments.append((option, node))
            for size, count in zip(sizes[k], pattern, strict=True):
                open_slots[size] += [node] * (count - (size == first))
        of_class = others[listed.node_class[others] == k]
        taken: dict[int, int] = defaultdict(int)
        for o in of_class[np.argsort(listed.time_s[of_class], kind="stable")].tolist():
            size = int(listed.gpus[o])
            assignments.append((o, open_slots[size][taken[size]]))  # ascending on both sides: a slot in time
            taken[size] += 1
    jobs, nodes_of = instance.known_jobs, instance.nodes
    return AllocationSchedule(
        assignments=tuple(
            Assignment(job=jobs[int(listed.job[o])].id, node=nodes_of[n].id, gpus=int(listed.gpus[o])) for o, n in assignments
        )
    )
