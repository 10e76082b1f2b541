"""OSDEC, section 5 and Table 4: three core distributions and three duration distributions under a daily capacity."""

from __future__ import annotations

import numpy as np

from optsched.errors import OptschedError, expect
from optsched.instances.deferrable import DeferrableInstance, Job

CORES = (1, 2, 4, 8)
CORE_CASES = {1: (0.51, 0.37, 0.08, 0.04), 2: (0.25, 0.25, 0.25, 0.25), 3: (0.4, 0.3, 0.2, 0.1)}
# six bins of slots, inclusive
DURATION_BINS = ((1, 2), (3, 4), (5, 8), (9, 12), (13, 18), (19, 24))
DURATION_CASES = {
    1: (1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6),
    2: (0.4, 0.25, 0.15, 0.1, 0.05, 0.05),
    3: (0.6, 0.25, 0.1, 0.05, 0.0, 0.0),
}


def osdec(
    core_case: int = 1,
    duration_case: int = 1,
    jobs: int = 200,
    horizon: int = 144,
    load: float = 1.1,
    window: int = 24,
    lead: int = 12,
    seed: int = 0,
    slot_s: float = 300.0,
    real_time: bool = False,
) -> DeferrableInstance:
    """Deferrable jobs and the capacity that on-demand work leaves.

    Parameters
    ----------
    core_case, duration_case : 1-3 of Table 4. load : the jobs' core-slots over the capacity's.
    window : mean of latest - earliest (geometric). lead : mean of earliest - submitted (geometric).
    real_time : every window shrunk to its earliest slot, where the job is also first known.

    Notes
    -----
    The paper gives the probabilities but neither sizes nor bins: sizes are 1, 2, 4, 8 cores, bins 1-2, 3-4, 5-8, 9-12, 13-18
    and 19-24 slots. Capacity is a daily wave (one period a horizon) with noise, in whole cores.
    """
    if core_case not in CORE_CASES or duration_case not in DURATION_CASES:
        raise OptschedError(f"core and duration cases are 1, 2 or 3, got {core_case} and {duration_case}")
    expect(1, 10**6, jobs=jobs)
    expect(2, 10**6, horizon=horizon)
    expect(1e-6, 1e6, load=load)
    expect(0, 10**9, window=window, lead=lead)
    rng = np.random.default_rng(seed)
    cores = rng.choice(CORES, jobs, p=CORE_CASES[core_case])
    low, high = np.array(DURATION_BINS)[rng.choice(6, jobs, p=DURATION_CASES[duration_case])].T
    duration = np.minimum(rng.integers(low, high, endpoint=True), horizon)
    earliest = rng.integers(0, np.maximum(1, horizon - duration + 1))
    submitted = np.maximum(0, earliest - _geometric(rng, lead, jobs))
    latest = earliest + _geometric(rng, window, jobs)
    if real_time:
        submitted, latest = earliest, earliest
    wave = 1 + 0.35 * np.sin(2 * np.pi * (np.arange(horizon) / horizon + rng.random())) + rng.normal(0, 0.06, horizon)
    wave = np.clip(wave, 0.2, None)
    capacity = np.maximum(1, np.round(wave / wave.sum() * float(cores @ duration) / load))
    columns = (cores, duration, earliest, latest, submitted)
    return DeferrableInstance(
        name=f"osdec-c{core_case}-d{duration_case}-J{jobs}-T{horizon}{'-rt' if real_time else ''}-s{seed}",
        meta={
            "generator": "osdec",
            "core_case": core_case,
            "duration_case": duration_case,
            "load": load,
            "seed": seed,
        },
        slot_s=slot_s,
        capacity=tuple(capacity.tolist()),
        delay_penalty=2.0,
        overload_penalty=10.0,
        jobs=tuple(
            Job(id=f"j{i}", cores=float(c), duration=d, earliest=e, latest=late, submitted=s)
            for i, (c, d, e, late, s) in enumerate(zip(*(column.tolist() for column in columns), strict=True))
        ),
    )


def _geometric(rng: np.random.Generator, mean: float, size: int) -> np.ndarray:
    return rng.geometric(1 / (mean + 1), size) - 1
