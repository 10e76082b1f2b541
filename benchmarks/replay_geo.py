"""Table I of MASAC online: the share of the clairvoyant bound that each policy earns, on real job shapes, prices and carbon.

    python benchmarks/replay_geo.py                                # load 1.0 and 1.8, 10 seeds, perfect price forecasts
    python benchmarks/replay_geo.py --forecast noisy --loads 1.0   # a relative error of 10 % a day ahead

Arrivals are unknown to every policy; `rolling +history` has seen two other days (seed + 1000), `rolling` only what came so far.
"""

from __future__ import annotations

import argparse
import os
import resource
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np

from optsched.instances.generators import masac
from optsched.instances.geo import GeoInstance
from optsched.registry import family_of
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings

DATA = Path(os.environ.get("OPTSCHED_DATA", Path(__file__).parents[2] / "shared" / "data"))
TRACE, SIGNALS = DATA / "gpu/alibaba2020_pai_1week_1k.csv", DATA / "grid/masac_five_regions_2022-12-01_06_hourly.csv"
POLICIES = ("local-fcfs", "price-greedy", "carbon-greedy", "best-on-arrival", "rolling", "rolling +history")


def scenario(load: float, seed: int) -> GeoInstance:
    """About 1,500 jobs of the Alibaba 2020 trace on five sites for two days."""
    return masac(load=load, seed=seed, trace=TRACE, signals=SIGNALS)


def run(given: tuple[float, int, str, tuple[str, ...]]) -> list[tuple[float, float]]:
    """Share of the bound and seconds of each policy."""
    load, seed, forecast, policies = given
    instance = scenario(load, seed)
    bound = family_of(instance).clairvoyant(instance)
    rows = []
    for name in policies:
        word, history, _ = name.partition(" +history")
        settings = Settings(history=scenario(load, seed + 1000) if history else None)
        began = perf_counter()
        result = replay(instance, word, forecast=forecast, settings=settings, bound=bound)
        assert result.options["figures"]["fallbacks"] == 0, result.message
        assert result.objective is not None
        rows.append((result.objective / bound, perf_counter() - began))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=float, nargs="+", default=[1.0, 1.8])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--forecast", default="perfect")
    parser.add_argument("--policies", nargs="+", default=POLICIES)
    given = parser.parse_args()
    for load in given.loads:
        tasks = [(load, seed, given.forecast, tuple(given.policies)) for seed in range(given.seeds)]
        with ProcessPoolExecutor(2) as pool:
            found = []
            for row in pool.map(run, tasks):
                found.append(row)
                print(f"  seed {len(found) - 1}: {'  '.join(f'{share:.4f}' for share, _ in row)}", flush=True)
        rows = np.array(found)
        print(f"load {load:g}, forecast {given.forecast}, {given.seeds} seeds: share of the clairvoyant bound")
        for name, share, seconds in zip(given.policies, rows[:, :, 0].T, rows[:, :, 1].T, strict=True):
            print(f"  {name:18} mean {share.mean():.4f}  least {share.min():.4f}  {seconds.mean():6.1f} s a replay", flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
