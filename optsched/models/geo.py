"""geo: MASAC's program, eqs. (2)-(7), time-indexed over sites and start slots."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance
from optsched.instances.network import Path
from optsched.models.base import Model
from optsched.models.time_indexed import CoverForm, Program, StateForm, TimeIndexed, windows
from optsched.schedules.geo import GeoSchedule, Start


def program(instance: GeoInstance) -> tuple[Program, Ints]:
    """The program, and each option's departure slot (-1 at the source): the one of least path carbon, the earliest of those.

    An option is worth what it adds to U against an idle system, which is the program's constant.
    """
    jobs, horizon = instance.columns, instance.horizon
    beta, usd_per_g = instance.idle_power_ratio, instance.carbon_price_usd_per_t * 1e-6
    hours = instance.slot_s / 3600
    kwh = np.array([[site.pue] for site in instance.sites]) * instance.gpu_power_kw * hours
    usd = kwh * instance.price / 1000
    grams = usd_per_g * kwh * instance.carbon
    per_slot = hours * instance.gpu_revenue_usd_per_h - (1 - beta) * (usd + grams)
    worth = np.concatenate([np.zeros((len(instance.sites), 1)), np.cumsum(per_slot, axis=1)], axis=1)

    pairs = _pairs(instance)
    pair_job, pair_site = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
    first, last = jobs.submitted[pair_job].copy(), (jobs.submitted + jobs.slack)[pair_job]
    away = np.flatnonzero(pair_site != jobs.source[pair_job])
    gone = jobs.bound_for[pair_job] >= 0
    for p in away.tolist():
        out, back = _paths(instance, int(jobs.source[pair_job[p]]), int(pair_site[p]))
        size = float(jobs.data_gb[pair_job[p]] + jobs.model_gb[pair_job[p]])
        first[p] = jobs.arrives[pair_job[p]] if gone[p] else first[p] + out.delay_slots(size, instance.slot_s)
        last[p] -= back.delay_slots(float(jobs.model_gb[pair_job[p]]), instance.slot_s)
    last = np.minimum(last, horizon - jobs.duration[pair_job])
    row, start = windows(first, last)
    job, site = pair_job[row], pair_site[row]
    end = start + jobs.duration[job]
    value = jobs.gpus[job] * (worth[site, end] - worth[site, start])
    departure = np.full(len(job), -1, dtype=np.int64)

    ends = np.searchsorted(row, np.arange(len(pairs) + 1))
    intensity: dict[tuple[int, int], Floats] = {}
    for p in away.tolist():
        chosen = slice(ends[p], ends[p + 1])
        if ends[p] == ends[p + 1]:
            continue
        j, here, there = int(pair_job[p]), int(jobs.source[pair_job[p]]), int(pair_site[p])
        out, back = _paths(instance, here, there)
        for a, b, path in ((here, there, out), (there, here, back)):
            if (a, b) not in intensity:
                along = instance.carbon[list(path.sites)]
                intensity[a, b] = instance.network_kwh_per_gb * ((along[:-1] + along[1:]) / 2).sum(axis=0)
        model, size = float(jobs.model_gb[j]), float(jobs.data_gb[j] + jobs.model_gb[j])
        done = np.minimum(end[chosen], horizon - 1)
        value[chosen] -= model * (back.cost_usd_per_gb + usd_per_g * intensity[there, here][done])
        if gone[p]:
            continue
        submitted = int(jobs.submitted[j])
        window = intensity[here, there][submitted : submitted + ends[p + 1] - ends[p]]
        least = np.minimum.accumulate(window)
        improves = np.concatenate([[True], window[1:] < least[:-1]])
        departure[chosen] = submitted + np.maximum.accumulate(np.where(improves, np.arange(len(window)), 0))
        value[chosen] -= size * (out.cost_usd_per_gb + usd_per_g * least)
    return (
        Program(
            job=job,
            place=site,
            start=start,
            value=value,
            demand=jobs.gpus.astype(float),
            duration=jobs.duration,
            capacity=instance.capacity.astype(float),
            overload_price=None,
            constant=-float((instance.capacity * beta * (usd + grams)).sum()),
        ),
        departure,
    )


def _pairs(instance: GeoInstance) -> list[tuple[int, int]]:
    """(job, site) in that order for every site that the job can reach and return from; only its own once it has left."""
    reach = [
        [n for n in range(len(instance.sites)) if n == s or ((s, n) in instance.paths and (n, s) in instance.paths)]
        for s in range(len(instance.sites))
    ]
    jobs = zip(instance.columns.source.tolist(), instance.columns.bound_for.tolist(), strict=True)
    return [(j, n) for j, (s, gone) in enumerate(jobs) for n in reach[s] if gone in (-1, n)]


def _paths(instance: GeoInstance, here: int, there: int) -> tuple[Path, Path]:
    return instance.paths[here, there], instance.paths[there, here]


def to_schedule(instance: GeoInstance, options: Program, departure: Ints, chosen: Ints) -> GeoSchedule:
    """The schedule of chosen options (indices into `options`), each with its departure."""
    columns = (options.job, options.place, options.start, departure)
    rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
    jobs, sites = instance.jobs, instance.sites
    return GeoSchedule(
        starts=tuple(Start(job=jobs[j].id, site=sites[n].id, start=s, departure=None if d < 0 else d) for j, n, s, d in rows)
    )


class _Geo(TimeIndexed[GeoInstance, GeoSchedule]):
    def options(self) -> Program:
        """The instance's program; keeps the departures of the options that have a value."""
        full, departure = program(self.instance)
        self.departure = departure[full.value > 0]
        return full

    def schedule(self, chosen: Ints) -> GeoSchedule:
        """Starts of the chosen options, each with its best departure."""
        return to_schedule(self.instance, self.program, self.departure, chosen)

    def selected(self, schedule: GeoSchedule) -> list[tuple[int, int, int]]:
        """(job, site, start) of every start."""
        index = {job.id: j for j, job in enumerate(self.instance.jobs)}
        return [(index[start.job], self.instance.site_index[start.site], start.start) for start in schedule.starts]


class GeoState(_Geo, StateForm[GeoInstance, GeoSchedule]):
    """Load as a state: three non-zeros an option; the recommended form."""


class GeoCover(_Geo, CoverForm[GeoInstance, GeoSchedule]):
    """A row a site and slot over the covering options, as (7c) is printed."""


FORMULATIONS: dict[str, type[Model]] = {m.name: m for m in (GeoState, GeoCover)}  # type: ignore[type-arg]
