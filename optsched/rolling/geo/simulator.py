"""geo while time passes: jobs are submitted, move between sites and run; prices and carbon are known up to now."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.events import whole_left
from optsched.instances.geo import GeoInstance, Job
from optsched.rolling.disturbances import Disturbances
from optsched.rolling.forecast import Forecast, perfect
from optsched.rolling.simulator import SNAPSHOT, Told
from optsched.rolling.slots import SlotSimulator
from optsched.schedules.geo import Cut, GeoSchedule, Lost, Start


class GeoSimulator(SlotSimulator[GeoInstance, GeoSchedule, Start]):
    """The truth of a replay over sites. A job that has left its source is bound for where it goes.

    Attributes
    ----------
    departed : job -> (site, slot of departure, slot of arrival); no departure for one that was on its way from the start.
    """

    truth: GeoInstance

    def __init__(self, truth: GeoInstance, period_s: float | None = None, forecast: Forecast = perfect, seed: int = 0) -> None:
        self.places = len(truth.sites)
        self.departed: dict[int, tuple[int, int | None, int]] = {
            j: (truth.site_index[job.bound_for], None, job.arrives)
            for j, job in enumerate(truth.jobs)
            if job.bound_for is not None
        }
        super().__init__(truth, period_s, forecast, seed)

    @property
    def slotted(self) -> GeoInstance:
        """Itself."""
        return self.truth

    def entries(self, decision: GeoSchedule) -> tuple[Start, ...]:
        """The starts."""
        return decision.starts

    def default_period(self) -> int:
        """Every signal slot: prices are news then."""
        return self.truth.slots_per_signal

    def next_period(self) -> int:
        """Whole periods from a signal slot's beginning."""
        phase = self.truth.now % self.truth.slots_per_signal
        return ((self.now + phase) // self.period + 1) * self.period - phase

    @property
    def demand(self) -> Ints:
        """GPUs."""
        return self.truth.columns.gpus

    @property
    def capacity(self) -> Ints:
        """GPUs by site."""
        return self.truth.capacity

    def what_goes_wrong(self) -> Disturbances:
        """At sites, and where there are to be fewer GPUs while jobs may be longer than believed."""
        truth = self.truth
        falls = np.flatnonzero((np.diff(truth.capacity, axis=1) < 0).any(axis=0)) + 1
        known = [] if self.multiple is None else falls.tolist()
        return Disturbances(truth.outages, truth.cancelled, truth.capacity.shape, known)

    def overloaded(self) -> Iterable[int]:
        """Sites with fewer GPUs than are in use."""
        if self.now >= self.truth.horizon:
            return ()
        return [int(n) for n in np.flatnonzero(self.load[:, self.now] > self.capacity[:, self.now])]

    def _stop(self, job: int) -> int:
        """It is back at its source, where its data are, unless it was elsewhere from the start."""
        if job in self.departed and self.departed[job][1] is not None:
            del self.departed[job]
        return super()._stop(job)

    def alive(self, job: int) -> bool:
        """It can still start in time at its source, or return in time from where it went."""
        jobs, last = self.truth.columns, self.truth.horizon - int(self.expected[job])
        if job in self.departed:
            site, _, arrival = self.departed[job]
            path = self.truth.paths.get((site, int(jobs.source[job])))
            if path is None:
                return False
            back = path.delay_slots(jobs.model_gb[[job]], self.truth.slot_s)
            latest = int(jobs.submitted[job] + jobs.slack[job]) - back
            return max(self.now, arrival) <= min(latest, last)
        return self.now <= min(int(jobs.submitted[job] + jobs.slack[job]), last)

    def show(self) -> GeoInstance:
        """GPUs left by what runs, signals as believed from the present signal slot on, slack that is left."""
        truth, ratio = self.truth, self.truth.slots_per_signal
        left = self.left().tolist()
        price, carbon = (self.signal(name) for name in ("price_usd_per_mwh", "carbon_g_per_kwh"))
        sites = tuple(
            site.model_copy(
                update={
                    "gpus": tuple(left[n]),
                    "price_usd_per_mwh": tuple(price[n].tolist()),
                    "carbon_g_per_kwh": tuple(np.maximum(0.0, carbon[n]).tolist()),
                }
            )
            for n, site in enumerate(truth.sites)
        )
        assert price.shape[1] * ratio >= truth.horizon - self.now
        shown = truth.model_copy(
            update={
                "horizon": truth.horizon - self.now,
                "now": truth.now + self.now,
                "meta": {},
                "name": SNAPSHOT,
                "sites": sites,
                "jobs": tuple(self._rebased(j) for j in self.waiting),
                "events": None,
                "running": self.runs(self.going),
                "ended": self.runs(self.over),
                "cut": tuple(self.stopped),
            }
        )
        shown.__dict__["paths"] = dict(truth.paths)  # the network does not change, nor is it anybody's to change
        return shown

    def left(self) -> Ints:
        """GPUs believed less those in use, from the present slot on, shape (P, T - now)."""
        share, shut = self.disturbances.believed(self.now)
        capacity = whole_left(self.truth.nominal[:, self.now :], share)
        return np.maximum(0, capacity - self.believed_load()).astype(np.int64) * (1 - shut)

    def signal(self, field: str) -> Floats:
        """What is believed of a signal from the present signal slot on, shape (P, T)."""
        truth, ratio = self.truth, self.truth.slots_per_signal
        phase = truth.now % ratio
        count = -(-(truth.horizon + phase) // ratio)
        series = np.array([getattr(site, field)[:count] for site in truth.sites], dtype=float)
        day = max(1, round(86400 / truth.signal_slot_s))
        return self.believed(field, series, (self.now + phase) // ratio, day)

    def _rebased(self, j: int) -> Job:
        job = self.truth.jobs[j]
        update: dict[str, object] = {"submitted": 0, "slack": job.submitted + job.slack - self.now}
        update |= {"duration": int(self.expected[j]), "estimate": None}
        if j in self.departed:
            site, _, arrival = self.departed[j]
            update |= {"bound_for": self.truth.sites[site].id, "arrives": max(0, arrival - self.now)}
        return Job.model_construct(**(job.__dict__ | update))

    def next_slot(self, start: Start) -> int:
        """The departure where one is planned, else the start."""
        return start.start if start.departure is None else start.departure

    def wakes(self) -> Iterable[int]:
        """Jobs in transit arrive."""
        return (self.departed[j][2] for j in self.waiting if j in self.departed)

    def carry_out(self, start: Start, job: int) -> Told | None:
        """Start it here and now, or let it leave now."""
        site = self.truth.site_index[start.site]
        if start.departure is None and not start.start:
            went = self.departed.get(job)
            left = None if went is None else went[1]
            begun = Start(job=start.job, site=start.site, start=self.now, departure=left)
            self.run(job, site, begun)
            return begun.model_dump()
        if start.departure == 0:
            columns, truth = self.truth.columns, self.truth
            sizes = (float(columns.data_gb[job]), float(columns.model_gb[job]))
            delay = truth.paths[int(columns.source[job]), site].delay_slots(sizes, truth.slot_s)
            self.departed[job] = (site, self.now, self.now + delay)
            told: Told = {"job": start.job, "site": start.site, "departure": self.now, "arrives": self.now + delay}
            if delay or start.start:
                return told
            self.run(job, site, Start(job=start.job, site=start.site, start=self.now, departure=self.now))
            return told | {"start": self.now}
        return None

    def history(self) -> GeoSchedule:
        """The runs so far with the departures that led to them, and what left in vain."""
        lost = [
            Lost(job=self.truth.jobs[j].id, site=self.truth.sites[site].id, departure=departure)
            for j, (site, departure, _) in self.departed.items()
            if j not in self.started and departure is not None
        ]
        unended, horizon = self.unended(), self.truth.horizon
        whole = [start for j, start in self.started.items() if j not in unended]
        ended = [(start, until) for start, until in self.cut] + [(start, horizon) for start in unended.values()]
        cut = [Cut(**start.__dict__, until=until) for start, until in ended]
        return GeoSchedule(starts=tuple(whole), lost=tuple(lost), cut=tuple(cut))

    def figures(self) -> dict[str, float]:
        """And how many ran away from their source, and how many left it in vain."""
        moved = sum(j in self.started for j in self.departed)
        return super().figures() | {"migrations": moved, "lost_in_transit": len(self.history().lost)}
