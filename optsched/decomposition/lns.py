"""Windows: the jobs near a slot chosen anew, exactly, all others as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optsched.decomposition.pricing import NEAR, Pricing
from optsched.decomposition.restricted_mip import solve_restricted_mip
from optsched.decomposition.share import Share
from optsched.instances.base import Bools, Floats, Ints
from optsched.monitor import Monitor
from optsched.problems.packing import NONE, Packing
from optsched.problems.time_indexed import ALMOST

GAP, NODES = 1e-4, 1
NOTHING = np.zeros(0, dtype=np.int64)
LOSS = 0.2  # of a chosen job's mean value: what a start that is flush may be behind the job's best


def reoptimise_window(
    pricing: Pricing, packing: Packing, slot: int, most: int, rng: np.random.Generator, outer: Monitor, share: Share
) -> None:
    """Choose the options of the `most` jobs nearest to a slot anew, among their pool and what they have, within a share.

    Where capacity is hard, starts and ends that are flush with others' (normal patterns) are in the pool too.
    """
    p = pricing.program
    jobs = _near(pricing, packing, slot, most, rng, share)
    has = packing.option[jobs]
    has = np.sort(has[has != NONE])
    theirs = np.concatenate([NOTHING, *(packing.rows(job) for job in np.sort(jobs).tolist())])
    free = packing.residual_capacity + p.load(has)
    if p.overload_price is None:
        wanted = _flush(pricing, packing, theirs, has, free)
    else:
        free = np.maximum(free, 0.0)  # what others overload is paid whatever the window does
        wanted = pricing.pool[theirs]
    rows = np.union1d(has, theirs[wanted & np.isin(p.place[theirs], share.places)])
    if not len(rows):
        return
    first, last = int(p.start[rows].min()), int((p.start[rows] + p.duration[p.job[rows]]).max())
    renamed, job = np.unique(p.job[rows], return_inverse=True)
    part = replace(
        p,
        job=job,
        place=p.place[rows],
        start=p.start[rows] - first,
        value=p.value[rows],
        demand=p.demand[renamed],
        duration=p.duration[renamed],
        capacity=free[:, first:last],
        constant=0.0,
    )
    start = np.searchsorted(rows, has)
    found = solve_restricted_mip(part, start, GAP, NODES, outer).chosen
    gained = part.objective(found) - part.objective(start)
    if gained <= 1e-12 * abs(packing.value):
        return
    value = packing.value + gained
    for option in has.tolist():
        packing.remove(int(p.job[option]))
    for option in rows[found].tolist():
        packing.insert(option, 0.0)
    packing.value = value


def _near(pricing: Pricing, packing: Packing, slot: int, most: int, rng: np.random.Generator, share: Share) -> Ints:
    """Jobs that could pay, the nearest to the slot in their own lengths first; of several places one's, and those that lose."""
    p = pricing.program
    pays = pricing.some & share.jobs & (pricing.density * p.duration * p.demand > -NEAR * pricing.worth)
    runs = packing.option != NONE
    if len(p.capacity) > 1:
        there = runs & (p.place[packing.option] == rng.choice(share.places))
        pays &= (pricing.regret(packing) > 0) | there
    could = np.flatnonzero(pays)
    option = packing.option[could]
    begin = np.where(option != NONE, p.start[option], pricing.first[could])
    end = np.where(option != NONE, begin + p.duration[could], pricing.last[could])
    away = np.maximum(0, np.maximum(begin - slot, slot - end)) + np.abs((begin + end) / 2 - slot) / 4
    away = away * rng.uniform(0.5, 1.5, len(could))
    half = max(10, len(could) // 2)  # a window of all jobs would be the same every time
    return could[np.argsort(away, kind="stable")[: min(most, half)]]


def _flush(pricing: Pricing, packing: Packing, rows: Ints, has: Ints, free: Floats) -> Bools:
    """Which of these options fit beside the others and are of the pool, or begin or end where others, or they, do."""
    p = pricing.program
    job, place, start = p.job[rows], p.place[rows], p.start[rows]
    end = start + p.duration[job]
    edge = np.ones((len(free), free.shape[1] + 1), dtype=bool)
    edge[:, 1:-1] = np.diff(packing.residual_capacity, axis=1) != 0
    edge[p.place[has], p.start[has]] = edge[p.place[has], p.start[has] + p.duration[p.job[has]]] = True
    mean = abs(packing.value - p.constant) / max(1, int((packing.option != NONE).sum()))
    behind = pricing.earns[job] - pricing.reduced[rows]
    keep = pricing.pool[rows] | ((behind <= LOSS * mean) & (edge[place, start] | edge[place, end]))
    return np.asarray(keep & _fits(free, p.demand[job], place, start, end))


def _fits(free: Floats, demand: Floats, place: Ints, start: Ints, end: Ints) -> Bools:
    fits = np.ones(len(demand), dtype=bool)
    lacks = np.zeros((len(free), free.shape[1] + 1), dtype=np.int64)
    for asked in np.unique(demand):
        mine = demand == asked
        np.cumsum(free < asked - ALMOST, axis=1, out=lacks[:, 1:])
        fits[mine] = lacks[place[mine], end[mine]] == lacks[place[mine], start[mine]]
    return fits
