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
from training_seeds import FOLDER

from optsched.instances.base import Ints
from optsched.rl.geo.actors import AGENTS, Agents, best_legal
from optsched.rl.geo.files import Acting, loaded
from optsched.rl.geo.observation import Sight, joint_size
from optsched.rl.geo.prices import FEATURES, PRICES, BidPrices
from optsched.rl.geo.split import PARTS, SCENARIOS, Part, case
from optsched.rl.trained import Card, Trained, file_of, shipped
from optsched.rolling.geo.agents import AgentPolicy, GuardedAgent
from optsched.rolling.loop import replay

FEW = 0.05  # what no agent may be further behind
LEVELS = (0.0, 0.2, 0.4, 0.6)  # of prices, as shares of a GPU's revenue
NETWORKS = 3


def untrained(kind: str, arrays: dict[str, np.ndarray]) -> Trained:
    """Weights that nobody has trained."""
    return Trained(arrays, Card(name="x", kind=kind, problem="geo", scenario="", split="", seed=0, steps=0, settings={}))


def price(level: float) -> BidPrices:
    """The same price everywhere."""
    arrays = {"w0": np.zeros((FEATURES, 1)), "b0": np.full(1, level), "discount": np.asarray(1.0)}
    return BidPrices(untrained(PRICES, arrays))


def network(seed: int, sites: int) -> Agents:
    """Random weights."""
    weights = np.random.default_rng(seed).normal(size=(sites, joint_size(sites), 1 + sites))
    arrays = {"w0": weights, "b0": np.zeros((sites, 1, 1 + sites)), "residual": np.asarray(0.0)}
    return Agents(untrained(AGENTS, arrays))


class Never(Agents):
    """Runs nothing."""

    def act(self, sight: Sight) -> Ints:
        """Postpone."""
        return np.zeros(sight.rounds.sites, dtype=np.int64)


class Worst(Agents):
    """Runs every job where it earns least."""

    def act(self, sight: Sight) -> Ints:
        """Never postpones what can run."""
        may = sight.rounds.legal.copy()
        may[:, 0] = ~may[:, 1:].any(axis=1)
        return best_legal(-sight.credits(), may)


class Away(Agents):
    """Runs every job anywhere but at home, if it can."""

    def act(self, sight: Sight) -> Ints:
        """The site that comes next."""
        sites = sight.rounds.sites
        score = np.zeros((sites, 1 + sites))
        for home in range(sites):
            score[home, 1 + (home + np.arange(sites)) % sites] = [1.0, *range(sites, 1, -1)]
        return best_legal(score, sight.rounds.legal)


class Coin(Agents):
    """Does anything."""

    def act(self, sight: Sight) -> Ints:
        """By lot, the same whenever the same is asked."""
        rounds = sight.rounds
        rng = np.random.default_rng([int(rounds.asked.sum()) + 1 + rounds.sites, rounds.horizon])
        return best_legal(rng.random(rounds.legal.shape), rounds.legal)


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
