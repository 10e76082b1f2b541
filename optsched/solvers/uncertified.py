"""A model solved as part of something else: no certificate, no progress, just the schedule that HiGHS finds."""

from __future__ import annotations

from optsched.instances.base import I
from optsched.models.base import Model
from optsched.monitor import Monitor
from optsched.schedules.base import S
from optsched.solvers import SolverSettings, backend, linear_form
from optsched.stop import Clock


def solve_uncertified(model: Model[I, S], start: S, task: SolverSettings) -> S | None:
    """The schedule found from `start`, or None where the solver has none to show."""
    model.encode(start)
    form = linear_form(model)
    outcome = backend("highs").solve(model, form, task, Monitor(Clock(), form.sign))
    if outcome.x is None:
        return None
    form.store(outcome.x)
    return model.decode()
