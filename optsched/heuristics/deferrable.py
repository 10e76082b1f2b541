"""deferrable: dispatch rules (FIFO, SJF, Tetris) and a greedy over all jobs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optsched.family import Heuristic
from optsched.heuristics.serial_sgs import EVERY, serial_sgs
from optsched.instances.base import Floats
from optsched.instances.deferrable import DeferrableInstance
from optsched.problems.deferrable import time_indexed, to_schedule
from optsched.schedules.deferrable import DeferrableSchedule, Start
from optsched.stop import Spare

FEW = 40  # options a job


def greedy(instance: DeferrableInstance, seed: int = 0, *, spare: Spare | None = None) -> DeferrableSchedule:
    """Jobs by earliest slot, the larger first, each where it earns most after the overload that it adds."""
    jobs = instance.columns
    order = np.lexsort((-jobs.cores * jobs.duration, jobs.earliest))
    last = np.minimum(jobs.latest, instance.horizon - jobs.duration)
    if int(np.maximum(0, last - jobs.earliest + 1).sum()) > FEW * len(order):
        options = time_indexed(instance)
        return to_schedule(instance, options, serial_sgs(options, order, spare=spare))
    return _placed(instance, order.tolist(), last.tolist(), spare)


def _placed(instance: DeferrableInstance, order: list[int], last: list[int], spare: Spare | None) -> DeferrableSchedule:
    """What `construct` chooses, without arrays: the value falls with the start, so a search ends where nothing is overloaded.

    That is too soon for arrays to pay, where jobs have few options.
    """
    jobs, price, delay = instance.columns, instance.overload_penalty, instance.delay_penalty
    work, since = (jobs.cores * jobs.duration).tolist(), (jobs.earliest - jobs.waited).tolist()
    columns = (jobs.earliest, jobs.cores, jobs.duration)
    earliest, cores, duration = (column.tolist() for column in columns)
    left: list[float] = instance.capacity_cores.tolist()
    found = [-1] * len(order)
    for i, job in enumerate(order):
        if spare is not None and i and i % EVERY == 0 and not spare():
            break
        at, size, slots = earliest[job], cores[job], duration[job]
        if last[job] < at:
            continue
        lacks = sum([size - max(0.0, free) for free in left[at : at + slots] if free < size])
        best, net = at, work[job] - delay * (at - since[job]) - price * lacks
        for start in range(at + 1, last[job] + 1):
            value = work[job] - delay * (start - since[job])
            if lacks <= 0 or value <= net:
                break
            lacks += max(0.0, size - max(0.0, left[start + slots - 1])) - max(0.0, size - max(0.0, left[start - 1]))
            if value - price * lacks > net:
                best, net = start, value - price * lacks
        if net > 0:
            found[job] = best
            for slot in range(best, best + slots):
                left[slot] -= size
    starts = (Start(job=job.id, start=start) for job, start in zip(instance.jobs, found, strict=True) if start >= 0)
    return DeferrableSchedule(starts=tuple(starts))


Rank = Callable[[DeferrableInstance], Floats]
"""Order of the jobs, shape (J,): the least first."""


def dispatch(
    instance: DeferrableInstance, rank: Rank, slots: int | None = None, spare: Spare | None = None
) -> DeferrableSchedule:
    """Slot by slot, the jobs in their windows by rank, each started if it fits from there to its end (back-filling).

    A job that has waited so long that it earns nothing is left out.

    Parameters
    ----------
    slots : only the first so many; a replay needs the present one. spare : the slots until time is out.
    """
    jobs, left = instance.columns, instance.capacity_cores.copy()
    longest = int(jobs.duration.max(initial=1))
    last = np.minimum(jobs.latest, instance.horizon - jobs.duration)
    if instance.delay_penalty > 0:
        worth = np.ceil(jobs.cores * jobs.duration / instance.delay_penalty)  # slots of delay that eat it up
        worth = np.minimum(worth, instance.horizon + jobs.waited).astype(np.int64)
        last = np.minimum(last, jobs.earliest - jobs.waited + worth - 1)
    ranked = np.argsort(rank(instance), kind="stable")
    came = np.argsort(jobs.earliest[ranked], kind="stable")  # places in the ranking, by arrival
    upto = np.searchsorted(jobs.earliest[ranked][came], np.arange(instance.horizon + 1)).tolist()
    waiting = np.zeros(0, dtype=np.int64)
    starts: list[Start] = []
    for slot in range(min(slots or instance.horizon, instance.horizon)):
        if spare is not None and starts and not spare():
            break
        waiting = np.sort(np.concatenate([waiting, came[upto[slot] : upto[slot + 1]]]))
        waiting = waiting[last[ranked[waiting]] >= slot]
        here = ranked[waiting]
        ahead = np.minimum.accumulate(left[slot : slot + longest])  # what is free from here on for so many slots
        begun = []
        for j in here[jobs.cores[here] <= ahead[jobs.duration[here] - 1] + 1e-9].tolist():
            window = left[slot : slot + int(jobs.duration[j])]
            if window[0] < 1e-9:
                break
            if (window >= jobs.cores[j] - 1e-9).all():
                window -= jobs.cores[j]
                begun.append(j)
                starts.append(Start(job=instance.jobs[j].id, start=slot))
        if begun:
            waiting = waiting[~np.isin(here, begun)]
    return DeferrableSchedule(starts=tuple(starts))


def fifo(instance: DeferrableInstance) -> Floats:
    """First in, first out: by submission."""
    return np.asarray(instance.columns.submitted, dtype=float)


def sjf(instance: DeferrableInstance) -> Floats:
    """Shortest job first."""
    return np.asarray(instance.columns.duration, dtype=float)


def tetris(instance: DeferrableInstance) -> Floats:
    """Tetris: the job that packs best (its cores times those free, so the largest that fits) first, the shorter on a tie."""
    jobs = instance.columns
    return np.asarray(-jobs.cores + jobs.duration / (jobs.duration.max(initial=0) + 1) * 1e-6, dtype=float)


RULES: dict[str, Rank] = {"fifo": fifo, "sjf": sjf, "tetris": tetris}


class Ruled:
    """A rule as a heuristic; one that can be pickled, for budgets."""

    def __init__(self, rank: Rank, slots: int | None) -> None:
        self.rank, self.slots = rank, slots
        self.__doc__ = rank.__doc__

    def __call__(self, instance: DeferrableInstance, seed: int = 0, *, spare: Spare | None = None) -> DeferrableSchedule:
        """Dispatch the jobs."""
        return dispatch(instance, self.rank, self.slots, spare)


def rule(rank: Rank, slots: int | None = None) -> Heuristic[DeferrableInstance, DeferrableSchedule]:
    """The rule as a heuristic."""
    return Ruled(rank, slots)


HEURISTICS: dict[str, Heuristic[DeferrableInstance, DeferrableSchedule]] = {
    "greedy": greedy,
    **{name: rule(rank) for name, rank in RULES.items()},
}
