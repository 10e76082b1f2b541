"""Beyond the papers: ANDREAS's jobs on nodes with eight GPUs of four types, where packing patterns are many."""

from __future__ import annotations

import numpy as np

from optsched.errors import expect
from optsched.instances.allocation import AllocationInstance, GpuType, Job, Node
from optsched.instances.generators.andreas import EPOCHS, NETWORKS, submissions

GPUS = 8
EUR_PER_KWH, PUE = 0.17168313, 1.33
# seconds against a V100, watts of the board and of the node around it (V100 and T4 as in ANDREAS, the others to their ratings)
TYPES = {"A100": (0.55, 300, 400), "V100": (1.0, 170, 360), "P100": (1.7, 180, 340), "T4": (2.3, 80, 320)}


def wide_nodes(nodes: int = 20, jobs: int | None = None, seed: int = 0) -> AllocationInstance:
    """All jobs submitted, the present at the last submission; one node in four of each type.

    Parameters
    ----------
    jobs : 5 * nodes unless given.

    Raises
    ------
    OptschedError : parameters out of range.
    """
    count = 5 * nodes if jobs is None else jobs
    expect(1, 10**5, nodes=nodes)
    expect(1, 10**6, jobs=jobs)
    rng = np.random.default_rng(seed)
    kinds = list(TYPES)
    names, epochs = rng.choice(list(NETWORKS), count), rng.choice(EPOCHS, count)
    times = [_times(str(name), int(n)) for name, n in zip(names, epochs, strict=True)]
    submitted = submissions(rng, np.array([t["V100"][0] for t in times]), nodes * GPUS, "high")
    made = []
    for i, (time, submit) in enumerate(zip(times, submitted.tolist(), strict=True)):
        every = [t for row in time.values() for t in row]
        due = round(submit + rng.uniform(min(every), max(every)), 3)
        weight = round(float(rng.uniform(0.0253709514, 0.0443991650)), 6)
        made.append(Job(id=f"J{i + 1}", submit_s=submit, due_s=due, weight_per_s=weight, time_s=dict(time)))
    rate = EUR_PER_KWH * PUE / 1000
    return AllocationInstance(
        name=f"wide-N{nodes}-J{count}-s{seed}",
        meta={"generator": "wide-nodes", "seed": seed},
        currency="EUR",
        now_s=float(submitted.max()),
        scheduling_interval_s=300.0,
        postponement_penalty=100.0,
        gpu_types={
            kind: GpuType(node_cost_per_h=tuple(round(rate * (node + board * g), 9) for g in range(1, GPUS + 1)))
            for kind, (_, board, node) in TYPES.items()
        },
        nodes=tuple(Node(id=f"n{i + 1}", gpu_type=kinds[i % len(kinds)], gpus=GPUS) for i in range(nodes)),
        jobs=tuple(made),
    )


def _times(network: str, epochs: int) -> dict[str, tuple[float, ...]]:
    """By Amdahl's law through the two profiled points of the V100."""
    one, two, _ = NETWORKS[network]
    serial = 2 * two / one - 1
    return {
        kind: tuple(round(epochs * one * slower * (serial + (1 - serial) / g), 3) for g in range(1, GPUS + 1))
        for kind, (slower, _, _) in TYPES.items()
    }
