"""Referee of day_ahead: eqs. (6)-(11) of Radovanovic et al."""

from __future__ import annotations

from math import fsum

import numpy as np

from optsched.instances.base import Data, Finite, Floats, NonNegative
from optsched.instances.day_ahead import DayAheadInstance
from optsched.schedules.base import Evaluation, Schedule, Violation, job_violations

SIGNS = {"carbon": 1, "peak": 1}
ROUNDING = 1e-6  # relative; a linear program's own tolerance


class Curve(Data):
    """A cluster's relative deviation from its mean flexible usage by hour, and its peak power."""

    cluster: str
    delta: tuple[Finite, ...]
    peak_mw: NonNegative


class DayAheadSchedule(Schedule):
    """A curve for every cluster."""

    curves: tuple[Curve, ...]

    @property
    def jobs_run(self) -> int:
        """Clusters planned."""
        return len({curve.cluster for curve in self.curves})


def flexible(instance: DayAheadInstance, schedule: DayAheadSchedule) -> Floats:
    """Flexible usage (1 + delta) tau / H, shape (clusters, H), NCU; zero for clusters without a curve."""
    index = {cluster.id: c for c, cluster in enumerate(instance.clusters)}
    found = np.zeros(instance.carbon.shape)
    for curve in schedule.curves:
        if curve.cluster in index and len(curve.delta) == instance.hours:
            c = index[curve.cluster]
            found[c] = (1 + np.array(curve.delta)) * instance.demand[c] / instance.hours
    return found


def capacity_curve(instance: DayAheadInstance, schedule: DayAheadSchedule) -> Floats:
    """VCC, eq. (10), shape (clusters, H): of reservations, NCU."""
    return np.asarray((instance.inflexible + flexible(instance, schedule)) * instance.ratio)


def evaluate(instance: DayAheadInstance, schedule: DayAheadSchedule) -> Evaluation:
    """Components of eq. (6) in USD: carbon of all usage, and peak power."""
    power = instance.kw(instance.inflexible + flexible(instance, schedule))
    carbon = instance.carbon_price * fsum((instance.carbon * power).ravel())
    return Evaluation.of({"carbon": carbon, "peak": instance.peak_price * fsum(c.peak_mw for c in schedule.curves)}, SIGNS)


def check(instance: DayAheadInstance, schedule: DayAheadSchedule) -> list[Violation]:
    """Every violated row of (7), (8), (9), (11), and peaks below the power."""
    known = {cluster.id for cluster in instance.clusters}
    found = list(job_violations((curve.cluster for curve in schedule.curves), known))
    found += [Violation("cluster without a curve", place=c) for c in sorted(known - {x.cluster for x in schedule.curves})]
    for curve in schedule.curves:
        if len(curve.delta) != instance.hours:
            found.append(Violation("a deviation for every hour", place=curve.cluster, amount=len(curve.delta)))
    if found:
        return found
    index = {cluster.id: c for c, cluster in enumerate(instance.clusters)}
    use = flexible(instance, schedule)
    power = instance.kw(instance.inflexible + use) / 1000
    peaks: dict[str, float] = {}
    for curve in schedule.curves:
        c = index[curve.cluster]
        mean = instance.demand[c] / instance.hours
        tolerance = ROUNDING * (1 + mean)
        if (rest := abs(fsum(curve.delta))) > ROUNDING * instance.hours:
            found.append(Violation("deviations that do not add up to zero (7)", place=curve.cluster, amount=rest))
        worst = (
            ("deviation below -1", -use[c]),
            ("usage above the power's or the machines' limit (8), (11)", use[c] - np.maximum(0.0, instance.most[c])),
            ("power above the stated peak", power[c] - curve.peak_mw),
        )
        for rule, over in worst:
            hour = int(np.argmax(over))
            if over[hour] > tolerance:
                found.append(Violation(rule, place=curve.cluster, time=hour, amount=float(over[hour])))
        home = instance.clusters[c].campus
        peaks[home] = peaks.get(home, 0.0) + curve.peak_mw
    for campus in instance.campuses:
        if (over := peaks.get(campus.id, 0.0) - campus.contract_mw) > ROUNDING * (1 + campus.contract_mw):
            found.append(Violation("peaks above the campus contract (9)", place=campus.id, amount=over))
    return found


SCHEDULES = (DayAheadSchedule,)
