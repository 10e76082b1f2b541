"""What a policy has started, as the next snapshot shows it: nodes fail, drain and return."""

from __future__ import annotations

from collections.abc import Mapping

from optsched.instances.allocation import AllocationInstance
from optsched.schedules.allocation import Assignment

Held = dict[str, Assignment]


def going_on(held: Mapping[str, Assignment], snapshot: AllocationInstance) -> tuple[Held, Held]:
    """Of what has been started: what runs, and what may run on a node that drains, by job.

    A job that is there without its node was ended by a failure; a node that is there without its job is done with it. Where
    both are away nobody can tell yet.
    """
    jobs, nodes = {job.id for job in snapshot.known_jobs}, {node.id for node in snapshot.nodes}
    running = {job: a for job, a in held.items() if job in jobs and a.node in nodes}
    away = {job: a for job, a in held.items() if job not in jobs and a.node not in nodes}
    return running, away
