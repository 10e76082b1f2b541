"""A plan as who runs how long between which edges, made of a history and made into one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats
from optsched.rolling.allocation.offline.order import Order
from optsched.rolling.allocation.offline.subsets import Group, Subset, Subsets
from optsched.schedules.allocation import AllocationHistory
from optsched.schedules.allocation.history import Run

FAR = 2.0  # times as long as a history lasts: no due date is looked at beyond
DONE = 1e-7  # of a job's work, that rounding may leave: a tenth of what the referee forgives

Piece = tuple[float, Subset]  # seconds


@dataclass(frozen=True)
class Lateness:
    """What jobs pay for being late.

    Attributes
    ----------
    weight_per_s
        Shape (J,).
    due_s
        From when on, shape (J,); no job is done before it comes.
    far_s
        Due dates from here on are as good as none.
    """

    weight_per_s: Floats
    due_s: Floats
    far_s: float

    @classmethod
    def of(cls, instance: AllocationInstance, history: AllocationHistory) -> Lateness:
        """Of all jobs, none of which is to be done much later than the history has them done."""
        known = instance.model_copy(update={"now_s": np.inf}).columns
        first, last = float(known.submit_s.min()), max(run.end_s for run in history.runs)
        return cls(known.weight_per_s, known.due_s, first + FAR * (last - first))


@dataclass(frozen=True)
class Timetable:
    """An order, when its edges are, and what runs between them.

    Attributes
    ----------
    at_s
        Of each edge, shape (E,): a job is done at its due date, or later.
    pieces
        Of each interval, E - 1 of them, one after the other; what is left of it is idle.
    """

    order: Order
    at_s: Floats
    pieces: tuple[tuple[Piece, ...], ...]

    @classmethod
    def of(cls, instance: AllocationInstance, subsets: Subsets, lateness: Lateness, history: AllocationHistory) -> Timetable:
        """What a history does, whose jobs lose nothing when they move."""
        number = {job.id: j for j, job in enumerate(instance.jobs)}
        submit, end = np.array([job.submit_s for job in instance.jobs]), np.zeros(len(instance.jobs))
        for run in history.runs:
            end[number[run.job]] = max(end[number[run.job]], run.end_s)
        order, at = Order.of(submit, np.maximum(end, np.clip(lateness.due_s, submit, lateness.far_s)))
        pieces: list[list[Piece]] = [[] for _ in at[1:]]
        for begin, until, subset in _stretches(instance, subsets, history, number, at):
            pieces[int(np.searchsorted(at, (begin + until) / 2)) - 1].append((until - begin, subset))
        return cls(order, at, tuple(tuple(some) for some in pieces))

    def done(self, subsets: Subsets, first: int, last: int | None) -> Floats:
        """How much of each job's work is done in the intervals from `first` to before `last`, shape (J,)."""
        done = np.zeros(len(subsets.time))
        for some in self.pieces[first:last]:
            for seconds, subset in some:
                for group in subset:
                    for job, way in group:
                        done[job] += seconds / subsets.time[job, way]
        return done

    def history(self, instance: AllocationInstance, subsets: Subsets) -> AllocationHistory:
        """On nodes with names: a group stays where most of it was, if nobody else is there."""
        left, names = [1.0] * len(instance.jobs), _Names(instance, subsets)
        time, gpus = subsets.time.tolist(), subsets.cluster.gpus.tolist()
        runs: list[tuple[int, str, int, float, float]] = []
        last: dict[int, int] = {}
        for begin, until, subset in self._placed():
            for node, group in names(subset):
                for job, way in group:
                    end = min(until, begin + left[job] * time[job][way])
                    if left[job] <= 0 or end <= begin:
                        continue
                    left[job] -= (end - begin) / time[job][way]
                    if left[job] < DONE:
                        left[job] = 0.0
                    before = runs[last[job]] if job in last else None
                    if before is not None and before[1:3] == (node, way) and before[4] == begin:
                        runs[last[job]] = (*before[:4], end)
                    else:
                        last[job] = len(runs)
                        runs.append((job, node, way, begin, end))
        ids = [job.id for job in instance.jobs]
        made = (Run(job=ids[j], node=node, gpus=gpus[way], start_s=a, end_s=b) for j, node, way, a, b in runs)
        return AllocationHistory(runs=tuple(made))

    def _placed(self) -> Iterator[tuple[float, float, Subset]]:
        """When each piece begins and ends; what rounding makes too long is cut."""
        for i, some in enumerate(self.pieces):
            now, end = float(self.at_s[i]), float(self.at_s[i + 1])
            for seconds, subset in some:
                until = min(end, now + seconds)
                yield now, until, subset
                now = until


def _stretches(
    instance: AllocationInstance, subsets: Subsets, history: AllocationHistory, number: dict[str, int], at: Floats
) -> Iterator[tuple[float, float, Subset]]:
    """From when until when which subset runs, cut at the edges."""
    kind, gpus = subsets.cluster.kind.tolist(), subsets.cluster.gpus.tolist()
    ways = {(kind[way], gpus[way]): way for way in range(len(kind))}
    begins, ends = sorted(history.runs, key=lambda run: run.start_s), sorted(history.runs, key=lambda run: run.end_s)
    cuts = np.unique(np.concatenate([at, [run.start_s for run in begins], [run.end_s for run in ends]])).tolist()
    running: dict[str, dict[int, int]] = {node.id: {} for node in instance.nodes}
    b = e = 0
    for now, until in pairwise(cuts):
        while e < len(ends) and ends[e].end_s <= now:
            running[ends[e].node].pop(number[ends[e].job], None)
            e += 1
        while b < len(begins) and begins[b].start_s <= now:
            run = begins[b]
            running[run.node][number[run.job]] = ways[instance.class_of_node[run.node], run.gpus]
            b += 1
        groups = (tuple(sorted(group.items())) for group in running.values() if group)
        subset = tuple(sorted(groups))
        if subset:
            yield now, until, subset


class _Names:
    """Which node each group runs on, piece after piece."""

    def __init__(self, instance: AllocationInstance, subsets: Subsets) -> None:
        self.kind = subsets.cluster.kind.tolist()
        self.nodes = [[instance.nodes[n].id for n in c.nodes] for c in instance.node_classes]
        self.of: dict[int, str] = {}  # job

    def __call__(self, subset: Subset) -> list[tuple[str, Group]]:
        free = [dict.fromkeys(nodes) for nodes in self.nodes]
        named: list[tuple[str, Group]] = []
        homeless = []
        for group in sorted(subset, key=len, reverse=True):
            here = free[self.kind[group[0][1]]]
            before = [self.of[job] for job, _ in group if self.of.get(job) in here]
            if before:
                node = max(before, key=before.count)
                del here[node]
                named.append((node, group))
            else:
                homeless.append(group)
        named += [(free[self.kind[group[0][1]]].popitem()[0], group) for group in homeless]
        for node, group in named:
            self.of.update(dict.fromkeys((job for job, _ in group), node))
        return named
