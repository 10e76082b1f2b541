"""Agents that cap a data centre, on weeks that they were not trained on: with their guard, and bare.

    python benchmarks/guard.py                      # the test weeks: four months, two loads, jobs of 22 to 28 May 2019
    python benchmarks/guard.py --bare               # the same without the guard
    python benchmarks/guard.py --validation         # the weeks that training is validated on, to choose by
    python benchmarks/guard.py --scales 3 --months SCE_2020-09 --policies threshold rolling

A row a month and load: by how much each policy costs more than `uncapped`, which the guard plays beside an agent; then means
and the worst of each. What training, validation and test see is in optsched/rl/vcc/split.py: no month, day or load of the test
weeks is in the others. The carbon of a month is laid over the jobs by its time of day. Exits 1 where an agent with its guard
costs more than `uncapped` on a week, or where the best of them in the mean costs more than `threshold`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import optsched
from optsched.instances import Instance
from optsched.rl.vcc.agent import shipped
from optsched.rl.vcc.split import TEST, VALIDATION
from optsched.rolling.vcc.months import DAYS, data, week

RULES = ("uncapped", "threshold", "rolling")
FIRSTS = (0, 12)  # days of a validation month that its weeks begin with


def row(instance: Instance, policies: list[str], guard: bool) -> list[float]:
    """By how much each policy costs more than the first, relative."""
    costs = [optsched.replay(instance, policy, forecast="fitted", guard=guard).objective or np.nan for policy in policies]
    return [cost / costs[0] - 1 for cost in costs]


def main() -> None:
    """The table; exits 1 where the guard breaks its promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--months", nargs="+", help="As in PGE_2020-04. [default: the part's]")
    parser.add_argument("--scales", type=float, nargs="+", help="Of every task's NCU. [default: the part's]")
    parser.add_argument("--policies", nargs="+", help="Beside uncapped. [default: threshold, rolling and the shipped agents]")
    parser.add_argument("--validation", action="store_true", help="Not the test weeks.")
    parser.add_argument("--bare", action="store_true", help="Without the guard.")
    asked = parser.parse_args()
    folder, part = data(), VALIDATION if asked.validation else TEST
    if folder is None:
        sys.exit("no google2019 and moer in $OPTSCHED_DATA")
    policies, rows = [RULES[0], *(asked.policies or [*RULES[1:], *shipped()])], []
    scales: list[float] = []
    print(f"{'week':17} {'load':>5} " + " ".join(f"{name:>12}" for name in policies[1:]))
    for month in asked.months or part.months:
        for first in FIRSTS if asked.validation else FIRSTS[:1]:
            for scale in asked.scales or part.scales:
                instance = week(month, first, part.starts(DAYS)[0], scale, folder)
                rows.append(row(instance, policies, not asked.bare)[1:])
                scales.append(scale)
                print(f"{month:11} d{first:<4} {scale:5g} " + " ".join(f"{value:+12.2%}" for value in rows[-1]), flush=True)
    table, loads = np.array(rows), np.array(scales)
    means = [(f"mean, load {scale:g}", table[loads == scale].mean(axis=0)) for scale in sorted(set(scales))]
    for word, figures in (*means, ("mean", table.mean(axis=0)), ("worst", table.max(axis=0))):
        print(f"{word:23} " + " ".join(f"{value:+12.2%}" for value in figures))
    agents = [table[:, i] for i, name in enumerate(policies[1:]) if name in shipped() or name.startswith("agent:")]
    rule = table[:, policies[1:].index("threshold")].mean() if "threshold" in policies else np.inf
    above = any(found.max() > 0 for found in agents)
    behind = bool(agents) and min(found.mean() for found in agents) >= rule
    sys.exit(0 if asked.bare or not (above or behind) else 1)


if __name__ == "__main__":
    main()
