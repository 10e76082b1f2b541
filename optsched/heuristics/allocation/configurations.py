"""Which configuration a job would like: the cheapest that meets its due date, else the fastest (ANDREAS, section IV-B)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.allocation.options import Options, options


@dataclass(frozen=True)
class Preferences:
    """Each known job's options in the order in which it would take them; shapes (J, C), padded with option -1.

    Attributes
    ----------
    option : index into `listed`. in_time : whether that option meets the due date; those come first, by energy, the
        late ones after them, by execution time. cost : energy of the option, for the random choice among the first ones.
    """

    listed: Options
    option: Ints
    in_time: Bools
    cost: Floats


def preferences(instance: AllocationInstance) -> Preferences:
    """Order the options of every job: D*_j by cost, then the rest by time."""
    listed = options(instance)
    late = listed.time_s + instance.now_s >= instance.columns.due_s[listed.job]
    order = np.lexsort((np.where(late, listed.time_s, listed.energy), late, listed.job))
    jobs = len(instance.known_jobs)
    begin = np.searchsorted(listed.job[order], np.arange(jobs + 1))
    width = int(np.diff(begin).max(initial=1))
    column = np.arange(len(order)) - begin[listed.job[order]]
    option = np.full((jobs, width), -1, dtype=np.int64)
    option[listed.job[order], column] = order
    there = option >= 0
    return Preferences(
        listed,
        option,
        there & ~np.where(there, late[option] if len(late) else False, True),
        np.where(there, listed.energy[option] if len(late) else 0.0, np.inf),
    )


def pressure(instance: AllocationInstance) -> Floats:
    """Delta_j = now + shortest time - due date, in seconds, shape (J,) (eq. 2)."""
    if not len(instance.known_jobs):
        return np.zeros(0)
    shortest = np.array([min(t for ts in j.time_s.values() for t in ts if t is not None) for j in instance.known_jobs])
    return np.asarray(instance.now_s + shortest - instance.columns.due_s, dtype=float)
