"""Which cases training, validation and test draw: seeds that never meet, over all nine workloads of Table 4."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.instances.generators import osdec

SEEDS = {"train": range(1_000_000, 2_000_000), "validation": range(2_000_000, 3_000_000), "test": range(3_000_000, 4_000_000)}
"""Of the generator. Its own default, and whatever is typed by hand, is smaller."""
LOADS = (0.9, 1.6)

SPLIT = "train, validation and test draw seeds that never meet (optsched/rl/deferrable/split.py)"

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
    """Waves of two small jobs, a large one and a short one, of which some must start at once or never, and some have time.

    Which is which is drawn, and so is their order: the patient should wait, and of the urgent the largest goes first.
    """
    seed = SEEDS[part][number]
    rng = np.random.default_rng(seed)
    jobs = []
    for wave in range(8):
        at, patient = 4 * wave + int(rng.integers(0, 2)), ("small", "large", "none")[rng.integers(0, 3)]
        sizes = [("small", 1, 2), ("small", 1, 2), ("large", 4, 2), ("short", 4, 1)]
        for k, drawn in enumerate(rng.permutation(len(sizes))):
            kind, cores, duration = sizes[drawn]
            latest = at + 6 if kind == patient else at
            jobs.append(Job(id=f"{wave}.{k}", cores=cores, duration=duration, earliest=at, latest=latest, submitted=at))
    return DeferrableInstance(
        name=f"toy-s{seed}", slot_s=300, capacity=(4.0,) * 40, delay_penalty=0.1, overload_penalty=10, jobs=tuple(jobs)
    )


SCENARIOS: dict[str, Draw] = {"osdec": workload, "osdec-table3": workload, "real-time": real_time, "toy": toy}
