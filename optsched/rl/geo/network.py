"""What does not change over sites while time passes, and what running and moving a job is worth at believed prices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.instances.geo import GeoInstance
from optsched.problems.geo import prices

LEAST_USD_PER_H = 1e-6  # of revenue, for it to be a unit of money


@dataclass(frozen=True)
class Network:
    """Sites and the paths between them.

    Attributes
    ----------
    ids
        Of the sites.
    gpus
        The most that each has, shape (P,).
    kwh
        Of one busy GPU in one slot, shape (P,).
    revenue
        USD of one busy GPU in one slot.
    unit
        USD of a slot that features and prices are shares of: that, or at 1 USD an hour where a GPU earns nothing.
    hour
        Slots of an hour.
    beta, usd_per_g, ratio
        Idle power ratio, price of a gram of CO2, slots of a signal slot.
    reach
        Whether there is a path there and back, shape (P, P).
    usd_per_gb
        Of the paths, shape (P, P).
    along
        kWh/GB of each site's grid that a path draws, shape (P, P, P): from, to, whose grid.
    """

    ids: tuple[str, ...]
    gpus: Floats
    kwh: Floats
    revenue: float
    unit: float
    hour: float
    beta: float
    usd_per_g: float
    ratio: int
    reach: Bools
    usd_per_gb: Floats
    along: Floats

    @classmethod
    def of(cls, instance: GeoInstance, gpus: Floats | None = None) -> Network:
        """That of an instance; `gpus` where its capacity is not the whole, as in a snapshot."""
        sites, hours = len(instance.sites), instance.slot_s / 3600
        along, reach = np.zeros((sites, sites, sites)), np.eye(sites, dtype=bool)
        for pair, path in instance.paths.items():
            reach[pair] = pair[::-1] in instance.paths
            for share in (path.sites[:-1], path.sites[1:]):
                np.add.at(along[pair], list(share), instance.network_kwh_per_gb / 2)
        return cls(
            ids=tuple(site.id for site in instance.sites),
            gpus=instance.capacity.max(axis=1).astype(float) if gpus is None else gpus,
            kwh=np.array([site.pue for site in instance.sites]) * instance.gpu_power_kw * hours,
            revenue=hours * instance.gpu_revenue_usd_per_h,
            unit=hours * (instance.gpu_revenue_usd_per_h if instance.gpu_revenue_usd_per_h >= LEAST_USD_PER_H else 1.0),
            hour=3600 / instance.slot_s,
            beta=instance.idle_power_ratio,
            usd_per_g=instance.carbon_price_usd_per_t * 1e-6,
            ratio=instance.slots_per_signal,
            reach=reach,
            usd_per_gb=prices(instance),
            along=along,
        )


@dataclass(frozen=True)
class Signals:
    """Prices and carbon as believed, and what they make of a GPU's time; slot 0 is the present.

    Attributes
    ----------
    phase
        Slots of the present signal slot that have passed.
    carbon
        g/kWh, shape (P, H), by signal slot.
    rate
        USD that a busy GPU earns a slot beyond an idle one, shape (P, H).
    earned
        Its sum before each signal slot, shape (P, H + 1).
    """

    network: Network
    phase: int
    carbon: Floats
    rate: Floats
    earned: Floats

    @classmethod
    def of(cls, network: Network, phase: int, price: Floats, carbon: Floats) -> Signals:
        """From USD/MWh and g/kWh, shape (P, H)."""
        drawn = network.kwh[:, None] * (price / 1000 + network.usd_per_g * carbon)
        rate = network.revenue - (1 - network.beta) * drawn
        earned = np.zeros((len(rate), rate.shape[1] + 1))
        np.cumsum(rate * network.ratio, axis=1, out=earned[:, 1:])
        return cls(network, phase, carbon, rate, earned)

    def upto(self, site: Ints, slot: Ints) -> Floats:
        """USD that one GPU earns at a site before a slot; what is beyond the signals repeats their end."""
        at = slot + self.phase
        hour = np.minimum(at // self.network.ratio, self.rate.shape[1] - 1)
        return np.asarray(self.earned[site, hour] + (at - hour * self.network.ratio) * self.rate[site, hour])

    def transfer(self, here: Ints, there: Ints, gb: Floats, slot: Ints) -> Floats:
        """USD for data over the paths, leaving in a slot."""
        hour = np.minimum((slot + self.phase) // self.network.ratio, self.carbon.shape[1] - 1)
        grams = (self.network.along[here, there] * self.carbon.T[hour]).sum(axis=-1)
        return np.asarray(gb * (self.network.usd_per_gb[here, there] + self.network.usd_per_g * grams))


@dataclass(frozen=True)
class Rows:
    """Jobs as columns, shape (J,) but for `out` and `back`, (J, P): slots there and back; slots count from the present.

    `due` is the last slot in which a job may start at its source; `at` is where it waits or is bound for, from `arrives` on.
    """

    source: Ints
    gpus: Ints
    duration: Ints
    due: Ints
    data: Floats
    model: Floats
    out: Ints
    back: Ints
    at: Ints
    arrives: Ints
    moved: Bools

    @classmethod
    def of(cls, instance: GeoInstance) -> Rows:
        """All jobs of an instance, in its order."""
        jobs, sites = instance.columns, len(instance.sites)
        there = np.tile(np.arange(sites), len(jobs.source))
        here = np.repeat(jobs.source, sites)
        data, model = np.repeat(jobs.data_gb, sites), np.repeat(jobs.model_gb, sites)
        moved = jobs.bound_for >= 0
        return cls(
            jobs.source,
            jobs.gpus,
            jobs.duration,
            jobs.submitted + jobs.slack,
            jobs.data_gb,
            jobs.model_gb,
            instance.transfer_slots(here, there, data, model).reshape(-1, sites),
            instance.transfer_slots(there, here, model).reshape(-1, sites),
            np.where(moved, jobs.bound_for, jobs.source),
            jobs.arrives,
            moved,
        )

    def take(self, rows: Ints | list[int]) -> Rows:
        """Some of them."""
        return Rows(*(column[rows] for column in self.columns()))

    def columns(self) -> Iterator[np.ndarray]:
        """One after the other."""
        return (getattr(self, name) for name in self.__dataclass_fields__)
