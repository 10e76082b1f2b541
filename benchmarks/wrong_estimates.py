"""Allocation online where what is told of durations is wrong: `rolling` and rules, as multiples of the best rule of each queue.

python benchmarks/wrong_estimates.py                          # 4 nodes, 40 jobs, 6 seeds
python benchmarks/wrong_estimates.py --laws noisy:2 asked --seeds 20-29

Laws are those of `--estimates`, and `asked`: a job takes a uniform share of what its user asks for, at least a fiftieth
(A. W. Mu'alem, D. G. Feitelson, IEEE TPDS 12(6), 2001, find real requests to be so).
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
from arguments import add_seeds

from optsched.instances.allocation import AllocationInstance
from optsched.instances.events import Estimate, Events, laid_over
from optsched.instances.generators import andreas
from optsched.rolling.loop import replay

CELLS = ((1, "high"), (2, "mixed"))
RULES = ("preemptive-edf", "priced", "wspt", "least-slack")
LEAST = 0.02  # of what is asked


def told(case: int, rate: str, nodes: int, seed: int, law: str) -> AllocationInstance:
    """A queue, and what is told of it."""
    made = andreas(case, nodes, rate=rate, seed=seed)  # type: ignore[arg-type]
    if law != "asked":
        return laid_over(made, None, law)
    share = np.maximum(np.random.default_rng(seed).random(len(made.jobs)), LEAST)
    asked = (Estimate(job=job.id, multiple=1 / s) for job, s in zip(made.jobs, share.tolist(), strict=True))
    return laid_over(made, Events(believed=tuple(asked)), None)


def cost(given: tuple[int, str, int, int, str, str]) -> float:
    """What a policy pays, EUR."""
    case, rate, nodes, seed, law, policy = given
    found = replay(told(case, rate, nodes, seed, law), policy, seed=seed, bound=0.0)
    assert found.objective is not None
    return found.objective


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--laws", nargs="+", default=["noisy:0.3", "noisy:1", "noisy:2", "asked"])
    parser.add_argument("--nodes", type=int, default=4)
    add_seeds(parser, "0-5")
    given = parser.parse_args()
    with ProcessPoolExecutor(2) as pool:
        for law, (case, rate) in product(given.laws, CELLS):
            policies = ("rolling", *RULES)
            tasks = [(case, rate, given.nodes, seed, law, policy) for policy in policies for seed in given.seeds]
            paid = np.array(list(pool.map(cost, tasks))).reshape(len(policies), -1)
            of_best = paid / paid[1:].min(axis=0)
            print(
                f"{law}, case {case}, {rate} load, {given.nodes} nodes, {len(given.seeds)} seeds: EUR; of the best rule",
                flush=True,
            )
            for policy, costs, ratio in zip(policies, paid, of_best, strict=True):
                mean = f"{np.exp(np.log(ratio).mean()):8.2f} (at worst {ratio.max():.2f})"
                print(f"  {policy:16} {costs.mean():10.2f} {mean}", flush=True)


if __name__ == "__main__":
    main()
