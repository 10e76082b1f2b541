"""Windows: the jobs near a slot chosen anew, exactly, all others as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optsched.decomposition.pricing import NEAR, Pricing
from optsched.decomposition.restricted_mip import solve_restricted_mip
from optsched.instances.base import Ints
from optsched.monitor import Monitor
from optsched.problems.packing import NONE, Packing

GAP, NODES = 1e-4, 1


def reoptimise_window(
    pricing: Pricing, packing: Packing, slot: int, most: int, rng: np.random.Generator, outer: Monitor
) -> None:
    """Choose the options of the `most` jobs nearest to a slot anew, among their pool and what they have."""
    p = pricing.program
    jobs = _near(pricing, packing, slot, most, rng)
    inside = np.zeros(len(p.demand), dtype=bool)
    inside[jobs] = True
    has = packing.option[jobs]
    has = np.sort(has[has != NONE])
    keep = pricing.pool & inside[p.job]
    keep[has] = True
    rows = np.flatnonzero(keep)
    if not len(rows):
        return
    first, last = int(p.start[rows].min()), int((p.start[rows] + p.duration[p.job[rows]]).max())
    renamed, job = np.unique(p.job[rows], return_inverse=True)
    free = packing.residual_capacity + p.load(has)
    if p.overload_price is not None:
        free = np.maximum(free, 0.0)  # what others overload is paid whatever the window does
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


def _near(pricing: Pricing, packing: Packing, slot: int, most: int, rng: np.random.Generator) -> Ints:
    """Jobs that could pay, the nearest to the slot in their own lengths first."""
    p = pricing.program
    could = np.flatnonzero(pricing.some & (pricing.density * p.duration * p.demand > -NEAR * pricing.worth))
    option = packing.option[could]
    begin = np.where(option != NONE, p.start[option], pricing.first[could])
    end = np.where(option != NONE, begin + p.duration[could], pricing.last[could])
    away = np.maximum(0, np.maximum(begin - slot, slot - end)) + np.abs((begin + end) / 2 - slot) / 4
    away = away * rng.uniform(0.5, 1.5, len(could))
    half = max(10, len(could) // 2)  # a window of all jobs would be the same every time
    return could[np.argsort(away, kind="stable")[: min(most, half)]]
