"""day_ahead: the flattest usage."""

from __future__ import annotations

import numpy as np

from optsched.instances.day_ahead import DayAheadInstance
from optsched.models.day_ahead import with_usage
from optsched.schedules.day_ahead import DayAheadSchedule

HALVINGS = 200


def greedy(instance: DayAheadInstance, seed: int = 0) -> DayAheadSchedule:
    """Every cluster's least peak: flexible usage fills the hours of least inflexible usage up to one level (water filling)."""
    most = np.maximum(0.0, instance.most)
    low = np.zeros(len(instance.clusters))
    high = (instance.inflexible + most).max(axis=1) + 1.0
    for _ in range(HALVINGS):
        level = (low + high) / 2
        enough = np.clip(level[:, None] - instance.inflexible, 0.0, most).sum(axis=1) >= instance.demand
        low, high = np.where(enough, low, level), np.where(enough, level, high)
    return with_usage(instance, np.clip(high[:, None] - instance.inflexible, 0.0, most))


HEURISTICS = {"greedy": greedy}
