"""day_ahead: the flattest usage."""

from __future__ import annotations

from optsched.family import Heuristic
from optsched.instances.day_ahead import DayAheadInstance
from optsched.problems.day_ahead import whole, with_usage
from optsched.schedules.day_ahead import DayAheadSchedule
from optsched.stop import Spare


def greedy(instance: DayAheadInstance, seed: int = 0, *, spare: Spare | None = None) -> DayAheadSchedule:
    """Every cluster's least peak: flexible usage fills the hours of least inflexible usage up to one level."""
    return with_usage(instance, whole(instance, instance.flattest))


HEURISTICS: dict[str, Heuristic[DayAheadInstance, DayAheadSchedule]] = {"greedy": greedy}
