"""How far behind S0 an agent of geo ends with its guard, whatever agent it is: those that ship, simple ones, and harmful ones.

    python benchmarks/guard_geo.py                  # 32 cases that nothing was trained or tuned on
    python benchmarks/guard_geo.py --part test --first 0 --cases 8

Cases of the training scenarios `many` (2 to 8 sites) and `small` (five), by turns. A row an agent: what it earns more than S0,
as a share of it, with its guard in the mean and at worst, bare in the mean and at worst, and how often S0 decided. Exits 1
where an agent with its guard is more than 5 % behind in a case.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from harmful_geo import Away, Coin, Never, Worst, network, price
from training_seeds import FOLDER

from optsched.rl.geo.files import Acting, loaded
from optsched.rl.geo.split import PARTS, SCENARIOS, Part, case
from optsched.rl.trained import file_of, shipped
from optsched.rolling.geo.agents import AgentPolicy, GuardedAgent
from optsched.rolling.loop import replay

FEW = 0.05  # what no agent may be further behind
LEVELS = (0.0, 0.2, 0.4, 0.6)  # of prices, as shares of a GPU's revenue
NETWORKS = 3


def agents(sites: int) -> dict[str, Acting]:
    """By name: those that ship and their further training runs, then those that nobody should use."""
    ours = {name: loaded(file_of("geo", name)) for name in shipped("geo")}
    ours |= {file.stem: loaded(str(file)) for file in sorted(FOLDER.glob("geo/*.npz"))}
    base = network(0, sites).trained
    made: dict[str, Acting] = {f"price {level:g}": price(level) for level in LEVELS}
    made |= {f"network {seed}": network(seed, sites) for seed in range(NETWORKS)}
    made |= {each.__name__.lower(): each(base) for each in (Never, Worst, Away, Coin)}
    return {name: acting for name, acting in (ours | made).items() if acting.knows(sites)}


def run(given: tuple[str, Part, int]) -> dict[str, tuple[float, float, float]]:
    """Of each agent: what it earns beyond S0, guarded and bare, and how often S0 decided."""
    scenario, part, number = given
    instance = case(SCENARIOS[scenario], part, number)
    rule = replay(instance, "local-fcfs").objective
    assert rule is not None
    rows = {}
    for name, acting in agents(len(instance.sites)).items():
        guarded, bare = replay(instance, GuardedAgent(acting)), replay(instance, AgentPolicy(acting))
        assert guarded.objective is not None
        assert bare.objective is not None
        figures = guarded.options["figures"]
        assert isinstance(figures, dict)
        assert figures["fallbacks"] == 0, guarded.message
        beyond = (guarded.objective - rule) / abs(rule), (bare.objective - rule) / abs(rule)
        rows[name] = (*beyond, figures["overruled"] / max(1, figures["decisions"]))
    return rows


def main() -> None:
    """Play, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default="validation")
    parser.add_argument("--first", type=int, default=1000, help="Number of the first case.")
    parser.add_argument("--cases", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    tasks: list[tuple[str, Part, int]] = [(("many", "small")[i % 2], asked.part, asked.first + i) for i in range(asked.cases)]
    found: dict[str, list[tuple[float, float, float]]] = {}
    with ProcessPoolExecutor(asked.workers) as pool:
        for task, rows in zip(tasks, pool.map(run, tasks), strict=True):
            least = min(rows, key=lambda name: rows[name][0])
            print(f"  {task[0]} {task[2]}: furthest behind {least}, {rows[least][0]:+.2%}", flush=True)
            for name, row in rows.items():
                found.setdefault(name, []).append(row)
    print(f"{'':18} cases  guarded, worst   S0 decides    bare, worst")
    for name, rows_of in found.items():
        guarded, bare, overruled = np.array(rows_of).T
        told = f"{guarded.mean():+7.2%} {guarded.min():+7.2%}   {overruled.mean():9.1%} {bare.mean():+9.2%} {bare.min():+8.2%}"
        print(f"{name:18} {len(rows_of):5}  {told}")
    sys.exit(0 if min(row[0] for rows_of in found.values() for row in rows_of) >= -FEW else 1)


if __name__ == "__main__":
    main()
