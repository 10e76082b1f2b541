"""What it may cost that an agent leaves less room than S0 does, when jobs come that nobody knows yet."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.rl.geo.rounds import Rounds

WINDOW_H = 4.0  # in which what is asked for can be served whenever there is room
ASKED = (0.7, 1.0, 2.0)  # times what has been asked for at a site of late: what may be
LEAST_ASKED = 0.3  # of a site's GPUs, whatever has come of late
LARGEST = 32

Lump = tuple[int, int, int, int]
"""A job that has come, and may come again: site, GPUs, duration, slots in which it may start."""


def largest(jobs: Iterable[Lump]) -> tuple[Lump, ...]:
    """The `LARGEST` of those that differ, by GPU-slots."""
    return tuple(sorted(set(jobs), key=lambda job: (-job[1] * job[2], job))[:LARGEST])


def crowded_out(rounds: Rounds, free: Ints, beside: Ints, asked: Floats) -> float:
    """USD that jobs to come earn less in what is free than in what would be beside it, with the worst of `ASKED` at each site.

    More room at one site makes up for less at another as far as it would be used anyway; the whole is 0 at least.

    Parameters
    ----------
    free, beside
        GPUs, shape (P, T), from the present on. Nobody can use the present slot any more.
    asked
        GPU-slots a slot, shape (P,).
    """
    slots, window = free.shape[1], max(1, round(WINDOW_H * rounds.network.hour))
    first = np.arange(0, slots, window)
    end = np.minimum(first + window, slots)
    room = np.add.reduceat(np.stack([free, beside]), first, axis=2).astype(float)
    room[:, :, 0] -= np.stack([free, beside])[:, :, 0]
    site = np.arange(rounds.sites)[:, None]
    rate = np.maximum(0.0, rounds.signals.upto(site, end) - rounds.signals.upto(site, first)) / (end - first)
    least = np.maximum(asked, LEAST_ASKED * rounds.network.gpus)[:, None] * (end - first)
    served = (rate * np.minimum(room, np.multiply.outer(ASKED, least)[:, None])).sum(axis=3)
    return max(0.0, float((served[:, 1] - served[:, 0]).max(axis=0).sum()))


def shut_out(rounds: Rounds, free: Ints, beside: Ints, jobs: Iterable[Lump]) -> float:
    """USD of the one of these jobs that is the greatest loss: that would fit in `beside` if it came now, and not in `free`."""
    slots, signals = free.shape[1], rounds.signals
    loss = 0.0
    for site, gpus, duration, slack in jobs:
        last = min(slack, slots - duration)
        if earliest(beside[site], gpus, duration, 1, last) is None or earliest(free[site], gpus, duration, 1, last) is not None:
            continue
        at = np.array([site, site])
        before, after = signals.upto(at, np.array([1, 1 + duration]))
        loss = max(loss, gpus * float(after - before))
    return loss


def earliest(free: Ints, gpus: int, duration: int, first: int, last: int) -> int | None:
    """The first slot from `first` to `last` from which so many GPUs are free for so long; free of shape (T,)."""
    if first > last:
        return None
    lacking = np.flatnonzero(free[first : last + duration] < gpus)
    if not len(lacking):
        return first
    gaps = np.diff(lacking, prepend=-1, append=last + duration - first) - 1
    for i in np.flatnonzero(gaps >= duration).tolist():
        start = first + (0 if i == 0 else int(lacking[i - 1]) + 1)
        return start if start <= last else None
    return None
