"""The cheapest staircase of the known jobs, for a day that will ask for more than so far.

What the rest of a day will submit is not known: each past day's remainder after that hour is one of equally likely futures,
and so is twice the largest (on the first day: multiples of the mean of the hours so far), and the penalty for the caps that the
day then lacks is the mean over them. The caps that a plan's last staircase would have had stand in for those of the next.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsched.decomposition.vcc.relaxation import StaircaseRelaxation
from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.problems.vcc import Staircase, round_down_to_feasible

FIRST_DAY = np.array([1.0, 2.0, 4.0, 8.0])  # of the mean so far: nothing else is known
WORSE = 2.0  # than the worst day so far may be the next, with the weight of one day (Laplace's rule of succession)
ROUNDS = 3  # of guessing what a day's caps add up to


def rest_of_day(today: Sequence[float], past: Sequence[float], left: int) -> Floats:
    """NCU-hours that the rest of a day may submit, shape (futures,).

    Parameters
    ----------
    today
        What its slots so far have submitted.
    past
        What earlier days submitted after that slot.
    left
        Slots of the day to come.
    """
    return np.array([*past, WORSE * max(past)]) if past else sum(today) / len(today) * left * FIRST_DAY


def planned_cap(snapshot: VccInstance, coming: Floats) -> float:
    """The first cap of the plan that costs least in the mean over what the rest of the day may ask for.

    Parameters
    ----------
    snapshot
        Its jobs are all that is known.
    coming
        NCU-hours that the slots of today to come may submit, shape (futures,), equally likely.
    """
    known = snapshot.daily_fraction * snapshot.asked[0]
    snapshot = snapshot.model_copy(update={"asked_ncu_h": snapshot.asked_ncu_h + float(coming.max(initial=0.0))})
    relaxed, penalty = StaircaseRelaxation(snapshot), snapshot.daily_penalty_per_ncu_h
    asked = known + snapshot.daily_fraction * coming  # of today, by future
    most = snapshot.daily_fraction * snapshot.asked[0]

    def lacking(given: Floats) -> Floats:
        """Mean penalty of today over the futures, beyond that of the largest one, by what the caps give."""
        mean = np.maximum(0.0, asked[:, None] - given).mean(axis=0)
        return np.asarray(penalty * (mean - np.maximum(0.0, most - given)))

    def expected(stairs: Staircase) -> float:
        today = float(stairs.cap[snapshot.day == 0].sum()) * snapshot.capacity_ncu * snapshot.slot_h
        return stairs.cost() + float(lacking(np.array([today + snapshot.allotted_ncu_h]))[0])

    best = round_down_to_feasible(snapshot, snapshot.arrived.astype(float))
    least, sums = expected(best), relaxed.range[0][:, 0]
    for _ in range(ROUNDS):
        cost = relaxed.lacking(sums)
        cost[0] += lacking(sums[0] + most - relaxed.asked[0])
        path = relaxed.with_daily(np.zeros(snapshot.horizon), cost)
        stairs = round_down_to_feasible(snapshot, path.started.astype(float))
        value = expected(stairs)
        if value < least:
            best, least = stairs, value
        sums = stairs.filled
    return float(best.cap[0])
