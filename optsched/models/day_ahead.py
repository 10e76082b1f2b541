"""day_ahead: the linear program of Radovanovic et al., eqs. (6)-(11): docs/formulations/day_ahead.md."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyomo.core as pyo

from optsched.instances.base import Floats
from optsched.instances.day_ahead import DayAheadInstance
from optsched.models.base import Expression, Model
from optsched.problems.day_ahead import whole, with_usage
from optsched.schedules.day_ahead import ROUNDING, DayAheadSchedule, flexible, peaks_mw

FURTHER = 1.001  # than would be enough but for rounding


class DayAhead(Model[DayAheadInstance, DayAheadSchedule]):
    """Usage 1 + delta by cluster and hour, as a share of the mean, and each cluster's peak as a multiple of its least one.

    All numbers are so near 1, whatever the units of the instance: a solver's absolute tolerances mean the same everywhere.
    """

    name: ClassVar[str] = "day-ahead"

    def build(self) -> None:
        """One row a cluster for (7), one an hour for the peak, one a campus for (9); (8) and (11) are bounds."""
        instance, m = self.instance, self.pyomo
        self.mean = instance.demand / instance.hours
        moved = np.flatnonzero(self.mean > 0).tolist()
        clusters, hours = range(len(instance.clusters)), range(instance.hours)
        base, most = instance.kw(instance.inflexible), np.maximum(0.0, instance.most)
        least = instance.kw(instance.inflexible + instance.flattest).max(axis=1)
        self.unit = np.where(least > 0, least, 1.0)  # kW
        top = instance.kw(instance.inflexible + most).max(axis=1) / self.unit
        share = np.minimum(most / np.where(self.mean > 0, self.mean, 1.0)[:, None], instance.hours)
        m.use = pyo.Var(moved, hours, bounds=lambda _, c, h: (0.0, float(share[c, h])))
        m.peak = pyo.Var(clusters, bounds=lambda _, c: (0.0, float(top[c])))
        m.whole = pyo.Constraint(moved, rule=lambda m, c: sum(m.use[c, h] for h in hours) == instance.hours)
        rise = instance.slope * self.mean / self.unit
        level = base / self.unit[:, None]

        def used(c: int, h: int) -> Expression:
            return float(rise[c]) * m.use[c, h] if self.mean[c] > 0 else 0.0

        m.peaks = pyo.Constraint(clusters, hours, rule=lambda m, c, h: m.peak[c] - used(c, h) >= float(level[c, h]))
        m.contract = pyo.ConstraintList()
        for campus in instance.campuses:
            mine = [c for c in clusters if instance.clusters[c].campus == campus.id]
            if mine:
                m.contract.add(sum(float(self.unit[c] / 1000 / campus.contract_mw) * m.peak[c] for c in mine) <= 1.0)
        price = instance.carbon_price * instance.carbon
        carbon = sum(float(price[c, h] * instance.slope[c] * self.mean[c]) * m.use[c, h] for c in moved for h in hours)
        peak = sum(float(instance.peak_price * self.unit[c] / 1000) * m.peak[c] for c in clusters)
        m.objective = pyo.Objective(expr=float((price * base).sum()) + carbon + peak)

    def encode(self, schedule: DayAheadSchedule) -> None:
        """Usage from the deviations."""
        use, peaks = flexible(self.instance, schedule), peaks_mw(self.instance, schedule)
        for (c, h), variable in self.pyomo.use.items():
            variable.set_value(float(use[c, h] / self.mean[c]), skip_validation=True)
        for c, variable in self.pyomo.peak.items():
            variable.set_value(float(peaks[c] * 1000 / self.unit[c]), skip_validation=True)

    def decode(self) -> DayAheadSchedule:
        """Deviations from the usage, within its bounds and the contracts to the last digits; the least peaks for them."""
        use = np.zeros(self.instance.carbon.shape)
        for (c, h), variable in self.pyomo.use.items():
            use[c, h] = (variable.value or 0.0) * self.mean[c]
        return with_usage(self.instance, _under_contracts(self.instance, whole(self.instance, use)))


def _under_contracts(instance: DayAheadInstance, use: Floats) -> Floats:
    """The usage, its peaks so far cut, towards the least ones, that no campus exceeds its contract by a solver's tolerance."""
    low, high = (instance.kw(instance.inflexible + u).max(axis=1) / 1000 for u in (whole(instance, instance.flattest), use))
    peak = high.copy()
    for campus in instance.campuses:
        mine = np.array([cluster.campus == campus.id for cluster in instance.clusters])
        over, spare = float(high[mine].sum()) - campus.contract_mw, float((high - low)[mine].sum())
        if over > ROUNDING * campus.contract_mw:
            peak[mine] -= (min(1.0, FURTHER * over / spare) if spare > 0 else 1.0) * (high - low)[mine]
    cut = (peak < high) & (instance.slope > 0)
    room = (1000 * peak[:, None] - instance.kw(instance.inflexible)) / np.where(instance.slope > 0, instance.slope, 1.0)[
        :, None
    ]
    return whole(instance, use, np.where(cut[:, None], room, np.inf))


FORMULATIONS: dict[str, type[Model[DayAheadInstance, DayAheadSchedule]]] = {DayAhead.name: DayAhead}
