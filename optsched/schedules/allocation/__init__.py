"""Referee of allocation: a snapshot's schedule by the paper's proxy, a replay's history by what it really cost."""

from __future__ import annotations

from optsched.instances.allocation import AllocationInstance
from optsched.schedules.allocation import history, snapshot
from optsched.schedules.allocation.history import AllocationHistory, Run
from optsched.schedules.allocation.snapshot import AllocationSchedule, Assignment
from optsched.schedules.base import Evaluation, Violation

Decided = AllocationSchedule | AllocationHistory
"""A snapshot's decision, or what happened in a replay."""

__all__ = ["AllocationHistory", "AllocationSchedule", "Assignment", "Decided", "Run", "check", "evaluate"]


def evaluate(instance: AllocationInstance, schedule: AllocationSchedule | AllocationHistory) -> Evaluation:
    """Objective and components, proxy or realised."""
    if isinstance(schedule, AllocationHistory):
        return history.evaluate(instance, schedule)
    return snapshot.evaluate(instance, schedule)


def check(instance: AllocationInstance, schedule: AllocationSchedule | AllocationHistory) -> list[Violation]:
    """Every violated rule, empty for a feasible schedule."""
    if isinstance(schedule, AllocationHistory):
        return history.check(instance, schedule)
    return snapshot.check(instance, schedule)
