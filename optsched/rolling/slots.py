"""Time in slots: what the replays of deferrable and geo share. Jobs wait, start and run to their end; nothing is taken back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Floats, I, Ints
from optsched.instances.runs import Run
from optsched.referee import check
from optsched.rolling.disturbances import Disturbances
from optsched.rolling.estimates import in_slots, multiples, told_load
from optsched.rolling.forecast import Forecast, noise_seed, perfect
from optsched.rolling.simulator import Told
from optsched.rolling.slotted import Slotted, SlottedJob
from optsched.schedules.base import S, Violation

ROUNDING = 1e-9  # relative: three times 0.7 s are three slots of 0.7 s


def whole_slots(what: str, seconds: float, slot_s: float) -> int:
    """The whole slots of a time.

    Raises
    ------
    OptschedError : it is shorter than a slot.
    """
    if seconds < slot_s:
        raise OptschedError(f"the {what} is {seconds:g} s, shorter than a slot of {slot_s:g} s")
    return int(seconds / slot_s * (1 + ROUNDING))


class Entry(Protocol):
    """What a decision says of a job."""

    @property
    def job(self) -> str:
        """Its id."""


E = TypeVar("E", bound=Entry)


class SlotSimulator(ABC, Generic[I, S, E]):
    """A job may be started in the slots of its window; a decision is a plan, of which only the present slot is carried out.

    It is time to decide when a job is submitted or ends, where the last decision planned something, and every `period_s`.

    Attributes
    ----------
    now : the present slot. load : units in use by place and slot, shape (P, T). waiting : indices of jobs that may still start.
    started : what a history says of the jobs that were, by index. expected : slots that jobs are believed to run, shape (J,).
    cut : what a history says of the runs that events have ended, with the slot. gone : indices of the jobs that are cancelled.
    going : the slot in which each job that runs will have ended, by index, and as a heap in `calendar`.
    over : indices of the jobs that have come to their end since the last decision.
    stopped : runs that something else has ended since then.
    """

    stalled: ClassVar[bool] = False

    truth: I

    def __init__(self, truth: I, period_s: float | None = None, forecast: Forecast = perfect, seed: int = 0) -> None:
        self.truth, self.forecast, self.seed = truth, forecast, seed
        slotted = self.slotted
        self.period = self.default_period() if period_s is None else whole_slots("period", period_s, slotted.slot_s)
        self.event = "submitted"
        submitted = slotted.columns.submitted
        self.order = np.argsort(submitted, kind="stable")
        self.submissions = submitted[self.order]
        self.seen = 0
        self.waiting: list[int] = []
        self.index = {job.id: j for j, job in enumerate(slotted.jobs)}
        self.load: Floats = np.zeros((self.places, slotted.horizon))
        self.ends: set[int] = set()
        self.started: dict[int, E] = {}
        self.begun: dict[int, tuple[int, int]] = {}  # (place, slot)
        self.multiple = multiples(truth, slotted.jobs, seed)
        self.expected = in_slots(slotted.columns.duration, self.multiple)
        self.cut: list[tuple[E, int]] = []
        self.gone: set[int] = set()
        self.going: dict[int, int] = {}
        self.calendar: list[tuple[int, int]] = []
        self.over: list[int] = []
        self.stopped: list[Run] = []
        self.disturbances = self.what_goes_wrong()
        self.now = int(self.submissions[0]) if len(self.submissions) else slotted.horizon
        first = self.disturbances.next(-1)
        if first < self.now:
            self.now = first
        self._come()

    places: int = 1

    @property
    @abstractmethod
    def slotted(self) -> Slotted[SlottedJob]:
        """The truth, as what has jobs and slots."""

    @abstractmethod
    def entries(self, decision: S) -> tuple[E, ...]:
        """What a decision says, job by job."""

    @abstractmethod
    def default_period(self) -> int:
        """Slots between decisions where none is asked for."""

    @abstractmethod
    def what_goes_wrong(self) -> Disturbances:
        """The events of the truth."""

    def overloaded(self) -> Iterable[int]:
        """Places where runs must end now, since they have not what these take."""
        return ()

    def next_period(self) -> int:
        """The next slot in which it is time to decide anyway."""
        return self.now + self.period

    @abstractmethod
    def alive(self, job: int) -> bool:
        """Whether a waiting job can still be run."""

    @abstractmethod
    def show(self) -> I:
        """The instance of what may be known now."""

    @abstractmethod
    def carry_out(self, start: E, job: int) -> Told | None:
        """Do what an entry of a decision asks for in the present slot, if anything, and say what."""

    @abstractmethod
    def next_slot(self, start: E) -> int:
        """The slot (from now) in which an entry of a decision wants something done."""

    @abstractmethod
    def wakes(self) -> Iterable[int]:
        """Slots in which something comes about by itself, besides submissions and ends."""

    def believed(self, signal: str, series: Floats, now: int, day: int) -> Floats:
        """What is believed of a signal from its index `now` on, shape (R, T - now); series of shape (R, T)."""
        return self.forecast(series, now, day, noise_seed(self.seed, self.truth, signal))

    @property
    def now_s(self) -> float:
        """The present in seconds."""
        return self.now * self.slotted.slot_s

    @property
    def unfinished(self) -> int:
        """Jobs that wait or are still to come."""
        return len(self.waiting) + len(self.submissions) - self.seen

    def _come(self) -> None:
        """What happens by itself in the present slot: ends, events, and submissions."""
        while self.calendar and self.calendar[0][0] <= self.now:
            end, job = heappop(self.calendar)
            if self.going.get(job) == end:  # else something has ended it before
                del self.going[job]
                self.over.append(job)
        for name in self.disturbances.gone.get(self.now, ()):
            job = self.index[name]
            self.gone.add(job)
            if job in self.going:
                self._stop(job)
        for place in self.overloaded():
            running = [j for j in self.going if self.begun[j][0] == place]
            while running and place in self.overloaded():
                self.waiting.append(self._stop(running.pop()))
        self._submit()

    def _stop(self, job: int) -> int:
        """End a run before its end."""
        if job not in self.gone:
            self.stopped += self._runs([job])
        del self.going[job]
        place, start = self.begun.pop(job)
        self.load[place, self.now : start + int(self.slotted.columns.duration[job])] -= self.demand[job]
        self.cut.append((self.started.pop(job), self.now))
        return job

    def believed_load(self) -> Floats:
        """Units in use by place and slot from now on, as far as the ends of what runs are known, shape (P, T - now)."""
        if self.multiple is None:
            return self.load[:, self.now :]
        return told_load(self.runs(self.going), self.slotted.places, self.load.shape[1] - self.now)

    def runs(self, which: Iterable[int]) -> tuple[Run, ...]:
        """What a snapshot says of jobs that have begun; nothing where durations are known."""
        return () if self.multiple is None else self._runs(which)

    def _runs(self, which: Iterable[int]) -> tuple[Run, ...]:
        jobs, places, duration = self.slotted.jobs, self.slotted.places, self.slotted.columns.duration
        return tuple(
            Run.model_construct(
                job=jobs[j].id,
                place=places[place],
                units=self.demand[j].item(),
                told=int(self.expected[j]),
                took=min(self.now - start, int(duration[j])),
            )
            for j in which
            for place, start in [self.begun[j]]
        )

    def _submit(self) -> None:
        while self.seen < len(self.submissions) and self.submissions[self.seen] <= self.now:
            self.waiting.append(int(self.order[self.seen]))
            self.seen += 1
        self.waiting = [j for j in self.waiting if self.alive(j) and j not in self.gone]

    def due(self) -> bool:
        """Go to the next submission, or event, where nothing waits."""
        horizon = self.slotted.horizon
        while not self.waiting and self.now < horizon:
            coming = int(self.submissions[self.seen]) if self.seen < len(self.submissions) else horizon
            event = self.disturbances.next(self.now)
            if min(coming, event) >= horizon and self.seen == len(self.submissions):
                break
            self._go({"submitted": coming, self.disturbances.words.get(event, ""): event})
        return bool(self.waiting) and self.now < horizon

    def snapshot(self) -> I | None:
        """The waiting jobs re-based to the present, the capacity left, and what is believed of the signals."""
        return self.show() if self.due() else None

    def refuses(self, snapshot: I, decision: S) -> list[Violation]:
        """The referee's word on the whole plan."""
        return check(snapshot, decision)

    def present(self, decision: S) -> S:
        """What it wants done now, and the next thing that it wants done later: until then nobody is asked."""
        starts = self.entries(decision)
        now = [start for start in starts if self.next_slot(start) <= 0]
        later = [start for start in starts if self.next_slot(start) > 0]
        first = [min(later, key=self.next_slot)] if later else []
        return decision.model_copy(update={"starts": tuple(now + first)})

    def apply(self, decision: S) -> list[Told]:
        """Start what is to start now, and go to the next event."""
        horizon = self.slotted.horizon
        done, planned, self.over, self.stopped = [], [], [], []
        for start in self.entries(decision):
            job = self.index[start.job]
            happened = self.carry_out(start, job)
            if happened is not None:
                done.append(happened)
            if job not in self.started:
                planned.append(self.now + max(1, self.next_slot(start)))
        self.waiting = [j for j in self.waiting if j not in self.started]
        coming = int(self.submissions[self.seen]) if self.seen < len(self.submissions) else horizon
        events = {"submitted": coming, "planned": min(planned, default=horizon)}
        if self.waiting:
            self.ends = {end for end in self.ends if end > self.now}
            events |= {"ended": min(self.ends, default=horizon), "period": self.next_period()}
            events |= {"arrived": min((w for w in self.wakes() if w > self.now), default=horizon)}
        event = self.disturbances.next(self.now)
        self._go(events | ({self.disturbances.words[event]: event} if event < horizon else {}))
        return done

    def _go(self, events: dict[str, int]) -> None:
        """To the first of some events, by name."""
        until = min(events.values())
        self.event = "+".join(name for name, slot in events.items() if slot == until)
        self.now = until
        self._come()

    def run(self, job: int, place: int, started: E) -> None:
        """Occupy a place from now on for the job's duration; `started` is what a history says of it."""
        end = self.now + int(self.slotted.columns.duration[job])
        self.load[place, self.now : end] += self.demand[job]
        self.ends.add(end)
        self.started[job], self.begun[job] = started, (place, self.now)
        self.going[job] = end
        heappush(self.calendar, (end, job))

    @property
    @abstractmethod
    def demand(self) -> Floats | Ints:
        """Units a job takes, shape (J,)."""

    @property
    @abstractmethod
    def capacity(self) -> Floats | Ints:
        """Units there are, shape (P, T)."""

    def figures(self) -> dict[str, float]:
        """Jobs run and not run, and the share of the capacity that was in use."""
        ended = len(self.started) - len(self.unended())
        told = {
            "jobs_run": ended,
            "jobs_dropped": len(self.slotted.jobs) - ended,
            "utilisation": float(np.minimum(self.load, self.capacity).sum() / max(1e-9, float(self.capacity.sum()))),
        }
        wrong = {"jobs_cancelled": len(self.gone - self.started.keys()), "runs_cut": len(self.cut) + len(self.unended())}
        return told | (wrong if self.disturbances.words or self.multiple is not None else {})

    def unended(self) -> dict[int, E]:
        """The runs that the horizon cuts short: only those that were believed to be shorter."""
        if self.multiple is None:
            return {}
        duration, horizon = self.slotted.columns.duration, self.slotted.horizon
        return {j: self.started[j] for j, (_, start) in self.begun.items() if start + int(duration[j]) > horizon}
