"""Caps played out under futures: every plan under every future is a lane, and all lanes go from slot to slot at once.

What starts now is decided job by job, as the queue will decide it. What comes later is a guess, so that later slots take from
the queue as from a fluid: jobs of one slot are one cohort, of which any share may start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.vcc import VccInstance
from optsched.rolling.vcc.beside import Beside, Waiting, room

EXACT, STEP, STEPS = 72, 1.05, 70  # slots of a job that are told apart, the factor between two longer ones, to 2,086
DURATIONS = np.concatenate([np.arange(EXACT + 1), np.round(EXACT * STEP ** np.arange(1, STEPS)).astype(np.int64)])
BETWEEN = (DURATIONS[:-1] + DURATIONS[1:]) / 2
NONE = 1e-12  # NCU: nobody


class Mode(IntEnum):
    """How a slot's cap is found."""

    ALL = 0  # cap 1
    KEPT = 1  # that of the plan's first slot
    HELD = 2  # the highest that starts nothing


@dataclass(frozen=True)
class Futures:
    """What the slots to come may submit.

    Attributes
    ----------
    weight
        Shape (F,), adding up to 1.
    seen
        The same of what has been seen, zero of what is only believed, shape (F,).
    work
        NCU by slot, the present one first, and by `DURATIONS`, shape (F, K, D); the present slot's jobs have come, so that its
        row is zero.
    carbon
        Of these slots, whatever they submit, shape (C, K): equally likely.
    """

    weight: Floats
    seen: Floats
    work: Floats
    carbon: Floats


@dataclass(frozen=True)
class Plan:
    """A cap for the present slot, and how those of the slots to come are found, shape (K,)."""

    cap: float
    modes: Ints


def by_duration(jobs: Sequence[Waiting]) -> Floats:
    """NCU by the nearest of `DURATIONS`, shape (D,)."""
    ncu, slots, _ = np.array(jobs).reshape(-1, 3).T
    return np.bincount(nearest(slots), ncu, len(DURATIONS)).astype(float)


def nearest(slots: Floats) -> Ints:
    """Places in `DURATIONS`."""
    return np.searchsorted(BETWEEN, slots)


def foreseen(side: Beside, snapshot: VccInstance, futures: Futures, plans: Sequence[Plan]) -> Floats:
    """What each plan will have spent in each future under each carbon, shape (plans, F, C).

    A plan ends, and cap 1 decides for the rest of the day, where the day could not be given its share any more; and cap 1
    decides while the head of the queue would be late.
    """
    lanes = _Lanes(side, snapshot, futures, plans)
    for k in range(futures.work.shape[1]):
        lanes.step(k)
    return lanes.costs()


class _Cohorts:
    """The queue as a fluid, in the order of submission: who waits, then what each slot submits; G cohorts.

    Attributes
    ----------
    durations
        Slots, in rising order: those of `DURATIONS` that any job has, shape (B,).
    work
        NCU by future, cohort and duration, shape (F, G, B). size : of all durations, shape (F, G).
    submitted
        The slot of each, shape (G,).
    upto, until
        NCU before each cohort, of all durations and by duration, shapes (F, G + 1) and (F, G + 1, B).
    """

    def __init__(self, side: Beside, now: int, futures: Futures) -> None:
        many, slots = futures.work.shape[:2]
        ncu, slots_to_run, when = np.array(side.waiting).reshape(-1, 3).T
        since, cohort = np.unique(when.astype(np.int64), return_inverse=True)
        line = np.zeros((len(since), len(DURATIONS)))
        np.add.at(line, (cohort, nearest(slots_to_run)), ncu)
        there = line.any(axis=0) | futures.work.any(axis=(0, 1))
        self.waiting, self.durations, line = len(since), DURATIONS[there], line[:, there]
        self.work = np.concatenate([np.broadcast_to(line, (many, *line.shape)), futures.work[:, 1:, there]], axis=1)
        self.submitted = np.concatenate([since, np.arange(now + 1, now + slots)])
        self.size = self.work.sum(axis=2)
        count = self.size.shape[1]
        self.upto, self.until = np.zeros((many, count + 1)), np.zeros((many, count + 1, len(self.durations)))
        np.cumsum(self.size, axis=1, out=self.upto[:, 1:])
        np.cumsum(self.work, axis=1, out=self.until[:, 1:])
        self.apart = 2.0 * (self.upto[:, -1].max() + 1.0)  # so that one bisection finds its place in every future
        self.flat = (self.upto + self.apart * np.arange(many)[:, None]).ravel()

    def reached(self, total: Floats, f: Ints) -> tuple[Ints, Floats]:
        """The cohort that so many NCU end in, in each lane's future, and NCU by duration until there."""
        count = self.size.shape[1]
        if not count:
            return np.zeros(len(f), dtype=np.int64), np.zeros((len(f), len(self.durations)))
        at = np.searchsorted(self.flat, total + self.apart * f, side="right") - 1 - (count + 1) * f
        g = np.minimum(at, count - 1)
        share = np.minimum(1.0, (total - self.upto[f, g]) / np.maximum(self.size[f, g], NONE))
        return g, self.until[f, g] + share[:, None] * self.work[f, g]

    def of(self, total: Floats, f: Ints) -> Floats:
        """What of each cohort is among the first so many NCU, shape (lanes, G)."""
        return np.clip(total[:, None] - self.upto[f, :-1], 0.0, self.size[f])


class _Lanes:
    """Every plan in every future, between two slots; a lane's arrays have the shape (L,), plans after one another.

    What has been spent depends on carbon too, shape (L, C).
    """

    def __init__(self, side: Beside, snapshot: VccInstance, futures: Futures, plans: Sequence[Plan]) -> None:
        many, self.slots = futures.work.shape[:2]
        self.side, self.snapshot, self.many = side, snapshot, many
        self.f, self.plan = np.tile(np.arange(many), len(plans)), np.repeat(np.arange(len(plans)), many)
        self.modes, self.kept = np.array([plan.modes for plan in plans]), np.array([plan.cap for plan in plans])[self.plan]
        self.cohorts = _Cohorts(side, snapshot.now, futures)
        self.fresh = futures.work @ DURATIONS * snapshot.slot_h  # NCU-hours, shape (F, K)
        ends = np.flatnonzero(snapshot.ends_day)
        self.left = ends[np.searchsorted(ends, np.arange(self.slots))] - np.arange(self.slots)  # slots of the day after each
        count = len(self.f)
        self.total, self.load = np.zeros(count), np.full(count, side.load)  # started, and running, NCU
        self.allotted, self.spent = np.full(count, side.allotted), np.full((count, len(futures.carbon)), side.spent)
        self.priced = snapshot.carbon_price * snapshot.kw_per_ncu * snapshot.slot_h * futures.carbon  # a NCU, shape (C, K)
        self.asked, self.broken = np.full(count, float(snapshot.asked[0])), np.zeros(count, dtype=bool)
        self.head, self.runs = self.cohorts.reached(self.total, self.f)
        self.leaving = np.zeros((count, self.slots + max(EXACT, int(self.cohorts.durations.max(initial=0))) + 1))
        for slot, ncu in side.leaving.items():
            self.leaving[:, min(slot - snapshot.now, self.leaving.shape[1] - 1)] += ncu

    def step(self, k: int) -> None:
        """Carry a slot out."""
        snapshot, h = self.snapshot, self.snapshot.slot_h
        if k:
            self.load = self.load - self.leaving[:, k]
            begins = bool(snapshot.ends_day[k - 1])
            self.asked = (0.0 if begins else self.asked) + self.fresh[self.f, k]
            self.broken &= not begins
        come = self.cohorts.upto[self.f, self.cohorts.waiting + k]
        cap = self._cap(k, come) if k else self.kept
        most = room(cap, snapshot.capacity_ncu, float(snapshot.inflexible[k]))
        if k:
            self._start(k, np.minimum(self.total + np.maximum(0.0, most - self.load), come))
        else:
            self._start(k, np.array([_prefix(self.side, float(limit)) for limit in most[:: self.many]])[self.plan])
        self.spent += self.load[:, None] * self.priced[:, k]
        self.allotted = self.allotted + cap * snapshot.capacity_ncu * h
        if snapshot.ends_day[k]:
            lacking = np.maximum(0.0, snapshot.daily_fraction * self.asked - self.allotted)
            self.spent += snapshot.daily_penalty_per_ncu_h * lacking[:, None]
            self.allotted = np.zeros(len(self.f))

    def _cap(self, k: int, come: Floats) -> Floats:
        """What the plan says; 1 where nobody waits, where the head would be late, and where the day would lack its share."""
        snapshot, mode = self.snapshot, self.modes[self.plan, k]
        nothing = np.maximum(0.0, self.load) / snapshot.capacity_ncu
        cap = np.where(mode == Mode.KEPT, self.kept, np.where(mode == Mode.HELD, nothing, 1.0))
        most = self.allotted + (cap + self.left[k]) * snapshot.capacity_ncu * snapshot.slot_h
        self.broken |= most < snapshot.daily_fraction * self.asked
        empty = self.total >= come - NONE
        waited = snapshot.now + k - self.cohorts.submitted[self.head] if len(self.cohorts.submitted) else np.zeros(len(cap))
        return np.where(self.broken | empty | (waited >= snapshot.delay_limit_slots), 1.0, cap)

    def _start(self, k: int, total: Floats) -> None:
        """So many NCU have been started by the end of the slot."""
        if not (total > self.total + NONE).any():
            return
        snapshot, due = self.snapshot, self.snapshot.now + k - self.snapshot.delay_limit_slots
        head, runs = self.cohorts.reached(total, self.f)
        self.leaving[:, k + self.cohorts.durations] += runs - self.runs
        if self.cohorts.submitted[self.head.min()] < due:
            begun = self.cohorts.of(total, self.f) - self.cohorts.of(self.total, self.f)
            late = begun @ np.maximum(0, due - self.cohorts.submitted)
            self.spent += snapshot.delay_penalty_per_ncu_h * snapshot.slot_h * late[:, None]
        self.load = self.load + total - self.total
        self.total, self.head, self.runs = total, head, runs

    def costs(self) -> Floats:
        """With what runs on or waits in the end, at the mean carbon believed, under any; and what the horizon leaves undone."""
        snapshot, k = self.snapshot, self.slots
        left = snapshot.horizon - k
        queued = self.cohorts.until[self.f, -1] - self.runs
        slots = np.concatenate([np.arange(self.leaving.shape[1] - k), self.cohorts.durations])
        ncu = np.concatenate([self.leaving[:, k:], queued], axis=1)
        late = np.maximum(0, snapshot.now + k - snapshot.delay_limit_slots - self.cohorts.submitted)
        waits = self.cohorts.size[self.f] - self.cohorts.of(self.total, self.f)
        kg = snapshot.carbon_price * snapshot.kw_per_ncu * float(snapshot.carbon.mean())
        owed = kg * np.minimum(slots, left) + snapshot.unfinished_penalty_per_ncu_h * np.maximum(0, slots - left)
        owed_late = snapshot.delay_penalty_per_ncu_h * (waits @ late)
        spent = self.spent + snapshot.slot_h * (ncu @ owed + owed_late)[:, None]
        return np.asarray(spent.reshape(-1, self.many, len(self.priced)))


def _prefix(side: Beside, most: float) -> float:
    """NCU that start now, from the head on, up to a load."""
    started = 0.0
    for ncu, _, _ in side.waiting:
        if side.load + started + ncu > most:
            break
        started += ncu
    return started
