"""From scores to a decision: jobs by their best score, each as it scores best among what fits."""

from __future__ import annotations

import numpy as np

from optsched.heuristics.allocation.dispatch import fill
from optsched.instances.allocation import AllocationInstance
from optsched.problems.allocation.options import Options
from optsched.schedules.allocation import AllocationSchedule


def carried_out(snapshot: AllocationInstance, listed: Options, scores: np.ndarray) -> AllocationSchedule:
    """Jobs by their best score, each in the first of its ways, the best first, that fits on a node (best fit).

    Parameters
    ----------
    listed
        Ways to run the known jobs, n rows.
    scores
        Of each, shape (n,); a way that scores below 0 is not taken: the job waits. Of equals the first in `listed` goes first.
    """
    jobs = len(snapshot.known_jobs)
    best = np.full(jobs, -np.inf)
    np.maximum.at(best, listed.job, scores)
    begin = np.searchsorted(listed.job, np.arange(jobs + 1)).tolist()
    ranked = np.lexsort((-scores, listed.job)).tolist()
    wanted = (scores >= 0).tolist()
    order = [j for j in np.argsort(-best, kind="stable").tolist() if best[j] >= 0]
    return fill(snapshot, listed, order, lambda j: [o for o in ranked[begin[j] : begin[j + 1]] if wanted[o]])
