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
    """Waves of three small jobs and a large one: those that must start at once or never, and those that have time.

    Which is which is drawn: neither the order, nor the size, but the window tells. Who starts the patient first loses the rest.
    """
    seed = SEEDS[part][number]
    rng = np.random.default_rng(seed)
    jobs = []
    for wave in range(6):
        at, patient = 4 * wave + int(rng.integers(0, 2)), bool(rng.integers(0, 2))
        sizes = [1, 1, 1, 4] if rng.integers(0, 2) else [4, 1, 1, 1]
        for k, cores in enumerate(sizes):
            latest = at + 6 if (cores == 1) == patient else at
            jobs.append(Job(id=f"{wave}.{k}", cores=cores, duration=2, earliest=at, latest=latest, submitted=at))
    return DeferrableInstance(
        name=f"toy-s{seed}", slot_s=300, capacity=(4.0,) * 32, delay_penalty=0.1, overload_penalty=10, jobs=tuple(jobs)
    )


SCENARIOS: dict[str, Draw] = {"osdec": workload, "osdec-table3": workload, "real-time": real_time, "toy": toy}
