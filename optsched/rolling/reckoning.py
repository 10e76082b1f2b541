"""What is to be reckoned with in slots where durations are estimates and sites fail: how long jobs take, who has ended."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np

from optsched.heuristics.serial_sgs import serial_sgs
from optsched.instances.base import Bools, Floats, I, Ints
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rolling.estimates import corrected, told_load
from optsched.rolling.law import NONE, Law
from optsched.rolling.slotted import Slotted, SlottedJob
from optsched.schedules.base import S_co

J = TypeVar("J", bound=SlottedJob)


class Family(Protocol[I, J, S_co]):
    """What this asks of a family of jobs that wait for capacity in slots."""

    @property
    def slotted(self) -> Callable[[I], Slotted[J]]:
        """An instance as what has jobs and slots."""

    @property
    def options(self) -> Callable[[I], tuple[TimeIndexedProblem, Callable[[Ints], S_co]]]:
        """A snapshot's options, and how a choice of them becomes a schedule."""

    @property
    def expecting(self) -> Callable[[I, Sequence[J], Floats], I]:
        """A snapshot with other jobs, and other capacity, shape (P, T)."""


class Durations:
    """What jobs have taken until now.

    Attributes
    ----------
    ended
        Of jobs that have ended: slots that they were told to take, and slots that they took.
    """

    def __init__(self, ended: Sequence[tuple[int, int]] = ()) -> None:
        self.ended = list(ended)

    def law(self, snapshot: Slotted[J]) -> Law | None:
        """How long jobs take, of whom the snapshot's have ended too; None as long as all take what was told."""
        self.ended += ((run.told, run.took) for run in snapshot.ended)
        surprised = any(told != took for told, took in self.ended) or any(run.took >= run.told for run in snapshot.running)
        if not surprised:
            return None
        told, took = np.array(self.ended, dtype=float).reshape(-1, 2).T
        running = np.array([(run.told, run.took) for run in snapshot.running], dtype=float).reshape(-1, 2)
        waiting = snapshot.columns.duration.astype(float)
        firsts = np.append(running[:, 0], waiting)
        passed = np.append(running[:, 1], np.zeros(len(waiting))) / firsts
        return Law.learned(np.log(told), took / told, np.log(firsts), passed)


class Endings:
    """How often runs have been ended by something else: whoever waits again had one of them.

    Attributes
    ----------
    waits
        Who was left waiting by the last decision.
    count
        Moments at which runs were found to have been ended.
    """

    def __init__(self, waits: Iterable[str] = (), count: int = 0) -> None:
        self.waits, self.count = set(waits), count

    def observe(self, snapshot: Slotted[J], came: Container[str]) -> None:
        """Look for whom has come before, and was not left waiting."""
        self.count += any(job.id in came and job.id not in self.waits for job in snapshot.jobs)

    def decided(self, snapshot: Slotted[J], begun: Ints) -> None:
        """Who has `begun` (indices) waits no more."""
        self.waits = {job.id for job in snapshot.jobs} - {snapshot.jobs[j].id for j in begun.tolist()}

    def rate(self, snapshot: Slotted[J], since: int) -> float:
        """Ends a slot and place, from a slot of the replay until now."""
        return self.count / max(1, (snapshot.now - since) * len(snapshot.places))


def surviving(rate: float, program: TimeIndexedProblem) -> TimeIndexedProblem:
    """With so many ends a slot a run is whole with probability exp(-rate * duration), or begins once more while it may."""
    if not rate:
        return program
    (_, after), lasts = program.spans, program.duration[program.job]
    again = 1.0 - np.exp(-rate * np.minimum(lasts, after[program.job] - lasts - program.start))
    chance = np.exp(-rate * lasts) * (1.0 + again)
    return replace(program, value=np.where(program.value > 0, program.value * chance, program.value))


def expected_load(snapshot: Slotted[J], law: Law) -> Floats:
    """Units that what runs takes in the mean by place and slot from now on, shape (P, T)."""
    index = {name: n for n, name in enumerate(snapshot.places)}
    found = np.zeros((len(index), snapshot.horizon))
    if not snapshot.running:
        return found
    place, units, told, took, until = np.array(
        [(index[r.place], r.units, r.told, r.took, corrected(r.told, r.took)) for r in snapshot.running], dtype=float
    ).T
    fair = told * law.fair(np.log(told))
    at = took[:, None] + np.arange(snapshot.horizon)
    there = at < until[:, None]  # whom nobody has seen live so long goes on as told
    runs = np.where(there, law.longer(at / fair[:, None]), law.longer(at / fair[:, None]) - law.beyond)
    still = runs[:, :1]
    share = np.where(still > NONE, runs / np.maximum(still, NONE), there)
    np.add.at(found, place.astype(np.int64), units[:, None] * share)
    return found


def capacity_left(snapshot: Slotted[J], law: Law, told: Floats) -> Floats:
    """Capacity that what runs leaves in the mean by place and slot, shape (P, T), `told` what it leaves if all ends as told."""
    ends = told_load(snapshot.running, snapshot.places, snapshot.horizon)
    left = np.maximum(0.0, told + ends - expected_load(snapshot, law))
    shut = ~told.any(axis=1, keepdims=True)  # nothing starts there, whoever ends
    return np.where(shut, np.minimum(told, left), left)


def reckoned(
    family: Family[I, J, S_co], snapshot: I, law: Law, left: Floats, jobs: Sequence[J], told: Bools
) -> TimeIndexedProblem:
    """Options of jobs on the capacity `left`, worth what they earn in the mean, by the law of those that were `told`, (J,).

    A job that is still running in the end earns nothing.
    """
    horizon = family.slotted(snapshot).horizon
    says = np.array([job.duration for job in jobs], dtype=float)
    fair = says * law.fair(np.log(says))
    mean = np.where(told, np.maximum(1.0, np.rint(fair * law.expected_begun)), says)
    room = np.maximum(says, horizon - np.array([job.submitted for job in jobs], dtype=float))
    lasts = np.minimum(mean, room).astype(np.int64)
    likely = [job.model_copy(update={"duration": d}) for job, d in zip(jobs, lasts.tolist(), strict=True)]
    program, _ = family.options(family.expecting(snapshot, likely, left))
    ends = np.where(told[program.job], 1.0 - law.longer((horizon - program.start) / fair[program.job]), 1.0)
    return replace(program, value=np.where(program.value > 0, program.value * ends, program.value))


def as_told(told: TimeIndexedProblem, program: TimeIndexedProblem, chosen: Ints) -> Ints:
    """Options of what was told (indices) for some `chosen` of what is reckoned with; where capacity is hard, those that fit."""
    key, wanted = _key(told, told), np.sort(_key(program, told)[chosen])
    found = np.flatnonzero(np.isin(key, wanted))
    if told.overload_price is not None:
        return found
    part = replace(told, value=np.ones(len(told))).where(np.isin(key, wanted))
    return found[serial_sgs(part, part.job[np.argsort(part.start, kind="stable")])]


def _key(program: TimeIndexedProblem, of: TimeIndexedProblem) -> Ints:
    places, slots = of.capacity.shape
    return np.asarray((program.job * places + program.place) * slots + program.start)
