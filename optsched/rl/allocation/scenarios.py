"""What is learned from, and what is never learned from: clusters by scenario, their seeds by split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from optsched.errors import OptschedError, meant
from optsched.instances.allocation import AllocationInstance
from optsched.instances.generators import andreas, wide_nodes

Split = Literal["train", "validation", "test"]
SPLITS: dict[Split, int] = {"train": 10_000_000, "validation": 20_000_000, "test": 30_000_000}
"""First seed of each; the published tables have seeds below 10,000."""
PER_SPLIT = 1_000_000
Draw = Callable[[np.random.Generator, int], AllocationInstance]


@dataclass(frozen=True)
class Scenario:
    """Clusters to draw.

    Attributes
    ----------
    about
        In words.
    draw
        An instance from a random choice of its kind and a seed of its own.
    jobs, ways
        The most that a snapshot can have, for an environment's spaces.
    """

    about: str
    draw: Draw
    jobs: int
    ways: int

    def instance(self, split: Split, number: int) -> AllocationInstance:
        """The case of that number, from 0 on; no two splits share a seed.

        Raises
        ------
        OptschedError : the split has no such number.
        """
        if not 0 <= number < PER_SPLIT:
            raise OptschedError(f"a case of a split has a number from 0 to {PER_SPLIT - 1}, got {number}")
        seed = SPLITS[split] + number
        return self.draw(np.random.default_rng(seed), seed)


def _toy(rng: np.random.Generator, seed: int) -> AllocationInstance:
    return andreas(case=1, nodes=2, jobs=12, rate="high", seed=seed)


def _andreas(rng: np.random.Generator, seed: int) -> AllocationInstance:
    nodes, case = int(rng.integers(3, 8)), int(rng.integers(1, 3))
    return andreas(case=case, nodes=nodes, rate="high" if rng.random() < 2 / 3 else "mixed", seed=seed)


def _papers(rng: np.random.Generator, seed: int) -> AllocationInstance:
    return andreas(case=int(rng.integers(1, 3)), nodes=10, rate="high" if rng.random() < 0.5 else "mixed", seed=seed)


def _wide(rng: np.random.Generator, seed: int) -> AllocationInstance:
    return wide_nodes(nodes=int(rng.integers(1, 3)) * 4, seed=seed)


SCENARIOS: dict[str, Scenario] = {
    "andreas": Scenario("ANDREAS case 1 or 2, 3 to 7 nodes, ten jobs a node, two of three at the high rate", _andreas, 70, 6),
    "papers": Scenario("ANDREAS case 1 or 2, 10 nodes, 100 jobs, at the high or the mixed rate", _papers, 100, 6),
    "wide": Scenario("4 or 8 nodes with 8 GPUs of four types, five jobs a node", _wide, 40, 32),
    "toy": Scenario("ANDREAS case 1, 2 nodes, 12 jobs", _toy, 12, 3),
}


def scenario(name: str) -> Scenario:
    """The scenario of that name.

    Raises
    ------
    OptschedError : there is none.
    """
    if name not in SCENARIOS:
        raise OptschedError(f"there is no scenario {name!r}{meant(name, SCENARIOS, 'there is')}")
    return SCENARIOS[name]
