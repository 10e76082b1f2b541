"""Table I of MASAC online: the share of the clairvoyant bound that each policy earns, on real job shapes, prices and carbon.

    python benchmarks/replay_geo.py                                # load 1.0 and 1.8, 10 seeds, perfect price forecasts
    python benchmarks/replay_geo.py --forecast noisy --loads 1.0   # a relative error of 10 % a day ahead

Arrivals are unknown to every policy; `rolling +history` has seen two other days (seed + 1000), `rolling` only what came so far.
Trained agents play with their guard, `masac bare` without it. Their training has seen none of these jobs, prices and seeds. A
row a policy: 95 % of the mean share, over seeds and, of an agent, its training runs (the shipped one and those of
benchmarks/seeds), the least share, the means of what the paper's Fig. 6 shows, and the mean share of each training run.
"""

from __future__ import annotations

import argparse
import resource
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter

import numpy as np
from arguments import add_seeds, told
from training_seeds import each_mean, runs

from optsched.analysis.statistics import interval
from optsched.files import traces
from optsched.instances.generators import masac
from optsched.instances.geo import GeoInstance
from optsched.registry import family_of
from optsched.result import Result
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings
from optsched.schedules.geo import GeoSchedule
from optsched.schedules.geo import load as in_use

DATA = traces()
TRACE, SIGNALS = DATA / "gpu/alibaba2020_pai_1week_1k.csv", DATA / "grid/masac_five_regions_2022-12-01_06_hourly.csv"
POLICIES = ("local-fcfs", "price-greedy", "carbon-greedy", "best-on-arrival", "rolling", "rolling +history")
LEARNED = ("masac", "masac bare", "madqn", "madqn bare", "geo-imitation", "geo-imitation bare")
FIGURES = ("share", "USD", "GPU-h", "USD/GPU-h", "g/GPU-h", "transfer USD", "overruled", "seconds")


def scenario(load: float, seed: int) -> GeoInstance:
    """About 1,500 jobs of the Alibaba 2020 trace on five sites for two days."""
    return masac(load=load, seed=seed, trace=TRACE, signals=SIGNALS)


def figures(instance: GeoInstance, result: Result, bound: float) -> tuple[float, ...]:
    """`FIGURES` but for the last: as the paper's Fig. 6 has them."""
    assert isinstance(result.schedule, GeoSchedule)
    assert result.objective is not None
    parts, hours = result.components, instance.slot_s / 3600
    gpu_h = float(in_use(instance, result.schedule).sum()) * hours
    energy = gpu_h * instance.gpu_revenue_usd_per_h - parts["profit"] + parts["idle"]
    grams = parts["carbon"] / (instance.carbon_price_usd_per_t * 1e-6)
    moved = parts["migration"] + parts["retrieval"]
    overruled = result.options["figures"]["overruled"]
    return result.objective / bound, result.objective, gpu_h, energy / gpu_h, grams / gpu_h, moved, overruled


def run(given: tuple[float, int, str, tuple[str, ...]]) -> list[tuple[float, ...]]:
    """`FIGURES` of each policy."""
    load, seed, forecast, policies = given
    instance = scenario(load, seed)
    bound = family_of(instance).clairvoyant(instance)
    rows = []
    for name in policies:
        word, history, _ = name.removesuffix(" bare").partition(" +history")
        guard = False if name.endswith(" bare") else None
        settings = Settings(history=scenario(load, seed + 1000) if history else None, guard=guard)
        began = perf_counter()
        result = replay(instance, word, forecast=forecast, settings=settings, bound=bound)
        assert result.options["figures"]["fallbacks"] == 0, result.message
        rows.append((*figures(instance, result, bound), perf_counter() - began))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=float, nargs="+", default=[1.0, 1.8])
    add_seeds(parser, "0-9")
    parser.add_argument("--forecast", default="perfect")
    parser.add_argument("--policies", nargs="+", default=(*POLICIES, *LEARNED))
    given = parser.parse_args()
    rows = {name: runs(name) for name in given.policies}
    played = [each for of_row in rows.values() for each in of_row]
    for load in given.loads:
        tasks = [(load, seed, given.forecast, tuple(played)) for seed in given.seeds]
        with ProcessPoolExecutor(2) as pool:
            done = []
            for seed, row in zip(given.seeds, pool.map(run, tasks), strict=True):
                done.append(row)
                print(f"  seed {seed}: {'  '.join(f'{each[0]:.4f}' for each in row)}", flush=True)
        found = dict(zip(played, np.array(done).swapaxes(0, 1), strict=True))
        print(f"load {load:g}, forecast {given.forecast}, {len(given.seeds)} seeds: share of the clairvoyant bound")
        print(f"  {'95 % of the mean':33} least  {'  '.join(f'{word:>12}' for word in FIGURES)}")
        for name, of_row in rows.items():
            table = np.array([found[each] for each in of_row])  # training runs, seeds, figures
            shares = table[:, :, 0]
            low, high = interval(shares) or (np.nan, np.nan)
            told = "  ".join(f"{value:12.4f}" for value in table.mean(axis=(0, 1)))
            print(f"  {name:18} [{low:.3f}, {high:.3f}] {shares.min():.4f} {told}  {each_mean(shares)}".rstrip(), flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    told(main)
