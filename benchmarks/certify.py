"""Proven gaps on instances that are lumpy or crowded: mean and worst over ten seeds that nobody chose.

    python benchmarks/certify.py                                  # geo: the generator's defaults, and lumpy jobs at two loads
    python benchmarks/certify.py --cases vcc-0.9 vcc-may-10       # vcc where the capacity binds
    python benchmarks/certify.py --cases masac --seeds 0-2 --seconds 600

masac: `optsched generate masac`. real-LOAD: jobs, prices and carbon of traces. lumpy-LOAD: GPUs and hours of jobs drawn from
the 100,000 of Alibaba's PAI trace (0.1 to 20 h, 1 to 16 GPUs) on the same sites, arrivals Beta(1.1, 1.3) over the two days,
slack U(0.2, 0.6) of the duration, prices and carbon of five regions, other ones with every seed, from an hour of 2022 that
the seed draws. vcc-LOAD: `optsched generate vcc --days 7 --load LOAD`. vcc-may-SCALE: the jobs of May 2019 with their NCU
scaled, one instance. A row an instance; `decomposition` on all cores, or with --workers so many seeds at once, a core each.
Traces: $OPTSCHED_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
from arguments import add_seeds, told
from replay_geo import scenario

import optsched
from optsched.files import traces
from optsched.instances import Instance
from optsched.instances.generators import masac, vcc
from optsched.instances.geo import GeoInstance, Job, Link, Site
from optsched.instances.readers import read_google2019
from optsched.stop import Stop

SHAPES, PRICES = "gpu/alibaba2020_pai_100k.csv.gz", "grid/price_usd_per_mwh_2022_hourly_10zones.csv"
CARBON = "grid/ci_lca_gco2_per_kwh_2022_hourly_16zones.csv"


def lumpy(load: float, seed: int) -> GeoInstance:
    """Real shapes of jobs that are long beside the horizon, on Table I's sites."""
    rng, like = np.random.default_rng(seed), masac(jobs=1, seed=seed)
    shapes = pd.read_csv(traces() / SHAPES).query("0.1 <= length <= 20 and cpus <= 16")  # hours
    sites = _other_regions(rng, like)
    asked, jobs = load * float(like.capacity.sum()), list[Job]()
    while asked > 0:
        row = shapes.iloc[int(rng.integers(len(shapes)))]
        duration = round(60 * float(row["length"]))
        jobs.append(
            Job(
                id=f"j{len(jobs)}",
                source=sites[int(rng.integers(len(sites)))].id,
                submitted=int(rng.beta(1.1, 1.3) * like.horizon),
                gpus=int(row["cpus"]),
                duration=duration,
                slack=round(float(rng.uniform(0.2, 0.6)) * duration),
                data_gb=round(float(rng.uniform(0.1, 2.0)), 3),
                model_gb=round(float(rng.uniform(0.2, 3.0)), 3),
            )
        )
        asked -= jobs[-1].gpus * duration
    names = {old.id: new.id for old, new in zip(like.sites, sites, strict=True)}
    links = tuple(Link(**{**link.model_dump(), "from_": names[link.from_], "to": names[link.to]}) for link in like.links)
    return like.model_copy(
        update={
            "name": f"lumpy-load{load:g}-s{seed}",
            "sites": sites,
            "links": links,
            "jobs": tuple(sorted(jobs, key=lambda job: job.submitted)),
        }
    )


def _other_regions(rng: np.random.Generator, like: GeoInstance) -> tuple[Site, ...]:
    """The sites, with prices and carbon of regions that have both, from some hour on."""
    price, carbon = (pd.read_csv(traces() / name, index_col=0) for name in (PRICES, CARBON))
    both = price.index.intersection(carbon.index)
    hours = -(-like.horizon // 60)
    regions = rng.choice(sorted(set(price) & set(carbon)), len(like.sites), replace=False).tolist()
    first = int(rng.integers(len(both) - hours))
    rows = both[first : first + hours]
    return tuple(
        site.model_copy(
            update={
                "id": region,
                "price_usd_per_mwh": tuple(price.loc[rows, region].tolist()),
                "carbon_g_per_kwh": tuple(carbon.loc[rows, region].tolist()),
            }
        )
        for site, region in zip(like.sites, regions, strict=True)
    )


CASES: dict[str, Callable[[int], Instance]] = {
    "masac": lambda seed: masac(seed=seed),
    "masac-1.8": lambda seed: masac(load=1.8, seed=seed),
    "real-1.0": lambda seed: scenario(1.0, seed),
    "real-1.8": lambda seed: scenario(1.8, seed),
    "lumpy-1.0": lambda seed: lumpy(1.0, seed),
    "lumpy-1.8": lambda seed: lumpy(1.8, seed),
    "vcc-0.7": lambda seed: vcc(days=7, load=0.7, seed=seed),
    "vcc-0.9": lambda seed: vcc(days=7, load=0.9, seed=seed),
    "vcc-1.2": lambda seed: vcc(days=7, load=1.2, seed=seed),
    "vcc-may-1": lambda seed: read_google2019(traces() / "google2019"),
    "vcc-may-10": lambda seed: read_google2019(traces() / "google2019", scale=10.0),
}


def solve(asked: tuple[str, int, float]) -> tuple[str, float, float, float]:
    """Name, objective, bound and gap of an instance."""
    case, seed, seconds = asked
    instance = CASES[case](seed)
    result = optsched.solve(instance, method="decomposition", stop=Stop(seconds=seconds))
    assert result.objective is not None
    assert result.bound is not None
    assert result.gap is not None
    return instance.name, result.objective, result.bound, result.gap


def main() -> None:
    """A line an instance, then mean and worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=["masac", "lumpy-1.0", "lumpy-1.8"])
    add_seeds(parser, "0-9")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=1, help="Instances at once, a core each; 1: all cores for one.")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers) as pool:  # begins no process before it is asked
        each = map if given.workers == 1 else pool.map
        for case in given.cases:
            seeds = [0] if "may" in case else given.seeds
            gaps = []
            for name, objective, bound, gap in each(solve, [(case, seed, given.seconds) for seed in seeds]):
                print(f"{name:28} objective {objective:10.3f}  bound {bound:10.3f}  gap {gap:7.3%}", flush=True)
                gaps.append(gap)
            print(f"{case}: gap {np.mean(gaps):.2%} in the mean, {max(gaps):.2%} at worst, {len(gaps)} instances", flush=True)


if __name__ == "__main__":
    told(main)
