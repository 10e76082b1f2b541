"""day_ahead: the linear program of Radovanovic et al., eqs. (6)-(11)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyomo.environ as pyo

from optsched.instances.day_ahead import DayAheadInstance
from optsched.models.base import Model
from optsched.schedules.day_ahead import Curve, DayAheadSchedule, flexible


class DayAhead(Model[DayAheadInstance, DayAheadSchedule]):
    """Flexible usage by cluster and hour, and the peak of each cluster; delta = usage / (tau / H) - 1."""

    name: ClassVar[str] = "day-ahead"

    def build(self) -> None:
        """One row a cluster for (7), one an hour for the peak, one a campus for (9); (8) and (11) are bounds."""
        instance, m = self.instance, self.pyomo
        clusters, hours = range(len(instance.clusters)), range(instance.hours)
        most = np.maximum(0.0, instance.most)
        m.use = pyo.Var(clusters, hours, bounds=lambda _, c, h: (0.0, float(most[c, h])))
        m.peak = pyo.Var(clusters, domain=pyo.NonNegativeReals)
        m.whole = pyo.Constraint(clusters, rule=lambda m, c: sum(m.use[c, h] for h in hours) == float(instance.demand[c]))
        base = instance.kw(instance.inflexible)
        slope = instance.slope.tolist()
        m.peaks = pyo.Constraint(
            clusters, hours, rule=lambda m, c, h: m.peak[c] - slope[c] / 1000 * m.use[c, h] >= float(base[c, h]) / 1000
        )
        home = [cluster.campus for cluster in instance.clusters]
        m.contract = pyo.ConstraintList()
        for campus in instance.campuses:
            mine = [c for c in clusters if home[c] == campus.id]
            if mine:
                m.contract.add(sum(m.peak[c] for c in mine) <= campus.contract_mw)
        price = instance.carbon_price * instance.carbon
        constant = float((price * base).sum())
        carbon = sum(float(price[c, h]) * slope[c] * m.use[c, h] for c in clusters for h in hours)
        m.objective = pyo.Objective(expr=constant + carbon + instance.peak_price * sum(m.peak[c] for c in clusters))

    def encode(self, schedule: DayAheadSchedule) -> None:
        """Usage from the deviations."""
        use = flexible(self.instance, schedule)
        for (c, h), variable in self.pyomo.use.items():
            variable.set_value(float(use[c, h]), skip_validation=True)
        peaks = {curve.cluster: curve.peak_mw for curve in schedule.curves}
        for c, cluster in enumerate(self.instance.clusters):
            self.pyomo.peak[c].set_value(peaks.get(cluster.id, 0.0), skip_validation=True)

    def decode(self) -> DayAheadSchedule:
        """Deviations from the usage, clipped to its bounds; the least peaks for them."""
        use = np.zeros(self.instance.carbon.shape)
        for (c, h), variable in self.pyomo.use.items():
            use[c, h] = variable.value or 0.0
        return with_usage(self.instance, np.clip(use, 0.0, np.maximum(0.0, self.instance.most)))


def with_usage(instance: DayAheadInstance, use: np.ndarray) -> DayAheadSchedule:
    """The schedule of a flexible usage, shape (clusters, H), under the least peaks."""
    peaks = instance.kw(instance.inflexible + use).max(axis=1) / 1000
    curves = []
    for c, cluster in enumerate(instance.clusters):
        mean = instance.demand[c] / instance.hours
        delta = use[c] / mean - 1 if mean > 0 else np.zeros(instance.hours)
        curves.append(Curve(cluster=cluster.id, delta=tuple(delta.tolist()), peak_mw=float(peaks[c])))
    return DayAheadSchedule(curves=tuple(curves))


FORMULATIONS: dict[str, type[Model]] = {DayAhead.name: DayAhead}  # type: ignore[type-arg]
