"""Learned policies of GPU clusters beside rules on cases that nobody has learned from: mean, worst, and what the guard does.

    python benchmarks/learned_allocation.py                                  # 30 test cases of the scenario of training
    python benchmarks/learned_allocation.py --scenario papers --cases 10     # at the paper's smallest size

A row a policy, over all training runs of an agent (the shipped one and those of benchmarks/seeds): the intervals are of the
means, over cases and training runs; the worst and how many are above 1.05 are of all of them; the last numbers are each run's.
"""

from __future__ import annotations

import argparse

import numpy as np
from training_seeds import each_mean, runs

from optsched.analysis.statistics import interval
from optsched.decomposition.allocation import clairvoyant
from optsched.rl.allocation.scenarios import SCENARIOS, SPLITS, scenario
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings

RULE = "priced"
BARE = " bare"  # after a name: without its guard


def main() -> None:
    """Play, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", default="andreas", choices=list(SCENARIOS))
    parser.add_argument("--split", default="test", choices=list(SPLITS))
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--policies", nargs="*", default=["allocation-imitation", "allocation-imitation bare", "least-slack"])
    args = parser.parse_args()
    rows = {name: runs(name) for name in (RULE, *args.policies)}
    names = [name for row in rows.values() for name in row]
    costs, bounds = np.zeros((args.cases, len(names))), np.zeros(args.cases)
    overruled, decisions, median = np.zeros((3, len(names)))
    for k in range(args.cases):
        instance = scenario(args.scenario).instance(args.split, args.first + k)
        bounds[k] = clairvoyant(instance) or 0.0
        for p, name in enumerate(names):
            settings = Settings(guard=False) if name.endswith(BARE) else Settings()
            result = replay(instance, name.removesuffix(BARE), settings=settings)
            assert result.objective is not None
            assert result.objective >= bounds[k] * (1 - 1e-9), (instance.name, name)
            costs[k, p], figures = result.objective, result.options["figures"]
            overruled[p] += figures["overruled"]
            decisions[p] += figures["decisions"]
            median[p] = max(median[p], figures["decision_s_median"])
        told = (f"{cost:.2f}" for cost in costs[k])
        print(instance.name, f"bound {bounds[k]:.2f}", *told, flush=True)
    to_rule = np.log(costs / costs[:, :1])
    print(f"\n{args.cases} cases of {args.scenario}, {args.split}; bound {bounds.mean():.2f} EUR in the mean")
    print(
        "mean EUR, 95 % of it; to the rule, geometric mean, 95 %; worst; above 1.05; rule decides; largest median, ms; each run"
    )
    for name, row in rows.items():
        held = [names.index(each) for each in row]
        eur, logs = costs[:, held].T, to_rule[:, held].T  # training runs, cases
        least, most = interval(eur) or (np.nan, np.nan)
        low, high = np.exp(interval(logs) or (np.nan, np.nan))
        share, above = overruled[held].sum() / max(1, decisions[held].sum()), int((logs > np.log(1.05)).sum())
        each = each_mean(np.exp(logs.mean(axis=1, keepdims=True)))
        told = f"{eur.mean():8.1f} [{least:.1f}, {most:.1f}] {np.exp(logs.mean()):.3f} [{low:.3f}, {high:.3f}]"
        print(f"{name:26} {told} {np.exp(logs.max()):.3f} {above} {share:.1%} {1e3 * median[held].max():.1f}  {each}".rstrip())


if __name__ == "__main__":
    main()
