"""What a replay of a cluster has cost so far, as the referee will count it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from optsched.instances.allocation import AllocationInstance
from optsched.schedules.allocation import AllocationSchedule


@dataclass
class Ledger:
    """Energy and tardiness as time passes: what a job is late is charged when it is, not when it ends.

    Attributes
    ----------
    energy, tardiness
        Until now, in the instance's currency.
    late
        What has been charged of each unfinished job, seconds.
    since_s, rate_per_s, owed
        What goes on: since when, the energy that it costs a second, and (due, weight) of the jobs that are there.
    """

    energy: float = 0.0
    tardiness: float = 0.0
    late: dict[str, float] = field(default_factory=dict)
    since_s: float = 0.0
    rate_per_s: float = 0.0
    owed: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def spent(self) -> float:
        """Until now."""
        return self.energy + self.tardiness

    def settled(self, snapshot: AllocationInstance) -> float:
        """The same without what is charged of the jobs that are still there."""
        return self.spent - sum(job.weight_per_s * self.late.get(job.id, 0.0) for job in snapshot.known_jobs)

    def begin(self, snapshot: AllocationInstance, decision: AllocationSchedule) -> None:
        """That decision is carried out from the snapshot's present on."""
        self.since_s, self.rate_per_s = snapshot.now_s, rate_per_h(snapshot, decision) / 3600
        self.owed = {job.id: (job.due_s, job.weight_per_s) for job in snapshot.known_jobs}
        self.late = {job: late for job, late in self.late.items() if job in self.owed}

    def end(self, now_s: float) -> tuple[float, float]:
        """It has been until now, when whatever has ended has ended.

        Returns
        -------
        Energy, tardiness of that time.
        """
        energy, tardiness = self.rate_per_s * (now_s - self.since_s), 0.0
        for job, (due, weight) in self.owed.items():
            if now_s > due:
                tardiness += weight * (now_s - due - self.late.get(job, 0.0))
                self.late[job] = now_s - due
        self.energy += energy
        self.tardiness += tardiness
        self.since_s, self.rate_per_s = now_s, 0.0
        return energy, tardiness

    def copy(self) -> Ledger:
        """Another one with the same."""
        return replace(self, late=dict(self.late))


def rate_per_h(snapshot: AllocationInstance, decision: AllocationSchedule) -> float:
    """What the nodes that a decision uses cost an hour."""
    used: dict[str, int] = defaultdict(int)
    for a in decision.assignments:
        used[a.node] += a.gpus
    kinds = snapshot.type_of_node
    return sum(snapshot.gpu_types[kinds[node]].node_cost_per_h[gpus - 1] for node, gpus in used.items())
