"""day_ahead: the flattest usage."""

from __future__ import annotations

from optsched.instances.day_ahead import DayAheadInstance
from optsched.models.day_ahead import whole, with_usage
from optsched.schedules.day_ahead import DayAheadSchedule


def greedy(instance: DayAheadInstance, seed: int = 0) -> DayAheadSchedule:
    """Every cluster's least peak: flexible usage fills the hours of least inflexible usage up to one level."""
    return with_usage(instance, whole(instance, instance.flattest))


HEURISTICS = {"greedy": greedy}
