"""Proven gaps of the default method on small clusters, where single jobs are large beside the capacity.

    python benchmarks/small_clusters.py                            # twelve instances, ten seconds each
    python benchmarks/small_clusters.py --seeds 60-65 --seconds 20 --families geo
    python benchmarks/small_clusters.py --method decomposition --threads 1

geo: two to four sites of 4, 8 or 16 GPUs, gangs of 1 to 8 for a quarter of an hour to four hours, a load of about 0.9.
deferrable: a cluster of 8 to 32 cores, part of which is taken anew every hour, jobs of 1 to 16 cores, a load of 1.1. gangs:
eight or twelve sites of 8, 16 or 32 GPUs, jobs of any size up to a whole site, a load of 1.5. A row an instance; on all cores
unless `--threads` says how many, so one at a time; then mean and worst of those that have a gap.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from arguments import add_seeds

import optsched
from optsched.decomposition.method import Decomposition
from optsched.instances import Instance
from optsched.instances import deferrable as deferrables
from optsched.instances import geo as geos
from optsched.stop import Stop

SLOT_S = 300.0


def geo(seed: int) -> geos.GeoInstance:
    """Few sites with prices of their own, and gangs that take half of one."""
    rng, horizon = np.random.default_rng(seed), (144, 288)[seed % 2]
    hours = horizon // 12 + 2
    sites = [
        geos.Site(
            id=f"s{k}",
            gpus=int(rng.choice([4, 8, 16])),
            pue=1.2,
            price_usd_per_mwh=tuple(np.maximum(-20.0, rng.normal(80, 40, hours)).tolist()),
            carbon_g_per_kwh=tuple(rng.uniform(50, 700, hours).tolist()),
        )
        for k in range(2 + seed % 3)
    ]
    links = [
        geos.Link(**{"from": a.id, "to": b.id, "throughput_gb_per_s": 0.02, "cost_usd_per_gb": 0.02})
        for a in sites
        for b in sites
        if a is not b
    ]
    jobs, asked = list[geos.Job](), 0.9 * sum(site.gpus for site in sites) * horizon
    while asked > 0:
        gpus, duration = int(rng.choice([1, 1, 2, 4, 8])), int(rng.choice([3, 6, 12, 24, 48]))
        jobs.append(
            geos.Job(
                id=f"j{len(jobs)}",
                source=sites[int(rng.integers(len(sites)))].id,
                submitted=int(rng.integers(horizon - duration // 2 - 12)),
                gpus=gpus,
                duration=duration,
                slack=max(2, int(duration * rng.choice([0.4, 1.0]))),
                data_gb=float(rng.uniform(0, 3)),
                model_gb=float(rng.uniform(0, 1)),
            )
        )
        asked -= gpus * duration
    return geos.GeoInstance(
        name=f"small-geo-s{seed}",
        slot_s=SLOT_S,
        horizon=horizon,
        signal_slot_s=3600.0,
        gpu_revenue_usd_per_h=0.05,
        gpu_power_kw=(0.07, 0.25)[seed % 2],
        idle_power_ratio=0.1,
        carbon_price_usd_per_t=100.0,
        network_kwh_per_gb=0.06,
        sites=tuple(sites),
        links=tuple(links),
        jobs=tuple(jobs),
    )


def deferrable(seed: int) -> deferrables.DeferrableInstance:
    """Jobs of a few sizes and lengths that want a tenth more than there is."""
    rng, cores, slots = np.random.default_rng(seed), (8, 16, 32)[seed % 3], (96, 144, 288)[seed // 3 % 3]
    taken = rng.choice([0, 0, 2, 4, cores // 2], slots // 12)
    capacity = np.repeat(cores - taken, 12)
    jobs, asked = list[deferrables.Job](), 1.1 * float(capacity.sum())
    while asked > 0:
        size, duration = int(rng.choice([1, 2, 3, 4, 6, 8, 12, 16])), int(rng.choice([1, 2, 4, 8, 16, 30]))
        earliest = int(rng.integers(slots - duration))
        latest = earliest + int(rng.choice([0, 4, 12, 36]))
        window = {"earliest": earliest, "latest": latest, "submitted": earliest}
        jobs.append(deferrables.Job(id=f"j{len(jobs)}", cores=float(min(size, cores)), duration=duration, **window))
        asked -= size * duration
    return deferrables.DeferrableInstance(
        name=f"small-deferrable-s{seed}",
        slot_s=SLOT_S,
        capacity=tuple(capacity.astype(float).tolist()),
        delay_penalty=0.1,
        overload_penalty=10.0,
        jobs=tuple(jobs),
    )


def gangs(seed: int) -> geos.GeoInstance:
    """Sites that hold one to three jobs at a time, which cannot move."""
    rng, count, gpus = np.random.default_rng(seed), (8, 12)[seed % 2], (8, 16, 32)[seed // 2 % 3]
    horizon, hours = 192, 48
    sites = [
        geos.Site(
            id=f"s{k}",
            gpus=gpus,
            pue=1.2,
            price_usd_per_mwh=tuple(rng.uniform(10, 100, hours).tolist()),
            carbon_g_per_kwh=tuple(rng.uniform(50, 700, hours).tolist()),
        )
        for k in range(count)
    ]
    jobs, asked = list[geos.Job](), 1.5 * count * gpus * horizon
    while asked > 0:
        size, duration = int(rng.integers(1, gpus + 1)), int(rng.integers(1, 25))
        jobs.append(
            geos.Job(
                id=f"j{len(jobs)}",
                source=sites[int(rng.integers(count))].id,
                submitted=int(rng.integers(horizon - duration + 1)),
                gpus=size,
                duration=duration,
                slack=int(rng.integers(horizon // 4)),
                data_gb=0.0,
                model_gb=0.0,
            )
        )
        asked -= size * duration
    return geos.GeoInstance(
        name=f"small-gangs-s{seed}",
        slot_s=900.0,
        horizon=horizon,
        signal_slot_s=3600.0,
        gpu_revenue_usd_per_h=0.05,
        gpu_power_kw=0.07,
        idle_power_ratio=0.1,
        carbon_price_usd_per_t=100.0,
        network_kwh_per_gb=0.06,
        sites=tuple(sites),
        links=(),
        jobs=tuple(jobs),
    )


MAKERS: dict[str, Callable[[int], Instance]] = {"geo": geo, "deferrable": deferrable, "gangs": gangs}


def main() -> None:
    """A row an instance, then mean and worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", choices=list(MAKERS), default=["geo", "deferrable"])
    add_seeds(parser, "0-5")
    parser.add_argument("--seconds", type=float, default=10.0, help="A run.")
    parser.add_argument("--method", choices=["auto", "decomposition"], default="auto")
    parser.add_argument("--threads", type=int, default=0, help="Of the decomposition; 0: all cores.")
    asked = parser.parse_args()
    method = Decomposition(threads=asked.threads) if asked.method == "decomposition" else asked.method
    gaps = list[float]()
    for family in asked.families:
        for seed in asked.seeds:
            instance = MAKERS[family](seed)
            result = optsched.solve(instance, method, stop=Stop(seconds=asked.seconds))
            row = f"{instance.name:22} {instance.job_count:5} jobs {result.objective:14.6g}"
            if result.gap is None:
                print(f"{row}: no bound in that time", flush=True)
                continue
            gaps.append(result.gap)
            print(f"{row} {result.bound:14.6g} {result.gap:8.2%} {result.termination}", flush=True)
    if gaps:
        print(f"{len(gaps)} instances, {asked.seconds:g} s: mean {sum(gaps) / len(gaps):.2%}, worst {max(gaps):.2%}")


if __name__ == "__main__":
    main()
