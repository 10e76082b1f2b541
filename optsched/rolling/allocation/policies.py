"""Policies of allocation: dispatch rules with and without preemption, methods on the snapshot, the look-ahead."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from optsched.errors import OptschedError
from optsched.exact import Exact
from optsched.heuristics.allocation import HEURISTICS
from optsched.heuristics.allocation.dispatch import RULES, Order, dispatch
from optsched.heuristics.allocation.priced import priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.models.allocation.look_ahead import LookAhead
from optsched.models.allocation.progress import Progress
from optsched.models.quick import quick
from optsched.rolling.allocation.rollout import Rollout
from optsched.rolling.policy import Factory, Policy, Settings, plain
from optsched.schedules.allocation import AllocationSchedule, Assignment
from optsched.solvers import Task


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

    def state(self) -> list[dict[str, Any]]:
        """The assignments that are held, in order."""
        return [a.model_dump(mode="json") for a in self.held.values()]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Hold these."""
        self.held = {a.job: a for a in (Assignment(**entry) for entry in state)}


def optimum(model: type[LookAhead], snapshot: AllocationInstance, seed: int = 0) -> AllocationSchedule:
    """The exact optimum of a snapshot objective."""
    found = quick(model(snapshot), HEURISTICS["greedy"](snapshot, seed), Task(seed=seed, gap=1e-4, start=True))
    if found is None:
        raise OptschedError(f"{model.name}: the solver found no schedule")
    assert isinstance(found, AllocationSchedule)
    return found


MARGIN = 1.1  # how much better an exact plan must be: it is made for the known jobs, and only those are played out


def best_of_plans(snapshot: AllocationInstance, seed: int = 0) -> AllocationSchedule:
    """The priced dispatch, or the exact optimum of `Progress` if its known jobs end clearly better when played out."""
    exact, rule, cost = optimum(Progress, snapshot, seed), priced_dispatch(snapshot), Rollout(snapshot).cost
    return exact if MARGIN * cost(exact) < cost(rule) else rule


def proxy(first_ending: Literal["earliest", "cheapest"], snapshot: AllocationInstance, seed: int = 0) -> AllocationSchedule:
    """The exact optimum of the paper's proxy in one of its two readings (erratum 1)."""
    found = Exact()(snapshot.model_copy(update={"first_ending": first_ending}), seed=seed).schedule
    assert isinstance(found, AllocationSchedule)
    return found


def _preemptive(name: str, snapshot: AllocationInstance, seed: int) -> AllocationSchedule:
    return dispatch(snapshot, RULES[name][0])


def _non_preemptive(name: str, settings: Settings) -> Policy:
    settings.allow(name)
    return NonPreemptive(RULES[name][0])


def cut(snapshot: Any, window_s: float | None) -> Any:
    """The snapshot itself.

    Raises
    ------
    OptschedError : a window is asked for.
    """
    if window_s is not None:
        raise OptschedError("allocation decides about the present only: it takes no window")
    return snapshot


def carry_over(plan: AllocationSchedule, snapshot: AllocationInstance, passed_s: float) -> AllocationSchedule:
    """The assignments of the jobs that are still there."""
    alive = {job.id for job in snapshot.known_jobs}
    return AllocationSchedule(assignments=tuple(a for a in plan.assignments if a.job in alive))


RESCUE = priced_dispatch  # it never idles

POLICIES: dict[str, Factory] = {
    **{
        name: plain(name, partial(_preemptive, name)) if preemptive else partial(_non_preemptive, name)
        for name, (_, preemptive) in RULES.items()
    },
    "priced": plain("priced", priced_dispatch),
    "rolling": plain("rolling", best_of_plans),
    "rolling:look-ahead": plain("rolling:look-ahead", partial(optimum, LookAhead)),
    "rolling:progress": plain("rolling:progress", partial(optimum, Progress)),
    "rolling:as-in-text": plain("rolling:as-in-text", partial(proxy, "earliest")),
    "rolling:as-printed": plain("rolling:as-printed", partial(proxy, "cheapest")),
}
