"""Referee of vcc: what the queue does under a cap, and the four costs (docs/formulations/vcc.md)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import Self

import numpy as np

from optsched.instances.base import Data, Floats, Instance, Natural
from optsched.instances.grid import CANCELLED, exact, share_of, tally
from optsched.instances.vcc import VccInstance
from optsched.schedules.base import Evaluation, Schedule, Violation, entry

SIGNS = {"carbon": 1, "delay": 1, "daily": 1, "unfinished": 1}


class Start(Data):
    """A job and a slot in which it starts; `until` is the slot in which it is evicted, null if it runs to its end."""

    job: str
    start: Natural
    until: Natural | None = None


class VccSchedule(Schedule):
    """The cap by slot, a fraction of the capacity, and what the queue starts under it."""

    cap: tuple[float, ...]
    starts: tuple[Start, ...]

    @classmethod
    def read(cls, instance: Instance, fields: dict[str, object], where: str | Path) -> Self:
        """A decision from the fields of its file, of which caps are enough: what the queue starts follows from them.

        Parameters
        ----------
        instance
            What was given.
        fields
            As in the JSON file; ``starts`` may be left out.
        where
            The file, for messages.

        Raises
        ------
        InputError
            One line with the place, what is wrong and what would be right.
        """
        if "starts" in fields:
            return super().read(instance, fields, where)
        assert isinstance(instance, VccInstance)
        given = super().read(instance, {**fields, "starts": []}, where)
        whole = len(given.cap) == instance.horizon and not cap_violations(given.cap)  # else that is what the referee names
        return given.model_copy(update={"starts": simulate_queue(instance, given.cap).starts}) if whole else given

    @property
    def jobs_run(self) -> int:
        """How many jobs start."""
        return len({start.job for start in self.starts})


def simulate_queue(instance: VccInstance, cap: Iterable[float]) -> VccSchedule:
    """What the queue does under a cap: finished jobs leave, the cap takes effect, jobs join, jobs start from the head.

    The queue stops at the first job that does not fit, under the cap or into the data centre; both are decided in whole units.
    """
    cap = tuple(cap)
    jobs = [instance.jobs[j] for j in instance.queue.tolist()]
    units = instance.units
    ncu, room, given = units.ncu.tolist(), units.room.tolist(), units.running.tolist()
    waiting: deque[tuple[int, int]] = deque()  # index, slots to run
    leaving: dict[int, float] = defaultdict(int)  # units by the slot in which they leave
    running: list[tuple[int, int, int]] = []  # index, start, end; in the order of their starts, where they may be evicted
    begun: list[tuple[int, int, int | None]] = []  # start, index, slot of eviction
    held: float = 0  # stays an integer where units are
    come = 0
    for t, share in enumerate(cap):
        limit = share_of(share, units.capacity)
        held -= leaving.pop(t, 0)
        if instance.preempt:
            begun += [(start, i, None) for i, start, end in running if end == t]
            running = [run for run in running if run[2] > t]
        while running and held + given[t] > limit:
            i, start, end = running.pop()
            begun.append((start, i, t))
            waiting.appendleft((i, end - t))
            held -= ncu[i]
            leaving[end] -= ncu[i]
        while come < len(jobs) and jobs[come].submitted <= t:
            waiting.append((come, jobs[come].duration))
            come += 1
        most = min(limit, room[t]) - given[t]
        while waiting and held + ncu[waiting[0][0]] <= most:
            i, left = waiting.popleft()
            held += ncu[i]
            leaving[t + left] += ncu[i]
            if instance.preempt:
                running.append((i, t, t + left))
            else:
                begun.append((t, i, None))
    begun += [(start, i, None) for i, start, _ in running]
    begun.sort(key=lambda piece: piece[:2])
    return VccSchedule(cap=cap, starts=tuple(Start(job=jobs[i].id, start=start, until=until) for start, i, until in begun))


def runs(instance: VccInstance, schedule: VccSchedule) -> list[tuple[int, int, int]]:
    """(index of the job, start, end) of every piece, by start; the end may lie beyond the horizon."""
    jobs = {job.id: j for j, job in enumerate(instance.jobs)}
    left = [job.duration for job in instance.jobs]
    found = []
    for piece in sorted(schedule.starts, key=lambda s: s.start):
        j = entry(jobs, piece.job, "job")
        end = piece.start + left[j] if piece.until is None else piece.until
        left[j] -= end - piece.start
        found.append((j, piece.start, end))
    return found


def load(instance: VccInstance, schedule: VccSchedule) -> Floats:
    """Flexible load by slot, shape (T,), NCU."""
    grid, slots = instance.units.grid, instance.horizon
    pieces = np.array(runs(instance, schedule), dtype=np.int64).reshape(-1, 3)
    size = grid.whole([instance.jobs[j].ncu for j in pieces[:, 0].tolist()])
    begin, end = (tally(np.minimum(pieces[:, c], slots), size, slots + 1) for c in (1, 2))
    return grid.value(np.cumsum(begin - end)[:-1] + instance.units.running)


def evaluate(instance: VccInstance, schedule: VccSchedule) -> Evaluation:
    """Components, priced: carbon of the whole load, delay, daily capacity short of the work, work not run by the end.

    Raises
    ------
    OptschedError : a start names an unknown job.
    """
    h, slots = instance.slot_h, instance.horizon
    power = instance.idle_kw + instance.kw_per_ncu * (instance.inflexible + load(instance, schedule))
    first: dict[int, int] = {}
    done = [0] * len(instance.jobs)
    for j, start, end in runs(instance, schedule):
        first.setdefault(j, start)
        done[j] += max(0, min(end, slots) - start)
    late = [
        (job.ncu, first[j] - job.submitted + job.waited - instance.delay_limit_slots)
        for j, job in enumerate(instance.jobs)
        if j in first and not job.evicted
    ]
    cap = np.zeros(slots)
    cap[: len(schedule.cap)] = schedule.cap[:slots]
    undone = fsum(job.ncu * h * (job.duration - done[j]) for j, job in enumerate(instance.jobs))
    return Evaluation.of(
        {
            "carbon": instance.carbon_price * fsum(power * h * instance.carbon),
            "delay": instance.delay_penalty_per_ncu_h * h * fsum(ncu * slots for ncu, slots in late if slots > 0),
            "daily": instance.daily_penalty_per_ncu_h * fsum(lacks(instance, cap)),
            "unfinished": instance.unfinished_penalty_per_ncu_h * undone,
        },
        SIGNS,
    )


def lacks(instance: VccInstance, cap: Floats) -> Floats:
    """What each day's caps, shape (T,), are short of the work that the day asks for, NCU-hours, shape (D,)."""
    given = np.bincount(instance.day, cap * instance.capacity_ncu * instance.slot_h, minlength=len(instance.asked))
    given[0] += instance.allotted_ncu_h
    wanted = instance.daily_fraction * instance.asked
    found = np.maximum(0.0, wanted - given)
    for d in np.flatnonzero(np.abs(wanted - given) < CANCELLED * given).tolist():
        found[d] = float(max(Fraction(0), _short(instance, cap, d)))
    return np.asarray(found)


def _short(instance: VccInstance, cap: Floats, day: int) -> Fraction:
    """What a day's caps lack, in NCU-hours, exactly: where the two sides nearly cancel, floats lose most of it."""
    h, grid = exact(instance.slot_s) / 3600, instance.units.grid
    fresh = (instance.day[instance.columns.submitted] == day) & (instance.columns.waited == 0)
    pairs = zip(instance.units.ncu[fresh].tolist(), instance.columns.duration[fresh].tolist(), strict=True)
    asked = Fraction(sum(int(units) * slots for units, slots in pairs), 10**grid.digits) * h
    given = sum(map(exact, cap[instance.day == day].tolist()), Fraction(0)) * exact(instance.capacity_ncu) * h
    if day == 0:
        asked, given = asked + exact(instance.asked_ncu_h), given + exact(instance.allotted_ncu_h)
    return exact(instance.daily_fraction) * asked - given


def cap_violations(cap: tuple[float, ...]) -> list[Violation]:
    """Caps that are no fractions."""
    broken = [(t, a) for t, a in enumerate(cap) if not 0 <= a <= 1]
    return [Violation("cap is no fraction", time=t, detail=f"{a:g}, should be from 0 to 1") for t, a in broken]


def check(instance: VccInstance, schedule: VccSchedule) -> list[Violation]:
    """Every violated rule: caps that are no fractions, and starts other than those that the queue makes under the cap."""
    found = cap_violations(schedule.cap)
    if len(schedule.cap) != instance.horizon:
        detail = f"{len(schedule.cap)} caps, the horizon has {instance.horizon} slots"
        found.append(Violation("a cap for every slot", amount=abs(len(schedule.cap) - instance.horizon), detail=detail))
    known = {job.id for job in instance.jobs}
    found += [Violation("unknown job", job=job) for job in {s.job for s in schedule.starts} - known]
    if found:
        return found
    made, claimed = (sorted(_pieces(s)) for s in (simulate_queue(instance, schedule.cap), schedule))
    if made == claimed:
        return []
    for job in sorted({piece[0] for piece in set(made) ^ set(claimed)}):
        mine, its = ([piece[1:] for piece in pieces if piece[0] == job] for pieces in (claimed, made))
        when = float(mine[0][0]) if mine else None
        detail = f"started {_words(mine)}, under this cap the queue starts it {_words(its)}"
        found.append(Violation("start that the queue does not make", job=job, time=when, detail=detail))
    return found or [Violation("job decided more than once")]


def _pieces(schedule: VccSchedule) -> list[tuple[str, int, int]]:
    return [(s.job, s.start, -1 if s.until is None else s.until) for s in schedule.starts]


def _words(pieces: list[tuple[int, int]]) -> str:
    told = [f"in slot {start}" + (f" (evicted in {until})" if until >= 0 else "") for start, until in pieces]
    return ", ".join(told) or "never"
