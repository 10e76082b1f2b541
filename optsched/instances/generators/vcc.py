"""A data centre under a cap for any number of days: daily waves of carbon, inflexible load and submissions."""

from __future__ import annotations

import numpy as np

from optsched.errors import OptschedError, expect
from optsched.instances.vcc import Job, VccInstance

LARGEST_SHARE = 0.25  # of what is free, for one job
ROUNDS = 30
MEAN_HOURS, MARGIN = 2.0, 1.5  # of a job within the horizon; for drawing shorter ones


def vcc(
    days: int = 7,
    jobs: int = 1000,
    capacity: float = 42.0,
    load: float = 0.7,
    penalty: float = 1.0,
    preempt: bool = False,
    seed: int = 0,
) -> VccInstance:
    """Flexible jobs with heavy-tailed durations over hourly slots.

    Parameters
    ----------
    jobs : in all. load : flexible NCU-hours, cut at the horizon, over what the inflexible load leaves; above 0.9 queues are
    long. penalty : of a late, an unfinished and a day's missing NCU-hour, in kg.

    Notes
    -----
    Carbon falls around noon and rises in the evening, as in California. A fifth of the capacity is inflexible on average. Most
    jobs last an hour or two, a few for days (log-normal), as in Google's trace. A job takes at most a quarter of what is free.
    """
    expect(1, 3650, days=days)
    expect(1, 10**6, jobs=jobs)
    expect(1e-3, 100, load=load)
    expect(1e-6, 1e9, capacity=capacity)
    expect(0, 1e6, penalty=penalty)
    rng = np.random.default_rng(seed)
    slots = 24 * days
    hour = np.arange(slots) % 24
    sun = np.exp(-(((hour - 12.5) / 3.0) ** 2))
    evening = np.exp(-(((hour - 20.0) / 2.5) ** 2))
    weather = np.repeat(rng.uniform(0.5, 1.0, days), 24)
    carbon = np.clip(0.22 - 0.14 * sun * weather + 0.12 * evening + rng.normal(0, 0.01, slots), 0.02, None)
    inflexible = capacity * np.clip(0.2 + 0.07 * np.sin(2 * np.pi * (hour - 9) / 24) + rng.normal(0, 0.01, slots), 0.02, 0.6)
    rate = 1 + 0.8 * np.sin(2 * np.pi * (np.arange(slots) % 24 - 8) / 24)
    submitted = np.sort(rng.choice(slots, jobs, p=rate / rate.sum()))
    duration = np.clip(np.ceil(rng.lognormal(0.0, 1.1, jobs)), 1, 120).astype(int)
    ncu = rng.lognormal(0.0, 0.8, jobs)
    free = float((capacity - inflexible).sum())
    inside = np.minimum(duration, slots - submitted)
    largest = LARGEST_SHARE * float((capacity - inflexible).min())
    for _ in range(ROUNDS):  # what is cut from the largest jobs goes to the others
        ncu *= load * free / float((ncu * inside).sum())
        ncu = np.clip(ncu, 1e-6 * capacity, largest)
    if float((ncu * inside).sum()) < 0.99 * load * free:
        enough = int(np.ceil(MARGIN * load * free / (largest * MEAN_HOURS)))
        possible = largest * float(inside.sum()) / free / 1.1  # with some room for the rounds above
        raise OptschedError(
            f"{jobs} jobs cannot ask for a load of {load:g} over {days} days: "
            f"take about {enough} jobs, or a load of {possible:.2g}"
        )
    columns = (submitted.tolist(), duration.tolist(), [float(f"{n:.9g}") for n in ncu.tolist()])
    return VccInstance(
        name=f"vcc-D{days}-J{jobs}-l{load:g}{'-preempt' if preempt else ''}-s{seed}",
        meta={"generator": "vcc", "load": load, "penalty": penalty, "seed": seed},
        capacity_ncu=capacity,
        carbon_kg_per_kwh=tuple(np.round(carbon, 6).tolist()),
        inflexible_ncu=tuple(np.round(inflexible, 6).tolist()),
        delay_penalty_per_ncu_h=penalty,
        daily_penalty_per_ncu_h=penalty,
        unfinished_penalty_per_ncu_h=penalty,
        preempt=preempt,
        jobs=tuple(Job(id=f"j{i}", submitted=s, duration=d, ncu=n) for i, (s, d, n) in enumerate(zip(*columns, strict=True))),
    )
