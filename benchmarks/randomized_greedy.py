"""Randomized greedy at the paper's largest size: seconds, gap to the proxy's exact optimum, and what a local search closes.

python benchmarks/randomized_greedy.py    # 100 nodes, 1,000 jobs waiting, 1,000 iterations, cases 1 and 2, 10 seeds
"""

from __future__ import annotations

from statistics import mean, median
from time import perf_counter

import optsched
from optsched.heuristics.allocation.local_search import local_search
from optsched.heuristics.allocation.randomized_greedy import randomized_greedy
from optsched.instances.generators import andreas

NODES, SEEDS = 100, 10


def main() -> None:
    for case in (1, 2):
        seconds, more, gaps, left = [], [], [], []
        for seed in range(SEEDS):
            instance = andreas(case, NODES, seed=seed, all_submitted=True)
            best = optsched.solve(instance)
            assert best.solution == "optimal"
            assert best.objective is not None
            began = perf_counter()
            found = randomized_greedy(instance, seed)
            seconds.append(perf_counter() - began)
            began = perf_counter()
            searched = local_search(instance, found)
            more.append(perf_counter() - began)
            values = [optsched.evaluate(instance, s).objective for s in (found, searched)]
            assert best.objective <= values[1] + 1e-6 <= values[0] + 2e-6
            gaps.append(values[0] / best.objective - 1)
            left.append(values[1] / best.objective - 1)
        print(
            f"case {case}: {median(seconds):.3f} s a decision (worst {max(seconds):.3f}), "
            f"{100 * mean(gaps):.2f} % above the optimum; "
            f"with local search {100 * mean(left):.2f} %, {median(more):.3f} s more"
        )


if __name__ == "__main__":
    main()
