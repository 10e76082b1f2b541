"""What goes wrong, drawn: exponential times to failure and repair, maintenance that is announced, cancelled jobs, estimates.

Exponential times between failures are the usual model of a node (B. Schroeder, G. A. Gibson, A large-scale study of failures in
high-performance computing systems, IEEE TDSC 7(4), 2010, find shorter ones after a failure, and repairs that last hours).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsched.errors import OptschedError, expect
from optsched.instances.base import Instance
from optsched.instances.events import Cancellation, Disturbed, Events, Kind, Outage, disturbed

MTBF_S, REPAIR_S = 86400.0, 7200.0
CANCELLED = 0.02
KINDS: Sequence[Kind] = ("fails", "fails", "drains", "less")  # half of a place's outages are failures


def draw_events(
    instance: Instance,
    *,
    mtbf_s: float = MTBF_S,
    repair_s: float = REPAIR_S,
    cancelled: float = CANCELLED,
    estimates: str = "true",
    seed: int = 0,
) -> Events:
    """Events of an instance.

    Parameters
    ----------
    mtbf_s
        Mean time until a place has an outage, seconds.
    repair_s
        Mean time that it takes, seconds.
    cancelled
        Share of the jobs that is cancelled, each some time after its submission.
    estimates
        The law of what is believed of durations.

    Returns
    -------
    Half of the outages are failures, which nobody knows the end of; the others drain a place, or take a part of it, until a
    time that is announced; each as far as the family knows it.

    Raises
    ------
    OptschedError
        The family knows no events, or a number makes no sense.
    """
    expect(1e-6, 1e12, mtbf_s=mtbf_s, repair_s=repair_s)
    expect(0, 1, cancelled=cancelled)
    if not isinstance(instance, Disturbed):
        raise OptschedError(f"{instance.problem} knows no events")
    submitted, end_s = instance.submissions_s, instance.ends_s
    begin_s = min(submitted.values(), default=0.0)
    kinds = [kind for kind in KINDS if kind in instance.troubles]
    rng = np.random.default_rng(seed)
    outages = []
    for place in instance.places:
        time = begin_s + rng.exponential(mtbf_s)
        while time < end_s:
            kind = kinds[int(rng.integers(len(kinds)))]
            back = time + max(1.0, rng.exponential(repair_s))
            at_s, back_s = round(float(time), 3), round(float(back), 3)
            share = round(float(rng.uniform(0.2, 0.8)), 3) if kind == "less" else None
            expected = None if kind == "fails" else back_s
            outages.append(Outage(place=place, kind=kind, at_s=at_s, back_s=back_s, expected_s=expected, share=share))
            time = back + rng.exponential(mtbf_s)
    chosen = [(job, at) for job, at in submitted.items() if "cancelled" in instance.troubles and rng.random() < cancelled]
    patience = max(1.0, (end_s - begin_s) / 10)
    gone = [Cancellation(job=job, at_s=round(float(at + rng.exponential(patience)), 3)) for job, at in chosen]
    made = Events(outages=tuple(outages), cancellations=tuple(gone), estimates=estimates)
    disturbed(instance, made)  # refuses what does not fit
    return made
