"""The rolling policy's rule: what starting a job now gains over every later start, where capacity has prices."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.rl.deferrable.state import Seen


def gain(seen: Seen, prices: Floats) -> Floats:
    """By how much starting now beats every later start, and none at all, at those prices; relative to the work, shape (J,).

    Minus 1 for jobs that may not start now.

    Parameters
    ----------
    prices
        Core-slots that a core costs in each slot from the present on, shape (T,).
    """
    paid = np.concatenate([[0.0], np.cumsum(prices)])
    found = np.full(len(seen.cores), -1.0)
    rows = np.flatnonzero(seen.open)
    length, size = seen.duration[rows], seen.cores[rows]
    last = np.minimum(seen.latest[rows], len(prices) - length)
    start = np.arange(int(last.max(initial=0)) + 1)
    ends = np.minimum(start + length[:, None], len(prices))
    late = seen.delay_penalty * (seen.waited[rows, None] + start)
    net = (size * length)[:, None] - late - size[:, None] * (paid[ends] - paid[start])
    later = np.where((start > 0) & (start <= last[:, None]), net, 0.0).max(axis=1, initial=0.0)
    found[rows] = (net[:, 0] - later) / (size * length)
    return np.asarray(np.clip(found, -1.0, 1.0))
