"""How far behind its rule a shipped agent ends with its guard, on cases of any size that the generators make.

    python benchmarks/guards_elsewhere.py                       # all four families, twenty minutes on one core
    python benchmarks/guards_elsewhere.py --families geo --cases 60 --first 1000

Sizes, loads and seeds are drawn far beyond what agents are trained, validated and tested on: 40 jobs, or sites of three GPUs,
where a single job is a large share of all. A row an agent: what it saves or earns more than the rule that stands in for it
(FIFO, S0, `priced`, `uncapped`), as a share of the rule's, in the mean and at worst, and how often it is more than 5 % behind.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.instances.generators import andreas, masac, osdec, vcc
from optsched.rl.trained import shipped
from optsched.rolling.loop import replay

SEED = 5000  # of the first case: by no generator's default, and in no split
BEHIND = 0.05
Draw = Callable[[np.random.Generator, int], Instance[Any, Any]]


def deferrable(rng: np.random.Generator, seed: int) -> Instance[Any, Any]:
    """OSDEC's nine cases with 40 to 400 jobs, loads of 0.6 to 2."""
    cores, durations = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    jobs, load = int(rng.choice([40, 80, 200, 400])), float(rng.uniform(0.6, 2.0))
    return osdec(
        cores,
        durations,
        jobs=jobs,
        load=load,
        window=int(rng.choice([6, 24, 60])),
        lead=int(rng.choice([0, 12, 40])),
        seed=seed,
    )


def geo(rng: np.random.Generator, seed: int) -> Instance[Any, Any]:
    """Table I with 100 to 600 jobs, loads of 0.6 to 3, a twenty-fifth to half of its GPUs."""
    jobs, days, load = int(rng.choice([100, 150, 300, 600])), float(rng.choice([1, 2, 3])), float(rng.uniform(0.6, 3))
    return masac(jobs=jobs, days=days, load=load, scale=float(rng.choice([0.04, 0.1, 0.2, 0.5])), seed=seed)


def capped(rng: np.random.Generator, seed: int) -> Instance[Any, Any]:
    """A data centre for 3 to 10 days, loads of 0.3 to 1.1, so far as that many jobs can ask for it."""
    for _ in range(1000):
        days, jobs, load = int(rng.choice([3, 7, 10])), int(rng.choice([200, 1000])), float(rng.uniform(0.3, 1.1))
        try:
            return vcc(days=days, jobs=jobs, load=load, seed=seed)
        except OptschedError:
            continue
    raise AssertionError("no load that so many jobs can ask for")


def allocation(rng: np.random.Generator, seed: int) -> Instance[Any, Any]:
    """ANDREAS's cases with 3 to 10 nodes and 30 to 100 jobs."""
    nodes, jobs, rate = int(rng.choice([3, 5, 10])), int(rng.choice([30, 60, 100])), rng.choice(["high", "mixed"])
    return andreas(int(rng.choice([1, 2])), nodes=nodes, jobs=jobs, rate=rate, seed=seed)


FAMILIES: dict[str, tuple[str, str, Draw, int]] = {  # the rule, the forecast, what draws, how many cases
    "deferrable": ("fifo", "perfect", deferrable, 100),
    "geo": ("local-fcfs", "perfect", geo, 60),
    "allocation": ("priced", "perfect", allocation, 30),
    "vcc": ("uncapped", "fitted", capped, 25),
}


def run(given: tuple[str, int]) -> dict[str, float]:
    """Of each shipped agent: how far it is ahead of the rule."""
    family, number = given
    rule, forecast, draw, _ = FAMILIES[family]
    instance = draw(np.random.default_rng([77, number]), SEED + number)
    least = replay(instance, rule, forecast=forecast).objective
    assert least is not None
    sign = 1 if instance.sense == "maximize" else -1
    found = {}
    for name in shipped(family):
        played = replay(instance, name, forecast=forecast)
        assert played.objective is not None
        found[name] = sign * (played.objective - least) / max(abs(least), 1e-9)
    return found


def main() -> None:
    """Play, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--cases", type=int, help="Of each family. [default: 100, 60, 30, 25]")
    parser.add_argument("--first", type=int, default=0, help="Number of the first case.")
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.workers) as pool:
        for family in asked.families:
            count = FAMILIES[family][3] if asked.cases is None else asked.cases
            rows = list(pool.map(run, [(family, asked.first + i) for i in range(count)]))
            print(f"{family}, {count} cases: ahead of {FAMILIES[family][0]}")
            for name in rows[0]:
                ahead = np.array([row[name] for row in rows])
                mean, worst = (round(100 * float(figure), 2) + 0.0 for figure in (ahead.mean(), ahead.min()))
                told = f"{mean:7.2f} % {worst:7.2f} % at worst"
                print(f"  {name:22} {told}, {int((ahead < -BEHIND).sum())} beyond 5 %", flush=True)


if __name__ == "__main__":
    main()
