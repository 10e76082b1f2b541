"""A time-indexed problem that is not all of an instance: the exact core and the windows of the decomposition."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from optsched.instances.base import Ints
from optsched.models.time_indexed import LoadBalanceForm, PulseForm, TimeIndexed
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.schedules.base import Schedule


class Choice(Schedule):
    """Options of a program, by index; not a schedule of any instance yet."""

    options: tuple[int, ...]


class Restricted(TimeIndexed[TimeIndexedProblem, Choice]):  # type: ignore[type-var]
    """A program whose options are numbered as they were given."""

    name: ClassVar[str] = "core"

    def options(self) -> TimeIndexedProblem:
        """The program itself."""
        return self.instance

    def schedule(self, chosen: Ints) -> Choice:
        """The chosen options."""
        return Choice(options=tuple(self.kept[chosen].tolist()))

    def selected(self, schedule: Choice) -> list[tuple[int, int, int]]:
        """(job, place, start) of the options."""
        p, rows = self.instance, np.array(schedule.options, dtype=np.int64)
        return list(zip(p.job[rows].tolist(), p.place[rows].tolist(), p.start[rows].tolist(), strict=True))


class StateMip(Restricted, LoadBalanceForm[TimeIndexedProblem, Choice]):  # type: ignore[type-var]
    """In state form."""


class CoverMip(Restricted, PulseForm[TimeIndexedProblem, Choice]):  # type: ignore[type-var]
    """In cover form."""


FORMULATIONS: dict[str, type[Restricted]] = {"state": StateMip, "cover": CoverMip}
