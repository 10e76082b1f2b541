"""MASAC, Table I: five sites, two days, fine-tuning jobs; synthetic, or from an arrival trace and a table of prices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from optsched.errors import InputError, expect
from optsched.instances.geo import GeoInstance, Job, Link, Site

SITES = ("AU-SA", "AU-WA", "CA-ON", "PL", "SG")
GPUS = (100, 110, 80, 130, 120)
PUE = (1.3, 1.2, 1.1, 1.4, 1.2)
JOB_COEFFICIENTS = (0.01, 0.02, 0.01, 0.025, 0.03)
SLACK = 0.4  # of the duration
# USD/GB by origin: AWS inter-region rates of Sydney (twice), Canada, Frankfurt, Singapore
TRANSFER_USD_PER_GB = (0.098, 0.098, 0.02, 0.02, 0.09)
# synthetic signals: mean and daily amplitude of price (USD/MWh) and carbon (g/kWh), hour of the peak (UTC)
PRICE = ((67, 90, 9), (47, 20, 10), (25, 10, 19), (227, 38, 13), (179, 85, 4))
CARBON = ((102, 70, 12), (360, 110, 12), (42, 20, 22), (942, 60, 2), (492, 6, 6))
# data and model GB of the three kinds of jobs: image, text, and text-to-image generation
KINDS = ((0.5, 0.4), (0.2, 1.5), (1.0, 2.0))
GANGS = (1, 2, 4, 8, 16)
GANG_SHARES = (0.55, 0.2, 0.15, 0.07, 0.03)


def masac(
    jobs: int = 1500,
    days: float = 2,
    load: float = 1.0,
    seed: int = 0,
    gpu_power_kw: float = 0.07,
    throughput_gb_per_s: float = 0.02,
    network_kwh_per_gb: float = 0.06,
    transfer_usd_per_gb: float | None = None,
    scale: float = 1.0,
    trace: str | Path | None = None,
    signals: str | Path | None = None,
) -> GeoInstance:
    """The scenario of Table I.

    Parameters
    ----------
    load : GPU-minutes asked for over GPU-minutes there are; durations are scaled to it.
    scale : of the sites' GPUs. transfer_usd_per_gb : for all links instead of the AWS rates by origin.
    trace : CSV with columns arrival_time (s), length (s) and cpus (read as GPUs); else log-normal lengths, gangs of 1-16
        GPUs and a daily cycle of arrivals. signals : CSV with datetime_utc, region, price_usd_per_mwh and
        carbon_gco2_per_kwh for the five regions; else a daily wave with noise.

    Raises
    ------
    OptschedError : parameters out of range. InputError : a file that lacks what is needed.
    """
    expect(1, 10**6, jobs=jobs)
    expect(1 / 1440, 3650, days=days)
    expect(1e-9, 1e6, load=load, scale=scale)
    expect(0, 1e6, gpu_power_kw=gpu_power_kw, network_kwh_per_gb=network_kwh_per_gb, transfer_usd_per_gb=transfer_usd_per_gb)
    expect(1e-9, 1e6, throughput_gb_per_s=throughput_gb_per_s)
    rng = np.random.default_rng(seed)
    horizon = round(days * 1440)
    gpus = [max(1, round(g * scale)) for g in GPUS]
    submitted, minutes, gangs = _synthetic_jobs(rng, jobs, horizon) if trace is None else _traced(rng, jobs, horizon, trace)
    gangs = np.minimum(gangs, min(gpus))
    duration = _scaled(minutes, gangs, load * sum(gpus) * horizon, horizon)
    share = np.array(JOB_COEFFICIENTS) / sum(JOB_COEFFICIENTS)
    source = rng.choice(5, jobs, p=share)
    sizes = np.array(KINDS)[rng.integers(0, 3, jobs)] * rng.lognormal(0, 0.3, (jobs, 2))
    hours = -(-horizon // 60)
    price, carbon = _synthetic_signals(rng, hours) if signals is None else _read_signals(signals, hours)
    rates = TRANSFER_USD_PER_GB if transfer_usd_per_gb is None else (transfer_usd_per_gb,) * 5
    order = np.argsort(submitted, kind="stable").tolist()
    return GeoInstance(
        name=f"masac-J{jobs}-load{load:g}-s{seed}",
        meta={
            "generator": "masac",
            "load": load,
            "seed": seed,
            "real_jobs": trace is not None,
            "real_signals": signals is not None,
        },
        slot_s=60.0,
        horizon=horizon,
        signal_slot_s=3600.0,
        gpu_revenue_usd_per_h=0.05,
        gpu_power_kw=gpu_power_kw,
        idle_power_ratio=0.1,
        carbon_price_usd_per_t=100.0,
        network_kwh_per_gb=network_kwh_per_gb,
        sites=tuple(
            Site(
                id=SITES[n],
                gpus=gpus[n],
                pue=PUE[n],
                price_usd_per_mwh=tuple(price[n].round(3).tolist()),
                carbon_g_per_kwh=tuple(carbon[n].round(2).tolist()),
            )
            for n in range(5)
        ),
        links=tuple(
            Link(from_=SITES[a], to=SITES[b], throughput_gb_per_s=throughput_gb_per_s, cost_usd_per_gb=rates[a])
            for a in range(5)
            for b in range(5)
            if a != b
        ),
        jobs=tuple(
            Job(
                id=f"j{i}",
                source=SITES[source[j]],
                submitted=int(submitted[j]),
                gpus=int(gangs[j]),
                duration=int(duration[j]),
                slack=int(SLACK * duration[j]),
                data_gb=round(float(sizes[j, 0]), 3),
                model_gb=round(float(sizes[j, 1]), 3),
            )
            for i, j in enumerate(order)
        ),
    )


def _synthetic_jobs(rng: np.random.Generator, jobs: int, horizon: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    minute = np.arange(horizon)
    daily = 1 + 0.5 * np.sin(2 * np.pi * (minute / 1440 - 0.25))
    submitted = rng.choice(minute, jobs, p=daily / daily.sum())
    return submitted, rng.lognormal(3.9, 1.3, jobs), rng.choice(GANGS, jobs, p=GANG_SHARES)


def _traced(rng: np.random.Generator, jobs: int, horizon: int, trace: str | Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shapes of randomly drawn rows; arrivals keep the trace's time of day."""
    table = _csv(trace, ("arrival_time", "length", "cpus"))
    rows = table.iloc[rng.choice(len(table), jobs, replace=len(table) < jobs)]
    start = rng.integers(0, 7) * 1440
    minute = (rows["arrival_time"].to_numpy() / 60 - start) % horizon
    return minute.astype(np.int64), rows["length"].to_numpy() / 60, rows["cpus"].to_numpy().astype(np.int64)


def _scaled(minutes: np.ndarray, gangs: np.ndarray, work: float, horizon: int) -> np.ndarray:
    """Durations in slots with about `work` GPU-slots in all, none longer than half the horizon."""
    longest = max(1, horizon // 2)
    low, high = 0.0, work / max(1e-9, float((minutes * gangs).min()))
    for _ in range(100):
        factor = (low + high) / 2
        asked = float(gangs @ np.clip(np.round(minutes * factor), 1, longest))
        low, high = (factor, high) if asked < work else (low, factor)
    return np.clip(np.round(minutes * high), 1, longest).astype(np.int64)


def _synthetic_signals(rng: np.random.Generator, hours: int) -> tuple[np.ndarray, np.ndarray]:
    hour = np.arange(hours)

    def waves(shapes: tuple[tuple[int, int, int], ...], noise: float) -> np.ndarray:
        rows = [
            mean + swing * np.cos(2 * np.pi * (hour - peak) / 24) + rng.normal(0, noise * (mean + swing), hours)
            for mean, swing, peak in shapes
        ]
        return np.array(rows)

    return waves(PRICE, 0.1), np.maximum(waves(CARBON, 0.05), 1.0)


def _read_signals(path: str | Path, hours: int) -> tuple[np.ndarray, np.ndarray]:
    table = _csv(path, ("datetime_utc", "region", "price_usd_per_mwh", "carbon_gco2_per_kwh"))
    found = []
    for column in ("price_usd_per_mwh", "carbon_gco2_per_kwh"):
        wide = table.pivot_table(index="datetime_utc", columns="region", values=column)
        missing = [site for site in SITES if site not in wide]
        if missing:
            raise InputError(path, "region", f"lacks {', '.join(missing)}")
        if len(wide) < hours:
            raise InputError(path, column, f"has {len(wide)} hours, {hours} are needed")
        found.append(wide.sort_index()[list(SITES)].to_numpy()[:hours].T)
    return found[0], found[1]


def _csv(path: str | Path, columns: tuple[str, ...]) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        raise InputError(path, "", "no such file") from None
    except (ValueError, OSError) as error:
        raise InputError(path, "", f"not a readable CSV table ({error})") from None
    for column in columns:
        if column not in table:
            raise InputError(path, column, f"no such column, the table has {', '.join(map(str, table.columns))}")
        if column in ("datetime_utc", "region"):
            continue
        values = pd.to_numeric(table[column], errors="coerce").to_numpy(dtype=float)
        least = np.nextafter(0, 1) if column in ("length", "cpus") else -np.inf
        bad = np.flatnonzero(~np.isfinite(values) | (values < least))
        if len(bad):
            wanted = "a positive number" if least > 0 else "a number"
            raise InputError(path, f"line {bad[0] + 2}, {column}", f"is {table[column].iloc[bad[0]]!r}, expected {wanted}")
    return table
