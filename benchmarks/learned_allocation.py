"""Learned policies of GPU clusters beside rules on cases that nobody has learned from: mean, worst, and what the guard does.

python benchmarks/learned_allocation.py                                  # 30 test cases of the scenario of training
python benchmarks/learned_allocation.py --scenario papers --cases 10     # at the paper's smallest size
"""

from __future__ import annotations

import argparse

import numpy as np

from optsched.decomposition.allocation import clairvoyant
from optsched.rl.allocation.scenarios import SCENARIOS, SPLITS, scenario
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings

RULE = "priced"
BARE = " bare"  # after a name: without its guard


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", default="andreas", choices=list(SCENARIOS))
    parser.add_argument("--split", default="test", choices=list(SPLITS))
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--policies", nargs="*", default=["allocation-imitation", "allocation-imitation bare", "least-slack"])
    args = parser.parse_args()
    names = [RULE, *args.policies]
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
        row = (f"{name} {cost:.2f}" for name, cost in zip(names, costs[k], strict=True))
        print(instance.name, f"bound {bounds[k]:.2f}", *row, flush=True)
    ratio = costs / costs[:, :1]
    print(f"\n{args.cases} cases of {args.scenario}, {args.split}; bound {bounds.mean():.2f} EUR in the mean")
    print("| policy | mean EUR | 95 % | to the rule, geometric mean | worst | above 1.05 | rule decides | ms, largest median |")
    print("|---|---|---|---|---|---|---|---|")
    for p, name in enumerate(names):
        half = 1.96 * costs[:, p].std(ddof=1) / args.cases**0.5
        share, over = overruled[p] / max(1, decisions[p]), int((ratio[:, p] > 1.05).sum())
        mean, worst = float(np.exp(np.log(ratio[:, p]).mean())), ratio[:, p].max()
        row = (
            f"{costs[:, p].mean():.1f} | ±{half:.1f} | {mean:.3f} | {worst:.3f} | {over} | {share:.0%} | {1e3 * median[p]:.1f}"
        )
        print(f"| `{name}` | {row} |")


if __name__ == "__main__":
    main()
