"""Open idle nodes where `use_all_nodes` asks for it."""

from __future__ import annotations

from collections import Counter

from optsched.heuristics.allocation.greedy import greedy
from optsched.instances.allocation import AllocationInstance
from optsched.problems.allocation.options import options
from optsched.schedules.allocation import AllocationSchedule, Assignment


def occupy_idle_nodes(instance: AllocationInstance, schedule: AllocationSchedule) -> AllocationSchedule:
    """The schedule with as many nodes in use as can be, if the instance wants that.

    An idle node takes the waiting job, or the job of a shared node, that costs least there. Where that is not enough (jobs
    that run on few types block each other) the greedy's matching stands in.
    """
    if not instance.use_all_nodes:
        return schedule
    placed = {a.job: (a.node, a.gpus) for a in schedule.assignments}
    busy = Counter(node for node, _ in placed.values())
    missing = instance.nodes_to_use - len(busy)
    if missing <= 0:
        return schedule
    listed = options(instance)
    order = (listed.gain + listed.energy).argsort(kind="stable").tolist()
    for k, node_class in enumerate(instance.node_classes):
        idle = [instance.nodes[n].id for n in node_class.nodes if not busy[instance.nodes[n].id]]
        for o in order if idle else ():
            job = instance.known_jobs[int(listed.job[o])].id
            shared = job in placed and busy[placed[job][0]] > 1
            if missing > 0 and idle and listed.node_class[o] == k and (job not in placed or shared):
                if shared:
                    busy[placed[job][0]] -= 1
                placed[job] = (idle.pop(0), int(listed.gpus[o]))
                busy[placed[job][0]] += 1
                missing -= 1
    if missing > 0:
        return greedy(instance)
    return AllocationSchedule(assignments=tuple(Assignment(job=j, node=n, gpus=g) for j, (n, g) in placed.items()))
