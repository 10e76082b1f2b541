"""Referee of geo: MASAC's utility, eqs. (2)-(6), with the slack, transfer and horizon rules of docs/formulations/geo.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import fsum

import numpy as np
from pydantic import SerializerFunctionWrapHandler, model_serializer

from optsched.instances.base import Data, Ints, Natural
from optsched.instances.geo import GeoInstance, Job
from optsched.instances.network import Path
from optsched.schedules.base import Evaluation, Schedule, Violation, entry, job_violations

SIGNS = {"profit": 1, "idle": -1, "carbon": -1, "migration": -1, "retrieval": -1}


class Start(Data):
    """A job, its site and start slot, and the slot in which it left its source (null when it stays there)."""

    job: str
    site: str
    start: Natural
    departure: Natural | None


class Lost(Data):
    """A job that left its source for a site in a slot and was never run: its migration was paid all the same."""

    job: str
    site: str
    departure: Natural


class Cut(Start):
    """A run that an event, or the horizon, has ended before its end, in the slot `until`: it occupies, and earns nothing."""

    until: Natural


class GeoSchedule(Schedule):
    """Jobs that are run; the others are dropped. A replay may have `lost` some on the way, and events `cut` runs short."""

    starts: tuple[Start, ...]
    lost: tuple[Lost, ...] = ()
    cut: tuple[Cut, ...] = ()

    @property
    def jobs_run(self) -> int:
        """How many jobs it runs."""
        return len({start.job for start in self.starts})

    @model_serializer(mode="wrap")
    def _brief(self, default: SerializerFunctionWrapHandler) -> dict[str, object]:
        data: dict[str, object] = default(self)
        return {name: entries for name, entries in data.items() if name == "starts" or entries}


def load(instance: GeoInstance, schedule: GeoSchedule) -> Ints:
    """GPUs in use by site and slot, shape (sites, horizon); what would run past the horizon is cut off."""
    jobs = {job.id: j for j, job in enumerate(instance.jobs)}
    change = np.zeros((len(instance.sites), instance.horizon + 1), dtype=np.int64)
    for start in (*schedule.starts, *schedule.cut):
        job = instance.jobs[entry(jobs, start.job, "job")]
        site = entry(instance.site_index, start.site, "site")
        end = start.until if isinstance(start, Cut) else start.start + job.duration
        change[site, min(start.start, instance.horizon)] += job.gpus
        change[site, min(end, instance.horizon)] -= job.gpus
    return np.cumsum(change, axis=1)[:, :-1]


def evaluate(instance: GeoInstance, schedule: GeoSchedule) -> Evaluation:
    """U1..U5 in USD: profit, idle energy, carbon, migration and retrieval; the idle system's constant is included.

    Raises
    ------
    OptschedError : a start names an unknown job or site.
    """
    used = load(instance, schedule)
    hours = instance.slot_s / 3600
    pue = np.array([[site.pue] for site in instance.sites])
    energy = pue * instance.gpu_power_kw * hours  # kWh of one busy GPU in one slot
    usd = energy * instance.price / 1000
    beta = instance.idle_power_ratio
    drawn = (1 - beta) * used + beta * instance.capacity
    grams = energy * drawn * instance.carbon
    # prices of either sign may cancel: summed before they are scaled, they do so exactly
    idle = zip(instance.sites, map(fsum, (instance.capacity - used) * instance.price), strict=True)
    jobs = {job.id: job for job in instance.jobs}
    index = {job.id: j for j, job in enumerate(instance.jobs)}
    migration, retrieval = [], []
    for ended in schedule.cut:
        job = jobs[ended.job]
        path = instance.paths.get((instance.site_index[job.source], instance.site_index[ended.site]))
        if path and ended.departure is not None:
            migration.append(_transfer(instance, path, job.data_gb + job.model_gb, ended.departure))
    in_vain = sum(jobs[ended.job].gpus * (min(ended.until, instance.horizon) - ended.start) for ended in schedule.cut)
    earned = [] if not in_vain else [-in_vain * hours * instance.gpu_revenue_usd_per_h]
    for start in schedule.starts:
        job = jobs[start.job]
        if start.site == job.source:
            continue
        here, there = instance.site_index[job.source], instance.site_index[start.site]
        out, back = instance.paths.get((here, there)), instance.paths.get((there, here))
        left = start.start if start.departure is None else start.departure
        done = min(start.start + job.duration, instance.horizon - 1)
        if out and job.bound_for is None:
            migration.append(_transfer(instance, out, job.data_gb + job.model_gb, left))
        if back:
            retrieval.append(_transfer(instance, back, job.model_gb, done))
    for gone in schedule.lost:
        job, site = instance.jobs[entry(index, gone.job, "job")], entry(instance.site_index, gone.site, "site")
        path = instance.paths.get((instance.site_index[job.source], site))
        if path:
            migration.append(_transfer(instance, path, job.data_gb + job.model_gb, gone.departure))
    return Evaluation.of(
        {
            "profit": fsum([*(used * (hours * instance.gpu_revenue_usd_per_h - usd)).ravel(), *earned]),
            "idle": beta * (instance.gpu_power_kw * hours / 1000) * fsum(site.pue * paid for site, paid in idle),
            "carbon": instance.carbon_price_usd_per_t * 1e-6 * fsum(grams.ravel()),
            "migration": fsum(migration),
            "retrieval": fsum(retrieval),
        },
        SIGNS,
    )


def _transfer(instance: GeoInstance, path: Path, size_gb: float, slot: int) -> float:
    """USD for `size_gb` over a path that starts in `slot` (eqs. 5 and 6): the links' prices and their carbon."""
    intensity = instance.carbon[list(path.sites), min(slot, instance.horizon - 1)]
    grams = instance.network_kwh_per_gb * size_gb * fsum((intensity[:-1] + intensity[1:]) / 2)
    return float(size_gb * path.cost_usd_per_gb + instance.carbon_price_usd_per_t * 1e-6 * grams)


def check(instance: GeoInstance, schedule: GeoSchedule) -> list[Violation]:
    """Every violated rule, empty for a feasible schedule."""
    jobs = {job.id: job for job in instance.jobs}
    found = list(job_violations([s.job for s in schedule.starts] + [gone.job for gone in schedule.lost], set(jobs)))
    found += [v for gone in schedule.lost if gone.job in jobs for v in _lost(instance, jobs[gone.job], gone)]
    found += [Violation("unknown job", job=ended.job) for ended in schedule.cut if ended.job not in jobs]
    usable: list[Start] = []
    for start in (*schedule.starts, *schedule.cut):
        if start.site not in instance.site_index:
            found.append(Violation("unknown site", job=start.job, place=start.site))
        elif start.job in jobs:
            usable.append(start)
            found.extend(_placement(instance, jobs[start.job], start))
            found.extend(_disturbed(instance, jobs[start.job], start))
    found += _again(usable) if schedule.cut else []
    ended = tuple(start for start in usable if isinstance(start, Cut))
    whole = tuple(start for start in usable if not isinstance(start, Cut))
    over = load(instance, GeoSchedule(starts=whole, cut=ended)) - instance.capacity
    for site, slot in zip(*np.nonzero(over > 0), strict=True):
        found.append(
            Violation(
                "GPUs above the site's",
                place=instance.sites[site].id,
                time=float(slot),
                amount=float(over[site, slot]),
            )
        )
    return found


def _placement(instance: GeoInstance, job: Job, start: Start) -> list[Violation]:
    here, there = instance.site_index[job.source], instance.site_index[start.site]
    end = start.until if isinstance(start, Cut) else start.start + job.duration
    rules: list[tuple[str, int]] = [("runs past the horizon", end - instance.horizon)]
    out, back = instance.paths.get((here, there)), instance.paths.get((there, here))
    if here != there and (out is None or back is None):
        return [Violation("no path between source and site, or back", job.id, start.site, start.start)]
    if job.bound_for is not None:
        if start.site != job.bound_for:
            return [Violation("runs elsewhere than where it went", job.id, start.site, start.start)]
        if start.departure is not None:
            rules.append(("departs a second time", 1))
        rules.append(("starts before it has arrived", job.arrives - start.start))
    elif here == there:
        if start.departure is not None:
            rules.append(("departs although it stays at its source", 1))
        rules.append(("starts before it is submitted", job.submitted - start.start))
        rules.append(("starts after its slack", start.start - job.submitted - job.slack))
    else:
        if start.departure is None:
            return [Violation("runs away from its source without a departure", job.id, start.site, start.start)]
        assert out is not None
        arrival = start.departure + out.delay_slots((job.data_gb, job.model_gb), instance.slot_s)
        rules.append(("departs before it is submitted", job.submitted - start.departure))
        rules.append(("starts before it has arrived", arrival - start.start))
    if here != there and back is not None and not isinstance(start, Cut):
        returned = start.start + back.delay_slots((job.model_gb,), instance.slot_s)
        rules.append(("its result returns after its slack", returned - job.submitted - job.slack))
    return [Violation(r, job.id, start.site, start.start, float(amount)) for r, amount in rules if amount > 0]


def _lost(instance: GeoInstance, job: Job, gone: Lost) -> Iterator[Violation]:
    a, b = instance.site_index[job.source], instance.site_index.get(gone.site, -1)
    if job.bound_for is not None:
        yield Violation("departs a second time", job.id, gone.site, gone.departure)
    if b < 0:
        yield Violation("unknown site", job.id, gone.site)
    elif not {(a, b), (b, a)} <= instance.paths.keys():
        yield Violation("no path between source and site, or back", job.id, gone.site, gone.departure)
    if gone.departure < job.submitted:
        yield Violation("departs before it is submitted", job.id, gone.site, gone.departure, job.submitted - gone.departure)
    if gone.departure >= instance.horizon:
        yield Violation("departs past the horizon", job.id, gone.site, gone.departure)


def _disturbed(instance: GeoInstance, job: Job, start: Start) -> Iterator[Violation]:
    """A cancelled job is not run, a site that drains takes no more, and only events and the horizon end a run."""
    cancelled, site, end = instance.cancelled.get(job.id), instance.site_index[start.site], start.start + job.duration
    if isinstance(start, Cut):
        capacity, until = instance.capacity[site], min(start.until, instance.horizon)
        if not start.start < start.until < end:
            yield Violation("cut short outside of its run", job.id, start.site, start.until)
        elif until not in (instance.horizon, cancelled) and capacity[until] >= capacity[until - 1]:
            yield Violation("cut short by nothing", job.id, start.site, until)
        end = start.until
    if cancelled is not None and end > cancelled:
        yield Violation("runs on after it was cancelled", job.id, start.site, cancelled, end - cancelled)
    for outage in instance.outages:
        if outage.kind == "drains" and outage.place == site and outage.begin <= start.start < outage.end:
            yield Violation("starts at a site that drains", job.id, start.site, start.start)


def _again(starts: Iterable[Start]) -> Iterator[Violation]:
    """A job whose run was cut short runs, or leaves, again after that at the earliest."""
    until: dict[str, int] = {}
    for start in sorted(starts, key=lambda start: start.start):
        begun = start.start if start.departure is None else start.departure
        if begun < until.get(start.job, 0):
            yield Violation("runs twice at a time", start.job, start.site, begun, until[start.job] - begun)
        if isinstance(start, Cut):
            until[start.job] = start.until
