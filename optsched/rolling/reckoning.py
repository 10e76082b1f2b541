"""What is to be reckoned with in slots where durations are estimates and sites fail: how long jobs take, and who has ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from optsched.heuristics.serial_sgs import density, serial_sgs
from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rolling.estimates import corrected, told_load
from optsched.rolling.law import NEAR, Law
from optsched.rolling.slotted import Slotted, SlottedJob

J = TypeVar("J", bound=SlottedJob)

# jobs that have not been seen take multiples of what is told, in the median that: who plans their ends to the slot loses them
BEFORE = (np.exp([NormalDist().inv_cdf((i + 0.5) / 9) for i in range(9)]), 4.0)
MOST = 200  # times of a law: of more, neighbours are taken as one
QUIET_S = 6 * 3600.0  # sites are believed to have run for so long without an end before anything was seen


class Experience:
    """What has been seen of runs until now.

    Attributes
    ----------
    ended
        Of jobs that have ended: slots that they were told to take, and slots that they took.
    cut
        The same of runs that something else has ended, which would have taken longer.
    failures
        How often something else has ended runs, all of a place at once.
    """

    def __init__(self, ended: Sequence[tuple[int, int]] = (), cut: Sequence[tuple[int, int]] = (), failures: int = 0) -> None:
        self.ended, self.cut, self.failures = list(ended), list(cut), failures

    def observe(self, snapshot: Slotted[J]) -> None:
        """What has happened since the last decision."""
        self.ended += ((run.told, run.took) for run in snapshot.ended)
        self.cut += ((run.told, run.took) for run in snapshot.cut)
        self.failures += len({run.place for run in snapshot.cut})

    def law(self, snapshot: Slotted[J]) -> Law | None:
        """How long jobs take; None as long as all take what was told."""
        longer = [(run.told, run.took) for run in snapshot.running] + self.cut
        if all(told == took for told, took in self.ended) and all(took < told for told, took in longer):
            return None
        told, took = np.array(self.ended, dtype=float).reshape(-1, 2).T
        firsts, passed = np.array(longer, dtype=float).reshape(-1, 2).T
        waiting = snapshot.columns.duration.astype(float)
        firsts, passed = np.append(firsts, waiting), np.append(passed, np.zeros(len(waiting)))
        law = Law.learned(np.log(told), took / told, np.log(firsts), passed / firsts, BEFORE)
        return law.closed(float((passed / firsts / law.fair(np.log(firsts))).max(initial=0.0))).coarse(MOST)

    def rate(self, snapshot: Slotted[J], since: int) -> float:
        """Failures a slot and place, from a slot of the replay until now."""
        slots = snapshot.now - since + QUIET_S / snapshot.slot_s
        return self.failures / (slots * len(snapshot.places))


def expected_load(snapshot: Slotted[J], law: Law) -> Floats:
    """Units that what runs takes in the mean by place and slot from now on, shape (P, T)."""
    index = {name: n for n, name in enumerate(snapshot.places)}
    if not snapshot.running:
        return np.zeros((len(index), snapshot.horizon))
    rows = np.array([(index[run.place], run.told, run.took, run.units) for run in snapshot.running], dtype=float)
    alike, which = np.unique(rows[:, :3], axis=0, return_inverse=True)
    units, (place, told, took) = np.bincount(which.ravel(), rows[:, 3]), alike.T
    fair = told * law.fair(np.log(told))
    until = np.array([corrected(t, p) for t, p in zip(told.tolist(), took.tolist(), strict=True)])
    outlived = law.first(took / fair)
    ends = np.ceil(law.times * fair[:, None] / (1.0 + NEAR) - took[:, None])
    still = np.append(np.cumsum(law.share[::-1])[::-1], 0.0)[outlived]
    share = np.where(np.arange(len(law.times)) >= outlived[:, None], law.share / np.where(still > 0, still, 1.0)[:, None], 0.0)
    ends, share = np.c_[ends, until - took], np.c_[share, still <= 0]  # who has outlived all that is known ends as told
    slots = np.clip(ends, 0, snapshot.horizon).astype(np.int64) + (place.astype(np.int64) * (snapshot.horizon + 1))[:, None]
    gone = np.bincount(slots.ravel(), (units[:, None] * share).ravel(), minlength=len(index) * (snapshot.horizon + 1))
    begun = np.bincount(place.astype(np.int64), units, minlength=len(index))
    return np.asarray(begun[:, None] - np.cumsum(gone.reshape(len(index), -1), axis=1)[:, :-1], dtype=float)


def capacity_left(snapshot: Slotted[J], law: Law, told: Floats) -> Floats:
    """Capacity that what runs leaves in the mean by place and slot, shape (P, T), `told` what it leaves if all ends as told.

    Where that is nothing a place may be shut, or hold more than it has: nobody's end makes room.
    """
    ends = told_load(snapshot.running, snapshot.places, snapshot.horizon)
    return np.where(told > 0, np.maximum(0.0, told + ends - expected_load(snapshot, law)), 0.0)


def likely_durations(plain: TimeIndexedProblem, law: Law, guessed: Bools) -> Ints:
    """Slots that jobs take in the mean, by the law of those whose are `guessed`, shape (J,).

    Every option that a job is told to have by the end of the horizon is left to it.
    """
    says = plain.duration.astype(float)
    mean = np.maximum(1.0, np.rint(says * law.fair(np.log(says)) * law.expected_begun))
    _, after = plain.spans
    room = np.maximum(says, plain.capacity.shape[1] - after + says)
    return np.where(guessed, np.minimum(mean, room), says).astype(np.int64)


def done_in_time(plain: TimeIndexedProblem, program: TimeIndexedProblem, law: Law, guessed: Bools) -> Floats:
    """The chance of each option of a program that its job is done by the end of the horizon, shape (n,)."""
    says = plain.duration.astype(float)
    fair = (says * law.fair(np.log(says)))[program.job]
    left = program.capacity.shape[1] - program.start
    return np.where(guessed[program.job], 1.0 - law.longer(left / fair), 1.0)


def survival_of(program: TimeIndexedProblem, rate: float) -> Floats:
    """The chance of each option that no failure ends its run, or that it begins once more while it still may, shape (n,)."""
    (_, after), lasts = program.spans, program.duration[program.job]
    again = 1.0 - np.exp(-rate * np.minimum(lasts, after[program.job] - lasts - program.start))
    return np.asarray(np.exp(-rate * lasts) * (1.0 + again))


def as_told(told: TimeIndexedProblem, program: TimeIndexedProblem, chosen: Ints) -> Ints:
    """Options of what was told (indices) for some `chosen` of what is reckoned with; where capacity is hard, those that fit.

    In the present room that is left whoever was left out, and is worth something there, begins instead.
    """
    key, wanted = (told.keys(each.job, each.place, each.start) for each in (told, program))
    if told.overload_price is not None:
        return np.flatnonzero(np.isin(key, wanted[chosen]))
    out = ~np.isin(program.job, program.job[chosen])
    instead = np.flatnonzero(out & (program.start == 0) & (program.value > 0))
    found = np.flatnonzero(np.isin(key, wanted[np.concatenate([chosen, instead])]))
    worth = np.zeros(len(told))
    worth[found] = program.value[np.searchsorted(wanted, key[found])]
    part = replace(told, value=worth).where(worth > 0)
    best = density(part)
    first = np.full(len(told.demand), told.capacity.shape[1])
    first[program.job[chosen]] = program.start[chosen]
    jobs = np.unique(part.job)
    planned = np.isin(jobs, program.job[chosen])
    order = jobs[np.lexsort((-best[jobs], first[jobs], ~planned))]
    return np.flatnonzero(worth > 0)[serial_sgs(part, order)]
