"""The exact core: a time-indexed program through a formulation of models/ and a backend of solvers/."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from optsched.instances.base import Ints
from optsched.models.quick import quick
from optsched.models.time_indexed import Program, StateForm
from optsched.schedules.base import Schedule
from optsched.solvers import Task


class Choice(Schedule):
    """Options of a program, by index; not a schedule of any instance yet."""

    options: tuple[int, ...]


class Core(StateForm[Program, Choice]):  # type: ignore[type-var]
    """A program in state form, its options numbered as they were given."""

    name: ClassVar[str] = "core"

    def options(self) -> Program:
        """The program itself."""
        self.kept = np.flatnonzero(self.instance.value > 0)
        return self.instance

    def schedule(self, chosen: Ints) -> Choice:
        """The chosen options."""
        return Choice(options=tuple(self.kept[chosen].tolist()))

    def selected(self, schedule: Choice) -> list[tuple[int, int, int]]:
        """(job, place, start) of the options."""
        p, rows = self.instance, np.array(schedule.options, dtype=np.int64)
        return list(zip(p.job[rows].tolist(), p.place[rows].tolist(), p.start[rows].tolist(), strict=True))


def optimise(program: Program, start: Ints, gap: float, nodes: int) -> Ints:
    """Options (indices) of a choice within `gap` of the best, or the best after `nodes` nodes; at least as good as `start`.

    Limited by nodes, not by the clock: the same program has the same choice on every machine.
    """
    if not (program.value > 0).any():
        return start
    task = Task(gap=gap, threads=1, seed=0, start=True, options={"mip_max_nodes": nodes})
    found = quick(Core(program), Choice(options=tuple(start.tolist())), task)
    return start if found is None else np.array(found.options, dtype=np.int64)
