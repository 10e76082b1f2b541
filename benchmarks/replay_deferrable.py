"""OSDEC online: every policy on the nine cases of Table 4, or on given instances, as a share of the clairvoyant bound.

    python benchmarks/replay_deferrable.py              # the nine cases, 5 seeds each
    python benchmarks/replay_deferrable.py --cores 1    # three of them
    python benchmarks/replay_deferrable.py azure.json   # e.g. made by optsched import azure-v1
    python benchmarks/replay_deferrable.py azure.json --history before.json   # `rolling` knows what came on other days

In brackets: the share of the gap between FIFO and the bound that a policy closes, its seconds, the slowest decisions'.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from arguments import add_seeds

from optsched import load
from optsched.analysis.bounds import quick_bound
from optsched.instances.deferrable import DeferrableInstance
from optsched.instances.generators import osdec
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings

POLICIES = ("fifo", "sjf", "tetris", "greedy", "rolling")


def bound_of(instance: DeferrableInstance) -> float:
    """What no policy exceeds: with the cuts of the exact model, where it is small."""
    known = quick_bound(instance, seconds=0)
    assert known is not None
    return known.value


def share(
    given: tuple[tuple[DeferrableInstance, float], str], history: DeferrableInstance | None
) -> tuple[float, float, float]:
    """Objective over bound, seconds, and the 99th percentile of a decision's."""
    (instance, bound), policy = given
    settings = Settings(history=history if policy == "rolling" else None)
    result = replay(instance, policy, bound=bound, settings=settings)
    figures = result.options["figures"]
    assert figures["fallbacks"] == 0, result.message
    assert result.objective is not None
    return result.objective / bound, result.timings_s.total, figures["decision_s_p99"]


def table(title: str, instances: list[DeferrableInstance], history: DeferrableInstance | None = None) -> None:
    """Print the mean of every policy."""
    with ProcessPoolExecutor(2) as pool:
        held = list(zip(instances, pool.map(bound_of, instances), strict=True))
        found = list(pool.map(partial(share, history=history), product(held, POLICIES)))
    rows = np.array(found).reshape(len(instances), len(POLICIES), 3)
    mean = rows.mean(axis=0)
    closed = (mean[:, 0] - mean[0, 0]) / (1 - mean[0, 0])
    cells = [
        f"{name} {s:.4f} ({100 * c:.0f} %, {t:.1f} s, p99 {p:.2f} s)"
        for name, (s, t, p), c in zip(POLICIES, mean, closed, strict=True)
    ]
    print(f"{title}: {'  '.join(cells)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    add_seeds(parser, "0-4")
    parser.add_argument("--cores", type=int, nargs="+", default=(1, 2, 3), help="Cases of cores.")
    parser.add_argument("--history", metavar="FILE", help="Of given instances: what came on other days.")
    given = parser.parse_args()
    if given.history and not given.files:
        parser.error("--history is of given instances; the nine cases have none")
    history = load(given.history) if given.history else None
    for file in given.files:
        table(Path(file).name, [load(file)], history)  # type: ignore[list-item,arg-type]
    for cores, duration in () if given.files else product(given.cores, (1, 2, 3)):
        table(f"cores {cores}, durations {duration}", [osdec(cores, duration, seed=seed) for seed in given.seeds])


if __name__ == "__main__":
    main()
