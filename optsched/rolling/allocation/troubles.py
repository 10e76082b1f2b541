"""Events of a cluster in the order of time: which nodes are there, and who is cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from optsched.errors import OptschedError
from optsched.instances.allocation import AllocationInstance, Job

BEGUN = {"fails": "failed", "drains": "drained"}


class Troubles:
    """What goes wrong, and which nodes take jobs at present.

    Attributes
    ----------
    nodes
        Those that have not failed, and do not drain.
    words
        What comes next, for the log.
    """

    def __init__(self, instance: AllocationInstance) -> None:
        events = instance.events
        self._all, self.nodes = instance.nodes, instance.nodes
        self._closed: dict[str, int] = {}  # outages that a node is in
        told: list[tuple[float, str, str]] = []
        for outage in () if events is None else events.outages:
            assert outage.place is not None
            told.append((outage.at_s, BEGUN[outage.kind], outage.place))
            told += [] if outage.back_s is None else [(outage.back_s, "returned", outage.place)]
        told += [(at_s, "cancelled", job) for job, at_s in instance.cancelled.items()]
        self._told = sorted(told)
        self._next = 0
        if events is not None:
            _refuse_stuck(instance)

    @property
    def next_s(self) -> float:
        """When something happens next, in seconds."""
        return self._told[self._next][0] if self._next < len(self._told) else inf

    @property
    def words(self) -> str:
        """What that is."""
        return "+".join(sorted({kind for at_s, kind, _ in self._told[self._next :] if at_s == self.next_s}))

    def until(self, now_s: float) -> Iterator[tuple[str, str]]:
        """What has happened since it was last asked: (what, the node or the job)."""
        while self.next_s <= now_s:
            _, kind, who = self._told[self._next]
            self._next += 1
            if kind != "cancelled":
                self._closed[who] = self._closed.get(who, 0) + (-1 if kind == "returned" else 1)
                self.nodes = tuple(node for node in self._all if not self._closed.get(node.id))
            yield kind, who


def runs_on(job: Job, most: Mapping[str, int]) -> bool:
    """Whether a job runs on one of the nodes, of which these are the largest numbers of GPUs by type."""
    return any(time is not None for kind, times in job.time_s.items() for time in times[: most.get(kind, 0)])


def _refuse_stuck(instance: AllocationInstance) -> None:
    """Refuse events after which a job could never end.

    Raises
    ------
    OptschedError : there is such a job.
    """
    assert instance.events is not None
    lost = {outage.place for outage in instance.events.outages if outage.back_s is None}
    most: dict[str, int] = {}
    for node in instance.nodes:
        if node.id not in lost:
            most[node.gpu_type] = max(node.gpus, most.get(node.gpu_type, 0))
    for job in instance.jobs:
        if job.id not in instance.cancelled and not runs_on(job, most):
            said = "the events take every node on which it runs for good: a replay would never end"
            raise OptschedError(f"job {job.id!r}: {said} (back_s says when a node returns)")
