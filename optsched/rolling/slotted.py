"""What a replay in slots, and the prices of its capacity, ask of an instance whose jobs wait for capacity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, Self, TypeVar

from optsched.instances.base import Ints
from optsched.instances.runs import Run


class SlottedJob(Protocol):
    """A job that is known from a slot on."""

    @property
    def id(self) -> str:
        """By which decisions name it."""

    @property
    def submitted(self) -> int:
        """The slot from which on it is known."""

    @property
    def duration(self) -> int:
        """Slots for which it runs, or is believed to."""

    @property
    def estimate(self) -> float | None:
        """What its user says it takes, as a multiple of what it does."""

    def model_copy(self, *, update: Mapping[str, object] | None = None) -> Self:
        """A copy with other values of some fields."""

    def model_dump(self, *, mode: str) -> dict[str, object]:
        """Its fields, in JSON with ``mode="json"``."""


J_co = TypeVar("J_co", bound=SlottedJob, covariant=True)


T = TypeVar("T")


def itself(instance: T) -> T:
    """An instance as what has jobs and slots, where that is all there is to it."""
    return instance


class Columns(Protocol):
    """Of the jobs, shape (J,) each."""

    @property
    def submitted(self) -> Ints:
        """The slots from which on they are known."""

    @property
    def duration(self) -> Ints:
        """Slots for which they run."""


class Slotted(Protocol[J_co]):
    """An instance of jobs and slots."""

    @property
    def jobs(self) -> tuple[J_co, ...]:
        """What waits for capacity."""

    @property
    def columns(self) -> Columns:
        """The jobs as columns."""

    @property
    def places(self) -> tuple[str | None, ...]:
        """Where they run."""

    @property
    def running(self) -> tuple[Run, ...]:
        """In a snapshot: what runs, where durations are estimates."""

    @property
    def ended(self) -> tuple[Run, ...]:
        """In a snapshot: what has ended since the last decision, likewise."""

    @property
    def cut(self) -> tuple[Run, ...]:
        """In a snapshot: runs that something else has ended since the last decision."""

    @property
    def slot_s(self) -> float:
        """Seconds of a slot."""

    @property
    def horizon(self) -> int:
        """Slots."""

    @property
    def now(self) -> int:
        """The slot of the replay that slot 0 of a snapshot is."""
