"""A trace as a geo instance: the five sites of MASAC's Table I under real prices and carbon intensities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Floats
from optsched.instances.generators.masac import JOB_COEFFICIENTS, KINDS, SLACK
from optsched.instances.generators.masac import masac as table_i
from optsched.instances.geo import GeoInstance, Job, Link, Site
from optsched.instances.readers.own_fields import GPUS, JOB, Field, Kind
from optsched.instances.readers.signals import FIELDS as SIGNALS
from optsched.instances.readers.signals import Signals, placed, rebuilt
from optsched.instances.readers.trace import Trace

FIELDS = {
    **JOB,
    "gpus": GPUS,
    "source": Field(Kind.TEXT, "site where it is submitted; drawn if not mapped"),
    "due": Field(Kind.MOMENT, "latest end; by slack if not mapped"),
    "requested": Field(Kind.SPAN, "how long its user said it would take, for --estimates user"),
    "slack": Field(Kind.SPAN, "by how much its start may lag; 40 % of its duration if not mapped"),
    "data_gb": Field(Kind.NUMBER, "GB to move to another site; drawn if not mapped"),
    "model_gb": Field(Kind.NUMBER, "GB to move back; drawn if not mapped"),
}
SLOT_S = 60.0
THROUGHPUT, USD_PER_GB = 0.02, 0.06  # GB/s as in Table I, and the mean of its prices of a transfer, between sites of one's own
TABLE_I = "Sites, links and prices of a transfer are those of MASAC's Table I"
OWN = (
    f"Every site has a link to every other, of {THROUGHPUT:g} GB/s at {USD_PER_GB:g} USD/GB; revenue, idle power, carbon price "
    "and energy of a transfer are those of MASAC's Table I"
)
SLOTS = "Slots are 60 s: durations are rounded up, submissions up to the next slot's beginning"


def to_geo(
    trace: Trace,
    signals: Signals,
    *,
    hours: float | None = None,
    scale: float = 1.0,
    zones: Mapping[str, str] | None = None,
    start: str | None = None,
    gpu_power_kw: float = 0.07,
    sites: Sequence[Site] = (),
    seed: int = 0,
) -> GeoInstance:
    """The trace's jobs over `hours` (by default until the last job must have ended); `scale` is of the sites' GPUs.

    `sites` are used instead of Table I's, their prices and carbon as the signals give them.
    """
    if set(signals.tables) != set(SIGNALS):
        raise OptschedError(f"geo needs price and carbon, the signals give only {', '.join(signals.tables)}")
    submitted = np.ceil(trace.submitted_s / SLOT_S - 1e-9)
    duration = np.maximum(1, np.ceil(trace.duration_s / SLOT_S - 1e-9))
    slack, slots_told = _slack(trace, submitted, duration)
    horizon = int(np.ceil(hours * 60 - 1e-9) if hours is not None else (submitted + duration + slack).max())
    base = table_i(jobs=1, days=horizon / 1440, scale=scale, seed=seed, gpu_power_kw=gpu_power_kw)
    links = _links(sites, scale) if sites else base.links
    placed_at, begins, said, warnings = placed(sites or base.sites, signals, -(-horizon // 60), zones, start, trace.begins_s)
    base = rebuilt(base, sites=placed_at, links=links, jobs=())
    fits = (submitted + duration <= horizon) & (trace.units <= int(base.capacity.max()))
    if not fits.any():
        raise OptschedError(f"no job fits into {horizon} slots of {SLOT_S:g} s and the sites' GPUs")
    rng = np.random.default_rng(seed)
    kept = trace.where(fits, "{} jobs that are wider than every site or could not end within the horizon are left out.")
    source, told = _sources(kept, [site.id for site in base.sites], rng, bool(sites))
    sizes = np.array(KINDS)[rng.integers(0, len(KINDS), len(kept))] * rng.lognormal(0, 0.3, (len(kept), 2))
    for n, (name, what) in enumerate((("data_gb", "data"), ("model_gb", "model"))):
        if name in kept.columns:
            sizes[:, n] = kept.columns[name]
        else:
            told.append(f"A job's {what} GB are drawn as MASAC draws them.")
    whole = [column.astype(int).tolist() for column in (submitted[fits], kept.units, duration[fits], slack[fits])]
    jobs = tuple(
        Job(id=i, source=n, submitted=s, gpus=g, duration=d, slack=room, data_gb=data, model_gb=model, estimate=asked)
        for i, asked, n, s, g, d, room, (data, model) in zip(
            kept.ids, kept.estimates, source, *whole, sizes.round(3).tolist(), strict=True
        )
    )
    kept = replace(kept, skipped=kept.skipped + signals.skipped, files=(*kept.files, *signals.files), warnings=warnings)
    meta = kept.meta([(OWN if sites else TABLE_I) + ".", *told, slots_told, said]) | {"start": begins, "seed": seed}
    return rebuilt(base, name=f"{kept.name()}-s{seed}", meta=meta, jobs=jobs)


def _slack(trace: Trace, submitted: Floats, duration: Floats) -> tuple[Floats, str]:
    """By how many slots a start may lag, and a sentence about it."""
    if "due" in trace.moments:
        lag: Floats = np.maximum(0.0, np.floor(trace.moments["due"] / SLOT_S + 1e-9) - duration - submitted)
        return lag, f"{SLOTS}; the slack is what is left until a job is due, 0 where that is too early."
    if "slack_s" in trace.columns:
        return np.floor(trace.columns["slack_s"] / SLOT_S + 1e-9), f"{SLOTS}."
    return np.floor(SLACK * duration), f"{SLOTS}; the slack is 40 % of a duration."


def _sources(trace: Trace, sites: Sequence[str], rng: np.random.Generator, own: bool) -> tuple[list[str], list[str]]:
    """The site of each job, as given or drawn, and what that assumes."""
    if "source" in trace.columns:
        given = [str(site) for site in trace.columns["source"]]
        if unknown := sorted(set(given) - set(sites)):
            raise OptschedError(f"no site {', '.join(unknown[:3])}, where jobs are submitted; the sites are {', '.join(sites)}")
        return given, []
    share = None if own else np.array(JOB_COEFFICIENTS) / sum(JOB_COEFFICIENTS)
    drawn = [sites[n] for n in rng.choice(len(sites), len(trace), p=share)]
    return drawn, [
        "A job's source is drawn, all sites alike." if own else "A job's source is drawn by Table I's job coefficients."
    ]


def _links(sites: Sequence[Site], scale: float) -> tuple[Link, ...]:
    if scale != 1.0:
        raise OptschedError("--scale is of Table I's sites; your own have the GPUs that they have")
    pairs = [(a.id, b.id) for a in sites for b in sites if a.id != b.id]
    return tuple(Link(from_=a, to=b, throughput_gb_per_s=THROUGHPUT, cost_usd_per_gb=USD_PER_GB) for a, b in pairs)
