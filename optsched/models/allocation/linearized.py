"""`linearized`: nodes by name, the product alpha * pi linearised exactly by splitting a node's jobs into first and others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyomo.core as pyo

from optsched.instances.allocation import AllocationInstance
from optsched.models.allocation.later import Later
from optsched.models.base import Model
from optsched.models.terms import Terms, rows_of
from optsched.problems.allocation.options import options
from optsched.problems.allocation.placed import by_node
from optsched.schedules.allocation import AllocationSchedule, Assignment

MOST_COLUMNS = 2_000_000


class Linearized(Model[AllocationInstance, AllocationSchedule]):
    """Nodes by name, alpha * pi linearised exactly.

    first[j,n,g] (the job whose energy counts) and other[j,n,g]; a node without a first has no others.

    For ``earliest``, another job that ends at t needs a first that ends by t: reached[n, r] says whether the first of
    node n is among the r-th distinct times, a staircase of three non-zeros a row.
    """

    name: ClassVar[str] = "linearized"

    @classmethod
    def refuses(cls, instance: AllocationInstance) -> str | None:
        """Too many to build: a column for every option, node of its class and role."""
        ways = np.isfinite(instance.columns.time_s).sum(axis=(0, 2))
        columns = 2 * sum(int(n) * len(c.nodes) for n, c in zip(ways, instance.node_classes, strict=True))
        return f"{columns} columns, at most {MOST_COLUMNS} are built" if columns > MOST_COLUMNS else None

    def build(self) -> None:
        """Variables, rows and objective."""
        instance, m = self.instance, self.pyomo
        listed = options(instance)
        nodes = len(instance.nodes)
        # one option for each node of the option's class
        repeat = np.array([len(c.nodes) for c in instance.node_classes], dtype=np.int64)
        option = np.repeat(np.arange(len(listed)), repeat[listed.node_class] if len(listed) else 0)
        node = np.array([n for k in listed.node_class.tolist() for n in instance.node_classes[k].nodes], dtype=np.int64)
        self.job, self.node, self.gpus = listed.job[option], node, listed.gpus[option]
        energy, late, time = listed.energy[option], listed.tardiness[option], listed.time_s[option]
        count = len(option)
        ones = np.ones(count)
        m.first = pyo.Var(range(count), domain=pyo.Binary)
        m.other = pyo.Var(range(count), domain=pyo.Binary)
        first, other = list(m.first.values()), list(m.other.values())
        self.first, self.other = first, other
        both = first + other

        every = np.arange(2 * count)
        self.later = Later(m, np.tile(self.job, 2), both)
        self.implied_integers += self.later.columns

        capacity = np.array([n.gpus for n in instance.nodes], dtype=float)
        weights = np.concatenate([self.gpus - capacity[node], self.gpus.astype(float)])
        used = rows_of(np.tile(node, 2), both, every, weights, nodes)
        one_first = rows_of(node, first, every[:count], ones, nodes)
        busy = np.unique(node).tolist()
        m.gpus = pyo.Constraint(busy, rule=lambda _, n: (None, used[n], 0))
        m.one_first = pyo.Constraint(busy, rule=lambda _, n: (None, one_first[n], 1))
        if instance.use_all_nodes and count:
            m.all_nodes = pyo.Constraint(expr=(instance.nodes_to_use, Terms(first, every[:count], ones), instance.nodes_to_use))
        if instance.first_ending == "earliest":
            self._order(time)
        m.objective = pyo.Objective(expr=self.later.objective(listed, np.concatenate([late + energy, late])))

    def _order(self, time: np.ndarray) -> None:
        m, first, other = self.pyomo, self.first, self.other
        # distinct (node, time) pairs in order; consecutive rows of one node form its staircase
        keys, step = np.unique(np.stack([self.node.astype(float), time], axis=1), axis=0, return_inverse=True)
        self.step, self.keys = step.ravel(), keys
        steps = len(keys)
        m.reached = pyo.Var(range(steps), bounds=(0, 1))
        reached = self.reached = list(m.reached.values())
        self.implied_integers += reached
        follows = np.flatnonzero(np.concatenate([[False], keys[1:, 0] == keys[:-1, 0]]) if steps else np.zeros(0, bool))
        count = len(first)
        stairs = rows_of(
            np.concatenate([self.step, np.arange(steps), follows]),
            first + reached,
            np.concatenate([np.arange(count), count + np.arange(steps), count + follows - 1]),
            np.concatenate([np.ones(count), -np.ones(steps), np.ones(len(follows))]),
            steps,
        )
        m.stairs = pyo.Constraint(range(steps), rule=lambda _, r: (0, stairs[r], 0))
        rows = np.tile(np.arange(count), 2)
        picks = np.concatenate([np.arange(count), count + self.step])
        later = rows_of(rows, other + reached, picks, np.repeat([1.0, -1.0], count), count)
        m.later = pyo.Constraint(range(count), rule=lambda _, i: (None, later[i], 0))

    def encode(self, schedule: AllocationSchedule) -> None:
        """Set firsts, others and the staircase."""
        self.later.encode(self.instance, schedule)
        for variable in self.first + self.other:
            variable.set_value(0, skip_validation=True)
        index = {key: i for i, key in enumerate(zip(self.job.tolist(), self.node.tolist(), self.gpus.tolist(), strict=True))}
        ends: dict[int, float] = {}
        for n, placed in by_node(self.instance, schedule).items():
            ends[n] = placed[0].time_s
            for p in placed:
                group = self.first if p is placed[0] else self.other
                group[index[p.job, n, p.gpus]].set_value(1, skip_validation=True)
        if self.instance.first_ending == "earliest":
            for variable, (n, time) in zip(self.reached, self.keys.tolist(), strict=True):
                variable.set_value(float(ends.get(int(n), np.inf) <= time), skip_validation=True)

    def decode(self) -> AllocationSchedule:
        """Assignments of the firsts and others that are (nearly) one."""
        jobs, nodes = self.instance.known_jobs, self.instance.nodes
        return AllocationSchedule(
            assignments=tuple(
                Assignment(job=jobs[j].id, node=nodes[n].id, gpus=g)
                for j, n, g, a, b in zip(
                    self.job.tolist(),
                    self.node.tolist(),
                    self.gpus.tolist(),
                    self.first,
                    self.other,
                    strict=True,
                )
                if (a.value or 0) + (b.value or 0) > 0.5
            )
        )
