"""Which cases training, validation and test draw: seeds that never meet, over all nine workloads of Table 4."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optsched.instances.deferrable import DeferrableInstance
from optsched.instances.generators import osdec

SEEDS = {"train": range(1_000_000, 2_000_000), "validation": range(2_000_000, 3_000_000), "test": range(3_000_000, 4_000_000)}
"""Of the generator. Its own default, and whatever is typed by hand, is smaller."""
LOADS = (0.9, 1.6)

Draw = Callable[[str, int], DeferrableInstance]
"""From a part of the split and a number, the case."""


def workload(part: str, number: int) -> DeferrableInstance:
    """A case of the paper's sizes: any of the nine workloads, at a load of 0.9 to 1.6."""
    seed = SEEDS[part][number]
    rng = np.random.default_rng(seed)
    cores, duration = (int(case) for case in rng.integers(1, 4, 2))
    return osdec(cores, duration, load=float(rng.uniform(*LOADS)), seed=seed)


def real_time(part: str, number: int) -> DeferrableInstance:
    """The same where every job must start when it is submitted, or not at all."""
    seed = SEEDS[part][number]
    rng = np.random.default_rng(seed)
    cores, duration = (int(case) for case in rng.integers(1, 4, 2))
    return osdec(cores, duration, load=float(rng.uniform(*LOADS)), seed=seed, real_time=True)


def toy(part: str, number: int) -> DeferrableInstance:
    """A small crowded case: long small jobs before short large ones."""
    seed = SEEDS[part][number]
    return osdec(2, 1, jobs=40, horizon=36, load=1.6, window=8, lead=4, seed=seed)


SCENARIOS: dict[str, Draw] = {"osdec": workload, "osdec-table3": workload, "real-time": real_time, "toy": toy}
