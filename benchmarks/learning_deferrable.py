"""Tables 1 and 2 of OSDEC on our scenarios: rules, the paper's learned policies and ours, beside rolling and the bound.

    python benchmarks/learning_deferrable.py                       # 10 test cases, deferrable and real-time; shipped agents
    python benchmarks/learning_deferrable.py --cases 20 --bare     # without their guard
    python benchmarks/learning_deferrable.py --agents mine.npz     # and one of your own

Cases are of the test part of optsched/rl/deferrable/split.py: no agent has seen their seeds. A row a policy, in the mean over
cases and, of an agent, training runs (the shipped one and those of benchmarks/seeds): work done and delay (core-slots), total
reward, its share of the bound (of the exact model's root, which nobody exceeds) with a 95 % interval over cases and runs, the
least share of a case and run, how many decisions the guard took over, milliseconds a decision, how much more than the first
policy it earns, and the share of each run. Exits 1 where a policy is above the bound, or a guarded one earns 5 % less than FIFO
in a case.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from training_seeds import each_mean, runs

import optsched
from optsched.analysis.bounds import quick_bound
from optsched.analysis.statistics import interval
from optsched.rl.deferrable.split import SCENARIOS
from optsched.rl.trained import shipped

RULES = ("fifo", "sjf", "tetris", "greedy")
ALLOWED = 0.05


@dataclass(frozen=True)
class Row:
    """One replay."""

    work: float
    delay: float
    reward: float
    share: float
    overruled: float
    decisions: float
    milliseconds: float


def bound_of(given: tuple[str, int]) -> float:
    """What nobody earns more than in a case."""
    scenario, number = given
    known = quick_bound(SCENARIOS[scenario]("test", number), seconds=0)
    assert known is not None
    return known.value


def row(given: tuple[str, int, str, float], bare: bool) -> Row:
    """A policy on a case."""
    scenario, number, policy, bound = given
    case = SCENARIOS[scenario]("test", number)
    result = optsched.replay(case, policy, guard=not bare)
    assert result.objective is not None
    if result.objective > bound + 1e-6 * abs(bound):
        sys.exit(f"{policy} earns {result.objective} on {case.name}, above the bound {bound}")
    figures, parts = result.options["figures"], result.components
    return Row(
        parts["work"],
        parts["delay"],
        result.objective,
        result.objective / bound,
        figures["overruled"],
        figures["decisions"],
        1000 * figures["decision_s_median"],
    )


def main() -> None:
    """The tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--scenarios", nargs="+", default=["osdec", "real-time"], choices=sorted(SCENARIOS))
    parser.add_argument("--agents", nargs="*", default=[], metavar="FILE.npz", help="Besides the shipped ones.")
    parser.add_argument("--policies", nargs="+", help="Only these.")
    parser.add_argument("--bare", action="store_true", help="Without the guard.")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    agents = [*shipped("deferrable"), *(f"agent:{file}" for file in asked.agents)]
    policies = asked.policies or [*RULES, *agents, "rolling"]
    of_policy = {policy: runs(policy) for policy in policies}
    played = [run for of_row in of_policy.values() for run in of_row]
    broken, means = False, np.zeros((len(asked.scenarios), len(policies), 3))
    for place, scenario in enumerate(asked.scenarios):
        print(f"{scenario}, {asked.cases} test cases{', bare' if asked.bare else ''}")
        heads = f"{'policy':32} {'work':>8} {'delay':>8} {'reward':>8}  share of the bound, 95 %      least  overruled"
        print(f"{heads}     ms  above {policies[0]}  of each training run")
        with ProcessPoolExecutor(asked.workers) as pool:
            bounds = list(pool.map(bound_of, [(scenario, number) for number in range(asked.cases)]))
            tasks = [(scenario, number, run, bound) for run in played for number, bound in enumerate(bounds)]
            rows = list(pool.map(partial(row, bare=asked.bare), tasks, chunksize=asked.cases))
        found = {run: rows[k * asked.cases : (k + 1) * asked.cases] for k, run in enumerate(played)}
        rule = np.array([r.reward for r in found[policies[0]]])
        for line, (policy, of_row) in enumerate(of_policy.items()):
            table = [found[run] for run in of_row]
            every = [r for of_run in table for r in of_run]
            shares = np.array([[r.share for r in of_run] for of_run in table])
            low, high = interval(shares) or (np.nan, np.nan)
            taken = sum(r.overruled for r in every) / max(1.0, sum(r.decisions for r in every))
            work, delay, reward, spent = (
                float(np.mean([getattr(r, name) for r in every])) for name in ("work", "delay", "reward", "milliseconds")
            )
            means[place, line], by_run = (work, reward, shares.mean()), each_mean(shares)
            print(
                f"{policy:32} {work:8.1f} {delay:8.1f} {reward:8.1f}  {shares.mean():.4f} [{low:.4f}, {high:.4f}]  "
                f"{shares.min():.4f}  {taken:9.1%}  {spent:5.1f}  {reward / rule.mean() - 1:+.1%}  {by_run}".rstrip(),
                flush=True,
            )
            if policy in agents and not asked.bare:
                worst = float(np.min(np.array([[r.reward for r in of_run] for of_run in table]) / rule))
                broken |= worst < 1 - ALLOWED
                print(f"{'':32} at worst {worst - 1:+.1%} against {policies[0]} in a case")
    if len(means) == 2:
        print(f"{asked.scenarios[1]} against {asked.scenarios[0]}: work done; reward and share of the bound of both")
        for policy, (one, two) in zip(policies, means.swapaxes(0, 1), strict=True):
            told = f"{one[1]:8.1f} {two[1]:8.1f}   {one[2]:.4f} {two[2]:.4f}"
            print(f"  {policy:30} {two[0] / one[0] - 1:+8.1%} {told}")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
