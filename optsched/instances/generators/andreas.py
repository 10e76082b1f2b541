"""ANDREAS, section V-B: N nodes, half V100 half T4, J = 10 N jobs, high or mixed arrival rate."""

from __future__ import annotations

from typing import Literal

import numpy as np

from optsched.errors import OptschedError, expect
from optsched.instances.allocation import AllocationInstance, GpuType, Job, Node

# GPUs of a V100 and of a T4 node
CASES = {1: (2, 1), 2: (4, 2)}

# seconds per epoch with 1 and 2 V100, and with 1 T4, as profiled for Table V
NETWORKS = {
    "LSTM-big": (43.0842, 30.5512, 110.7112),
    "LSTM-small": (43.0261, 30.5871, 110.6581),
    "EfficientNet": (51.6221, 41.2372, 88.9881),
    "ConvNet": (20.5382, 17.8042, 41.2582),
}
EPOCHS = (60, 80, 120, 160, 240, 320)

# EUR per hour with 1..4 V100 or 1..2 T4 in use: section V-A, 0.17168313 EUR/kWh, PUE 1.33
COSTS = {
    "V100": (0.121019438337, 0.15983699403, 0.198654549723, 0.237472105416),
    "T4": (0.09133542516, 0.109602510192),
}
CLUSTER = 10  # jobs that share an arrival rate


def andreas(
    case: int = 1,
    nodes: int = 10,
    jobs: int | None = None,
    rate: Literal["high", "mixed"] = "high",
    seed: int = 0,
    all_submitted: bool = False,
    first_ending: Literal["earliest", "cheapest"] = "earliest",
    use_all_nodes: bool = True,
) -> AllocationInstance:
    """A cluster and its jobs, as the authors' generator draws them.

    Parameters
    ----------
    case : 1 (2 GPUs a V100 node, 1 a T4 node) or 2 (4 and 2). jobs : 10 * nodes unless given.
    rate : exponential gaps with the mean of each group of ten jobs; high = nodes * G / fastest one-GPU time / 2.5 a
        second, mixed = a quarter of that for every other group.
    all_submitted : set now to the last submission, so that a single solve sees every job.

    Notes
    -----
    Due dates: submission + uniform(fastest, slowest) time; weights uniform in [0.02537, 0.04440] EUR/s; postponement
    penalty 100. Times with more GPUs than were profiled follow Amdahl's law through the profiled points.
    """
    if case not in CASES:
        raise OptschedError(f"case must be 1 or 2, got {case}")
    expect(1, 10**5, nodes=nodes)
    expect(1, 10**6, jobs=jobs)
    rng = np.random.default_rng(seed)
    count = 10 * nodes if jobs is None else jobs
    v100, t4 = CASES[case]
    listed = tuple(
        Node(id=f"n{i + 1}", gpu_type="V100" if i % 2 == 0 else "T4", gpus=v100 if i % 2 == 0 else t4) for i in range(nodes)
    )
    networks = rng.choice(list(NETWORKS), count)
    epochs = rng.choice(EPOCHS, count)
    times = [_times(str(n), int(e), v100, t4) for n, e in zip(networks, epochs, strict=True)]
    submitted = submissions(rng, np.array([t["V100"][0] for t in times]), nodes * max(v100, t4), rate)
    made = []
    for i, (time, submit) in enumerate(zip(times, submitted.tolist(), strict=True)):
        every = [t for ts in time.values() for t in ts]
        made.append(
            Job(
                id=f"J{i + 1}",
                submit_s=submit,
                due_s=round(submit + rng.uniform(min(every), max(every)), 3),
                weight_per_s=round(float(rng.uniform(0.0253709514, 0.0443991650)), 6),
                time_s=dict(time),
            )
        )
    return AllocationInstance(
        name=f"andreas-{case}-N{nodes}-J{count}-{rate}-s{seed}",
        meta={"generator": "andreas", "case": case, "rate": rate, "seed": seed},
        currency="EUR",
        now_s=float(submitted.max()) if all_submitted else 0.0,
        scheduling_interval_s=300.0,
        postponement_penalty=100.0,
        first_ending=first_ending,
        use_all_nodes=use_all_nodes,
        gpu_types={
            "V100": GpuType(node_cost_per_h=COSTS["V100"]),
            "T4": GpuType(node_cost_per_h=COSTS["T4"]),
        },
        nodes=listed,
        jobs=tuple(made),
    )


def _times(network: str, epochs: int, v100: int, t4: int) -> dict[str, tuple[float, ...]]:
    one, two, turing = NETWORKS[network]
    serial = 2 * two / one - 1
    return {
        kind: tuple(round(epochs * base * (serial + (1 - serial) / g), 3) for g in range(1, most + 1))
        for kind, base, most in (("V100", one, v100), ("T4", turing, t4))
    }


def submissions(rng: np.random.Generator, fastest: np.ndarray, gpus: int, rate: str) -> np.ndarray:
    """Submission times: jobs in groups of ten, each group with its own rate, one group after the other."""
    if rate not in ("high", "mixed"):
        raise OptschedError(f"rate must be high or mixed, got {rate!r}")
    group = np.arange(len(fastest)) // CLUSTER
    slower = 4 if rate == "mixed" else 1
    gaps = np.empty(len(fastest))
    for k in range(group[-1] + 1):
        members = group == k
        per_s = float(np.mean(gpus / fastest[members])) / 2.5 / (slower if k % 2 else 1)
        gaps[members] = rng.exponential(1 / per_s, members.sum())
    gaps[0] = 0.0
    return np.round(np.cumsum(gaps), 3)
