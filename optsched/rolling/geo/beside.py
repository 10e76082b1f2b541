"""S0, local first come, first served, played beside an agent on the jobs that snapshots have shown.

A job is served in the order of submission, so where S0 puts it depends on earlier ones alone and is never changed: each job is
placed once, when it is first seen, at the first slot in which it fits at its source and earns something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from optsched.instances.base import Data, Floats, Ints
from optsched.rl.geo.rounds import Rounds

Run = tuple[int, int, int, int]
"""Site, first slot, slot after the last one, GPUs."""
Placed = tuple[int, int, int]
"""Job, site, start."""
Lump = tuple[int, int, int, int]
"""A job that has come, and may come again: site, GPUs, duration, slack."""
REMEMBERED = 8  # such jobs a site: one of them is a large share of what a day earns


class Kept(Data):
    """A `Beside` as JSON."""

    earned: float
    runs: tuple[Run, ...]
    steps: tuple[tuple[tuple[int, int], ...], ...]
    end: int
    largest: tuple[Lump, ...] = ()


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


def locally(rounds: Rounds, free: Ints, rows: list[int], soonest: int = 0) -> list[Placed]:
    """Waiting jobs served where they wait from slot `soonest` on, when that pays; `free` is used up, (P, T).

    In their order, but first those on their way: what they have cost is paid, and their GPUs were kept for them.
    """
    jobs, placed = rounds.rows, []
    for j in sorted(rows, key=lambda j: not jobs.moved[j]):
        site, duration, gpus = int(jobs.at[j]), int(jobs.duration[j]), int(jobs.gpus[j])
        back = 0 if site == int(jobs.source[j]) else int(jobs.back[j, site])
        last = min(int(jobs.due[j]) - back, rounds.horizon - duration)
        first: int | None = max(soonest, int(jobs.arrives[j]))
        while first is not None and (start := earliest(free[site], gpus, duration, first, last)) is not None:
            first = _paying(rounds, j, site, start, last)
            if first == start:
                free[site, start : start + duration] -= gpus
                placed.append((j, site, start))
                break
    return placed


def _paying(rounds: Rounds, j: int, site: int, first: int, last: int) -> int | None:
    """The first slot from `first` to `last` in which a run would earn something."""
    slots = np.arange(first, last + 1)
    paying = np.flatnonzero(values(rounds, np.full(len(slots), j), np.full(len(slots), site), slots) > 0)
    return int(slots[paying[0]]) if len(paying) else None


def values(rounds: Rounds, j: Ints, site: Ints, start: Ints) -> Floats:
    """USD that runs add to the utility, the way out apart; shape (n,), as the jobs, sites and slots."""
    rows, signals = rounds.rows, rounds.signals
    end = start + rows.duration[j]
    earned = rows.gpus[j] * (signals.upto(site, end) - signals.upto(site, start))
    back = signals.transfer(site, rows.source[j], rows.model[j], np.minimum(end, rounds.horizon - 1))
    return np.asarray(earned - np.where(site != rows.source[j], back, 0.0))


def worth(rounds: Rounds, placed: list[Placed]) -> float:
    """The sum of their values."""
    return float(values(rounds, *np.array(placed, dtype=np.int64).T).sum()) if placed else 0.0


def largest(rounds: Rounds, jobs: Iterable[Lump]) -> tuple[Lump, ...]:
    """At each site the largest that differ, by GPU-slots, and the soonest due of those alike; of those that could run there."""
    slack: dict[tuple[int, int, int], int] = {}
    for site, gpus, duration, spare in jobs:
        if gpus <= rounds.network.gpus[site] and duration < rounds.horizon:
            slack[site, gpus, duration] = min(spare, slack.get((site, gpus, duration), spare))
    ranked = sorted(slack, key=lambda lump: (lump[0], -lump[1] * lump[2], lump))
    of_site: Counter[int] = Counter()
    found = []
    for lump in ranked:
        of_site[lump[0]] += 1
        if of_site[lump[0]] <= REMEMBERED:
            found.append((*lump, slack[lump]))
    return tuple(found)


class Beside:
    """What S0 would have done so far.

    Attributes
    ----------
    earned
        USD of all runs that it has placed, as they were believed to be when it did.
    free
        GPUs left, shape (P, T), slots counted from the beginning of the replay.
    largest
        Of the jobs that have come.
    """

    def __init__(self) -> None:
        self.earned = 0.0
        self.capacity: Ints = np.zeros((0, 0), dtype=np.int64)
        self.free = self.capacity
        self.runs: list[Run] = []
        self.largest: tuple[Lump, ...] = ()

    def join(self, rounds: Rounds, now: int, new: list[int]) -> None:
        """Jobs that were first seen in slot `now`."""
        if not self.capacity.size:  # nothing runs yet when a replay begins
            self.capacity = np.concatenate([np.zeros((rounds.sites, now), dtype=np.int64), rounds.free], axis=1)
            self.free = self.capacity.copy()
        placed = locally(rounds, self.free[:, now:], new)
        self.earned += worth(rounds, placed)
        rows = rounds.rows
        for j, site, start in placed:
            self.runs.append((site, now + start, now + start + int(rows.duration[j]), int(rows.gpus[j])))
        columns = (rows.source[new], rows.gpus[new], rows.duration[new], rows.due[new])
        self.largest = largest(rounds, [*self.largest, *zip(*(column.tolist() for column in columns), strict=True)])

    def kept(self, now: int) -> Kept:
        """What counts from slot `now` on."""
        runs = tuple(run for run in self.runs if run[2] > now)
        steps, end = tuple(map(_steps, self.capacity)), self.capacity.shape[1]
        return Kept(earned=self.earned, runs=runs, steps=steps, end=end, largest=self.largest)

    @classmethod
    def of(cls, kept: Kept) -> Beside:
        """What was kept."""
        found = cls()
        found.earned, found.runs, found.largest = kept.earned, list(kept.runs), kept.largest
        found.capacity = np.zeros((len(kept.steps), kept.end), dtype=np.int64)
        for row, steps in zip(found.capacity, kept.steps, strict=True):
            for slot, value in steps:
                row[slot:] = value
        found.free = found.capacity.copy()
        for site, start, end, gpus in found.runs:
            found.free[site, start:end] -= gpus
        return found


def _steps(row: Ints | Floats) -> tuple[tuple[int, int], ...]:
    """A row as (slot, value from there on)."""
    change = np.flatnonzero(np.diff(row, prepend=row[:1] - 1))
    return tuple((int(slot), int(row[slot])) for slot in change)
