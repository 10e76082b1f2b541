"""deferrable: dispatch rules (FIFO, SJF, Tetris) and a greedy over all jobs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optsched.decomposition.construct import EVERY, construct
from optsched.instances.base import Floats, Ints
from optsched.instances.deferrable import DeferrableInstance
from optsched.models.deferrable import program, to_schedule
from optsched.models.time_indexed import Program
from optsched.schedules.deferrable import DeferrableSchedule, Start
from optsched.stop import Spare

FEW = 40  # options a job


def greedy(instance: DeferrableInstance, seed: int = 0, *, spare: Spare | None = None) -> DeferrableSchedule:
    """Jobs by earliest slot, the larger first, each where it earns most after the overload that it adds."""
    options = program(instance)
    order = np.lexsort((-options.demand * options.duration, instance.columns.earliest))
    few = len(options) <= FEW * len(order)
    chosen = _placed(options, order, spare) if few else construct(options, order, spare=spare)
    return to_schedule(instance, options, chosen)


def _placed(options: Program, order: Ints, spare: Spare | None) -> Ints:
    """What `construct` chooses, for options whose value falls with the start.

    A job's search ends at the first start that overloads nothing: too soon for arrays to pay, where jobs have few options.
    """
    begins = np.searchsorted(options.job, np.arange(len(order) + 1)).tolist()
    columns = (options.start, options.value, options.demand, options.duration)
    start, value, demand, duration = (column.tolist() for column in columns)
    left: list[float] = options.capacity[0].tolist()
    price, chosen = options.overload_price or 0.0, []
    for i, job in enumerate(order.tolist()):
        if spare is not None and i and i % EVERY == 0 and not spare():
            break
        first, last = begins[job], begins[job + 1]
        if first == last:
            continue
        cores, slots, at = demand[job], duration[job], start[first]
        lacks = sum([cores - max(0.0, free) for free in left[at : at + slots] if free < cores])
        best, net = first, value[first] - price * lacks
        for option in range(first + 1, last):
            if lacks <= 0 or value[option] <= net:
                break
            lacks += max(0.0, cores - max(0.0, left[at + slots])) - max(0.0, cores - max(0.0, left[at]))
            at += 1
            if value[option] - price * lacks > net:
                best, net = option, value[option] - price * lacks
        if net > 0:
            chosen.append(best)
            for slot in range(start[best], start[best] + slots):
                left[slot] -= cores
    return np.sort(np.array(chosen, dtype=np.int64))


Rank = Callable[[DeferrableInstance], Floats]
"""Order of the jobs, shape (J,): the least first."""


def dispatch(
    instance: DeferrableInstance,
    seed: int = 0,
    *,
    rank: Rank,
    slots: int | None = None,
    spare: Spare | None = None,
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
    starts = []
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


def rule(rank: Rank, slots: int | None = None) -> Callable[[DeferrableInstance, int], DeferrableSchedule]:
    """The rule as a heuristic."""

    made = partial(dispatch, rank=rank, slots=slots)
    made.__doc__ = rank.__doc__
    return made


HEURISTICS = {"greedy": greedy, **{name: rule(rank) for name, rank in RULES.items()}}
