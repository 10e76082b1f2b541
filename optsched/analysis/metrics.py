"""The trade's figures of merit: wait, slowdown, makespan and utilisation of a realised schedule.

They are no objective of the house: a policy that minimises cost may well let jobs wait. Sources: D. G. Feitelson, L. Rudolph,
U. Schwiegelshohn, K. C. Sevcik and P. Wong, Theory and practice in parallel job scheduling, JSSPP 1997 (bounded slowdown);
D. G. Feitelson and L. Rudolph, Metrics and benchmarking for parallel job scheduling, JSSPP 1998 (wait, response, slowdown,
makespan, utilisation).
"""

from __future__ import annotations

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.rolling.online import online_of
from optsched.rolling.served import Served, served
from optsched.schedules.base import Schedule

THRESHOLD_S = 10.0  # of the bounded slowdown: a shorter job counts as if it took so long
METRICS = ("mean_wait_s", "p95_wait_s", "mean_slowdown", "mean_bounded_slowdown", "makespan_s", "utilisation")


def metrics(instance: Instance, schedule: Schedule | None) -> dict[str, float] | None:
    """Figures of merit of what happened, over the jobs that were run.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What happened: a realised schedule, of a replay or offline.

    Returns
    -------
    dict or None
        None where the family has no waiting jobs, where the schedule is a snapshot's proxy, or where no job was run; else

        - ``mean_wait_s``, ``p95_wait_s``: start less the time at which the job could have begun, its mean and 95th percentile
          (by linear interpolation), in seconds (Feitelson and Rudolph 1998). A job that may not begin before a time is ready
          then; one in transit between sites waits.
        - ``mean_slowdown``: the mean of (end - ready) / run time, 1 for a job that never waits (ibid.); the run time is that of
          the configuration in which it did run.
        - ``mean_bounded_slowdown``: the mean of max(1, (end - ready) / max(run time, 10 s)), so that very short jobs do not
          decide it (Feitelson et al. 1997; the threshold of 10 s is the usual one).
        - ``makespan_s``: from the first job that was ready to the last end, in seconds (Feitelson and Rudolph 1998).
        - ``utilisation``: units in use times seconds, of the units that jobs may use in that time (ibid.); above 1 where a
          capacity may be exceeded. Time beyond an instance's horizon does not count.
    """
    found = None if schedule is None else _served(instance, schedule)
    if found is None or not len(found.start_s):
        return None
    response, wait = found.end_s - found.ready_s, found.start_s - found.ready_s
    first, last = float(found.ready_s.min()), float(found.end_s.max())
    bounded = np.maximum(1.0, response / np.maximum(found.run_s, THRESHOLD_S))
    values = (
        wait.mean(),
        np.quantile(wait, 0.95),
        (response / found.run_s).mean(),
        bounded.mean(),
        last - first,
        _utilisation(found, first, last),
    )
    return {name: float(value) for name, value in zip(METRICS, values, strict=True)}


def _served(instance: Instance, schedule: Schedule) -> Served | None:
    try:
        online_of(instance.problem)  # its package registers what it has
    except OptschedError:
        return None
    return served(instance, schedule)


def _utilisation(found: Served, first: float, last: float) -> float:
    last = min(last, float(found.edges_s[-1]))
    edges = np.clip(found.edges_s, first, last)
    begin, end = np.clip(found.pieces[:, 0], first, last), np.clip(found.pieces[:, 1], first, last)
    available = float(found.capacity @ np.diff(edges))
    return float(found.pieces[:, 2] @ (end - begin)) / available if available > 0 else 0.0
