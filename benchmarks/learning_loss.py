"""What is lost on the way from the offline optimum to a learned policy, a family a table.

    python benchmarks/learning_loss.py                      # deferrable and geo, five test cases each
    python benchmarks/learning_loss.py --problems geo --cases 10

Cases are of the test parts of the splits of optsched/rl. Shares of the bound (of the exact model's root, or the dual where that
model is large), mean, its 95 % interval, and least: the best schedule that a method finds offline, `rolling` with perfect
forecasts, with real ones (an error of 10 % a day ahead), and learned policies with their guard, both ways, over the cases and
their training runs (the shipped one and those of benchmarks/seeds).
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from training_seeds import runs

import optsched
import optsched.rl.deferrable.split as deferrable
import optsched.rl.geo.split as geo
from optsched.analysis.bounds import quick_bound
from optsched.analysis.statistics import interval
from optsched.instances import Instance

NOISY = "noisy:0.1"
OFFLINE_S = 20.0


def case(problem: str, number: int) -> Instance:
    """A test case."""
    if problem == "geo":
        return geo.case(geo.SCENARIOS["small"], "test", number)
    return deferrable.workload("test", number)


ROWS = {
    "deferrable": (
        "offline",
        "rolling",
        "rolling noisy",
        "deferrable-imitation",
        "deferrable-imitation noisy",
        "osdec",
        "osdec noisy",
        "fifo",
    ),
    "geo": (
        "offline",
        "rolling",
        "rolling noisy",
        "geo-imitation",
        "geo-imitation noisy",
        "masac",
        "masac noisy",
        "local-fcfs",
    ),
}


def bound_of(given: tuple[str, int]) -> float:
    """What nobody earns more than in a case."""
    known = quick_bound(case(*given), seconds=0)
    assert known is not None
    return known.value


def share(given: tuple[str, int, str, float]) -> float:
    """Of the bound, that a row earns on a case."""
    problem, number, row, bound = given
    instance = case(problem, number)
    if row == "offline":
        objective = optsched.solve(instance, "decomposition", time_limit=OFFLINE_S).objective
    else:
        name, noisy = row.removesuffix(" noisy"), row.endswith(" noisy")
        result = optsched.replay(instance, name, forecast=NOISY if noisy else "perfect")
        assert result.options["figures"]["fallbacks"] == 0, result.message
        objective = result.objective
    assert objective is not None
    assert objective <= bound + 1e-6 * abs(bound), f"{row} is above the bound of {instance.name}"
    return objective / bound


def main() -> None:
    """The tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=sorted(ROWS), choices=sorted(ROWS))
    parser.add_argument("--cases", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    for problem in asked.problems:
        rows = {row: runs(row) for row in ROWS[problem]}
        with ProcessPoolExecutor(asked.workers) as pool:
            bounds = list(pool.map(bound_of, [(problem, number) for number in range(asked.cases)]))
            played = [run for of_row in rows.values() for run in of_row]
            tasks = [(problem, number, run, bound) for run in played for number, bound in enumerate(bounds)]
            table = dict(zip(played, np.array(list(pool.map(share, tasks))).reshape(len(played), asked.cases), strict=True))
        print(f"{problem}, {asked.cases} test cases: share of the bound, mean, 95 % of it, and least; training runs")
        for row, of_row in rows.items():
            shares = np.array([table[run] for run in of_row])
            low, high = interval(shares) or (np.nan, np.nan)
            print(f"  {row:28} {shares.mean():.4f} [{low:.4f}, {high:.4f}]  {shares.min():.4f}  {len(shares)}", flush=True)


if __name__ == "__main__":
    main()
