"""Local search on the proxy: a node at a time, jobs get other GPU counts, come in, or take the place of another."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from optsched.heuristics.allocation.randomized_greedy import ITERATIONS, randomized_greedy
from optsched.instances.allocation import AllocationInstance, Node
from optsched.problems.allocation.options import Options, options
from optsched.schedules.allocation import AllocationSchedule, Assignment
from optsched.stop import Spare

CANDIDATES = 40  # waiting jobs a class of nodes that are tried, those of most gain first
ROUNDS = 20
TINY = 1e-9


def local_search(
    instance: AllocationInstance, schedule: AllocationSchedule, rounds: int = ROUNDS, spare: Spare | None = None
) -> AllocationSchedule:
    """The schedule after improving moves, until a round over all nodes finds none; never worse by the proxy."""
    listed = options(instance)
    number = {job.id: j for j, job in enumerate(instance.known_jobs)}
    kind = instance.class_of_node
    on: dict[str, list[int]] = defaultdict(list)
    for a in schedule.assignments:
        on[a.node].append(listed.index[number[a.job], kind[a.node], a.gpus])
    searched = _Search(instance, listed, on)
    for _ in range(rounds):
        if not sum(searched.improve(node, kind[node.id]) for node in instance.nodes if spare is None or spare()):
            break
    return AllocationSchedule(
        assignments=tuple(
            Assignment(job=instance.known_jobs[int(listed.job[o])].id, node=node, gpus=int(listed.gpus[o]))
            for node, chosen in on.items()
            for o in chosen
        )
    )


class _Search:
    """Options by node, and who waits."""

    def __init__(self, instance: AllocationInstance, listed: Options, on: dict[str, list[int]]) -> None:
        self.on, self.cheapest = on, instance.first_ending == "cheapest"
        self.job, self.gpus = listed.job.tolist(), listed.gpus.tolist()
        self.time, self.energy, self.gain = listed.time_s.tolist(), listed.energy.tolist(), listed.gain.tolist()
        self.running = {self.job[o] for chosen in on.values() for o in chosen}
        self.by_job = [np.flatnonzero(listed.node_class == k) for k in range(len(instance.node_classes))]  # jobs ascend
        self.jobs = [listed.job[rows] for rows in self.by_job]
        ranked = np.argsort(listed.gain / listed.gpus, kind="stable")
        self.ranked = [ranked[listed.node_class[ranked] == k].tolist() for k in range(len(instance.node_classes))]

    def of_job(self, k: int, job: int) -> list[int]:
        """The options of a job on a class."""
        first, end = np.searchsorted(self.jobs[k], (job, job + 1)).tolist()
        return list(map(int, self.by_job[k][first:end]))

    def cost(self, chosen: list[int]) -> float:
        """Of a node: gains, and the energy of its first-ending (or cheapest) job."""
        if not chosen:
            return 0.0
        first = min(chosen, key=lambda o: (0.0 if self.cheapest else self.time[o], self.energy[o]))
        return float(sum(self.gain[o] for o in chosen) + self.energy[first])

    def waiting(self, k: int) -> list[int]:
        """Options of the best jobs that wait, on a class."""
        found: list[int] = []
        jobs: set[int] = set()
        for o in self.ranked[k]:
            if self.job[o] not in self.running:
                jobs.add(self.job[o])
                if len(jobs) > CANDIDATES:
                    break
                found.append(o)
        return found

    def improve(self, node: Node, k: int) -> int:
        """Make the best move on a node, again and again; how many were made."""
        name, room = node.id, node.gpus
        made = 0
        while True:
            chosen = self.on[name]
            now, best, least = self.cost(chosen), None, -TINY
            free = room - sum(self.gpus[o] for o in chosen)
            outside = self.waiting(k)
            for out in [None, *chosen]:
                left = [o for o in chosen if o != out]
                space = free + (0 if out is None else self.gpus[out])
                own = [] if out is None else [o for o in self.of_job(k, self.job[out]) if o != out]
                for o in own + outside:
                    if self.gpus[o] <= space and (change := self.cost([*left, o]) - now) < least:
                        best, least = [*left, o], change
            if best is None or not best:
                return made
            self.running -= {self.job[o] for o in chosen}
            self.running |= {self.job[o] for o in best}
            self.on[name] = best
            made += 1


def searched_greedy(
    instance: AllocationInstance, seed: int = 0, iterations: int = ITERATIONS, *, spare: Spare | None = None
) -> AllocationSchedule:
    """Algorithm 1, then a local search on its best construction."""
    found = randomized_greedy(instance, seed, iterations, spare=spare)
    return local_search(instance, found, spare=spare) if spare is None or spare() else found
