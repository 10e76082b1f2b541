"""Agents that cap a data centre, on weeks that they were not trained on: with their guard, and bare.

    python benchmarks/guard.py                      # the test weeks: four months, two loads, jobs of 22 to 28 May 2019
    python benchmarks/guard.py --bare               # the same without the guard
    python benchmarks/guard.py --validation         # the weeks that training is validated on, to choose by
    python benchmarks/guard.py --scales 3 --months SCE_2020-09 --policies threshold rolling

A row a week: by how much each policy costs more than `uncapped`, which the guard plays beside an agent, in the mean of its
training runs (the shipped one and those of benchmarks/seeds). Then means; the 95 % interval, over stretches of carbon (weeks of
one at several loads count as one) and training runs; the worst week of any run; and the mean of each run. What training,
validation and test see is in optsched/rl/vcc/split.py: no month, day or load of the test weeks is in the others. A stretch of a
month's carbon, from its day 0 or 12 on, is laid over the jobs by its time of day. Exits 1 where an agent with its guard costs
more than `uncapped` on a week, or where the best of them in the mean costs more than `threshold`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from training_seeds import runs

import optsched
from optsched.analysis.statistics import interval
from optsched.instances import Instance
from optsched.rl.vcc.agent import shipped
from optsched.rl.vcc.split import TEST, VALIDATION
from optsched.rolling.vcc.months import DAYS, data, week

RULE, OTHERS = "uncapped", ("threshold", "rolling")
FIRSTS = (0, 12)  # days of a month that its stretches of carbon begin with


def cost(instance: Instance, policy: str, guard: bool) -> float:
    """What a policy costs on a week."""
    result = optsched.replay(instance, policy, forecast="fitted", guard=guard)
    assert result.objective, f"{policy} on {instance.name}: {result.message}"
    assert result.options["figures"]["fallbacks"] == 0, result.message
    return result.objective


def over(rows: np.ndarray, stretches: list[tuple[str, int]]) -> tuple[float, float]:
    """95 % of the mean of (training runs, weeks): weeks of one stretch of carbon are one."""
    each = sorted(set(stretches))
    means = [rows[:, [at == stretch for at in stretches]].mean(axis=1) for stretch in each]
    return interval(np.array(means).T) or (np.nan, np.nan)


def say(word: str, figures: list[str]) -> None:
    """A line at the table's foot."""
    print(f"{word:23} " + " ".join(f"{figure:>18}" for figure in figures))


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
    policies = asked.policies or [*OTHERS, *shipped()]
    of_policy = {policy: runs(policy) for policy in policies}
    table: dict[str, list[list[float]]] = {policy: [] for policy in policies}  # a row a week, a column a training run
    stretches, loads = [], []
    print(f"{'week':17} {'load':>5} " + " ".join(f"{name:>18}" for name in policies))
    for month in asked.months or part.months:
        for first in FIRSTS:
            for scale in asked.scales or part.scales:
                instance = week(month, first, part.starts(DAYS)[0], scale, folder)
                rule = cost(instance, RULE, guard=False)
                for policy in policies:
                    table[policy].append([cost(instance, run, not asked.bare) / rule - 1 for run in of_policy[policy]])
                stretches.append((month, first))
                loads.append(scale)
                told = " ".join(f"{np.mean(table[policy][-1]):+18.2%}" for policy in policies)
                print(f"{month:11} d{first:<4} {scale:5g} {told}", flush=True)
    found = {policy: np.array(rows).T for policy, rows in table.items()}  # training runs, weeks
    for scale in sorted(set(loads)):
        of_load = np.array(loads) == scale
        say(f"mean, load {scale:g}", [f"{found[policy][:, of_load].mean():+.2%}" for policy in policies])
    say("mean", [f"{found[policy].mean():+.2%}" for policy in policies])
    say("95 % of the mean", ["{:+.2%}, {:+.2%}".format(*over(found[policy], stretches)) for policy in policies])
    say("worst", [f"{found[policy].max():+.2%}" for policy in policies])
    for number in range(max(map(len, found.values()))):
        each = [rows[number].mean() if number < len(rows) > 1 else None for rows in found.values()]
        say(f"training run {number}", ["" if mean is None else f"{mean:+.2%}" for mean in each])
    agents = [found[name] for name in policies if name in shipped() or name.startswith("agent:")]
    threshold = found["threshold"].mean() if "threshold" in policies else np.inf
    above = any(rows.max() > 0 for rows in agents)
    behind = bool(agents) and min(rows.mean() for rows in agents) >= threshold
    sys.exit(0 if asked.bare or not (above or behind) else 1)


if __name__ == "__main__":
    main()
