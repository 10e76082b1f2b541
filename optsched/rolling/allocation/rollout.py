"""What a decision leads to: the known jobs played out to their ends, the rest following by a simple rule."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.schedules.allocation import AllocationSchedule

RISK = 0.01  # of the tardiness weight for a second in the system: whoever stays long meets jobs not yet known

Way = tuple[int, int, float, float]  # class of nodes, GPUs, time, energy


@dataclass(frozen=True)
class Rule:
    """Jobs in order, each at the least energy, tardiness and price of its GPU time, as soon as it fits; no preemption."""

    order: list[int]
    price: list[float]  # of a GPU-second by class


class Rollout:
    """The known jobs of a snapshot, ready to be played out from any decision."""

    def __init__(self, snapshot: AllocationInstance) -> None:
        self.now, listed = snapshot.now_s, options(snapshot)
        measured = urgency(snapshot, listed)
        self.weight: list[float] = snapshot.columns.weight_per_s.tolist()
        self.due: list[float] = snapshot.columns.due_s.tolist()
        self.ways: list[list[Way]] = [[] for _ in snapshot.known_jobs]
        columns = (listed.job, listed.node_class, listed.gpus, listed.time_s, listed.energy)
        for j, k, g, time, energy in zip(*(c.tolist() for c in columns), strict=True):
            self.ways[j].append((k, g, time, energy))
        self.index = {job.id: j for j, job in enumerate(snapshot.known_jobs)}
        self.kind = snapshot.class_of_node
        self.gpus = {node.id: node.gpus for node in snapshot.nodes}
        self.most = [c.gpus for c in snapshot.node_classes]
        able = np.isfinite(measured.shortest)
        self.rules = [
            Rule(
                [j for j in np.argsort(key, kind="stable").tolist() if able[j]],
                (share * measured.price * measured.speed).tolist(),
            )
            for key, share in ((snapshot.columns.due_s, 0.0), (-measured.weight, 0.3), (measured.slack, 1.0))
        ]

    def cost(self, decision: AllocationSchedule) -> float:
        """Energy, tardiness and risk under the rule that serves the decision best."""
        return min(self._play(decision, rule) for rule in self.rules)

    def _play(self, decision: AllocationSchedule, rule: Rule) -> float:
        free = dict(self.gpus)
        rooms: list[list[dict[str, None]]] = [[{} for _ in range(most + 1)] for most in self.most]  # by class and free GPUs
        for node, gpus in free.items():
            rooms[self.kind[node]][gpus][node] = None
        ends: list[tuple[float, str, int]] = []
        total, time = 0.0, self.now

        def turn(node: str, gpus: int) -> None:
            k = self.kind[node]
            del rooms[k][free[node]][node]
            free[node] += gpus
            rooms[k][free[node]][node] = None

        def put(j: int, way: Way, node: str) -> float:  # its cost
            _, gpus, lasts, energy = way
            turn(node, -gpus)
            heapq.heappush(ends, (time + lasts, node, gpus))
            late = max(0.0, time + lasts - self.due[j])
            return energy + self.weight[j] * (late + RISK * (time + lasts - self.now))

        placed = set()
        for a in decision.assignments:
            j = self.index[a.job]
            placed.add(j)
            total += put(j, next(w for w in self.ways[j] if w[0] == self.kind[a.node] and w[1] == a.gpus), a.node)
        queue = [j for j in rule.order if j not in placed]
        while queue:
            left = []
            for i, j in enumerate(queue):
                largest = [max((f for f, nodes in enumerate(by_free) if nodes), default=0) for by_free in rooms]
                if not any(largest):
                    left += queue[i:]
                    break
                best, least = None, np.inf
                for way in self.ways[j]:
                    if way[1] <= largest[way[0]]:
                        late = max(0.0, time + way[2] - self.due[j])
                        score = way[3] + self.weight[j] * late + rule.price[way[0]] * way[1] * way[2]
                        if score < least:
                            best, least = way, score
                if best is None:
                    left.append(j)
                    continue
                node = next(next(iter(nodes)) for nodes in rooms[best[0]][best[1] :] if nodes)
                total += put(j, best, node)
            queue = left
            if not ends:
                break
            time, node, gpus = heapq.heappop(ends)
            turn(node, gpus)
            while ends and ends[0][0] <= time:
                _, node, gpus = heapq.heappop(ends)
                turn(node, gpus)
        return total
