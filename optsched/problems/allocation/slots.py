"""Slots: a job takes one of its size on a class of nodes, as the node's first job or beside it, or it waits.

This is the reading in which any job of a node may stand as its first (erratum A1). Nodes of a class meet jobs only in how many
slots of a size there are, so that of a hundred thousand jobs and ten thousand nodes a few dozen rows are shared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats, Ints
from optsched.problems.allocation.named import named
from optsched.problems.allocation.options import Options, options
from optsched.problems.allocation.patterns import Pattern, count_patterns, sizes_of
from optsched.problems.allocation.placed import by_node
from optsched.schedules.allocation import AllocationSchedule

Cell = tuple[int, int, Pattern]
"""A class, the size of the first job (its number among the class's sizes), and the pattern of all jobs."""


@dataclass(frozen=True)
class SlotProgram:
    """Ways of the jobs that have any: each option beside a first job, each as the first, and waiting, one a job.

    Attributes
    ----------
    instance, listed : what is given, and its options. sizes : of each class.
    job : of a way, an index into `jobs`, shape (W,). cost : of it. kind : which slot it takes, K kinds in order of class and
        size; K + kind as the first; 2 K for waiting.
    begin : where each class's kinds begin, shape (classes + 1,). jobs : known jobs that have an option.
    offset : what jobs without an option cost. nodes : of each class. wanted : how many must be in use, None where that is free.
    """

    instance: AllocationInstance
    listed: Options
    sizes: tuple[tuple[int, ...], ...]
    begin: Ints
    jobs: Ints
    job: Ints
    cost: Floats
    kind: Ints
    offset: float
    nodes: Floats
    wanted: float | None

    @classmethod
    def of(cls, instance: AllocationInstance) -> SlotProgram:
        """The ways of an instance."""
        listed = options(instance)
        classes = instance.node_classes
        sizes = tuple(sizes_of(instance, k) for k in range(len(classes)))
        begin = np.cumsum([0, *map(len, sizes)])
        number = np.zeros((len(classes), max((c.gpus for c in classes), default=0) + 1), dtype=np.int64)
        for k, of_class in enumerate(sizes):
            number[k, list(of_class)] = begin[k] + np.arange(len(of_class))
        kinds, slot = int(begin[-1]), number[listed.node_class, listed.gpus]
        jobs, job = np.unique(listed.job, return_inverse=True)
        never = np.ones(len(listed.postponed), dtype=bool)
        never[jobs] = False
        return cls(
            instance,
            listed,
            sizes,
            begin,
            jobs,
            np.concatenate([job, job, np.arange(len(jobs))]),
            np.concatenate([listed.tardiness, listed.tardiness + listed.energy, listed.postponed[jobs]]),
            np.concatenate([slot, kinds + slot, np.full(len(jobs), 2 * kinds)]),
            float(listed.postponed[never].sum()),
            np.array([len(c.nodes) for c in classes], dtype=float),
            instance.nodes_to_use if instance.use_all_nodes and len(jobs) else None,
        )

    @property
    def kinds(self) -> int:
        """How many kinds of slots there are."""
        return int(self.begin[-1])

    @property
    def patterns(self) -> int:
        """How many packing patterns there are."""
        classes = zip(self.instance.node_classes, self.sizes, strict=True)
        return sum(count_patterns(c.gpus, of_class) for c, of_class in classes)

    @property
    def waiting(self) -> int:
        """The first way that is to wait: one a job from there on."""
        return 2 * len(self.listed)

    def sampled(self, jobs: Ints) -> SlotProgram:
        """Some of the jobs (ascending numbers) on as much less of everything: prices are much the same."""
        share = len(jobs) / max(1, len(self.jobs))
        place = np.full(len(self.jobs), -1)
        place[jobs] = np.arange(len(jobs))
        some = np.flatnonzero(place[self.job] >= 0)
        option = some[some < len(self.listed)]
        by_option = ("job", "node_class", "gpus", "time_s", "energy", "tardiness", "gain")
        listed = replace(self.listed, **{name: getattr(self.listed, name)[option] for name in by_option})
        return replace(
            self,
            listed=listed,
            jobs=self.jobs[jobs],
            job=place[self.job[some]],
            cost=self.cost[some],
            kind=self.kind[some],
            offset=0.0,
            nodes=self.nodes * share,
            wanted=None if self.wanted is None else self.wanted * share,
        )

    def offers(self, cell: Cell) -> list[tuple[int, int]]:
        """(kind, count) of the slots beside the first job of a node."""
        k, first, pattern = cell
        found = [(int(self.begin[k]) + i, count - (i == first)) for i, count in enumerate(pattern)]
        return [(kind, count) for kind, count in found if count]

    def of_schedule(self, schedule: AllocationSchedule) -> tuple[Ints, list[Cell]]:
        """The way of each job in a schedule, and the cells of its nodes."""
        index, count = self.listed.index, len(self.listed)
        place = {int(j): i for i, j in enumerate(self.jobs)}
        way, cells = self.waiting + np.arange(len(self.jobs)), []
        classes = {n: k for k, c in enumerate(self.instance.node_classes) for n in c.nodes}
        for n, (first, *others) in by_node(self.instance, schedule).items():
            k = classes[n]
            way[place[first.job]] = count + index[first.job, k, first.gpus]
            for other in others:
                way[place[other.job]] = index[other.job, k, other.gpus]
            gpus = [first.gpus, *(other.gpus for other in others)]
            cells.append((k, self.sizes[k].index(first.gpus), tuple(gpus.count(size) for size in self.sizes[k])))
        return way, cells

    def schedule(self, chosen: Ints, cells: list[tuple[Cell, int]]) -> AllocationSchedule:
        """A way for each job, and how many nodes have which cell."""
        count = len(self.listed)
        lead = chosen[(chosen >= count) & (chosen < self.waiting)] - count
        firsts: list[list[tuple[int, Pattern]]] = [[] for _ in self.sizes]
        for k, of_class in enumerate(self.sizes):
            for i, size in enumerate(of_class):
                patterns = [cell[2] for cell, nodes in cells if cell[:2] == (k, i) for _ in range(nodes)]
                of_size = lead[(self.listed.node_class[lead] == k) & (self.listed.gpus[lead] == size)]
                firsts[k] += zip(of_size.tolist(), patterns, strict=True)
        return named(self.instance, self.listed, self.sizes, firsts, chosen[chosen < count])
