"""What a family tells the decomposition: its options, and how a choice of them and a schedule become each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic

from optsched.instances.base import Ints
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.schedules.base import S


@dataclass(frozen=True)
class TimeIndexedView(Generic[S]):
    """An instance as a time-indexed problem.

    Attributes
    ----------
    problem
        The options; those without value may be left out.
    places
        Names of the problem's places.
    schedule
        The schedule of chosen options (indices).
    selected
        (job, place, start) of every entry of a schedule.
    """

    problem: TimeIndexedProblem
    places: tuple[str, ...]
    schedule: Callable[[Ints], S]
    selected: Callable[[S], Iterable[tuple[int, int, int]]]
