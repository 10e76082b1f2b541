"""geo in Python: which site runs a job and when, by revenue, energy, carbon and transfers (MASAC, Zhang et al., section II).

Examples
--------
>>> from optsched import geo
>>> m = geo.Model("two sites", horizon=6, slot_s=3600, gpu_revenue_usd_per_h=1.5, gpu_power_kw=0.7)
>>> east = m.add_site(gpus=2, price_usd_per_mwh=[90] * 6, carbon_g_per_kwh=[400] * 6, id="east")
>>> west = m.add_site(gpus=4, price_usd_per_mwh=[30] * 6, carbon_g_per_kwh=[100] * 6, id="west")
>>> for here, there in [(east, west), (west, east)]:
...     link = m.add_link(here, there, throughput_gb_per_s=0.01, cost_usd_per_gb=0.001)
>>> job = m.add_job(east, gpus=2, duration=3, slack=2, data_gb=20, model_gb=1)
>>> result = m.solve(time_limit=20)
>>> result.best.starts[0].site, result.solution
('west', 'optimal')
"""

from __future__ import annotations

from optsched.building import Builder, Numbers
from optsched.errors import InputError
from optsched.instances.geo import GeoInstance as Instance
from optsched.instances.geo import Job, Link, Site
from optsched.schedules.geo import GeoSchedule as Schedule
from optsched.schedules.geo import Lost, Start

__all__ = ["Instance", "Job", "Link", "Lost", "Model", "Schedule", "Site", "Start"]


class Model(Builder[Instance, Schedule]):
    """Build an instance: sites, links between them, jobs; then `instance` or `solve`.

    Parameters
    ----------
    name
        For people.
    horizon
        Slots.
    slot_s
        Seconds of a slot.
    gpu_revenue_usd_per_h
        Of a GPU in use, per hour.
    gpu_power_kw
        Of a GPU in use.
    signal_slot_s
        Seconds for which one price or carbon value holds, a multiple of `slot_s`; a slot where None.
    idle_power_ratio
        Power of a GPU that is not in use, as a share of `gpu_power_kw`.
    carbon_price_usd_per_t
        Per tonne of CO2.
    network_kwh_per_gb
        Energy of a transfer, at the carbon intensity of both ends.

    Raises
    ------
    InputError
        In `instance`: one line with the place, what is wrong and what would be right.
    """

    def __init__(
        self,
        name: str,
        *,
        horizon: int,
        slot_s: float,
        gpu_revenue_usd_per_h: float,
        gpu_power_kw: float,
        signal_slot_s: float | None = None,
        idle_power_ratio: float = 0.0,
        carbon_price_usd_per_t: float = 0.0,
        network_kwh_per_gb: float = 0.0,
    ) -> None:
        super().__init__(
            Instance,
            name,
            horizon=horizon,
            slot_s=slot_s,
            gpu_revenue_usd_per_h=gpu_revenue_usd_per_h,
            gpu_power_kw=gpu_power_kw,
            signal_slot_s=slot_s if signal_slot_s is None else signal_slot_s,
            idle_power_ratio=idle_power_ratio,
            carbon_price_usd_per_t=carbon_price_usd_per_t,
            network_kwh_per_gb=network_kwh_per_gb,
            links=[],
            jobs=[],
        )

    def add_site(
        self,
        *,
        gpus: int | Numbers,
        price_usd_per_mwh: Numbers,
        carbon_g_per_kwh: Numbers,
        pue: float = 1.0,
        id: str | None = None,
    ) -> Site:
        """Add a data centre.

        Parameters
        ----------
        gpus
            How many, or how many a slot.
        price_usd_per_mwh
            Of electricity, a value a signal slot.
        carbon_g_per_kwh
            Of electricity, a value a signal slot.
        pue
            Power usage effectiveness: all power over that of the GPUs.
        id
            By default ``site`` and its number.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        fields = {"pue": pue, "price_usd_per_mwh": price_usd_per_mwh, "carbon_g_per_kwh": carbon_g_per_kwh}
        return self._add("sites", Site, "add_site", {"id": id, "gpus": gpus, **fields})

    def add_link(self, from_: Site | str, to: Site | str, *, throughput_gb_per_s: float, cost_usd_per_gb: float = 0.0) -> Link:
        """Add a directed link between two sites.

        Parameters
        ----------
        from_, to
            Sites that were added, or their ids.
        throughput_gb_per_s
            How fast data goes.
        cost_usd_per_gb
            What it costs.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        ends = {"from": self._named("sites", from_, "add_link", "from_"), "to": self._named("sites", to, "add_link", "to")}
        if ends["from"] == ends["to"]:
            raise InputError(f"{self._called}.add_link", "to", f"links {ends['to']!r} to itself")
        fields = {**ends, "throughput_gb_per_s": throughput_gb_per_s, "cost_usd_per_gb": cost_usd_per_gb}
        return self._add("links", Link, "add_link", fields, key=" -> ".join(ends.values()))

    def add_job(
        self,
        source: Site | str,
        *,
        gpus: int,
        duration: int,
        slack: int,
        submitted: int = 0,
        data_gb: float = 0.0,
        model_gb: float = 0.0,
        id: str | None = None,
    ) -> Job:
        """Add a job.

        Parameters
        ----------
        source
            The site where it is submitted, or its id; it may run elsewhere.
        gpus
            How many it takes.
        duration
            Slots for which it runs.
        slack
            Slots by which its start may lag, and by which its result must be back.
        submitted
            The slot in which it is.
        data_gb, model_gb
            What has to go with it, and come back.
        id
            By default ``job`` and its number.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        fields = {"gpus": gpus, "duration": duration, "slack": slack, "submitted": submitted}
        sizes = {"data_gb": data_gb, "model_gb": model_gb}
        home = self._named("sites", source, "add_job", "source")
        return self._add("jobs", Job, "add_job", {"id": id, "source": home, **fields, **sizes})
