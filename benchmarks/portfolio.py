"""Whether the default method keeps up with the best single one: `auto` against each method with a bound, the same time limit.

    python benchmarks/portfolio.py                          # ten instances a family, 30 s each: about two hours
    python benchmarks/portfolio.py --limit 10 --instances 4 --families vcc geo
    python benchmarks/portfolio.py --seed 7000              # other instances of the same kinds

Instances come from the generators' defaults, smaller and larger in turn, with seeds that nothing was tuned on. A row a run:
objective, bound and gap; then what `auto` loses to the best single method, in objective and in bound, relative. The promise:
every instance ends with a bound, and nowhere is `auto` worse by more than 5 % in either. Exits 1 where that is broken. A single
method is best where its objective (or bound) is best of all; one that has none counts for nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import optsched
from optsched.errors import OptschedError
from optsched.instances import Instance
from optsched.instances.generators import andreas, day_ahead, masac, osdec, vcc, wide_nodes
from optsched.methods import bounding

ALLOWED = 0.05
SHARES = (0.1, 0.2, 0.4, 0.7, 1.0, 1.0, 1.5, 2.0, 3.0, 5.0)  # of the defaults' sizes


def allocation(share: float, seed: int) -> Instance:
    """ANDREAS's two cases and wide nodes in turn, all jobs submitted."""
    nodes = max(2, round(20 * share))
    if seed % 3 == 2:
        return wide_nodes(nodes=nodes, seed=seed)
    return andreas(1 + seed % 3, nodes=nodes, all_submitted=True, seed=seed)


MAKERS: dict[str, Callable[[float, int], Instance]] = {
    "allocation": allocation,
    "deferrable": lambda share, seed: osdec(jobs=round(200 * share), core_case=1 + seed % 3, seed=seed),
    "geo": lambda share, seed: masac(jobs=round(1500 * share), seed=seed),
    "vcc": lambda share, seed: vcc(jobs=round(1000 * share), days=max(1, round(7 * min(1.0, share))), seed=seed),
    "day_ahead": lambda share, seed: day_ahead(clusters=max(2, round(5 * share)), seed=seed),
}


def lost(sign: int, mine: float | None, others: list[float]) -> float:
    """By how much `mine` is worse than the best of the others, relative; 1 where there is none of mine."""
    if not others:
        return 0.0
    best = min(others) if sign > 0 else max(others)
    return 1.0 if mine is None else max(0.0, sign * (mine - best) / max(abs(best), 1e-9))


def one(instance: Instance, limit: float, label: str) -> tuple[float, float, bool]:
    """Print the rows of an instance; what `auto` loses in objective and in bound, and whether it has a bound."""
    sign = 1 if instance.sense == "minimize" else -1
    found = {}
    for name in bounding(instance.problem):
        try:
            result = optsched.solve(instance, name, time_limit=limit)
        except OptschedError as error:
            print(f"{label:26} {name:14} refused: {error}", flush=True)
            continue
        found[name] = result
        gap = "-" if result.gap is None else f"{result.gap:.4%}"
        bound = "-" if result.bound is None else f"{result.bound:.9g}"
        print(
            f"{label:26} {name:14} {result.objective:16.9g} {bound:>16} {gap:>10} {result.timings_s.total:6.1f} s "
            f"{result.termination}",
            flush=True,
        )
    auto = found.pop("auto")
    objective = lost(sign, auto.objective, [r.objective for r in found.values() if r.objective is not None])
    bound_lost = lost(-sign, auto.bound, [r.bound for r in found.values() if r.bound is not None])
    word = " BROKEN" if auto.bound is None or max(objective, bound_lost) > ALLOWED else ""
    print(f"{label:26} {'auto loses':14} {objective:16.3%} {bound_lost:16.3%}{word}", flush=True)
    return objective, bound_lost, auto.bound is not None


def main() -> None:
    """The table, means and worsts; exits 1 where the promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", choices=list(MAKERS), default=list(MAKERS))
    parser.add_argument("--instances", type=int, default=len(SHARES), help="A family, small to large.")
    parser.add_argument("--limit", type=float, default=30.0, help="Seconds a run.")
    parser.add_argument("--seed", type=int, default=9000, help="Of the first instance.")
    asked = parser.parse_args()
    chosen = [SHARES[round(i * (len(SHARES) - 1) / max(1, asked.instances - 1))] for i in range(asked.instances)]
    broken = 0
    for family in asked.families:
        rows = []
        for i, share in enumerate(chosen):
            instance = MAKERS[family](share, asked.seed + i)
            rows.append(one(instance, asked.limit, f"{family} x{share:g} seed {asked.seed + i}"))
        objective, bound, has = (list(column) for column in zip(*rows, strict=True))
        broken += sum(not h or max(o, b) > ALLOWED for o, b, h in rows)
        print(
            f"{family}: {sum(has)} of {len(rows)} with a bound; auto loses in objective {sum(objective) / len(rows):.3%} on "
            f"average, {max(objective):.3%} at worst; in bound {sum(bound) / len(rows):.3%} and {max(bound):.3%}"
        )
    print(f"{broken} instances break the promise")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
