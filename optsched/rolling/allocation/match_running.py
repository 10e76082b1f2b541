"""Nodes of a class are interchangeable for a method, not for a job that runs: keep jobs where they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from optsched.instances.allocation import AllocationInstance
from optsched.schedules.allocation import AllocationSchedule, Assignment


def match_running_nodes(
    instance: AllocationInstance, schedule: AllocationSchedule, running: Mapping[str, tuple[str, int]]
) -> AllocationSchedule:
    """The same schedule with nodes of a class renamed so that more jobs keep node and GPUs.

    Parameters
    ----------
    running : job -> (node, GPUs) of what runs now. Greedy by the number of jobs that would stay.
    """
    group = instance.class_of_node
    stays: Counter[tuple[str, str]] = Counter()
    wanted: dict[int, list[str]] = defaultdict(list)
    for a in schedule.assignments:
        if a.node not in wanted[group[a.node]]:
            wanted[group[a.node]].append(a.node)
        if a.job in running:
            node, gpus = running[a.job]
            if gpus == a.gpus and group[node] == group[a.node]:
                stays[a.node, node] += 1
    renamed: dict[str, str] = {}
    taken: set[str] = set()
    for (new, old), _ in stays.most_common():
        if new not in renamed and old not in taken:
            renamed[new] = old
            taken.add(old)
    for k, nodes in wanted.items():
        rest = [n for n in (instance.nodes[i].id for i in instance.node_classes[k].nodes) if n not in taken]
        rest.sort(key=lambda n: n not in nodes)  # an idle node keeps its name where it can
        for new in nodes:
            if new not in renamed:
                renamed[new] = new if new in rest else rest[0]
                rest.remove(renamed[new])
    return AllocationSchedule(
        assignments=tuple(Assignment(job=a.job, node=renamed[a.node], gpus=a.gpus) for a in schedule.assignments)
    )
