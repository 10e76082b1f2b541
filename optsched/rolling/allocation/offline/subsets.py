"""Which jobs run at once, and how: feasible subsets (Mingozzi, Maniezzo, Ricciardelli, Bianco 1998), nodes without names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from optsched.decomposition.allocation.alone import best_share
from optsched.heuristics.allocation.nodes import Nodes
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats, Ints
from optsched.rolling.allocation.futures import by_way
from optsched.rolling.allocation.playout import Cluster

Group = tuple[tuple[int, int], ...]  # of a node, (job, way)
Subset = tuple[Group, ...]  # sorted, so that those alike are equal

STEPS = 40  # of the prices of GPUs
FIRST, FADE = 0.5, 0.85  # step, of the most that anything is worth; each is shorter than the one before
NEAR = 3  # GPUs too many or too few, from which on a step is whole


class Subsets:
    """What may run at once on the nodes of an instance.

    Attributes
    ----------
    cluster
        The nodes, and the ways to run.
    time
        Seconds by job and way, infinite where a job cannot run so, shape (J, C).
    """

    def __init__(self, instance: AllocationInstance) -> None:
        everything = instance.model_copy(update={"now_s": np.inf})
        self.cluster = Cluster.of(everything, np.ones(len(instance.node_classes)))
        kind, gpus = self.cluster.kind, self.cluster.gpus
        self.time = by_way(everything.columns.time_s, kind, gpus)
        per_h = [best_share(instance.cost_per_h[k, : self.cluster.most[k]], int(g)) for k, g in zip(kind, gpus, strict=True)]
        self.least_per_s = np.array(per_h) / 3600
        self._kind, self._gpus = kind.tolist(), gpus.tolist()

    def cost_per_s(self, subset: Subset) -> float:
        """Of the nodes in use."""
        cost = 0.0
        for group in subset:
            used = sum(self._gpus[way] for _, way in group)
            cost += self.cluster.node_per_s[self._kind[group[0][1]]][used]
        return float(cost)

    @staticmethod
    def only(subset: Subset, present: Sequence[bool]) -> Subset:
        """Those of its jobs that are there, told by job."""
        groups = (tuple((job, way) for job, way in group if present[job]) for group in subset)
        return tuple(sorted(group for group in groups if group))

    def worth_more(self, worth: Floats, interval: Ints, job: Ints, least: Floats) -> Iterator[tuple[int, Subset]]:
        """Subsets that are worth more a second than the time in their interval, at most one of each.

        With GPUs priced every job takes the way that is best for it, and nodes are filled in the order of what jobs gain so; or
        by value a GPU, or on one GPU each at first: the first that is worth it.

        Parameters
        ----------
        worth
            Of each job's whole work, shape (J,).
        interval, job
            Who may run when, by interval from 0 on, shape (P,) each.
        least
            What a second of each interval is worth, shape (I,).
        """
        pace = worth[:, None] / self.time  # what a second is worth, shape (J, C)
        prices, most = self._prices(pace - self.least_per_s, interval, job, len(least))
        bounds = np.searchsorted(interval, np.arange(len(least) + 1))
        for i in np.flatnonzero(most > least).tolist():
            here = job[bounds[i] : bounds[i + 1]]
            value = pace[here] - self.least_per_s
            by_gain = _falling(value - prices[i, self.cluster.kind] * self.cluster.gpus)
            by_gpu = _falling(value / self.cluster.gpus)
            one = _falling(np.where(self.cluster.gpus == 1, value, 0.0))
            for turn in (by_gain + by_gpu, by_gpu, one + by_gpu):
                subset = self._packed(here, pace[here], turn)
                if self._worth(worth, subset) > least[i]:
                    yield i, subset
                    break

    def _worth(self, worth: Floats, subset: Subset) -> float:
        """What a second of it is worth beyond what its nodes cost."""
        done = sum(worth[job] / self.time[job, way] for group in subset for job, way in group)
        return float(done) - self.cost_per_s(subset)

    def _prices(self, value: Floats, interval: Ints, job: Ints, count: int) -> tuple[Floats, Floats]:
        """Prices of a GPU-second by interval and class, shape (I, K), and what nothing is worth more than, shape (I,)."""
        kind, gpus, total = self.cluster.kind, self.cluster.gpus, self.cluster.total
        classes, mine = len(total), value[job]
        prices, best = np.zeros((count, classes)), np.full(count, np.inf)
        kept, step = prices.copy(), FIRST * max(0.0, float(value.max(initial=0.0)))
        for _ in range(STEPS):
            gain = mine - (prices[:, kind] * gpus)[interval]
            way = gain.argmax(axis=1)
            gain = np.maximum(0.0, np.take_along_axis(gain, way[:, None], axis=1)[:, 0])
            used = np.bincount(interval * classes + kind[way], np.where(gain > 0, gpus[way], 0), minlength=count * classes)
            most = np.bincount(interval, gain, minlength=count) + prices @ total
            less = most < best
            best[less], kept[less] = most[less], prices[less]
            over = used.reshape(count, classes) - total
            prices = np.maximum(0.0, prices + step * np.clip(over / NEAR, -1.0, 1.0))
            step *= FADE
        return kept, best

    def _packed(self, jobs: Ints, pace: Floats, turn: list[int]) -> Subset:
        """In turn, (job, way); then on more GPUs of a node where they are free and worth it; who is not worth a node waits."""
        kind, gpus, ways = self._kind, self._gpus, len(self._kind)
        rooms = [Nodes(m, [(m, n) for n in range(t // m)]) for m, t in zip(self.cluster.most, self.cluster.total, strict=True)]
        nodes: dict[tuple[int, int], list[tuple[int, int]]] = {}
        placed: set[int] = set()
        for at in turn:
            row, way = divmod(at, ways)
            if row in placed or (found := rooms[kind[way]].take(gpus[way])) is None:
                continue
            free, node = found
            rooms[kind[way]].put(free - gpus[way], node)
            nodes.setdefault((kind[way], node), []).append((row, way))
            placed.add(row)
        groups = []
        for (k, _), group in nodes.items():
            costs, used = self.cluster.node_per_s[k], sum(gpus[way] for _, way in group)
            for n, (row, way) in enumerate(group):
                free = len(costs) - 1 - used
                more = [w for w in range(ways) if kind[w] == k and 0 <= gpus[w] - gpus[way] <= free and pace[row, w] > 0]
                best = max(more, key=lambda w: pace[row, w] - costs[used + gpus[w] - gpus[way]])
                group[n], used = (row, best), used + gpus[best] - gpus[way]
            if sum(pace[row, way] for row, way in group) > costs[used]:
                groups.append(tuple(sorted((int(jobs[row]), way) for row, way in group)))
        return tuple(sorted(groups))


def _falling(values: Floats) -> list[int]:
    """Where values are above zero, the largest first, of the flat array."""
    turn = np.argsort(-values, axis=None, kind="stable")
    return [int(at) for at in turn[values.reshape(-1)[turn] > 0]]
