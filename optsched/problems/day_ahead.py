"""day_ahead as arithmetic: a flexible usage that keeps its sum and its bounds, and the schedule that it makes."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.day_ahead import DayAheadInstance
from optsched.schedules.day_ahead import Curve, DayAheadSchedule

REPAIRS = 4  # rounds that bring a day's usage back to its sum


def whole(instance: DayAheadInstance, use: Floats, at_most: Floats | float = np.inf) -> Floats:
    """The usage moved into its bounds and to its sum by the least changes, shape (clusters, H); also below `at_most`."""
    most = np.maximum(0.0, np.minimum(instance.most, at_most))
    use = np.clip(use, 0.0, most)
    for _ in range(REPAIRS):
        lacks = instance.demand - use.sum(axis=1)
        room = np.where(lacks[:, None] > 0, most - use, use)
        sums = room.sum(axis=1)
        share = np.where(sums > 0, np.clip(lacks / np.where(sums > 0, sums, 1.0), -1.0, 1.0), 0.0)
        use = np.clip(use + share[:, None] * room, 0.0, most)
    return use


def with_usage(instance: DayAheadInstance, use: Floats) -> DayAheadSchedule:
    """The schedule of a flexible usage, shape (clusters, H), under the least peaks."""
    peaks = instance.kw(instance.inflexible + use).max(axis=1) / 1000
    curves = []
    for c, cluster in enumerate(instance.clusters):
        mean = instance.demand[c] / instance.hours
        delta = use[c] / mean - 1 if mean > 0 else np.zeros(instance.hours)
        curves.append(Curve(cluster=cluster.id, delta=tuple(delta.tolist()), peak_mw=float(peaks[c])))
    return DayAheadSchedule(curves=tuple(curves))
