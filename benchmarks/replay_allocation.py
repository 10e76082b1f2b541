"""ANDREAS online: realised energy, tardiness and total of every policy, cases 1 and 2, high and mixed load.

python benchmarks/replay_allocation.py                       # 10 nodes, 100 jobs, 10 seeds
python benchmarks/replay_allocation.py --nodes 100 --seeds 0
python benchmarks/replay_allocation.py --policies rolling --offline 150   # and what could be had, knowing everything
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
from arguments import add_seeds

from optsched.decomposition.allocation import clairvoyant
from optsched.instances.generators import andreas
from optsched.referee import evaluate
from optsched.rolling.allocation.offline import offline_plan
from optsched.rolling.loop import replay

POLICIES = (
    "fifo", "edf", "ps", "preemptive-edf", "least-slack", "wspt", "greedy", "randomized-greedy", "priced",
    "rolling:exact", "rolling:look-ahead", "rolling:progress", "rolling",
)  # fmt: skip

FIRST_PRINCIPLES = ("fifo", "edf", "ps")  # the paper's word


def floor(given: tuple[int, str, int, int]) -> float:
    """What nobody can undercut."""
    case, rate, nodes, seed = given
    return clairvoyant(andreas(case, nodes, rate=rate, seed=seed))  # type: ignore[arg-type]


def planned(given: tuple[int, str, int, int, int]) -> float:
    """What a plan costs of whoever knows everything."""
    case, rate, nodes, seed, generations = given
    instance = andreas(case, nodes, rate=rate, seed=seed)  # type: ignore[arg-type]
    return evaluate(instance, offline_plan(instance, generations, seed)).objective


def run(given: tuple[int, str, int, int, str, float]) -> tuple[float, float, float, float]:
    """Energy, tardiness, total, and the median seconds of a decision."""
    case, rate, nodes, seed, policy, bound = given
    instance = andreas(case, nodes, rate=rate, seed=seed)  # type: ignore[arg-type]
    result = replay(instance, policy, seed=seed, bound=bound)
    figures = result.options["figures"]
    assert figures["fallbacks"] == 0, result.message
    assert result.objective is not None
    return result.components["energy"], result.components["tardiness"], result.objective, figures["decision_s_median"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10)
    add_seeds(parser, "0-9")
    parser.add_argument("--cases", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--policies", nargs="+", default=POLICIES)
    parser.add_argument("--offline", type=int, default=0, metavar="GENERATIONS", help="of the offline plan; 0: none")
    given = parser.parse_args()
    for case, rate in product(given.cases, ("high", "mixed")):
        cell = [(case, rate, given.nodes, seed) for seed in given.seeds]
        with ProcessPoolExecutor(2) as pool:
            floors = list(pool.map(floor, cell))
            tasks = [(*one, policy, bound) for policy in given.policies for one, bound in zip(cell, floors, strict=True)]
            plans = np.array(list(pool.map(planned, [(*one, given.offline) for one in cell])) if given.offline else [])
            rows = np.array(list(pool.map(run, tasks))).reshape(len(given.policies), len(given.seeds), 4)
        best = rows[:, :, 2].min(axis=0)
        print(
            f"case {case}, {rate} load, {given.nodes} nodes, {len(given.seeds)} seeds: mean EUR (energy, tardiness, total); "
            "total as a multiple of the best policy's of each instance (geometric mean, worst), instances within 10 % of it",
            flush=True,
        )
        share = np.array(floors) / best
        told = f"{'nobody is below':42} {np.mean(floors):10.2f}   {np.exp(np.log(share).mean()):8.3f} {share.min():8.2f}"
        print(f"  {told}", flush=True)
        if len(plans):
            assert (plans >= np.array(floors)).all()
            share, lost = np.array(floors) / plans, best / plans
            told = f"the floor is {share.mean():.3f} of it in the mean, {share.min():.2f} at least"
            told += f"; the best policy {np.exp(np.log(lost).mean()):.2f} times it, {lost.max():.2f} at worst"
            print(f"  {'offline plan':42} {plans.mean():10.2f}   {told}", flush=True)
        first = [row[:, 2].mean() for policy, row in zip(given.policies, rows, strict=True) if policy in FIRST_PRINCIPLES]
        if len(first) == len(FIRST_PRINCIPLES):
            print(f"  {'first principles':42} {np.mean(first):10.2f}", flush=True)
        for policy, row in zip(given.policies, rows, strict=True):
            mean, ratio = row.mean(axis=0), row[:, 2] / best
            print(
                f"  {policy:20} {mean[0]:10.3f} {mean[1]:10.2f} {mean[2]:10.2f}   {np.exp(np.log(ratio).mean()):8.3f} "
                f"{ratio.max():8.2f} {(ratio <= 1.1).mean():6.0%}   {mean[3]:.3f} s a decision",
                flush=True,
            )


if __name__ == "__main__":
    main()
