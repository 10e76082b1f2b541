"""A trace as a geo instance: the five sites of MASAC's Table I under real prices and carbon intensities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.generators.masac import JOB_COEFFICIENTS, KINDS, SITES, SLACK
from optsched.instances.generators.masac import masac as table_i
from optsched.instances.geo import GeoInstance, Job
from optsched.instances.readers.signals import FIELDS, Signals, placed, rebuilt
from optsched.instances.readers.trace import Trace

SLOT_S = 60.0
ASSUMED = (
    "Sites, links and prices of a transfer are those of MASAC's Table I; a job's source is drawn by its job coefficients, its "
    "data and model GB as MASAC draws them.",
    "Slots are 60 s: durations are rounded up, submissions up to the next slot's beginning; the slack is 40 % of a duration.",
)


def to_geo(
    trace: Trace,
    signals: Signals,
    *,
    hours: float | None = None,
    scale: float = 1.0,
    zones: Mapping[str, str] | None = None,
    start: str | None = None,
    gpu_power_kw: float = 0.07,
    seed: int = 0,
) -> GeoInstance:
    """The trace's jobs over `hours` (by default until the last job must have ended); `scale` is of the sites' GPUs."""
    if set(signals.tables) != set(FIELDS):
        raise OptschedError(f"geo needs price and carbon, the signals give only {', '.join(signals.tables)}")
    submitted = np.ceil(trace.submitted_s / SLOT_S - 1e-9)
    duration = np.maximum(1, np.ceil(trace.duration_s / SLOT_S - 1e-9))
    slack = np.floor(SLACK * duration)
    horizon = int(np.ceil(hours * 60 - 1e-9) if hours is not None else (submitted + duration + slack).max())
    base = table_i(jobs=1, days=horizon / 1440, scale=scale, seed=seed, gpu_power_kw=gpu_power_kw)
    sites, said = placed(base.sites, signals, -(-horizon // 60), zones, start)
    fits = (submitted + duration <= horizon) & (trace.units <= int(base.capacity.max()))
    if not fits.any():
        raise OptschedError(f"no job fits into {horizon} slots of {SLOT_S:g} s and the sites' GPUs")
    rng = np.random.default_rng(seed)
    kept = trace.where(fits, "{} jobs that are wider than every site or could not end within the horizon are left out.")
    source = rng.choice(len(SITES), len(kept), p=np.array(JOB_COEFFICIENTS) / sum(JOB_COEFFICIENTS))
    sizes = np.array(KINDS)[rng.integers(0, len(KINDS), len(kept))] * rng.lognormal(0, 0.3, (len(kept), 2))
    whole = [column.astype(int).tolist() for column in (submitted[fits], kept.units, duration[fits], slack[fits])]
    jobs = tuple(
        Job(id=i, source=SITES[n], submitted=s, gpus=g, duration=d, slack=room, data_gb=data, model_gb=model)
        for i, n, s, g, d, room, (data, model) in zip(kept.ids, source, *whole, sizes.round(3).tolist(), strict=True)
    )
    kept = replace(kept, skipped=kept.skipped + signals.skipped)
    meta = kept.meta([*ASSUMED, said]) | {"seed": seed}
    return rebuilt(base, name=f"{kept.name()}-s{seed}", meta=meta, sites=sites, jobs=jobs)
