"""What pictures of a replayed allocation are made of: the GPUs of each run, jobs that wait and run, and the rate of cost."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats, Ints
from optsched.schedules.allocation import AllocationHistory, Run
from optsched.schedules.allocation.history import levels_by_node


def gpus_of(runs: list[Run], gpus: int) -> list[tuple[Run, list[int]]]:
    """The GPUs of each run, by start: those that the job had last if they are free, else the lowest that are free."""
    free_from, last, found = [0.0] * gpus, dict[str, list[int]](), []
    for run in runs:
        free = [lane for lane in range(gpus) if free_from[lane] <= run.start_s]
        before = last.get(run.job, [])
        lanes = sorted(sorted(free, key=lambda lane: (lane not in before, lane))[: run.gpus])
        for lane in lanes:
            free_from[lane] = run.end_s
        last[run.job] = lanes
        found.append((run, lanes))
    return found


def stretches(lanes: list[int]) -> list[tuple[int, int]]:
    """(first lane, number of lanes) of each stretch of neighbours."""
    found = [[lane for _, lane in group] for _, group in groupby(enumerate(lanes), key=lambda pair: pair[1] - pair[0])]
    return [(stretch[0], len(stretch)) for stretch in found]


def done_s(history: AllocationHistory) -> dict[str, float]:
    """When each job ended, in seconds."""
    done: dict[str, float] = {}
    for run in history.runs:
        done[run.job] = max(done.get(run.job, 0.0), run.end_s)
    return done


def jobs_there(instance: AllocationInstance, history: AllocationHistory, end_s: float) -> tuple[Floats, Ints, Ints]:
    """Times, and from each on how many jobs are there (submitted, not done) and run."""
    done = done_s(history)
    events: dict[float, list[int]] = defaultdict(lambda: [0, 0])  # changes of those there and of those that run
    for job in instance.jobs:
        events[job.submit_s][0] += 1
        events[max(job.submit_s, done.get(job.id, max(end_s, job.submit_s)))][0] -= 1
    for run in history.runs:
        events[run.start_s][1] += 1
        events[run.end_s][1] -= 1
    times = sorted(events)
    there, running = np.cumsum(np.array([events[t] for t in times], dtype=np.int64).reshape(-1, 2), axis=0).T
    return np.array(times), np.maximum(running, there), running


def cost_rate(instance: AllocationInstance, history: AllocationHistory) -> tuple[Floats, Floats]:
    """Times, and between each and the next what all nodes cost an hour: each pays while 1..G of its GPUs are in use."""
    kinds = {node.id: instance.gpu_types[node.gpu_type].node_cost_per_h for node in instance.nodes}
    change: dict[float, float] = defaultdict(float)
    for node, levels in levels_by_node(history).items():
        for start, end, used in levels:
            rate = kinds[node][used - 1] if used else 0.0
            change[start] += rate
            change[end] -= rate
    times = sorted(change)
    return np.array(times), np.maximum(0.0, np.cumsum([change[t] for t in times])[:-1])
