"""What a rigid job asks for: backfilling decides when and where a job runs, not on how many GPUs."""

from __future__ import annotations

from typing import NamedTuple

from optsched.instances.allocation import AllocationInstance, Job, Node


class Request(NamedTuple):
    """So many GPUs of one node; for how long (s) by GPU type, the type that it likes best first."""

    gpus: int
    time_s: dict[str, float]


class Requests:
    """The request of every job, made once, and anew where nodes have come or gone.

    Backfilling knows rigid jobs, here jobs are moldable: so each asks for the GPUs of the configuration that the other rules of
    the family like best at its submission (ANDREAS, section IV-B): the cheapest that meets its due date if it is started at
    once, else the fastest. On so many GPUs of any type it runs for the known time, which is its estimate and exact.
    """

    def __init__(self) -> None:
        self.nodes: tuple[Node, ...] = ()
        self.made: dict[str, Request] = {}

    def __call__(self, instance: AllocationInstance, job: Job) -> Request:
        """The request of a job that has not started."""
        if instance.nodes is not self.nodes:
            self.nodes, self.most, self.made = instance.nodes, largest_nodes(instance), {}
        if job.id not in self.made:
            self.made[job.id] = self._made(instance, job)
        return self.made[job.id]

    def _made(self, instance: AllocationInstance, job: Job) -> Request:
        rated: list[tuple[bool, float, float, int, str]] = []
        for kind, most in self.most.items():
            rates = instance.gpu_types[kind].node_cost_per_h
            for gpus, time in enumerate(job.time_s.get(kind, ())[:most], start=1):
                if time is not None:
                    late, energy = job.submit_s + time > job.due_s, time * rates[gpus - 1]
                    rated.append((late, time if late else energy, time, gpus, kind))
        rated.sort()
        size = rated[0][3]
        return Request(size, {kind: time for _, _, time, gpus, kind in rated if gpus == size})


def largest_nodes(instance: AllocationInstance) -> dict[str, int]:
    """GPUs of the largest node of each type."""
    most: dict[str, int] = {}
    for node in instance.nodes:
        most[node.gpu_type] = max(most.get(node.gpu_type, 0), node.gpus)
    return most
