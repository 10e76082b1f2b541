"""geo as a time-indexed problem: what every site and start slot of every job is worth (docs/formulations/geo.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import fsum

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance
from optsched.problems.time_indexed import TimeIndexedProblem, built_once, windows
from optsched.problems.view import TimeIndexedView
from optsched.schedules.geo import GeoSchedule, Start

CHUNK = 128  # pairs of job and site whose transfers are worked out together


@built_once
def time_indexed(instance: GeoInstance) -> tuple[TimeIndexedProblem, Ints]:
    """The program, and each option's departure slot (-1 at the source): the one of least path carbon, the earliest of those.

    An option is worth what it adds to U against an idle system, which is the program's constant.
    """
    return _listed(instance, *_pairs(instance))


def _listed(instance: GeoInstance, pair_job: Ints, pair_site: Ints) -> tuple[TimeIndexedProblem, Ints]:
    """The options of some pairs of a job and a site, in that order."""
    jobs, horizon = instance.columns, instance.horizon
    beta, usd_per_g = instance.idle_power_ratio, instance.carbon_price_usd_per_t * 1e-6
    hours = instance.slot_s / 3600
    kwh = np.array([[site.pue] for site in instance.sites]) * instance.gpu_power_kw * hours
    usd = kwh * instance.price / 1000
    grams = usd_per_g * kwh * instance.carbon
    per_slot = hours * instance.gpu_revenue_usd_per_h - (1 - beta) * (usd + grams)
    per_slot = np.where(instance.capacity > 0, per_slot, 0.0)  # nobody runs there
    upto = _upto(per_slot)

    source, gone = jobs.source[pair_job], jobs.bound_for[pair_job] >= 0
    away = pair_site != source
    price = prices(instance)
    data, model = jobs.data_gb[pair_job], jobs.model_gb[pair_job]
    size = data + model
    out = instance.transfer_slots(source, pair_site, data, model)
    back = instance.transfer_slots(pair_site, source, model)
    submitted = jobs.submitted[pair_job]
    first = np.where(gone, jobs.arrives[pair_job], submitted + np.where(away, out, 0))
    last = np.minimum(submitted + jobs.slack[pair_job] - np.where(away, back, 0), horizon - jobs.duration[pair_job])
    row, start = windows(first, last)
    job, site = pair_job[row], pair_site[row]
    end = start + jobs.duration[job]
    value = jobs.gpus[job] * sum((part[site, end] - part[site, start]).astype(float) for part in upto)
    departure = np.full(len(job), -1, dtype=np.int64)

    travels = np.flatnonzero(away & (last >= first))
    intensity = _intensity(instance, {*zip(source[travels].tolist(), pair_site[travels].tolist(), strict=True)})
    begin = np.searchsorted(row, np.arange(len(pair_job)))
    for chunk in _alike(travels, (last - first + 1)[travels]):
        column = np.arange(int((last - first)[chunk].max()) + 1)
        there = column <= (last - first)[chunk, None]
        option = (begin[chunk, None] + column)[there]
        home, host = np.broadcast_to(source[chunk, None], there.shape)[there], site[option]
        done = np.minimum(end[option], horizon - 1)
        value[option] -= model[row[option]] * (price[host, home] + usd_per_g * intensity[host, home, done])
        left = np.minimum(submitted[chunk, None] + column, horizon - 1)
        carried = intensity[source[chunk, None], pair_site[chunk, None], left]
        least = np.minimum.accumulate(carried, axis=1)
        improves = np.ones(there.shape, dtype=bool)
        improves[:, 1:] = carried[:, 1:] < least[:, :-1]
        leave = submitted[chunk, None] + np.maximum.accumulate(np.where(improves, column, 0), axis=1)
        stays = ~np.broadcast_to(gone[chunk, None], there.shape)[there]
        paid = size[row[option]] * (price[home, host] + usd_per_g * least[there])
        value[option] -= np.where(stays, paid, 0.0)
        departure[option] = np.where(stays, leave[there], -1)
    return (
        TimeIndexedProblem(
            job=job,
            place=site,
            start=start,
            value=value,
            demand=jobs.gpus.astype(float),
            duration=jobs.duration,
            capacity=instance.capacity.astype(float),
            overload_price=None,
            constant=-_idle(instance),
        ),
        departure,
    )


def _upto(per_slot: Floats) -> list[np.ndarray]:
    """Two parts of the sums over the slots before each, shape (sites, slots + 1) each.

    A dear slot must not cost the others their digits: the first part is of multiples of one unit, and exact; what is left is
    no more than such a unit a slot. The widest floats have 64 digits, in base two.
    """
    sites, slots = per_slot.shape
    largest = float(np.abs(per_slot).max(initial=0.0)) * slots
    unit = np.longdouble(2.0) ** (np.frexp(largest)[1] - np.finfo(np.longdouble).nmant)
    whole = np.rint(per_slot / unit) * unit
    parts = [np.zeros((sites, slots + 1), dtype=np.longdouble) for _ in range(2)]
    for part, added in zip(parts, (whole, per_slot - whole), strict=True):
        np.cumsum(added, axis=1, out=part[:, 1:])
    return parts


def _idle(instance: GeoInstance) -> float:
    """USD that the idle system costs; prices of either sign may cancel, so they are summed before they are scaled."""
    kw_h = instance.idle_power_ratio * instance.gpu_power_kw * instance.slot_s / 3600
    sums = ([fsum(row) for row in instance.capacity * signal] for signal in (instance.price, instance.carbon))
    paid, emitted = (fsum(site.pue * total for site, total in zip(instance.sites, each, strict=True)) for each in sums)
    return kw_h / 1000 * paid + instance.carbon_price_usd_per_t * 1e-6 * kw_h * emitted


def _pairs(instance: GeoInstance) -> tuple[Ints, Ints]:
    """Job and site, sorted, for every site that the job can reach and return from; only its own once it has left."""
    sites, paths, jobs = len(instance.sites), instance.paths, instance.columns
    reach = np.array([[n == s or ((s, n) in paths and (n, s) in paths) for n in range(sites)] for s in range(sites)])
    gone = jobs.bound_for[:, None]
    job, site = np.nonzero(reach[jobs.source] & ((gone < 0) | (gone == np.arange(sites))))
    return job, site


def prices(instance: GeoInstance) -> Floats:
    """USD for a GB from site to site, shape (P, P); zero where there is no path."""
    price = np.zeros((len(instance.sites), len(instance.sites)))
    for pair, path in instance.paths.items():
        price[pair] = path.cost_usd_per_gb
    return price


def _intensity(instance: GeoInstance, pairs: set[tuple[int, int]]) -> Floats:
    """Grams a GB for the paths of the pairs, there and back, by slot, shape (P, P, T)."""
    sites = len(instance.sites)
    grams = np.zeros((sites, sites, instance.horizon))
    for pair in pairs | {(there, here) for here, there in pairs}:
        along = instance.carbon[list(instance.paths[pair].sites)]
        grams[pair] = instance.network_kwh_per_gb * ((along[:-1] + along[1:]) / 2).sum(axis=0)
    return grams


def _alike(rows: Ints, length: Ints) -> Iterator[Ints]:
    """The rows in chunks of similar length, so that padding them costs little."""
    order = rows[np.argsort(length, kind="stable")]
    return (order[i : i + CHUNK] for i in range(0, len(order), CHUNK))


def to_schedule(instance: GeoInstance, options: TimeIndexedProblem, departure: Ints, chosen: Ints) -> GeoSchedule:
    """The schedule of chosen options (indices into `options`), each with its departure."""
    columns = (options.job, options.place, options.start, departure)
    rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
    jobs, sites = instance.jobs, instance.sites
    return GeoSchedule(
        starts=tuple(Start(job=jobs[j].id, site=sites[n].id, start=s, departure=None if d < 0 else d) for j, n, s, d in rows)
    )


def chosen(instance: GeoInstance, options: Sequence[tuple[int, int, int]]) -> GeoSchedule:
    """The schedule of options (job, site, start), in that order."""
    job, site, _ = np.array(options, dtype=np.int64).reshape(-1, 3).T
    listed, departure = _listed(instance, job, site)
    return to_schedule(instance, listed, departure, listed.find(options))


def selected(instance: GeoInstance, schedule: GeoSchedule) -> list[tuple[int, int, int]]:
    """(job, site, start) of every start."""
    index = {job.id: j for j, job in enumerate(instance.jobs)}
    return [(index[start.job], instance.site_index[start.site], start.start) for start in schedule.starts]


def view(instance: GeoInstance) -> TimeIndexedView[GeoSchedule]:
    """Sites and start slots of the jobs that are worth something."""
    full, departure = time_indexed(instance)
    worth = full.value > 0
    options = full.where(worth)
    return TimeIndexedView(
        problem=options,
        places=tuple(site.id for site in instance.sites),
        schedule=partial(to_schedule, instance, options, departure[worth]),
        selected=partial(selected, instance),
    )
