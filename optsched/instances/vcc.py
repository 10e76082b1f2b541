"""vcc: a FIFO queue of flexible jobs under an hourly cap (SustainGym's DatacenterEnv, corrected)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from optsched.instances.base import (
    Bools,
    Counting,
    Data,
    Floats,
    Identifier,
    Instance,
    Ints,
    Natural,
    NonNegative,
    Penalty,
    Positive,
    frozen,
    refuse,
    refuse_duplicates,
)
from optsched.instances.events import Events, Multiple, SlotOutage, Trouble, outages_in_slots, refuse_misfits, share_left
from optsched.instances.grid import Grid, Whole, share_of
from optsched.instances.plain import counted

if TYPE_CHECKING:
    from optsched.schedules.vcc import VccSchedule

SMALLEST = 1e-100  # NCU: what is less says a typing error, and takes integers of a thousand digits
Share = Annotated[float, Field(ge=0, le=1)]


class Job(Data):
    """A flexible job.

    Attributes
    ----------
    id
        By which schedules name it.
    submitted
        The slot in which it joins the queue.
    duration
        Slots for which it runs.
    ncu
        Normalised compute units that it takes.
    waited
        In a snapshot of a replay: slots that it has waited already.
    evicted
        There too: it was started and put back, is charged for no more waiting, and `duration` is what is left.
    estimate
        What its user says it takes, as a multiple of what it does take; read in a replay that asks for users' estimates.
    """

    id: Identifier
    submitted: Natural
    duration: Counting
    ncu: Positive
    waited: Natural = 0
    evicted: bool = False
    estimate: Multiple | None = None


@dataclass(frozen=True)
class JobColumns:
    """Jobs as columns in the order of the queue: by submission, then as in the file; slots, and NCU."""

    ncu: Floats
    duration: Ints
    submitted: Ints
    waited: Ints


@dataclass(frozen=True)
class Units:
    """Sizes in whole units of a grid: what fits is decided in them.

    Attributes
    ----------
    ncu : of the jobs in the order of the queue, shape (J,). room : what the inflexible load leaves, negative where it exceeds
        the capacity, shape (T,). running : flexible load that runs already, shape (T,). capacity : C.
    """

    grid: Grid
    ncu: Whole
    room: Whole
    running: Whole
    capacity: int

    @cached_property
    def upto(self) -> list[float]:
        """Units of the first 0, 1, ... jobs together, J + 1 of them; Python's numbers, for bisection."""
        return [0, *np.cumsum(self.ncu).tolist()]


class VccInstance(Instance["VccSchedule", "VccSchedule"]):
    """Flexible jobs over T = len(carbon_kg_per_kwh) slots, behind a cap.

    Attributes
    ----------
    slot_s
        Seconds of a slot.
    capacity_ncu
        C, of the data centre.
    carbon_kg_per_kwh
        Of electricity, a value a slot.
    carbon_forecast
        Row t: what was forecast in slot t for the slots t, t + 1, ...; rows may be shorter than the horizon.
    inflexible_ncu
        Load that runs always, under no cap, a value a slot.
    idle_kw, kw_per_ncu
        Power without load, and of each NCU in use.
    carbon_price
        Of a kg of CO2; 1 makes the objective kg.
    delay_limit_slots
        Slots for which a job may wait without a charge.
    delay_penalty_per_ncu_h
        Per NCU and hour beyond that.
    daily_fraction
        Of the work submitted in a day, which its caps should add up to.
    daily_penalty_per_ncu_h
        Per NCU-hour that they lack.
    unfinished_penalty_per_ncu_h
        Per NCU-hour that is not run by the end.
    preempt
        Whether load above a cap is evicted.
    now
        The slot of a replay that slot 0 of a snapshot is.
    carbon_before
        Carbon of the slot before slot 0, as it came (a snapshot's; None at the start).
    running_ncu
        Flexible load by slot of the jobs that run already (a snapshot's).
    allotted_ncu_h, asked_ncu_h
        Cap given and work submitted earlier on the day of slot 0 (a snapshot's).
    jobs
        The queue, in the order of submission, then as here.
    events
        What goes wrong in a replay; None in a snapshot.
    """

    sense: ClassVar[Literal["minimize", "maximize"]] = "minimize"
    nonnegative: ClassVar[bool] = True
    problem: ClassVar[str] = "vcc"
    troubles: ClassVar[frozenset[Trouble]] = frozenset({"less"})

    slot_s: Positive = 3600.0
    capacity_ncu: Positive
    carbon_kg_per_kwh: tuple[NonNegative, ...] = Field(min_length=1)
    carbon_forecast: tuple[tuple[NonNegative, ...], ...] | None = None
    inflexible_ncu: tuple[NonNegative, ...]
    idle_kw: NonNegative = 0.0
    kw_per_ncu: NonNegative = 1.0
    carbon_price: NonNegative = 1.0
    delay_limit_slots: Natural = 24
    delay_penalty_per_ncu_h: Penalty = 0.0
    daily_fraction: Share = 0.97
    daily_penalty_per_ncu_h: Penalty = 0.0
    unfinished_penalty_per_ncu_h: Penalty = 0.0
    preempt: bool = False
    now: Natural = 0
    carbon_before: NonNegative | None = None
    running_ncu: tuple[NonNegative, ...] | None = None
    allotted_ncu_h: NonNegative = 0.0
    asked_ncu_h: NonNegative = 0.0
    jobs: tuple[Job, ...]
    events: Events | None = None

    @model_validator(mode="after")
    def _consistent(self) -> VccInstance:
        refuse_duplicates("jobs", (job.id for job in self.jobs))
        for field in ("inflexible_ncu", "running_ncu", "carbon_forecast"):
            given = getattr(self, field)
            if given is not None and len(given) != self.horizon:
                refuse(field, f"has {len(given)} entries, carbon_kg_per_kwh has {self.horizon}")
        for t, row in enumerate(self.carbon_forecast or ()):
            if not row:
                refuse(f"carbon_forecast[{t}]", "is empty, it needs at least the present slot")
        for j, job in enumerate(self.jobs):
            if job.submitted >= self.horizon:
                refuse(f"jobs[{j}].submitted", f"is {job.submitted}, beyond the horizon of {self.horizon} slots")
            if job.evicted and not self.preempt:
                refuse(f"jobs[{j}].evicted", "is true, but preempt is false: nothing is evicted")
            if job.ncu < SMALLEST:
                refuse(f"jobs[{j}].ncu", f"is {job.ncu:g}, the least is {SMALLEST:g}")
            if job.ncu > self.capacity_ncu:
                refuse(
                    f"jobs[{j}].ncu", f"is {job.ncu:g}, more than the capacity of {self.capacity_ncu:g}: it blocks the queue"
                )
        refuse_misfits(self.events, self.troubles, None, self.jobs)
        return self

    @property
    def horizon(self) -> int:
        """T, in slots."""
        return len(self.carbon_kg_per_kwh)

    @property
    def slot_h(self) -> float:
        """h, a slot in hours."""
        return self.slot_s / 3600

    @property
    def day_slots(self) -> int:
        """Slots of a day."""
        return max(1, round(86400 / self.slot_s))

    @cached_property
    def queue(self) -> Ints:
        """Indices of the jobs in the order of the queue, shape (J,)."""
        return frozen(np.argsort([job.submitted for job in self.jobs], kind="stable").astype(np.int64))

    @cached_property
    def columns(self) -> JobColumns:
        """NumPy columns of the jobs, in the order of the queue."""
        jobs = [self.jobs[j] for j in self.queue.tolist()]
        rows = np.array([(j.duration, j.submitted, j.waited) for j in jobs], dtype=np.int64).reshape(len(jobs), 3)
        return JobColumns(
            frozen(np.array([job.ncu for job in jobs], dtype=float)),
            *(frozen(c.copy()) for c in rows.T),
        )

    @cached_property
    def units(self) -> Units:
        """Sizes in whole units."""
        grid = Grid.of(self.columns.ncu, self.inflexible, self.running, [self.capacity_ncu])
        (capacity,) = grid.whole([self.capacity_ncu]).tolist()
        lost = grid.whole(np.zeros(self.horizon))
        for t in np.flatnonzero(self.share_left < 1).tolist():
            lost[t] = capacity - share_of(float(self.share_left[t]), int(capacity))
        return Units(
            grid,
            frozen(grid.whole(self.columns.ncu)),
            frozen(capacity - lost - grid.whole(self.inflexible)),
            frozen(grid.whole(self.running)),
            int(capacity),
        )

    @property
    def places(self) -> tuple[str | None, ...]:
        """Where there may be outages."""
        return (None,)

    @property
    def submissions_s(self) -> dict[str, float]:
        """When each job is submitted, in seconds, by its id."""
        return {job.id: job.submitted * self.slot_s for job in self.jobs}

    @property
    def ends_s(self) -> float:
        """The horizon, in seconds."""
        return self.horizon * self.slot_s

    @cached_property
    def outages(self) -> tuple[SlotOutage, ...]:
        """When there is less capacity, in slots."""
        return outages_in_slots(self.events, self.places, self.slot_s, self.horizon)

    @cached_property
    def share_left(self) -> Floats:
        """The share of the capacity that is there, shape (T,): what runs, runs on, as where the inflexible load exceeds it."""
        return frozen(share_left(self.outages, 1, self.horizon)[0])

    @cached_property
    def due(self) -> Ints:
        """The last slot in which a job starts without a charge for delay, in the order of the queue, shape (J,)."""
        return frozen(self.columns.submitted - self.columns.waited + self.delay_limit_slots)

    @cached_property
    def arrived(self) -> Ints:
        """How many jobs have been submitted by the end of each slot, shape (T,)."""
        return frozen(np.searchsorted(self.columns.submitted, np.arange(self.horizon), side="right").astype(np.int64))

    @cached_property
    def carbon(self) -> Floats:
        """Carbon intensity as a column, shape (T,), kg/kWh."""
        return frozen(np.array(self.carbon_kg_per_kwh, dtype=float))

    @cached_property
    def inflexible(self) -> Floats:
        """Inflexible load as a column, shape (T,), NCU."""
        return frozen(np.array(self.inflexible_ncu, dtype=float))

    @cached_property
    def running(self) -> Floats:
        """Flexible load that runs already, shape (T,), NCU."""
        return frozen(np.zeros(self.horizon) if self.running_ncu is None else np.array(self.running_ncu, dtype=float))

    @cached_property
    def day(self) -> Ints:
        """The day of each slot, from that of slot 0 on, shape (T,)."""
        slots = self.now % self.day_slots + np.arange(self.horizon)
        return frozen((slots // self.day_slots).astype(np.int64))

    @cached_property
    def asked(self) -> Floats:
        """w: NCU-hours of the jobs submitted on each day, shape (days,)."""
        asked = np.bincount(self.day[self.columns.submitted], self.fresh_ncu_h, int(self.day[-1]) + 1).astype(float)
        asked[0] += self.asked_ncu_h
        return frozen(asked)

    @cached_property
    def fresh_ncu_h(self) -> Floats:
        """What each job adds to its day's w; one that has waited is among `asked_ncu_h`, or of a day before. Shape (J,)."""
        return frozen(self.fresh(self.columns.duration))

    def fresh(self, duration: Ints) -> Floats:
        """What each job would add to its day's w with other durations, shape (J,).

        Parameters
        ----------
        duration
            Slots, in the order of the queue, shape (J,).
        """
        jobs = self.columns
        return np.where(jobs.waited > 0, 0.0, jobs.ncu * duration * self.slot_h)

    @cached_property
    def demanded(self) -> Floats:
        """NCU-hours that the caps of each day should still add up to, shape (days,); negative where they have already."""
        demanded = self.daily_fraction * self.asked
        demanded[0] -= self.allotted_ncu_h
        return frozen(demanded)

    @cached_property
    def work(self) -> float:
        """NCU-slots of all jobs."""
        return float((self.columns.ncu * self.columns.duration).sum())

    @cached_property
    def ends_day(self) -> Bools:
        """Whether a slot is the last of its day, or of the horizon, shape (T,)."""
        return frozen(np.append(np.diff(self.day) > 0, True))

    @property
    def now_s(self) -> float:
        """The present of a snapshot, in seconds of the replay."""
        return self.now * self.slot_s

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return "kg" if self.carbon_price == 1.0 else "cost"

    @property
    def job_count(self) -> int:
        """All jobs."""
        return len(self.jobs)

    def summary(self) -> str:
        """One line about the size of the instance."""
        jobs, slots = self.columns, self.horizon
        asked = float((jobs.ncu * np.minimum(jobs.duration, slots - jobs.submitted)).sum())
        room = float(np.maximum(0.0, self.capacity_ncu - self.inflexible - self.running).sum())
        return (
            f"{counted(len(self.jobs), 'flexible job')}, {counted(slots, 'slot')} of {self.slot_s:g} s, "
            f"{self.capacity_ncu:g} NCU, flexible load {asked / max(room, 1e-9):.0%} of what the inflexible leaves"
        )


def occupied(start: Ints, end: Ints, ncu: Floats, slots: int) -> Floats:
    """Load by slot of what runs from `start` to before `end`, cut at the horizon, shape (slots,), NCU."""
    change = np.bincount(np.minimum(start, slots), ncu, slots + 1) - np.bincount(np.minimum(end, slots), ncu, slots + 1)
    return np.asarray(np.cumsum(change)[:slots])
