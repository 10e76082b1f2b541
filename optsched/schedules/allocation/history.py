"""Referee of a replayed allocation: what ran, where and when; realised energy and tardiness (ANDREAS, section V-B)."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import fsum, ulp
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Counting, Data
from optsched.instances.grid import beyond
from optsched.schedules.base import Evaluation, Schedule, Violation, entry

SIGNS = {"energy": 1, "tardiness": 1}
WORK_TOLERANCE = 1e-6


Moment = Annotated[float, Field(ge=0)]  # may lie beyond what an instance may ask for: work takes its time


class Run(Data):
    """A job on `gpus` GPUs of a node, without interruption."""

    job: str
    node: str
    gpus: Counting
    start_s: Moment
    end_s: Moment


class AllocationHistory(Schedule):
    """Everything that ran in a replay."""

    objective_kind: ClassVar[Literal["proxy", "realised"] | None] = "realised"

    runs: tuple[Run, ...]


def evaluate(instance: AllocationInstance, history: AllocationHistory) -> Evaluation:
    """Energy (a node's cost rate while 1..G of its GPUs are in use; idle nodes cost nothing) and weighted tardiness.

    Raises
    ------
    OptschedError : a run names an unknown job or node.
    """
    jobs = {job.id: j for j, job in enumerate(instance.jobs)}
    nodes = {node.id: n for n, node in enumerate(instance.nodes)}
    completion: dict[int, float] = {}
    for run in history.runs:
        j = entry(jobs, run.job, "job")
        entry(nodes, run.node, "node")
        completion[j] = max(completion.get(j, 0.0), run.end_s)
    energy = []
    for node_id, levels in levels_by_node(history).items():
        node = instance.nodes[nodes[node_id]]
        rates = (0.0, *instance.gpu_types[node.gpu_type].node_cost_per_h)
        energy += [rates[min(used, len(rates) - 1)] * (end - start) / 3600 for start, end, used in levels]
    owed = completion.keys() - _given_up(instance, history)
    ended = [(instance.jobs[j].weight_per_s, instance.jobs[j].due_s, completion[j]) for j in completion if j in owed]
    weight, due, end_s = np.array(ended).reshape(-1, 3).T
    late = weight * beyond(due, end_s)
    return Evaluation.of({"energy": fsum(energy), "tardiness": fsum(late)}, SIGNS)


def levels_by_node(history: AllocationHistory) -> dict[str, list[tuple[float, float, int]]]:
    """(start, end, GPUs in use) of every stretch between events, by node."""
    changes: dict[str, dict[float, int]] = defaultdict(lambda: defaultdict(int))
    for run in history.runs:
        changes[run.node][run.start_s] += run.gpus
        changes[run.node][run.end_s] -= run.gpus
    levels = {}
    for node, change in changes.items():
        used, rows = 0, []
        times = sorted(change)
        for start, end in itertools.pairwise(times):
            used += change[start]
            rows.append((start, end, used))
        levels[node] = rows
    return levels


def check(instance: AllocationInstance, history: AllocationHistory) -> list[Violation]:
    """Capacity at every time, one node a job at a time, all work done, nothing before submission."""
    jobs = {job.id: job for job in instance.jobs}
    nodes = {node.id: node for node in instance.nodes}
    found = []
    by_job: dict[str, list[Run]] = defaultdict(list)
    for run in history.runs:
        if run.job not in jobs:
            found.append(Violation("unknown job", job=run.job))
        elif run.node not in nodes:
            found.append(Violation("unknown node", job=run.job, place=run.node))
        elif run.end_s <= run.start_s:
            found.append(Violation("run without length", run.job, run.node, run.start_s))
        else:
            by_job[run.job].append(run)
    for node_id, levels in levels_by_node(history).items():
        for start, _, used in levels if node_id in nodes else ():
            if used > nodes[node_id].gpus:
                found.append(Violation("GPUs above the node's", None, node_id, start, used - nodes[node_id].gpus))
    for job in instance.jobs:
        found += _of_job(instance, job, sorted(by_job[job.id], key=lambda run: run.start_s))
    return found + list(_outages(instance, history))


def _outages(instance: AllocationInstance, history: AllocationHistory) -> Iterator[Violation]:
    """A node that has failed runs nothing, and one that drains starts nothing."""
    for outage in () if instance.events is None else instance.events.outages:
        back = np.inf if outage.back_s is None else outage.back_s
        for run in history.runs:
            if run.node != outage.place:
                continue
            if outage.kind == "fails" and run.start_s < back and run.end_s > outage.at_s:
                yield Violation("runs on a node that has failed", run.job, run.node, max(run.start_s, outage.at_s))
            elif outage.kind == "drains" and outage.at_s <= run.start_s < back:
                yield Violation("starts on a node that drains", run.job, run.node, run.start_s)


def _given_up(instance: AllocationInstance, history: AllocationHistory) -> set[int]:
    """Indices of the jobs that were cancelled before their work was done: nothing is owed for them."""
    by_job: dict[str, list[Run]] = defaultdict(list)
    for run in history.runs if instance.cancelled else ():
        by_job[run.job].append(run)
    gone = [(j, job) for j, job in enumerate(instance.jobs) if job.id in instance.cancelled]
    runs = {j: sorted(by_job[job.id], key=lambda run: run.start_s) for j, job in gone}
    return {j for j, job in gone if work_done(instance, job, runs[j]) < 1 - WORK_TOLERANCE}


def work_done(instance: AllocationInstance, job: Job, runs: list[Run]) -> float:
    """The share of a job's work that its runs, by start, have done: those on a node that fails at their end have done none."""
    done = 0.0
    for i, run in enumerate(runs):
        time = _time(job, run, instance.type_of_node)
        lost = instance.migration_cost_s if i else 0.0
        work = 0.0 if time is None else max(0.0, run.end_s - run.start_s - lost) / time
        if (run.node, run.end_s) not in instance.failures or done + work >= 1 - WORK_TOLERANCE:
            done += work
    return done


def _time(job: Job, run: Run, kinds: Mapping[str, str]) -> float | None:
    """Seconds that the whole job would take as a run does it."""
    times = job.time_s.get(kinds[run.node], ())
    return times[run.gpus - 1] if run.gpus <= len(times) else None


def _unsaid(instance: AllocationInstance, job: Job, runs: list[Run]) -> float:
    """Share of the work that times so far from zero cannot tell."""
    times = ((run, _time(job, run, instance.type_of_node)) for run in runs)
    return sum(2 * ulp(run.end_s) / time for run, time in times if time)


def _of_job(instance: AllocationInstance, job: Job, runs: list[Run]) -> list[Violation]:
    found = []
    until, twice, cancelled_s = -np.inf, 0.0, instance.cancelled.get(job.id, np.inf)
    for run in runs:
        if _time(job, run, instance.type_of_node) is None:
            found.append(Violation("job cannot run so", job.id, run.node, run.start_s, detail=f"with {run.gpus} GPUs"))
            continue
        if run.end_s > cancelled_s:
            found.append(Violation("runs on after it was cancelled", job.id, run.node, cancelled_s, run.end_s - cancelled_s))
        if run.start_s < job.submit_s - WORK_TOLERANCE:
            found.append(Violation("runs before it is submitted", job.id, run.node, run.start_s, job.submit_s - run.start_s))
        twice += max(0.0, min(until, run.end_s) - run.start_s)
        until = max(until, run.end_s)
        if twice > WORK_TOLERANCE:
            found.append(Violation("runs twice at a time", job.id, run.node, run.start_s, twice))
            twice = 0.0  # told
    done = 1.0 if found else work_done(instance, job, runs)
    off = abs(done - 1)
    if off > WORK_TOLERANCE and off > WORK_TOLERANCE + _unsaid(instance, job, runs) and not (done < 1 and cancelled_s < np.inf):
        rule = "work not finished" if done < 1 else "work done more than once"
        found.append(Violation(rule, job.id, amount=off))
    return found
