"""deferrable: start slots for jobs with a window under a soft capacity (OSDEC, Dong et al., section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from optsched.instances.base import (
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
from optsched.instances.events import (
    Events,
    Multiple,
    SlotOutage,
    Trouble,
    cancelled_in_slots,
    outages_in_slots,
    refuse_misfits,
    share_left,
)
from optsched.instances.grid import Grid, Whole
from optsched.instances.plain import counted
from optsched.instances.runs import Run

if TYPE_CHECKING:
    from optsched.schedules.deferrable import DeferrableSchedule


DIGITS, MOST_DIGITS = 6, 15  # of the capacity that an outage leaves: as many as sizes have, if these are not fewer or more


class Job(Data):
    """A job.

    Attributes
    ----------
    id
        By which schedules name it.
    cores
        How many it takes.
    duration
        Slots for which it runs.
    earliest, latest
        The slots between which it starts, both included, or not at all.
    submitted
        The slot from which on it is known.
    waited
        In a snapshot of a replay: slots that it has waited already, which count as delay.
    estimate
        What its user says it takes, as a multiple of what it does take; read in a replay that asks for users' estimates.
    """

    id: Identifier
    cores: Positive
    duration: Counting
    earliest: Natural
    latest: Natural
    submitted: Natural
    waited: Natural = 0
    estimate: Multiple | None = None


@dataclass(frozen=True)
class JobColumns:
    """Jobs as columns, in the file's order; slots, and cores."""

    cores: Floats
    duration: Ints
    earliest: Ints
    latest: Ints
    submitted: Ints
    waited: Ints


@dataclass(frozen=True)
class Units:
    """Cores of the jobs, shape (J,), and capacity, shape (T,), in whole units of a grid: overload is told in them."""

    grid: Grid
    cores: Whole
    capacity: Whole


class DeferrableInstance(Instance["DeferrableSchedule", "DeferrableSchedule"]):
    """Deferrable jobs over T = len(capacity) slots.

    Attributes
    ----------
    slot_s
        Seconds of a slot.
    capacity
        Cores, a value a slot.
    delay_penalty
        omega_1: core-slots per slot by which a job starts after its earliest one.
    overload_penalty
        omega_2: core-slots per core above the capacity and slot.
    forecast
        Where the capacity comes from; never read by a method.
    now
        The slot of a replay that slot 0 of a snapshot is.
    jobs
        What there is to start.
    events
        What goes wrong in a replay, which its capacity shows; None in a snapshot.
    running, ended
        In a snapshot of a replay whose durations are estimates: what runs, and what has ended since the last decision. The
        capacity is what the former leave; no method reads them.
    cut
        In a snapshot of a replay: runs that something else has ended since the last decision.
    """

    sense: ClassVar[Literal["minimize", "maximize"]] = "maximize"
    problem: ClassVar[str] = "deferrable"
    troubles: ClassVar[frozenset[Trouble]] = frozenset({"less", "cancelled"})

    slot_s: Positive
    capacity: tuple[NonNegative, ...] = Field(min_length=1)
    delay_penalty: Penalty
    overload_penalty: Penalty
    forecast: dict[str, object] | None = None
    now: Natural = 0
    jobs: tuple[Job, ...]
    events: Events | None = None
    running: tuple[Run, ...] = ()
    ended: tuple[Run, ...] = ()
    cut: tuple[Run, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> DeferrableInstance:
        refuse_duplicates("jobs", (job.id for job in self.jobs))
        for j, job in enumerate(self.jobs):
            if job.submitted > job.earliest:
                refuse(f"jobs[{j}].earliest", f"is {job.earliest}, before submitted = {job.submitted}")
            if job.earliest > job.latest:
                refuse(f"jobs[{j}].latest", f"is {job.latest}, before earliest = {job.earliest}")
        refuse_misfits(self.events, self.troubles, None, self.jobs)
        return self

    @property
    def horizon(self) -> int:
        """T, in slots."""
        return len(self.capacity)

    @cached_property
    def columns(self) -> JobColumns:
        """NumPy columns of the jobs."""
        fields = [(j.duration, j.earliest, j.latest, j.submitted, j.waited) for j in self.jobs]
        rows = np.array(fields, dtype=np.int64).reshape(len(self.jobs), 5)
        return JobColumns(
            frozen(np.array([job.cores for job in self.jobs], dtype=float)),
            *(frozen(c.copy()) for c in rows.T),
        )

    @cached_property
    def units(self) -> Units:
        """Sizes in whole units."""
        grid = Grid.of(self.columns.cores, self.capacity_cores)
        return Units(grid, frozen(grid.whole(self.columns.cores)), frozen(grid.whole(self.capacity_cores)))

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
    def cancelled(self) -> dict[str, int]:
        """The slot in which a job is cancelled, by its id."""
        return cancelled_in_slots(self.events, self.slot_s)

    @cached_property
    def capacity_cores(self) -> Floats:
        """Capacity as a column, shape (T,): that which there is, whatever was believed."""
        if not self.outages:
            return self.nominal
        return frozen(self.left_of(self.nominal, share_left(self.outages, 1, self.horizon)[0]))

    def left_of(self, capacity: Floats, share: Floats) -> Floats:
        """What outages leave of a capacity: all of it where there are none, elsewhere with few decimals.

        Parameters
        ----------
        capacity, share : cores, and the part of them that is left, shape (T,) each.
        """
        return np.where(share < 1.0, np.round(capacity * share, self._digits), capacity)

    @cached_property
    def _digits(self) -> int:
        return min(max(DIGITS, Grid.of(self.columns.cores, self.nominal).digits), MOST_DIGITS)

    @cached_property
    def nominal(self) -> Floats:
        """Capacity as a column, shape (T,), if nothing goes wrong."""
        return frozen(np.array(self.capacity, dtype=float))

    @property
    def now_s(self) -> float:
        """The present of a snapshot, in seconds of the replay."""
        return self.now * self.slot_s

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return "core-slots"

    @property
    def job_count(self) -> int:
        """All jobs."""
        return len(self.jobs)

    def summary(self) -> str:
        """One line about the size of the instance."""
        slack = self.columns.latest - self.columns.earliest
        least, most = min(self.capacity), max(self.capacity)
        capacity = f"{least:g} cores" if least == most else f"{least:g}..{most:g} cores"
        return (
            f"{counted(len(self.jobs), 'job')}, {counted(self.horizon, 'slot')} of {self.slot_s:g} s, capacity {capacity}, "
            f"mean window {slack.mean() if len(slack) else 0:.1f} slots"
        )
