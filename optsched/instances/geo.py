"""geo: which site runs a job and when, by revenue, energy, carbon and transfers (MASAC, Zhang et al., section II)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from optsched.instances.base import (
    LARGEST,
    Counting,
    Data,
    Finite,
    Floats,
    Identifier,
    Instance,
    Ints,
    Natural,
    NonNegative,
    Positive,
    frozen,
    refuse,
    refuse_duplicates,
)
from optsched.instances.events import (
    Events,
    Multiple,
    SlotOutage,
    Trouble,
    cancelled_in_slots,
    outages_in_slots,
    refuse_misfits,
    share_left,
    whole_left,
)
from optsched.instances.grid import exact
from optsched.instances.network import Path, cheapest_paths
from optsched.instances.plain import counted
from optsched.instances.runs import Run

if TYPE_CHECKING:
    from optsched.schedules.geo import GeoSchedule


class Site(Data):
    """A data centre.

    Attributes
    ----------
    id
        By which links, jobs and schedules name it.
    gpus
        How many, or how many a slot.
    pue
        Power usage effectiveness: all power over that of the GPUs.
    price_usd_per_mwh
        Of electricity, a value a signal slot.
    carbon_g_per_kwh
        Of electricity, a value a signal slot.
    """

    id: Identifier
    gpus: Natural | tuple[Natural, ...]
    pue: Annotated[float, Field(ge=1, le=100)]
    price_usd_per_mwh: tuple[Finite, ...]
    carbon_g_per_kwh: tuple[NonNegative, ...]


class Link(Data):
    """A directed link between two sites.

    Attributes
    ----------
    from_, to
        Ids of the sites; ``from`` in files.
    throughput_gb_per_s
        How fast data goes.
    cost_usd_per_gb
        What it costs.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    from_: str = Field(alias="from")
    to: str
    throughput_gb_per_s: Annotated[float, Field(ge=1e-9, le=LARGEST)]
    cost_usd_per_gb: NonNegative


class Job(Data):
    """A job.

    Attributes
    ----------
    id
        By which schedules name it.
    source
        Id of the site where it is submitted.
    submitted
        The slot in which it is.
    gpus
        How many it takes.
    duration
        Slots for which it runs.
    slack
        Slots by which its start may lag, and by which its result must be back.
    data_gb, model_gb
        What goes with it to another site, and what comes back too.
    bound_for
        In a snapshot of a replay: the site for which it has left already; it can run nowhere else. Its migration is paid, its
        result still has to return to the source.
    arrives
        The slot in which it is there.
    estimate
        What its user says it takes, as a multiple of what it does take; read in a replay that asks for users' estimates.
    """

    id: Identifier
    source: str
    submitted: Natural
    gpus: Counting
    duration: Counting
    slack: Natural
    data_gb: NonNegative
    model_gb: NonNegative
    bound_for: str | None = None
    arrives: Natural = 0
    estimate: Multiple | None = None


@dataclass(frozen=True)
class JobColumns:
    """Jobs as columns, in the file's order; slots, GPUs, GB; `source` and `bound_for` (or -1) index the sites."""

    source: Ints
    submitted: Ints
    gpus: Ints
    duration: Ints
    slack: Ints
    bound_for: Ints
    arrives: Ints
    data_gb: Floats
    model_gb: Floats


class GeoInstance(Instance["GeoSchedule", "GeoSchedule"]):
    """Jobs of a network of sites.

    Attributes
    ----------
    slot_s
        Seconds of a slot.
    horizon
        Slots.
    signal_slot_s
        Seconds for which one price or carbon value holds, a multiple of `slot_s`.
    gpu_revenue_usd_per_h
        Of a GPU in use.
    gpu_power_kw
        Of a GPU in use: rho, which the paper leaves open.
    idle_power_ratio
        Power of a GPU that is not in use, as a share of that.
    carbon_price_usd_per_t
        Per tonne of CO2.
    network_kwh_per_gb
        Energy of a transfer.
    now
        The slot of the replay that slot 0 of a snapshot is, so that its first signal slot may have begun before.
    sites, links, jobs
        What there is.
    events
        What goes wrong in a replay, which its capacity shows; None in a snapshot.
    running, ended
        In a snapshot of a replay whose durations are estimates: what runs, and what has ended since the last decision. The
        capacity is what the former leave; no method reads them.
    cut
        In a snapshot of a replay: runs that something else has ended since the last decision.
    """

    sense: ClassVar[Literal["minimize", "maximize"]] = "maximize"
    problem: ClassVar[str] = "geo"
    troubles: ClassVar[frozenset[Trouble]] = frozenset({"fails", "drains", "less", "cancelled"})

    slot_s: Positive
    horizon: Annotated[int, Field(ge=1, le=10**7)]
    signal_slot_s: Positive
    gpu_revenue_usd_per_h: NonNegative
    gpu_power_kw: NonNegative
    idle_power_ratio: Annotated[float, Field(ge=0, le=1)]
    carbon_price_usd_per_t: NonNegative
    network_kwh_per_gb: NonNegative
    now: Natural = 0
    sites: tuple[Site, ...] = Field(min_length=1)
    links: tuple[Link, ...]
    jobs: tuple[Job, ...]
    events: Events | None = None
    running: tuple[Run, ...] = ()
    ended: tuple[Run, ...] = ()
    cut: tuple[Run, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> GeoInstance:
        refuse_duplicates("sites", (site.id for site in self.sites))
        refuse_duplicates("jobs", (job.id for job in self.jobs))
        refuse_duplicates("links", ((link.from_, link.to) for link in self.links))
        ratio = exact(self.signal_slot_s) / exact(self.slot_s)
        if ratio.denominator != 1:
            refuse("signal_slot_s", f"{self.signal_slot_s:.17g} is not a multiple of slot_s = {self.slot_s:.17g}")
        needed = -(-(self.horizon + self.now % ratio.numerator) // ratio.numerator)
        for n, site in enumerate(self.sites):
            for field in ("price_usd_per_mwh", "carbon_g_per_kwh"):
                given = len(getattr(site, field))
                if given < needed:
                    refuse(f"sites[{n}].{field}", f"{given} values, the horizon needs {needed}")
            if isinstance(site.gpus, tuple) and len(site.gpus) < self.horizon:
                refuse(f"sites[{n}].gpus", f"{len(site.gpus)} values, the horizon needs {self.horizon}")
        known = ", ".join(site.id for site in self.sites)
        for i, link in enumerate(self.links):
            for field, site_id in (("from", link.from_), ("to", link.to)):
                if site_id not in self.site_index:
                    refuse(f"links[{i}].{field}", f"unknown site {site_id!r}, known: {known}")
            if link.from_ == link.to:
                refuse(f"links[{i}].to", f"links {link.to!r} to itself")
        for j, job in enumerate(self.jobs):
            for field, named in (("source", job.source), ("bound_for", job.bound_for)):
                if named is not None and named not in self.site_index:
                    refuse(f"jobs[{j}].{field}", f"unknown site {named!r}, known: {known}")
            if job.bound_for == job.source:
                refuse(f"jobs[{j}].bound_for", f"is its source, {job.source!r}")
            if job.bound_for is None and job.arrives:
                refuse(f"jobs[{j}].arrives", "is given without bound_for")
        for field in ("running", "ended", "cut"):
            for i, run in enumerate(getattr(self, field)):
                if run.place not in self.site_index:
                    refuse(f"{field}[{i}].place", f"unknown site {run.place!r}, known: {known}")
        refuse_misfits(self.events, self.troubles, self.site_index, self.jobs)
        return self

    @cached_property
    def site_index(self) -> dict[str, int]:
        """Index of each site by id."""
        return {site.id: n for n, site in enumerate(self.sites)}

    @cached_property
    def paths(self) -> dict[tuple[int, int], Path]:
        """The transfer path of every ordered pair of sites that has one."""
        index = self.site_index
        links = ((index[k.from_], index[k.to], 1 / exact(k.throughput_gb_per_s), exact(k.cost_usd_per_gb)) for k in self.links)
        return cheapest_paths(links, len(self.sites))

    def transfer_slots(self, here: Ints, there: Ints, *sizes_gb: Floats) -> Ints:
        """Slots until data has gone from site to site, shape (n,), 0 where there is no path.

        Parameters
        ----------
        here, there
            Indices of sites, shape (n,).
        *sizes_gb
            What goes, columns of shape (n,) that add up.
        """
        found = np.zeros(len(here), dtype=np.int64)
        pair = here * len(self.sites) + there
        for (a, b), path in self.paths.items():
            mine = np.flatnonzero(pair == a * len(self.sites) + b)
            found[mine] = path.slots(tuple(size[mine] for size in sizes_gb), self.slot_s)
        return found

    @cached_property
    def columns(self) -> JobColumns:
        """NumPy columns of the jobs."""
        at, jobs = self.site_index, self.jobs
        bound = [-1 if job.bound_for is None else at[job.bound_for] for job in jobs]
        rows = [
            (at[j.source], j.submitted, j.gpus, j.duration, j.slack, b, j.arrives) for j, b in zip(jobs, bound, strict=True)
        ]
        whole = np.array(rows, dtype=np.int64).reshape(len(jobs), 7)
        sizes = np.array([(job.data_gb, job.model_gb) for job in jobs], dtype=float).reshape(len(jobs), 2)
        source, submitted, gpus, duration, slack, bound_for, arrives = (frozen(column.copy()) for column in whole.T)
        data_gb, model_gb = (frozen(column.copy()) for column in sizes.T)
        return JobColumns(source, submitted, gpus, duration, slack, bound_for, arrives, data_gb, model_gb)

    @cached_property
    def slots_per_signal(self) -> int:
        """Slots for which one price or carbon value holds."""
        return (exact(self.signal_slot_s) / exact(self.slot_s)).numerator

    def _by_slot(self, field: str) -> Floats:
        signal = (np.arange(self.horizon) + self.now % self.slots_per_signal) // self.slots_per_signal
        rows = [np.array(getattr(site, field)[: signal[-1] + 1], dtype=float)[signal] for site in self.sites]
        return frozen(np.array(rows))

    @cached_property
    def price(self) -> Floats:
        """USD/MWh by site and slot, shape (sites, horizon)."""
        return self._by_slot("price_usd_per_mwh")

    @cached_property
    def carbon(self) -> Floats:
        """g/kWh by site and slot, shape (sites, horizon)."""
        return self._by_slot("carbon_g_per_kwh")

    @property
    def places(self) -> tuple[str | None, ...]:
        """Where there may be outages."""
        return tuple(site.id for site in self.sites)

    @property
    def submissions_s(self) -> dict[str, float]:
        """When each job is submitted, in seconds, by its id."""
        return {job.id: job.submitted * self.slot_s for job in self.jobs}

    @property
    def ends_s(self) -> float:
        """The horizon, in seconds."""
        return self.horizon * self.slot_s

    @cached_property
    def outages(self) -> tuple[SlotOutage, ...]:
        """Of sites, in slots."""
        return outages_in_slots(self.events, self.places, self.slot_s, self.horizon)

    @cached_property
    def cancelled(self) -> dict[str, int]:
        """The slot in which a job is cancelled, by its id."""
        return cancelled_in_slots(self.events, self.slot_s)

    @cached_property
    def capacity(self) -> Ints:
        """GPUs by site and slot, shape (sites, horizon): those that there are, whatever was believed."""
        return frozen(whole_left(self.nominal, share_left(self.outages, *self.nominal.shape))) if self.outages else self.nominal

    @cached_property
    def paid_for_use(self) -> float:
        """The most that runs which events cut short can earn, USD: what use brings where the price of power is negative."""
        pue = np.array([[site.pue] for site in self.sites])
        usd = pue * self.gpu_power_kw * self.slot_s / 3600 * self.price / 1000
        return float((1 - self.idle_power_ratio) * (self.capacity * np.maximum(0.0, -usd)).sum())

    @cached_property
    def nominal(self) -> Ints:
        """GPUs by site and slot, shape (sites, horizon), if nothing goes wrong."""
        rows = [
            np.broadcast_to(np.array(site.gpus if isinstance(site.gpus, int) else site.gpus[: self.horizon]), self.horizon)
            for site in self.sites
        ]
        return frozen(np.array(rows, dtype=np.int64))

    def open_parameters(self) -> dict[str, float]:
        """rho, the power of a GPU: the paper gives none, and it decides which sites earn anything."""
        return {"gpu_power_kw": self.gpu_power_kw}

    @property
    def now_s(self) -> float:
        """The present of a snapshot, in seconds of the replay."""
        return self.now * self.slot_s

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return "USD"

    @property
    def job_count(self) -> int:
        """All jobs."""
        return len(self.jobs)

    def summary(self) -> str:
        """One line about the size of the instance."""
        work = float(self.columns.gpus @ self.columns.duration)
        return (
            f"{counted(len(self.jobs), 'job')}, {counted(len(self.sites), 'site')} with "
            f"{counted(int(self.capacity.max(axis=1).sum()), 'GPU')}, {counted(self.horizon, 'slot')} of {self.slot_s:g} s, "
            f"load {work / max(1, self.capacity.sum()):.2f}, "
            f"GPU power {self.gpu_power_kw:g} kW"
        )
