"""`aggregated`: nodes of a class are counted by packing pattern instead of named (docs/formulations/allocation.md)."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pyomo.core as pyo
from pyomo.core.base.var import VarData

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Ints
from optsched.models.allocation.later import Later
from optsched.models.base import Model
from optsched.models.terms import Terms, rows_of
from optsched.problems.allocation.named import named
from optsched.problems.allocation.options import options
from optsched.problems.allocation.patterns import Pattern, model_size, patterns, sizes_of
from optsched.problems.allocation.placed import Placed, by_node
from optsched.schedules.allocation import AllocationSchedule

MOST_PATTERNS = 20_000
MOST_COLUMNS = 400_000


class Aggregated(Model[AllocationInstance, AllocationSchedule]):
    """Interchangeable nodes counted by packing pattern: small, and tight.

    Base of the two readings. other[o]: option o runs as a job that is not its node's first.
    """

    name: ClassVar[str] = "aggregated"

    @classmethod
    def of(cls, instance: AllocationInstance) -> Aggregated:
        """The model for the instance's reading of the first-ending job."""
        return READINGS[instance.first_ending](instance)

    @classmethod
    def refuses(cls, instance: AllocationInstance) -> str | None:
        """Too many packing patterns, or firsts by option and pattern."""
        total, columns = model_size(instance)
        if total > MOST_PATTERNS:
            return f"{total} packing patterns, at most {MOST_PATTERNS} are listed"
        return f"{columns} columns, at most {MOST_COLUMNS} are built" if columns > MOST_COLUMNS else None

    def build(self) -> None:
        """Everything that both readings share: others, at most one role a job, nodes to use, objective."""
        instance, m = self.instance, self.pyomo
        self.listed = options(instance)
        self.sizes = [sizes_of(instance, k) for k in range(len(instance.node_classes))]
        self.patterns = [patterns(c.gpus, s) for c, s in zip(instance.node_classes, self.sizes, strict=True)]
        m.other = pyo.Var(range(len(self.listed)), domain=pyo.Binary)
        self.other = list(m.other.values())
        self.first, self.first_option = self.declare_firsts()
        every = self.first + self.other
        option = np.concatenate([self.first_option, np.arange(len(self.listed))])
        self.later = Later(m, self.listed.job[option], every)
        self.implied_integers += self.later.columns
        if instance.use_all_nodes and self.first:
            firsts = Terms(self.first, np.arange(len(self.first)), np.ones(len(self.first)))
            m.all_nodes = pyo.Constraint(expr=(instance.nodes_to_use, firsts, instance.nodes_to_use))
        self.balance()
        late, energy = self.listed.tardiness, self.listed.energy
        cost = np.concatenate([(late + energy)[self.first_option], late])
        m.objective = pyo.Objective(expr=self.later.objective(self.listed, cost))

    @abstractmethod
    def declare_firsts(self) -> tuple[list[VarData], Ints]:
        """Variables of the first-ending jobs, and the option of each."""

    @abstractmethod
    def balance(self) -> None:
        """Rows that give every first a node and every other a slot on a node that may host it."""

    def slots(self, pattern: Pattern, k: int, first: int) -> Iterator[tuple[int, int]]:
        """(size, count) of what a pattern of class k offers besides a first job of `first` GPUs."""
        for size, count in zip(self.sizes[k], pattern, strict=True):
            if count - (size == first):
                yield size, count - (size == first)

    def of_size(self, k: int, size: int) -> Ints:
        """Options of class k with `size` GPUs."""
        return np.flatnonzero((self.listed.node_class == k) & (self.listed.gpus == size))

    def placed(self, schedule: AllocationSchedule) -> dict[int, list[tuple[int, Placed]]]:
        """(option, placement) of each node's jobs, the first in front."""
        index, classes = self.listed.index, {n: k for k, c in enumerate(self.instance.node_classes) for n in c.nodes}
        found = by_node(self.instance, schedule)
        return {n: [(index[p.job, classes[n], p.gpus], p) for p in jobs] for n, jobs in found.items()}

    def pattern_of(self, k: int, jobs: list[tuple[int, Placed]]) -> Pattern:
        """The pattern of a node's jobs."""
        gpus = [p.gpus for _, p in jobs]
        return tuple(gpus.count(size) for size in self.sizes[k])

    def decode(self) -> AllocationSchedule:
        """Name the nodes."""
        classes = range(len(self.instance.node_classes))
        others = np.flatnonzero([(other.value or 0) > 0.5 for other in self.other])
        return named(self.instance, self.listed, self.sizes, [self.firsts_of(k) for k in classes], others)

    @abstractmethod
    def firsts_of(self, k: int) -> list[tuple[int, Pattern]]:
        """(option, pattern) of the first jobs chosen on class k."""


class AggregatedCheapest(Aggregated):
    """`cheapest`: firsts by option; count[k, pattern, f] nodes have that pattern and a first of f GPUs.

    Any job of a node may stand as its first: the minimisation picks the cheapest.
    """

    def declare_firsts(self) -> tuple[list[VarData], Ints]:
        """A binary for each option."""
        self.pyomo.first = pyo.Var(range(len(self.listed)), domain=pyo.Binary)
        return list(self.pyomo.first.values()), np.arange(len(self.listed))

    def balance(self) -> None:
        """Per class and size: others fill the patterns' slots, firsts their first slots; at most all nodes."""
        m, instance = self.pyomo, self.instance
        self.cells = [
            (k, pattern, size)
            for k in range(len(instance.node_classes))
            for pattern in self.patterns[k]
            for size, count in zip(self.sizes[k], pattern, strict=True)
            if count
        ]
        m.count = pyo.Var(
            range(len(self.cells)),
            domain=pyo.NonNegativeIntegers,
            bounds=lambda _, i: (0, len(instance.node_classes[self.cells[i][0]].nodes)),
        )
        m.fill, m.lead, m.nodes = pyo.ConstraintList(), pyo.ConstraintList(), pyo.ConstraintList()
        count = list(m.count.values())
        options = len(self.listed)
        for k, node_class in enumerate(instance.node_classes):
            cells = [(i, pattern, first) for i, (c, pattern, first) in enumerate(self.cells) if c == k]
            for size in self.sizes[k]:
                of_size = self.of_size(k, size)
                offered = [(i, n) for i, pattern, f in cells for s, n in self.slots(pattern, k, f) if s == size]
                led = [(i, 1) for i, _, first in cells if first == size]
                for rows, filled, cells_of in ((m.fill, self.other, offered), (m.lead, self.first, led)):
                    picks = np.concatenate([of_size, options + np.array([i for i, _ in cells_of], dtype=np.int64)])
                    weights = np.concatenate([np.ones(len(of_size)), -np.array([n for _, n in cells_of], dtype=float)])
                    rows.add((0, Terms(filled + count, picks, weights), 0))
            if cells:
                used = np.array([i for i, _, _ in cells])
                m.nodes.add((None, Terms(count, used, np.ones(len(used))), len(node_class.nodes)))

    def encode(self, schedule: AllocationSchedule) -> None:
        """Set firsts, others and counts."""
        self.later.encode(self.instance, schedule)
        for variable in [*self.first, *self.other, *self.pyomo.count.values()]:
            variable.set_value(0, skip_validation=True)
        index = {cell: i for i, cell in enumerate(self.cells)}
        for jobs in self.placed(schedule).values():
            (option, lead), *rest = jobs
            k = int(self.listed.node_class[option])
            count = self.pyomo.count[index[k, self.pattern_of(k, jobs), lead.gpus]]
            count.set_value(count.value + 1, skip_validation=True)
            self.first[option].set_value(1, skip_validation=True)
            for other, _ in rest:
                self.other[other].set_value(1, skip_validation=True)

    def firsts_of(self, k: int) -> list[tuple[int, Pattern]]:
        """Firsts get the patterns of their size in any order."""
        waiting: dict[int, list[Pattern]] = defaultdict(list)
        for (c, pattern, size), variable in zip(self.cells, self.pyomo.count.values(), strict=True):
            if c == k:
                waiting[size] += [pattern] * round(variable.value or 0)
        chosen = [o for o in np.flatnonzero(self.listed.node_class == k) if (self.first[o].value or 0) > 0.5]
        return [(int(o), waiting[int(self.listed.gpus[o])].pop()) for o in chosen]


class AggregatedEarliest(Aggregated):
    """`earliest`: firsts by option and pattern; others of size g that end by t fit the slots opened by firsts that end by t.

    Eligible nodes are nested in time, so by Hall's theorem the running surplus of slots, a state a distinct time, is enough.
    """

    def declare_firsts(self) -> tuple[list[VarData], Ints]:
        """A binary for each option and pattern that holds its size."""
        pairs = []
        for k, sizes in enumerate(self.sizes):
            for i, size in enumerate(sizes):
                holding = [pattern for pattern in self.patterns[k] if pattern[i]]
                pairs += [(int(o), pattern) for o in self.of_size(k, size) for pattern in holding]
        self.pairs = pairs
        self.pyomo.first = pyo.Var(range(len(pairs)), domain=pyo.Binary)
        return list(self.pyomo.first.values()), np.array([o for o, _ in pairs], dtype=np.int64)

    def balance(self) -> None:
        """Nodes of each class, and the staircase of free slots of each size."""
        m, instance, listed = self.pyomo, self.instance, self.listed
        classes = len(instance.node_classes)
        node_class = listed.node_class[self.first_option]
        m.nodes = pyo.ConstraintList()
        every = np.arange(len(self.first))
        for k, used in enumerate(rows_of(node_class, self.first, every, np.ones(len(every)), classes)):
            if len(used.columns):
                m.nodes.add((None, used, len(instance.node_classes[k].nodes)))
        m.free, m.stairs = pyo.VarList(), pyo.ConstraintList()
        self.stairs: list[tuple[VarData, Terms]] = []
        offers: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for i, (option, pattern) in enumerate(self.pairs):
            k = int(listed.node_class[option])
            for size, count in self.slots(pattern, k, int(listed.gpus[option])):
                offers[k, size].append((i, count))
        for k, node in enumerate(instance.node_classes):
            for size in self.sizes[k]:
                self._stairs(self.of_size(k, size), offers[k, size], len(node.nodes) * node.gpus)

    def _stairs(self, others: Ints, offers: list[tuple[int, int]], most: int) -> None:
        m, time = self.pyomo, self.listed.time_s
        times, at = np.unique(time[others], return_inverse=True)
        firsts = np.array([i for i, _ in offers], dtype=np.int64)
        counts = np.array([count for _, count in offers], dtype=float)
        # a first opens its slots at the next distinct time of an other (ties: firsts before others);
        # past the last such time none may be open
        opened = np.searchsorted(times, time[self.first_option[firsts]], side="left")
        steps = len(times) + bool(len(opened) and opened.max() == len(times))
        free = [m.free.add() for _ in range(steps)]
        for step, variable in enumerate(free):
            variable.setlb(0)
            variable.setub(0 if step == steps - 1 else most)
        self.implied_integers += free
        one, two = len(self.first), len(self.first) + len(self.other)
        rows = rows_of(
            np.concatenate([opened, at, np.arange(steps), np.arange(1, steps)]),
            self.first + self.other + free,
            np.concatenate([firsts, one + others, two + np.arange(steps), two + np.arange(max(0, steps - 1))]),
            np.concatenate([counts, -np.ones(len(others)), -np.ones(steps), np.ones(max(0, steps - 1))]),
            steps,
        )
        for step, row in enumerate(rows):
            m.stairs.add((0, row, 0))
            self.stairs.append((free[step], row))

    def encode(self, schedule: AllocationSchedule) -> None:
        """Set firsts, others and, in order of time, the free slots."""
        self.later.encode(self.instance, schedule)
        for variable in self.first + self.other:
            variable.set_value(0, skip_validation=True)
        index = {pair: i for i, pair in enumerate(self.pairs)}
        for jobs in self.placed(schedule).values():
            (option, _), *rest = jobs
            k = int(self.listed.node_class[option])
            self.first[index[option, self.pattern_of(k, jobs)]].set_value(1, skip_validation=True)
            for other, _ in rest:
                self.other[other].set_value(1, skip_validation=True)
        for free, row in self.stairs:
            terms = zip(row.linear_coefs, row.linear_vars, strict=True)
            free.set_value(sum(c * v.value for c, v in terms if v is not free), skip_validation=True)

    def firsts_of(self, k: int) -> list[tuple[int, Pattern]]:
        """Firsts carry their pattern."""
        return [
            pair
            for pair, variable in zip(self.pairs, self.first, strict=True)
            if self.listed.node_class[pair[0]] == k and (variable.value or 0) > 0.5
        ]


READINGS = {"cheapest": AggregatedCheapest, "earliest": AggregatedEarliest}
