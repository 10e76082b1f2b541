"""A geo instance of many sites: Table I's five, again and again, their prices and carbon some hours later each time.

python benchmarks/wide_geo.py -o wide.json.gz                       # 100,000 jobs, 20 sites, a week
python benchmarks/wide_geo.py --jobs 20000 --sites 10 -o wide.json.gz
python benchmarks/wide_geo.py --trace alibaba2020_pai_1week_1k.csv -o wide.json.gz   # lengths and GPUs of a real trace
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from arguments import told

import optsched
from optsched.instances.geo import GeoInstance, Link, Site

LATER_H = 5  # between one copy of the five and the next


def wide(jobs: int, sites: int, days: float, seed: int, trace: Path | None = None) -> GeoInstance:
    """Jobs of `generate masac`, each submitted at one of the copies of its site, at load 1; all sites are linked."""
    made = optsched.generate("masac", jobs=jobs, days=days, seed=seed, load=sites / 5, trace=trace)
    assert isinstance(made, GeoInstance)
    rng = np.random.default_rng(seed)
    five, copies = made.sites, -(-sites // 5)
    named = [(site, copy, f"{site.id}-{copy}") for copy in range(copies) for site in five][:sites]
    hosts = tuple(
        site.model_copy(
            update={
                "id": name,
                "price_usd_per_mwh": tuple(np.roll(site.price_usd_per_mwh, LATER_H * copy).tolist()),
                "carbon_g_per_kwh": tuple(np.roll(site.carbon_g_per_kwh, LATER_H * copy).tolist()),
            }
        )
        for site, copy, name in named
    )
    of = {site.id: [name for own, _, name in named if own.id == site.id] for site in five}
    first = made.links[0]
    links = (first.model_copy(update={"from_": a.id, "to": b.id}) for a in hosts for b in hosts if a.id != b.id)
    spread = tuple(
        job.model_copy(update={"source": of[job.source][int(rng.integers(len(of[job.source])))]}) for job in made.jobs
    )
    return GeoInstance.from_dict(
        made.to_json()
        | {"name": f"wide{'' if trace is None else '-real'}-J{jobs}-P{sites}-s{seed}", "meta": {}}
        | {"sites": [Site.model_dump(s) for s in hosts], "links": [Link.model_dump(k, by_alias=True) for k in links]}
        | {"jobs": [job.model_dump(exclude_defaults=True) for job in spread]}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trace", type=Path, help="As `generate masac --trace`.")
    parser.add_argument("-o", "--output", required=True)
    given = parser.parse_args()
    made = wide(given.jobs, given.sites, given.days, given.seed, given.trace)
    made.save(given.output)
    print(f"{given.output}: {made.summary()}")


if __name__ == "__main__":
    told(main)
