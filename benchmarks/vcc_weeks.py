"""Synthetic weeks under a cap, most of them light: what every rule costs, and `rolling` with other weeks as its history.

python benchmarks/vcc_weeks.py                        # five seeds, forecasts of carbon perfect
python benchmarks/vcc_weeks.py --forecast fitted --seeds 80-83

A row a kind of weeks: means of the objective (kg), of `rolling` alone, with a history as long as the replay and with one of
thirty days (the same kind, seed + 1000); of the last its mean as a multiple of the best rule's mean, and the worst single
seed's multiple of its own best rule and of `uncapped`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from arguments import add_seeds, told

from optsched.instances.generators import vcc
from optsched.instances.vcc import Job, VccInstance
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings

MONTH = 30  # days
KINDS: Mapping[str, Mapping[str, Any]] = {
    "as generated": {},
    "a week, load 0.3": {"load": 0.3, "jobs": 500},
    "three days, load 0.3": {"load": 0.3, "jobs": 200, "days": 3},
    "two days, load 0.5": {"load": 0.5, "jobs": 200, "days": 2},
    "a week, load 0.5, penalty 0.2": {"load": 0.5, "penalty": 0.2},
    "ten days, load 0.1": {"load": 0.1, "jobs": 300, "days": 10},
    "even, five days, load 0.3": {"load": 0.3, "jobs": 100, "days": 5, "longest": 6},
    "even, three days, load 0.5": {"load": 0.5, "jobs": 150, "days": 3, "longest": 12},
    "even, a week, penalty 3": {"load": 0.4, "jobs": 240, "days": 7, "longest": 6, "penalty": 3.0},
}
RULES = ("uncapped", "threshold", "day-ahead")
POLICIES = (*RULES, "rolling", "rolling +history", "rolling +month")


def even(days: int, jobs: int, longest: int, load: float, penalty: float = 1.0, seed: int = 0) -> VccInstance:
    """Jobs of one to so many hours, as likely at any hour, where carbon falls around noon: nothing comes in lumps."""
    rng, slots, capacity, fixed = np.random.default_rng(seed), 24 * days, 100.0, 20.0
    sun = np.exp(-(((np.arange(slots) % 24 - 13) / 3.5) ** 2)) * np.repeat(rng.uniform(0.6, 1.0, days), 24)
    carbon = 0.3 - 0.2 * sun + rng.normal(0.0, 0.01, slots)
    submitted, duration = np.sort(rng.integers(0, slots - 1, jobs)), rng.integers(1, longest + 1, jobs)
    ncu = rng.uniform(0.5, 1.5, jobs)
    ncu *= load * (capacity - fixed) * slots / float(ncu @ duration)
    columns = zip(submitted.tolist(), duration.tolist(), np.round(ncu, 6).tolist(), strict=True)
    return VccInstance(
        name=f"even-D{days}-J{jobs}-s{seed}",
        capacity_ncu=capacity,
        carbon_kg_per_kwh=tuple(np.round(carbon, 6).tolist()),
        inflexible_ncu=(fixed,) * slots,
        delay_penalty_per_ncu_h=penalty,
        daily_penalty_per_ncu_h=penalty,
        unfinished_penalty_per_ncu_h=penalty,
        jobs=tuple(Job(id=f"j{i}", submitted=s, duration=d, ncu=n) for i, (s, d, n) in enumerate(columns)),
    )


def made(kind: str, seed: int, days: int | None = None) -> VccInstance:
    """An instance of a kind, or so many days of it."""
    fields = {"days": 7, "jobs": 1000} | KINDS[kind]
    if days is not None:
        fields |= {"days": days, "jobs": fields["jobs"] * days // fields["days"]}
    return even(seed=seed, **fields) if "longest" in fields else vcc(seed=seed, **fields)


def run(given: tuple[str, int, str]) -> list[float]:
    """Objectives by policy."""
    kind, seed, forecast = given
    instance, pasts = made(kind, seed), {"": None, "history": made(kind, seed + 1000), "month": made(kind, seed + 1000, MONTH)}
    found = []
    for name in POLICIES:
        word, _, past = name.partition(" +")
        result = replay(instance, word, forecast=forecast, settings=Settings(history=pasts[past]), bound=0.0)
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
    print(f"{'forecast ' + given.forecast:30} {'  '.join(POLICIES)}   +month by best rule  worst  by uncapped", flush=True)
    with ProcessPoolExecutor(2) as pool:
        for kind in given.kinds:
            cost = np.array(list(pool.map(run, [(kind, seed, given.forecast) for seed in given.seeds])))
            mean, ours, rules = cost.mean(axis=0), cost[:, -1], cost[:, : len(RULES)]
            told_of = "  ".join(f"{value:{len(name)}.1f}" for name, value in zip(POLICIES, mean, strict=True))
            by_rule, by_cap = (ours / rules.min(axis=1)).max(), (ours / cost[:, 0]).max()
            print(
                f"{kind:30} {told_of}   {mean[-1] / mean[: len(RULES)].min():19.3f}  {by_rule:5.3f}  {by_cap:11.3f}", flush=True
            )


if __name__ == "__main__":
    told(main)
