"""A job runs in one of its ways, or later: postponing it is a column of its own, so that no two large costs ever cancel."""

from __future__ import annotations

import numpy as np
import pyomo.core as pyo
from pyomo.core.base.var import VarData

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats, Ints
from optsched.models.terms import Terms, rows_of
from optsched.problems.allocation.options import Options
from optsched.schedules.allocation import AllocationSchedule


class Later:
    """Rows ``sum of a job's ways + later[j] = 1``, for the jobs that have a way here; the others are postponed in any case.

    Parameters
    ----------
    model : Pyomo model, which gets `postponed` and `once`. job : of each way, shape (ways,). ways : their binaries.
    """

    def __init__(self, model: pyo.ConcreteModel, job: Ints, ways: list[VarData]) -> None:
        self.jobs, rows = np.unique(job, return_inverse=True)
        count = len(self.jobs)
        model.postponed = pyo.Var(range(count), bounds=(0, 1))
        self.columns = list(model.postponed.values())
        self.every = ways + self.columns
        picks = np.arange(len(self.every))
        once = rows_of(np.concatenate([rows, np.arange(count)]), self.every, picks, np.ones(len(picks)), count)
        model.once = pyo.Constraint(range(count), rule=lambda _, r: (1, once[r], 1))

    def objective(self, listed: Options, cost: Floats) -> Terms:
        """What the ways cost, shape (ways,), and what postponing costs."""
        never = np.ones(len(listed.postponed), dtype=bool)
        never[self.jobs] = False
        priced = np.concatenate([cost, listed.postponed[self.jobs]])
        return Terms(self.every, np.arange(len(priced)), priced, float(listed.postponed[never].sum()))

    def encode(self, instance: AllocationInstance, schedule: AllocationSchedule) -> None:
        """Later is what does not run."""
        running = {assignment.job for assignment in schedule.assignments}
        for j, column in zip(self.jobs.tolist(), self.columns, strict=True):
            column.set_value(float(instance.known_jobs[j].id not in running), skip_validation=True)
