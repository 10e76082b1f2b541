"""Synthetic weeks under a cap, most of them light: what every rule costs, and `rolling` with other weeks as its history.

python benchmarks/vcc_weeks.py                        # five seeds, forecasts of carbon perfect
python benchmarks/vcc_weeks.py --forecast fitted --seeds 80-83

A row a kind of weeks: means of the objective (kg), of `rolling` with a history (the same kind, seed + 1000) its mean as a
multiple of the best rule's mean, and the worst single seed's multiple of its own best rule and of `uncapped`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from arguments import add_seeds, told

from optsched.instances.generators import vcc
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings

KINDS: Mapping[str, Mapping[str, Any]] = {
    "as generated": {},
    "a week, load 0.3": {"load": 0.3, "jobs": 500},
    "three days, load 0.3": {"load": 0.3, "jobs": 200, "days": 3},
    "two days, load 0.5": {"load": 0.5, "jobs": 200, "days": 2},
    "a week, load 0.5, penalty 0.2": {"load": 0.5, "penalty": 0.2},
    "ten days, load 0.1": {"load": 0.1, "jobs": 300, "days": 10},
}
RULES = ("uncapped", "threshold", "day-ahead")
POLICIES = (*RULES, "rolling", "rolling +history")


def run(given: tuple[str, int, str]) -> list[float]:
    """Objectives by policy."""
    kind, seed, forecast = given
    instance, past = (vcc(seed=each, **KINDS[kind]) for each in (seed, seed + 1000))
    found = []
    for name in POLICIES:
        word, history, _ = name.partition(" +history")
        result = replay(instance, word, forecast=forecast, settings=Settings(history=past if history else None), bound=0.0)
        assert result.options["figures"]["fallbacks"] == 0, result.message
        assert result.objective is not None
        found.append(result.objective)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_seeds(parser, "80-84")
    parser.add_argument("--forecast", default="perfect")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    given = parser.parse_args()
    print(f"{'forecast ' + given.forecast:30} {'  '.join(POLICIES)}   +history by best rule  worst  by uncapped", flush=True)
    with ProcessPoolExecutor(2) as pool:
        for kind in given.kinds:
            cost = np.array(list(pool.map(run, [(kind, seed, given.forecast) for seed in given.seeds])))
            mean, ours, rules = cost.mean(axis=0), cost[:, -1], cost[:, : len(RULES)]
            told_of = "  ".join(f"{value:{len(name)}.1f}" for name, value in zip(POLICIES, mean, strict=True))
            by_rule, by_cap = (ours / rules.min(axis=1)).max(), (ours / cost[:, 0]).max()
            print(
                f"{kind:30} {told_of}   {mean[-1] / mean[: len(RULES)].min():21.3f}  {by_rule:5.3f}  {by_cap:11.3f}", flush=True
            )


if __name__ == "__main__":
    told(main)
