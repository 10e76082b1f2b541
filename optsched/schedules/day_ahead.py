"""Referee of day_ahead: eqs. (6)-(11) of Radovanovic et al."""

from __future__ import annotations

from math import fsum

import numpy as np

from optsched.instances.base import Data, Finite, Floats, NonNegative
from optsched.instances.day_ahead import DayAheadInstance
from optsched.schedules.base import Evaluation, Schedule, Violation, job_violations

SIGNS = {"carbon": 1, "peak": 1}
ROUNDING = 1e-12  # of a row's own terms: what float64 loses in them


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


def peaks_mw(instance: DayAheadInstance, schedule: DayAheadSchedule) -> Floats:
    """Daily peak power by cluster, shape (clusters,): as stated, or the true one where that is higher."""
    power = instance.kw(instance.inflexible + flexible(instance, schedule)).max(axis=1) / 1000
    stated = {curve.cluster: curve.peak_mw for curve in schedule.curves}
    return np.asarray(np.maximum(power, [stated.get(cluster.id, 0.0) for cluster in instance.clusters]))


def evaluate(instance: DayAheadInstance, schedule: DayAheadSchedule) -> Evaluation:
    """Components of eq. (6) in USD: carbon of all usage, and peak power, no less than the true one."""
    power = instance.kw(instance.inflexible + flexible(instance, schedule))
    carbon = instance.carbon_price * fsum((instance.carbon * power).ravel())
    return Evaluation.of({"carbon": carbon, "peak": instance.peak_price * fsum(peaks_mw(instance, schedule))}, SIGNS)


def check(instance: DayAheadInstance, schedule: DayAheadSchedule) -> list[Violation]:
    """Every violated row of (7), (8), (9), (11), and peaks below the power; a row may be off by what float64 loses in it."""
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
    for curve in schedule.curves:
        c = index[curve.cluster]
        mean = instance.demand[c] / instance.hours
        if (rest := abs(fsum(curve.delta))) > ROUNDING * fsum(map(abs, (1.0, *curve.delta))) * instance.hours:
            found.append(Violation("deviations that do not add up to zero (7)", place=curve.cluster, amount=rest))
        most = np.maximum(0.0, instance.most[c])
        rows: tuple[tuple[str, Floats, Floats | float], ...] = (
            ("deviation below -1", -use[c], mean),
            ("usage above the power's or the machines' limit (8), (11)", use[c] - most, mean + most),
            ("power above the stated peak", power[c] - curve.peak_mw, power[c]),
        )
        for rule, over, terms in rows:
            broken = over - ROUNDING * terms
            hour = int(np.argmax(broken))
            if broken[hour] > 0:
                found.append(Violation(rule, place=curve.cluster, time=hour, amount=float(over[hour])))
    peaks = peaks_mw(instance, schedule)
    for campus in instance.campuses:
        mine = [float(p) for p, cluster in zip(peaks, instance.clusters, strict=True) if cluster.campus == campus.id]
        if (above := fsum([*mine, -campus.contract_mw])) > ROUNDING * (fsum(mine) + campus.contract_mw):
            found.append(Violation("peaks above the campus contract (9)", place=campus.id, amount=above))
    return found
