"""An objective for the snapshot of a replay: what the running jobs will really cost, and what waiting will cost the others.

The paper's proxy charges the energy of each node's first-ending job only, and a postponed job by its slowest time and a
factor of 100: the optimum of a snapshot is no optimum of the replay. Here a running job costs the energy of its whole run,
with its node's cost shared by GPUs, and its tardiness. A waiting job costs the energy that it will need at least, weighed up by
`waiting_energy`, and its tardiness were it started at its fastest after a wait: until the next job can have ended, or
`backlog` times what all GPUs together need for the work that is known, whichever is longer.
"""

from __future__ import annotations

from collections import defaultdict
from typing import ClassVar

import numpy as np
import pyomo.core as pyo

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats
from optsched.models.base import Model
from optsched.models.terms import Terms, rows_of
from optsched.problems.allocation.options import options
from optsched.problems.allocation.patterns import patterns, sizes_of
from optsched.problems.allocation.placed import by_node
from optsched.schedules.allocation import AllocationSchedule, Assignment


class LookAhead(Model[AllocationInstance, AllocationSchedule]):
    """Jobs by class, GPUs and their node's GPUs in use; nodes counted by packing pattern.

    Parameters
    ----------
    waiting_energy : weight of a waiting job's least energy; 2 makes running now worth a somewhat dearer configuration.
    backlog : share of the time to clear all known work that a waiting job is taken to wait.
    """

    name: ClassVar[str] = "look-ahead"
    opens_nodes: ClassVar[bool] = True  # all of them where the instance wants them in use

    def __init__(self, instance: AllocationInstance, waiting_energy: float = 2.0, backlog: float = 0.5) -> None:
        self.waiting_energy, self.backlog = waiting_energy, backlog
        super().__init__(instance)

    def waiting(self) -> tuple[Floats, Floats, float]:
        """Shortest time and least energy by job, shape (J,), infinite where it can run nowhere; seconds that a wait takes."""
        listed = self.listed
        shortest, cheapest, work = np.full((3, len(self.instance.known_jobs)), np.inf)
        np.minimum.at(shortest, listed.job, listed.time_s)
        np.minimum.at(cheapest, listed.job, listed.energy)
        np.minimum.at(work, listed.job, listed.time_s * listed.gpus)
        placeable = np.isfinite(shortest)
        soonest = float(shortest[placeable].min(initial=np.inf)) if placeable.any() else 0.0
        gpus = sum(node.gpus for node in self.instance.nodes)
        return shortest, cheapest, max(soonest, self.backlog * float(work[placeable].sum()) / max(gpus, 1))

    def waiting_cost(self) -> Floats:
        """Cost of not running now, by job, shape (J,)."""
        instance = self.instance
        shortest, cheapest, wait = self.waiting()
        placeable = np.isfinite(shortest)
        late = instance.now_s + wait + np.where(placeable, shortest, 0.0) - instance.columns.due_s
        energy = self.waiting_energy * np.where(placeable, cheapest, 0.0)
        return np.asarray(energy + instance.columns.weight_per_s * np.maximum(0.0, late), dtype=float)

    def build(self) -> None:
        """CsrMatrix: a job once, patterns filled, nodes there are, nodes to use."""
        instance, m = self.instance, self.pyomo
        listed = options(instance)
        sizes = [sizes_of(instance, k) for k in range(len(instance.node_classes))]
        most = np.array([c.gpus for c in instance.node_classes], dtype=np.int64)
        # one variable for each option and total of its node
        totals = most[listed.node_class] - listed.gpus + 1
        option = np.repeat(np.arange(len(listed)), totals)
        total = np.arange(len(option)) - np.repeat(np.cumsum(totals) - totals, totals) + listed.gpus[option]
        self.option, self.total, self.listed = option, total, listed
        m.run = pyo.Var(range(len(option)), domain=pyo.Binary)
        run = self.run = list(m.run.values())
        self.cells = [(k, p) for k, c in enumerate(instance.node_classes) for p in patterns(c.gpus, sizes[k])]
        m.count = pyo.Var(
            range(len(self.cells)),
            domain=pyo.NonNegativeIntegers,
            bounds=lambda _, i: (0, len(instance.node_classes[self.cells[i][0]].nodes)),
        )
        count = self.count = list(m.count.values())
        jobs, rows = np.unique(listed.job[option], return_inverse=True)
        once = rows_of(rows, run, np.arange(len(run)), np.ones(len(run)), len(jobs))
        m.once = pyo.Constraint(range(len(jobs)), rule=lambda _, r: (None, once[r], 1))
        m.fill, m.nodes = pyo.ConstraintList(), pyo.ConstraintList()
        for k, node_class in enumerate(instance.node_classes):
            mine = [(i, p) for i, (c, p) in enumerate(self.cells) if c == k]
            for at, size in enumerate(sizes[k]):
                for whole in range(size, node_class.gpus + 1):
                    chosen = (listed.node_class[option] == k) & (listed.gpus[option] == size) & (total == whole)
                    filled = np.flatnonzero(chosen)
                    used = [(i, p[at]) for i, p in mine if p[at] and _gpus(p, sizes[k]) == whole]
                    picks = np.concatenate([filled, len(run) + np.array([i for i, _ in used], dtype=np.int64)])
                    weights = np.concatenate([np.ones(len(filled)), -np.array([n for _, n in used], dtype=float)])
                    if len(picks):
                        m.fill.add((0, Terms(run + count, picks, weights), 0))
            if mine:
                every = np.array([i for i, _ in mine])
                m.nodes.add((None, Terms(count, every, np.ones(len(every))), len(node_class.nodes)))
        if self.opens_nodes and instance.use_all_nodes and count:
            in_use = Terms(count, np.arange(len(count)), np.ones(len(count)))
            m.all_nodes = pyo.Constraint(expr=(instance.nodes_to_use, in_use, instance.nodes_to_use))
        cost, constant = self.costs()
        m.objective = pyo.Objective(expr=Terms(run, np.arange(len(run)), cost, constant))

    def shared_energy(self) -> Floats:
        """Energy of a whole run by column, its node's cost shared by GPUs."""
        option, total, listed = self.option, self.total, self.listed
        rate = self.instance.cost_per_h[listed.node_class[option], total - 1] * listed.gpus[option] / total
        return np.asarray(listed.time_s[option] * rate / 3600, dtype=float)

    def costs(self) -> tuple[Floats, float]:
        """Cost of running by column, against waiting, and the cost of an empty schedule."""
        waiting = self.waiting_cost()
        cost = self.shared_energy() + self.listed.tardiness[self.option] - waiting[self.listed.job[self.option]]
        return cost, float(waiting.sum())

    def encode(self, schedule: AllocationSchedule) -> None:
        """Set the runs and the counts."""
        for variable in self.run + self.count:
            variable.set_value(0, skip_validation=True)
        columns = (self.listed.job[self.option], self.listed.node_class[self.option], self.listed.gpus[self.option], self.total)
        index = {key: i for i, key in enumerate(zip(*(c.tolist() for c in columns), strict=True))}
        cells = {cell: i for i, cell in enumerate(self.cells)}
        classes = {n: k for k, c in enumerate(self.instance.node_classes) for n in c.nodes}
        for n, placed in by_node(self.instance, schedule).items():
            k, gpus = classes[n], [p.gpus for p in placed]
            for p in placed:
                self.run[index[p.job, k, p.gpus, sum(gpus)]].set_value(1, skip_validation=True)
            count = self.count[cells[k, tuple(gpus.count(size) for size in sizes_of(self.instance, k))]]
            count.set_value(count.value + 1, skip_validation=True)

    def decode(self) -> AllocationSchedule:
        """Name the nodes: patterns get nodes of their class, jobs the slots of their size and total."""
        slots: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for k, node_class in enumerate(self.instance.node_classes):
            nodes = iter(node_class.nodes)
            sizes = sizes_of(self.instance, k)
            for (c, pattern), variable in zip(self.cells, self.count, strict=True):
                for _ in range(round(variable.value or 0) if c == k else 0):
                    node = next(nodes)
                    whole = _gpus(pattern, sizes)
                    for size, number in zip(sizes, pattern, strict=True):
                        slots[k, size, whole] += [node] * number
        chosen = [i for i, variable in enumerate(self.run) if (variable.value or 0) > 0.5]
        assignments: list[Assignment] = []
        for i in chosen:
            o = int(self.option[i])
            k, g = int(self.listed.node_class[o]), int(self.listed.gpus[o])
            node = slots[k, g, int(self.total[i])].pop()
            job = self.instance.known_jobs[int(self.listed.job[o])].id
            assignments.append(Assignment(job=job, node=self.instance.nodes[node].id, gpus=g))
        return AllocationSchedule(assignments=tuple(assignments))


def _gpus(pattern: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    return sum(n * s for n, s in zip(pattern, sizes, strict=True))
