"""Time in slots: what the replays of deferrable and geo share. Jobs wait, start and run to their end; nothing is taken back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Floats, Instance
from optsched.referee import check
from optsched.rolling.forecast import Forecast, noise_seed, perfect
from optsched.schedules.base import Schedule, Violation


def whole_slots(what: str, seconds: float, slot_s: float) -> int:
    """A time in slots.

    Raises
    ------
    OptschedError : it is shorter than a slot.
    """
    if seconds < slot_s:
        raise OptschedError(f"the {what} is {seconds:g} s, shorter than a slot of {slot_s:g} s")
    return round(seconds / slot_s)


I = TypeVar("I", bound=Instance)  # noqa: E741 (the noun's initial)
S = TypeVar("S", bound=Schedule)


def entries(decision: Schedule) -> Iterable[Any]:
    """The starts of a decision."""
    starts: Iterable[Any] = getattr(decision, "starts", ())
    return starts


class SlotSimulator(ABC, Generic[I, S]):
    """A job may be started in the slots of its window; a decision is a plan, of which only the present slot is carried out.

    It is time to decide when a job is submitted or ends, where the last decision planned something, and every `period_s`.

    Attributes
    ----------
    now : the present slot. load : units in use by place and slot, shape (P, T). waiting : indices of jobs that may still start.
    """

    stalled: ClassVar[bool] = False

    truth: I

    def __init__(self, truth: I, period_s: float | None = None, forecast: Forecast = perfect, seed: int = 0) -> None:
        self.truth, self.forecast, self.seed = truth, forecast, seed
        self._slotted = cast(Any, truth)  # with jobs and slots, as every family has that is replayed like this
        self.period = self.default_period() if period_s is None else whole_slots("period", period_s, self._slotted.slot_s)
        self.event = "submitted"
        submitted = self._slotted.columns.submitted
        self.order = np.argsort(submitted, kind="stable")
        self.submissions = submitted[self.order]
        self.seen = 0
        self.waiting: list[int] = []
        self.index = {job.id: j for j, job in enumerate(self._slotted.jobs)}
        self.load: Floats = np.zeros((self.places, self._slotted.horizon))
        self.ends: set[int] = set()
        self.started: dict[int, dict[str, Any]] = {}
        self.told: list[Any] = []  # a history's entries, each made once
        self.now = int(self.submissions[0]) if len(self.submissions) else self._slotted.horizon
        self._submit()

    places: int = 1

    @abstractmethod
    def default_period(self) -> int:
        """Slots between decisions where none is asked for."""

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
    def carry_out(self, start: Any, job: int) -> dict[str, Any] | None:
        """Do what an entry of a decision asks for in the present slot, if anything, and say what."""

    @abstractmethod
    def next_slot(self, start: Any) -> int:
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
        return self.now * float(self._slotted.slot_s)

    @property
    def unfinished(self) -> int:
        """Jobs that wait or are still to come."""
        return len(self.waiting) + len(self.submissions) - self.seen

    def _submit(self) -> None:
        while self.seen < len(self.submissions) and self.submissions[self.seen] <= self.now:
            self.waiting.append(int(self.order[self.seen]))
            self.seen += 1
        self.waiting = [j for j in self.waiting if self.alive(j)]

    def due(self) -> bool:
        """Go to the next submission where nothing waits."""
        while not self.waiting and self.seen < len(self.submissions) and self.now < self._slotted.horizon:
            self.now, self.event = int(self.submissions[self.seen]), "submitted"
            self._submit()
        return bool(self.waiting) and self.now < self._slotted.horizon

    def snapshot(self) -> I | None:
        """The waiting jobs re-based to the present, the capacity left, and what is believed of the signals."""
        return self.show() if self.due() else None

    def refuses(self, snapshot: I, decision: S) -> list[Violation]:
        """The referee's word on the whole plan."""
        return check(snapshot, decision)

    def present(self, decision: S) -> S:
        """What it wants done now, and the next thing that it wants done later: until then nobody is asked."""
        starts = entries(decision)
        now = [start for start in starts if self.next_slot(start) <= 0]
        later = [start for start in starts if self.next_slot(start) > 0]
        first = [min(later, key=self.next_slot)] if later else []
        return decision.model_copy(update={"starts": tuple(now + first)})

    def apply(self, decision: S) -> list[dict[str, Any]]:
        """Start what is to start now, and go to the next event."""
        done, planned = [], []
        for start in entries(decision):
            job = self.index[start.job]
            happened = self.carry_out(start, job)
            if happened is not None:
                done.append(happened)
            if job not in self.started:
                planned.append(self.now + max(1, self.next_slot(start)))
        self.waiting = [j for j in self.waiting if j not in self.started]
        coming = int(self.submissions[self.seen]) if self.seen < len(self.submissions) else self._slotted.horizon
        events = {"submitted": coming, "planned": min(planned, default=self._slotted.horizon)}
        if self.waiting:
            self.ends = {end for end in self.ends if end > self.now}
            events |= {"ended": min(self.ends, default=self._slotted.horizon), "period": self.next_period()}
            events |= {"arrived": min((w for w in self.wakes() if w > self.now), default=self._slotted.horizon)}
        until = min(events.values())
        self.event = "+".join(name for name, slot in events.items() if slot == until)
        self.now = until
        self._submit()
        return done

    def run(self, job: int, place: int, row: dict[str, Any]) -> None:
        """Occupy a place from now on for the job's duration."""
        columns = self._slotted.columns
        end = self.now + int(columns.duration[job])
        self.load[place, self.now : end] += self.demand[job]
        self.ends.add(end)
        self.started[job] = row

    @property
    @abstractmethod
    def demand(self) -> Any:
        """Units a job takes, shape (J,)."""

    @property
    @abstractmethod
    def capacity(self) -> Any:
        """Units there are, shape (P, T)."""

    def figures(self) -> dict[str, float]:
        """Jobs run and not run, and the share of the capacity that was in use."""
        return {
            "jobs_run": len(self.started),
            "jobs_dropped": len(self._slotted.jobs) - len(self.started),
            "utilisation": float(np.minimum(self.load, self.capacity).sum() / max(1e-9, float(self.capacity.sum()))),
        }
