"""day_ahead: tomorrow's virtual capacity curves of many clusters (Radovanovic et al., IEEE TPWRS 2022, eqs. 3-11)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from optsched.instances.base import (
    Data,
    Floats,
    Identifier,
    Instance,
    NonNegative,
    Positive,
    frozen,
    refuse,
    refuse_duplicates,
)
from optsched.instances.grid import CANCELLED, exact
from optsched.instances.plain import counted

if TYPE_CHECKING:
    from optsched.schedules.day_ahead import DayAheadSchedule

HALVINGS = 200
SHORT = 1e-12  # of a demand that has just room, but for rounding: it is cut to that
ROUNDING = 5e-13  # relative, of a contract that is just enough
HOURLY = ("inflexible_ncu", "inflexible_high_ncu", "reservation_ratio", "carbon_kg_per_kwh")


class Campus(Data):
    """Clusters behind one grid contract.

    Attributes
    ----------
    id
        By which clusters name it.
    contract_mw
        What their peaks may add up to.
    """

    id: Identifier
    contract_mw: Positive


class Cluster(Data):
    """Forecasts for tomorrow, and what the cluster can take; lists have a value an hour.

    Attributes
    ----------
    id
        By which schedules name it.
    campus
        Id of the campus.
    inflexible_ncu
        U_IF: usage that cannot be moved.
    inflexible_high_ncu
        Its (1 - gamma) quantile.
    flexible_ncu_h
        T_UF: flexible usage of the day.
    reserved_ncu_h
        T_R: reservations of the day.
    reserved_error
        The 97th percentile of their relative forecast errors.
    reservation_ratio
        R: reservations over usage.
    carbon_kg_per_kwh
        eta: of electricity.
    idle_kw, kw_per_ncu
        Power, Pow(u) = idle + slope u.
    capacity_ncu
        C: what the machines have, of reservations.
    usage_limit_ncu
        Ubar: what the power allows, of usage.
    """

    id: Identifier
    campus: Identifier
    inflexible_ncu: tuple[NonNegative, ...]
    inflexible_high_ncu: tuple[NonNegative, ...]
    flexible_ncu_h: NonNegative
    reserved_ncu_h: NonNegative
    reserved_error: NonNegative = 0.0
    reservation_ratio: tuple[Positive, ...]
    carbon_kg_per_kwh: tuple[NonNegative, ...]
    idle_kw: NonNegative
    kw_per_ncu: NonNegative
    capacity_ncu: Positive
    usage_limit_ncu: Positive


class DayAheadInstance(Instance["DayAheadSchedule", "DayAheadSchedule"]):
    """Clusters and hours of tomorrow.

    Attributes
    ----------
    carbon_price
        In USD/kg (40 as printed).
    peak_price
        In USD per MW of a cluster's peak and day (10 as printed).
    campuses, clusters
        What there is.
    """

    sense: ClassVar[Literal["minimize", "maximize"]] = "minimize"
    nonnegative: ClassVar[bool] = True
    problem: ClassVar[str] = "day_ahead"
    table: ClassVar[str] = "clusters"

    carbon_price: NonNegative = 40.0
    peak_price: NonNegative = 10.0
    campuses: tuple[Campus, ...] = Field(min_length=1)
    clusters: tuple[Cluster, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> DayAheadInstance:
        refuse_duplicates("campuses", (campus.id for campus in self.campuses))
        refuse_duplicates("clusters", (cluster.id for cluster in self.clusters))
        known = {campus.id for campus in self.campuses}
        for c, cluster in enumerate(self.clusters):
            if cluster.campus not in known:
                refuse(f"clusters[{c}].campus", f"is {cluster.campus!r}, there are {', '.join(sorted(known))}")
            for field in HOURLY:
                if not (given := getattr(cluster, field)) or len(given) != self.hours:
                    refuse(f"clusters[{c}].{field}", f"has {len(given)} entries, the first cluster's carbon has {self.hours}")
            if (self.high[c] < self.inflexible[c]).any():
                refuse(f"clusters[{c}].inflexible_high_ncu", "is below inflexible_ncu in some hour, a high quantile cannot be")
        short = self._asked - np.maximum(0.0, self.most).sum(axis=1)
        for c in np.flatnonzero(short > SHORT * self._asked).tolist():
            refuse(
                f"clusters[{c}]", f"has no room for {short[c]:.6g} NCU-hours of its flexible usage under its limits (8), (11)"
            )
        peaks = self.kw(self.inflexible + self.flattest).max(axis=1) / 1000
        for k, campus in enumerate(self.campuses):
            least = sum(float(p) for p, c in zip(peaks, self.clusters, strict=True) if c.campus == campus.id)
            if least > campus.contract_mw * (1 + ROUNDING):
                refuse(f"campuses[{k}].contract_mw", f"is {campus.contract_mw:g}, its clusters' least peaks are {least:.6g} MW")
        return self

    @property
    def hours(self) -> int:
        """H, of the day."""
        return len(self.clusters[0].carbon_kg_per_kwh)

    def _hourly(self, field: str) -> Floats:
        return frozen(np.array([getattr(cluster, field) for cluster in self.clusters], dtype=float))

    def _each(self, field: str) -> Floats:
        return np.array([getattr(cluster, field) for cluster in self.clusters], dtype=float)

    @cached_property
    def inflexible(self) -> Floats:
        """U_IF, shape (clusters, H)."""
        return self._hourly("inflexible_ncu")

    @cached_property
    def high(self) -> Floats:
        """The (1 - gamma) quantile of U_IF, shape (clusters, H)."""
        return self._hourly("inflexible_high_ncu")

    @cached_property
    def ratio(self) -> Floats:
        """R, shape (clusters, H)."""
        return self._hourly("reservation_ratio")

    @cached_property
    def carbon(self) -> Floats:
        """eta, shape (clusters, H), kg/kWh."""
        return self._hourly("carbon_kg_per_kwh")

    @cached_property
    def slope(self) -> Floats:
        """pi, shape (clusters,), kW/NCU."""
        return self._each("kw_per_ncu")

    @cached_property
    def demand(self) -> Floats:
        """tau, eqs. (3)-(5): flexible usage, inflated so that all reservations fit, shape (clusters,), NCU-hours."""
        return frozen(np.minimum(self._asked, np.maximum(0.0, self.most).sum(axis=1)))

    @cached_property
    def _asked(self) -> Floats:
        reserved = self._each("reserved_ncu_h") * (1 + self._each("reserved_error"))
        left = reserved - (self.inflexible * self.ratio).sum(axis=1)
        real = (left > 1e-9 * reserved) & (self._each("flexible_ncu_h") > 0)
        return frozen(np.where(real, self.hours * left / self.ratio.sum(axis=1), 0.0))

    @cached_property
    def most(self) -> Floats:
        """The most flexible usage by (8), (11), shape (clusters, H), NCU; negative where inflexible usage exceeds a limit."""
        limits, sizes = self._each("usage_limit_ncu")[:, None], self._each("capacity_ncu")[:, None]
        power, machines = limits - self.high, sizes / self.ratio - self.inflexible
        for c, h in zip(*np.nonzero(np.abs(power) < CANCELLED * limits), strict=True):
            power[c, h] = float(exact(limits[c, 0]) - exact(self.high[c, h]))
        for c, h in zip(*np.nonzero(np.abs(machines) < CANCELLED * self.inflexible), strict=True):
            machines[c, h] = float(exact(sizes[c, 0]) / exact(self.ratio[c, h]) - exact(self.inflexible[c, h]))
        return frozen(np.minimum(power, machines))

    @cached_property
    def flattest(self) -> Floats:
        """Flexible usage of the least peak, filling the hours of least inflexible usage to one level, shape (clusters, H)."""
        most = np.maximum(0.0, self.most)
        low, high = np.zeros(len(self.clusters)), (self.inflexible + most).max(axis=1) + 1.0
        for _ in range(HALVINGS):
            level = (low + high) / 2
            enough = np.clip(level[:, None] - self.inflexible, 0.0, most).sum(axis=1) >= self.demand
            low, high = np.where(enough, low, level), np.where(enough, level, high)
        return frozen(np.where(self.demand[:, None] > 0, np.clip(high[:, None] - self.inflexible, 0.0, most), 0.0))

    def kw(self, usage: Floats) -> Floats:
        """Pow by cluster and hour."""
        return np.asarray(self._each("idle_kw")[:, None] + self.slope[:, None] * usage)

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return "USD"

    @property
    def job_count(self) -> int:
        """Clusters, each of which is planned."""
        return len(self.clusters)

    def summary(self) -> str:
        """One line about the size of the instance."""
        return (
            f"{counted(len(self.clusters), 'cluster')} on {counted(len(self.campuses), 'campus')}, "
            f"{counted(self.hours, 'hour')}, "
            f"{self.demand.sum():.6g} flexible of {self.demand.sum() + self.inflexible.sum():.6g} NCU-hours"
        )
