"""What is believed of durations: users' estimates are wrong by multiples, and what has outlived its own is believed anew.

A job that has run for as long as was believed is believed to take twice as long (D. Tsafrir, Y. Etsion, D. G. Feitelson,
Backfilling using system-generated predictions rather than user runtime estimates, IEEE TPDS 18(6), 2007, section 3: predictions
that prove too short must be corrected).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp

import numpy as np

from optsched.instances.base import Floats, Instance, Ints
from optsched.instances.events import Named, events_of, sigma_of
from optsched.instances.runs import Run
from optsched.rolling.forecast import noise_seed

LEAST, MOST = 1e-3, 1e3  # multiples
OUTLIVED = 1e-6  # relative: a job so near to the end believed of it has outlived it


def multiples(truth: Instance, jobs: Sequence[Named], seed: int) -> Floats | None:
    """What each job is believed to take when it is submitted, as a multiple of what it does, shape (J,); None: it is known."""
    events = events_of(truth)
    if events is None or not (events.believed or events.estimates != "true"):
        return None
    sigma = sigma_of(events.estimates)
    if sigma is None:
        found = np.array([job.estimate for job in jobs], dtype=float)
    else:
        drawn = np.random.default_rng(noise_seed(seed, truth, "estimates")).standard_normal(len(jobs))
        found = np.clip([exp(sigma * z) for z in drawn.tolist()], LEAST, MOST)
    index = {job.id: j for j, job in enumerate(jobs)}
    for one in events.believed:
        found[index[one.job]] = one.multiple
    return found


def in_slots(duration: Ints, multiple: Floats | None) -> Ints:
    """Whole slots that jobs are believed to take, shape (J,)."""
    return duration if multiple is None else np.maximum(1, np.rint(duration * multiple)).astype(np.int64)


def corrected(believed: float, passed: float) -> float:
    """What a job is believed to take that has run for so long: doubled until that is longer."""
    while believed <= passed * (1 + OUTLIVED):
        believed *= 2
    return believed


def told_load(runs: Iterable[Run], places: Sequence[str | None], slots: int) -> Floats:
    """Units that runs take by place and slot from now on, if they end when they are told to, shape (P, slots)."""
    index = {name: n for n, name in enumerate(places)}
    found = np.zeros((len(places), slots))
    for run in runs:
        found[index[run.place], : int(corrected(run.told, run.took)) - run.took] += run.units
    return found
