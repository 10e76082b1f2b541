"""day_ahead in Python: tomorrow's capacity curves of many clusters (Radovanovic et al., IEEE TPWRS 2022).

Examples
--------
>>> from optsched import day_ahead
>>> m = day_ahead.Model("two hours")
>>> campus = m.add_campus(contract_mw=1.0)
>>> cluster = m.add_cluster(
...     campus,
...     inflexible_ncu=[10, 10],
...     flexible_ncu_h=8,
...     reserved_ncu_h=28,
...     reservation_ratio=[1, 1],
...     carbon_kg_per_kwh=[0.4, 0.1],
...     idle_kw=5,
...     kw_per_ncu=1,
...     capacity_ncu=100,
...     usage_limit_ncu=100,
... )
>>> [round(x, 6) for x in m.solve(time_limit=20).best.curves[0].delta]
[-1.0, 1.0]
"""

from __future__ import annotations

from optsched.building import Builder, Numbers
from optsched.instances.day_ahead import Campus, Cluster
from optsched.instances.day_ahead import DayAheadInstance as Instance
from optsched.schedules.day_ahead import Curve
from optsched.schedules.day_ahead import DayAheadSchedule as Schedule

__all__ = ["Campus", "Cluster", "Curve", "Instance", "Model", "Schedule"]


class Model(Builder[Instance, Schedule]):
    """Build an instance: campuses, and clusters on them; then `instance` or `solve`.

    Parameters
    ----------
    name
        For people.
    carbon_price
        In USD per kg of CO2.
    peak_price
        In USD per MW of a cluster's peak and day.

    Raises
    ------
    InputError
        In `instance`: one line with the place, what is wrong and what would be right.
    """

    def __init__(self, name: str, *, carbon_price: float = 40.0, peak_price: float = 10.0) -> None:
        super().__init__(Instance, name, carbon_price=carbon_price, peak_price=peak_price)

    def add_campus(self, *, contract_mw: float, id: str | None = None) -> Campus:
        """Add a campus.

        Parameters
        ----------
        contract_mw
            What its clusters' peaks may add up to.
        id
            By default ``campus`` and its number.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        return self._add("campuses", Campus, "add_campus", {"id": id, "contract_mw": contract_mw})

    def add_cluster(
        self,
        campus: Campus | str,
        *,
        inflexible_ncu: Numbers,
        flexible_ncu_h: float,
        reserved_ncu_h: float,
        reservation_ratio: Numbers,
        carbon_kg_per_kwh: Numbers,
        idle_kw: float,
        kw_per_ncu: float,
        capacity_ncu: float,
        usage_limit_ncu: float,
        inflexible_high_ncu: Numbers | None = None,
        reserved_error: float = 0.0,
        id: str | None = None,
    ) -> Cluster:
        """Add a cluster, with its forecasts for tomorrow; lists have a value an hour.

        Parameters
        ----------
        campus
            One that was added, or its id.
        inflexible_ncu
            Usage that cannot be moved, in normalised compute units (NCU).
        flexible_ncu_h
            Usage of the day that can.
        reserved_ncu_h
            Reservations of the day.
        reservation_ratio
            Reservations over usage.
        carbon_kg_per_kwh
            Of electricity.
        idle_kw, kw_per_ncu
            Power without usage, and of each NCU in use.
        capacity_ncu
            What its machines have, of reservations.
        usage_limit_ncu
            What its power allows, of usage.
        inflexible_high_ncu
            A high quantile of the inflexible usage; the usage itself where None.
        reserved_error
            The 97th percentile of the reservations' relative forecast errors.
        id
            By default ``cluster`` and its number.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        fields = {
            "id": id,
            "campus": self._named("campuses", campus, "add_cluster", "campus"),
            "inflexible_ncu": inflexible_ncu,
            "inflexible_high_ncu": inflexible_ncu if inflexible_high_ncu is None else inflexible_high_ncu,
            "flexible_ncu_h": flexible_ncu_h,
            "reserved_ncu_h": reserved_ncu_h,
            "reserved_error": reserved_error,
            "reservation_ratio": reservation_ratio,
            "carbon_kg_per_kwh": carbon_kg_per_kwh,
            "idle_kw": idle_kw,
            "kw_per_ncu": kw_per_ncu,
            "capacity_ncu": capacity_ncu,
            "usage_limit_ncu": usage_limit_ncu,
        }
        return self._add("clusters", Cluster, "add_cluster", fields)
