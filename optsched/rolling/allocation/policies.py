"""Policies of allocation: dispatch rules with and without preemption, methods on the snapshot, the look-ahead."""

from __future__ import annotations

from collections.abc import Callable

from optsched.errors import OptschedError
from optsched.exact import Exact
from optsched.heuristics.allocation import HEURISTICS
from optsched.heuristics.allocation.dispatch import RULES, Order, dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.models.allocation.look_ahead import LookAhead
from optsched.rolling.policy import Heuristic, Policy
from optsched.schedules.allocation import AllocationSchedule, Assignment
from optsched.solvers import Monitor, Task, backend, linear_form
from optsched.stop import Clock


class NonPreemptive:
    """A dispatch rule that keeps node and GPUs of what it has started (FIFO, EDF, PS of the paper; back-filling)."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.held: dict[str, Assignment] = {}

    def reset(self, seed: int) -> None:
        """Forget what runs."""
        self.held = {}

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        """What runs goes on; the rest is placed in order."""
        alive = {job.id for job in snapshot.known_jobs}
        self.held = {job: a for job, a in self.held.items() if job in alive}
        decision = dispatch(snapshot, self.order, self.held)
        self.held = {a.job: a for a in decision.assignments}
        return decision


def look_ahead(snapshot: AllocationInstance, seed: int = 0) -> AllocationSchedule:
    """The exact optimum of the look-ahead objective."""
    model = LookAhead(snapshot)
    model.encode(HEURISTICS["greedy"](snapshot, seed))
    form = linear_form(model)
    outcome = backend("highs").solve(model, form, Task(seed=seed, gap=1e-6, start=True), Monitor(Clock(), 1))
    if outcome.x is None:
        raise OptschedError(f"look-ahead: the solver ended with {outcome.termination}")
    form.store(outcome.x)
    return model.decode()


def exact(snapshot: AllocationInstance, seed: int = 0) -> AllocationSchedule:
    """The exact optimum of the paper's proxy."""
    found = Exact()(snapshot, seed=seed).schedule
    assert isinstance(found, AllocationSchedule)
    return found


def _preemptive(order: Order) -> Callable[[AllocationInstance, int], AllocationSchedule]:
    return lambda snapshot, seed: dispatch(snapshot, order)


POLICIES: dict[str, Callable[[], Policy]] = {
    **{
        name: (lambda o=order: Heuristic(_preemptive(o))) if preemptive else (lambda o=order: NonPreemptive(o))  # type: ignore[misc]
        for name, (order, preemptive) in RULES.items()
    },
    "greedy": lambda: Heuristic(HEURISTICS["greedy"]),
    "randomized-greedy": lambda: Heuristic(HEURISTICS["randomized-greedy"]),
    "rolling": lambda: Heuristic(look_ahead),
    "rolling:exact": lambda: Heuristic(exact),
    "rolling:greedy": lambda: Heuristic(HEURISTICS["greedy"]),
    "rolling:randomized-greedy": lambda: Heuristic(HEURISTICS["randomized-greedy"]),
    "rolling:look-ahead": lambda: Heuristic(look_ahead),
}
