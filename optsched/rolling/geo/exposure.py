"""What it may cost that an agent leaves less room than S0 does, when jobs come that nobody knows yet."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.rl.geo.rounds import Rounds
from optsched.rolling.geo.beside import Lump, earliest

WINDOW_H = 4.0  # in which what is asked for can be served whenever there is room
ASKED = (0.7, 1.0, 2.0)  # times what has been asked for at a site of late: what may be
LEAST_ASKED = 0.3  # of a site's GPUs, whatever has come of late


def crowded_out(rounds: Rounds, free: Ints, beside: Ints, asked: Floats) -> float:
    """USD that jobs to come earn less in what is free than in what would be beside it, with the worst of `ASKED` at each site.

    More room at another site or in another window makes up for less as far as it would be used in any case; it is nothing to
    be had by itself: the whole is 0 at least.

    Parameters
    ----------
    free, beside
        GPUs, shape (P, T), from the present slot on, which nobody can use any more.
    asked
        GPU-slots a slot, shape (P,).
    """
    slots, window = free.shape[1], max(1, round(WINDOW_H * rounds.network.hour))
    if slots < 2:
        return 0.0
    first = np.arange(1, slots, window)
    end = np.minimum(first + window, slots)
    room = np.add.reduceat(np.stack([free, beside]), first, axis=2).astype(float)
    site = np.arange(rounds.sites)[:, None]
    rate = np.maximum(0.0, rounds.signals.upto(site, end) - rounds.signals.upto(site, first)) / (end - first)
    least = np.maximum(asked, LEAST_ASKED * rounds.network.gpus)[:, None] * (end - first)
    served = (rate * np.minimum(room, np.multiply.outer(ASKED, least)[:, None])).sum(axis=3)
    return max(0.0, float((served[:, 1] - served[:, 0]).max(axis=0).sum()))


def shut_out(rounds: Rounds, free: Ints, beside: Ints, jobs: Iterable[Lump]) -> float:
    """USD of the greatest of these jobs that, coming in the next slot, would find room in `beside`, and not in what is free."""
    slots, signals = free.shape[1], rounds.signals
    loss = 0.0
    for site, gpus, duration, slack in jobs:
        last = min(1 + slack, slots - duration)
        start = earliest(beside[site], gpus, duration, 1, last)
        if start is None or earliest(free[site], gpus, duration, 1, last) is not None:
            continue
        before, after = signals.upto(np.array([site, site]), np.array([start, start + duration]))
        loss = max(loss, gpus * float(after - before))
    return loss
