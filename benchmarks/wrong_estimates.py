"""Replays where what is told of durations is wrong: `rolling` and rules, each beside the best rule of its instance.

python benchmarks/wrong_estimates.py                          # allocation: 4 nodes, 40 jobs, 6 seeds
python benchmarks/wrong_estimates.py --family geo             # five sites of 12 to 20 GPUs, 200 jobs, a day
python benchmarks/wrong_estimates.py --family deferrable      # three of OSDEC's cases
python benchmarks/wrong_estimates.py --laws noisy:2 asked --seeds 20-29

Laws are those of `--estimates`, and `asked`: a job takes a uniform share of what its user asks for, at least a fiftieth
(A. W. Mu'alem, D. G. Feitelson, IEEE TPDS 12(6), 2001, find real requests to be so).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from arguments import add_seeds

from optsched.instances.base import Instance
from optsched.instances.events import Estimate, Events, laid_over
from optsched.instances.generators import andreas, masac, osdec
from optsched.registry import family as family_of
from optsched.rolling.loop import replay

LEAST = 0.02  # of what is asked


@dataclass(frozen=True)
class Family:
    """What is replayed of a family: cells by name, each made from a seed; rules that believe what they are told."""

    cells: dict[str, Callable[[int], Any]]
    rules: tuple[str, ...]


FAMILIES = {
    "allocation": Family(
        {
            f"4 nodes, case {case}, {rate} load": lambda seed, case=case, rate=rate: andreas(case, 4, rate=rate, seed=seed)
            for case, rate in ((1, "high"), (2, "mixed"))
        },
        ("preemptive-edf", "priced", "wspt", "least-slack"),
    ),
    "geo": Family(
        {f"load {load}": lambda seed, load=load: masac(200, days=1, scale=0.15, load=load, seed=seed) for load in (1.0, 1.3)},
        ("local-fcfs", "price-greedy", "best-on-arrival", "greedy"),
    ),
    "deferrable": Family(
        {f"cores {case}, durations {case}": lambda seed, case=case: osdec(case, case, seed=seed) for case in (1, 2, 3)},
        ("fifo", "sjf", "tetris", "greedy"),
    ),
}


def told(made: Instance, seed: int, law: str) -> Instance:
    """An instance, and what is told of it."""
    if law != "asked":
        return laid_over(made, None, law)
    jobs: Any = made.jobs  # type: ignore[attr-defined]
    share = np.maximum(np.random.default_rng(seed).random(len(jobs)), LEAST)
    asked = (Estimate(job=job.id, multiple=1 / s) for job, s in zip(jobs, share.tolist(), strict=True))
    return laid_over(made, Events(believed=tuple(asked)), None)


def objective(given: tuple[str, str, int, str, str]) -> float:
    """What a policy pays or earns."""
    family, cell, seed, law, policy = given
    instance = told(FAMILIES[family].cells[cell](seed), seed, law)
    found = replay(instance, policy, seed=seed, bound=0.0 if instance.sense == "minimize" else 1e9)
    assert found.objective is not None
    assert found.options["figures"]["fallbacks"] == 0, found.message
    return found.objective


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=FAMILIES, default="allocation")
    parser.add_argument("--laws", nargs="+", default=["noisy:0.3", "noisy:1", "noisy:2", "asked"])
    add_seeds(parser, "0-5")
    given = parser.parse_args()
    family = FAMILIES[given.family]
    with ProcessPoolExecutor(2) as pool:
        for law, cell in product(given.laws, family.cells):
            policies = ("rolling", *family.rules)
            tasks = [(given.family, cell, seed, law, policy) for policy in policies for seed in given.seeds]
            found = np.array(list(pool.map(objective, tasks))).reshape(len(policies), -1)
            pays = family_of(given.family).instance.sense == "minimize"
            ratio = found / (found[1:].min(axis=0) if pays else found[1:].max(axis=0))
            print(f"{law}, {cell}, {len(given.seeds)} seeds: objective; of the best rule", flush=True)
            for policy, values, of_best in zip(policies, found, ratio, strict=True):
                mean = np.exp(np.log(of_best).mean()) if pays else of_best.mean()
                worst = of_best.max() if pays else of_best.min()
                print(f"  {policy:16} {values.mean():10.2f} {mean:8.3f} (at worst {worst:.2f})", flush=True)


if __name__ == "__main__":
    main()
