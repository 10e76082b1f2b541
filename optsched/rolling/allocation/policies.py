"""Policies of allocation: dispatch rules with and without preemption, methods on the snapshot, the look-ahead."""

from __future__ import annotations

from functools import partial
from typing import Literal

from optsched.errors import OptschedError
from optsched.exact import Exact
from optsched.heuristics.allocation import HEURISTICS
from optsched.heuristics.allocation.dispatch import RULES, Order, dispatch
from optsched.heuristics.allocation.priced import priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.rl.trained import shipped
from optsched.rolling.allocation.agents import agent_policy
from optsched.rolling.allocation.backfilling import Backfilling, EasyBackfilling
from optsched.rolling.allocation.conservative import ConservativeBackfilling
from optsched.rolling.allocation.holding import going_on
from optsched.rolling.allocation.portfolio import Portfolio
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Factory, ParametricFactory, Policy, Settings, heuristic_policy
from optsched.schedules.allocation import AllocationSchedule, Assignment, Decided


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
        running, away = going_on(self.held, snapshot)
        decision = dispatch(snapshot, self.order, running)
        self.held = away | {a.job: a for a in decision.assignments}
        return decision

    def state(self) -> list[dict[str, object]]:
        """The assignments that are held, in order."""
        return [a.model_dump(mode="json") for a in self.held.values()]

    def restore(self, state: object) -> None:
        """Hold these."""
        self.held = {a.job: a for a in recalled(tuple[Assignment, ...], state)}


def optimum(name: Literal["look-ahead", "progress"], snapshot: AllocationInstance, seed: int = 0) -> AllocationSchedule:
    """The exact optimum of a snapshot objective."""
    from optsched.models.allocation.look_ahead import LookAhead
    from optsched.models.allocation.progress import ProgressModel
    from optsched.solvers import SolverSettings
    from optsched.solvers.uncertified import solve_uncertified

    model = {"look-ahead": LookAhead, "progress": ProgressModel}[name]
    how = SolverSettings(seed=seed, gap=1e-4, start=True)
    found = solve_uncertified(model(snapshot), HEURISTICS["greedy"](snapshot, seed), how)
    if found is None:
        raise OptschedError(f"{name}: the solver found no schedule")
    assert isinstance(found, AllocationSchedule)
    return found


def proxy(first_ending: Literal["earliest", "cheapest"], snapshot: AllocationInstance, seed: int = 0) -> AllocationSchedule:
    """The exact optimum of the paper's proxy in one of its two readings (docs/errata.md, A1)."""
    found = Exact()(snapshot.model_copy(update={"first_ending": first_ending}), seed=seed).schedule
    assert isinstance(found, AllocationSchedule)
    return found


def _preemptive(name: str, snapshot: AllocationInstance, seed: int) -> AllocationSchedule:
    return dispatch(snapshot, RULES[name][0])


def _non_preemptive(name: str, settings: Settings) -> Policy[AllocationInstance, AllocationSchedule]:
    settings.allow(name)
    return NonPreemptive(RULES[name][0])


def _backfilling(name: str, rule: type[Backfilling], settings: Settings) -> Backfilling:
    settings.allow(name)
    return rule()


def shift_plan(plan: Decided, snapshot: AllocationInstance, passed_s: float) -> AllocationSchedule:
    """The assignments of the jobs that are still there."""
    assert isinstance(plan, AllocationSchedule)
    running, _ = going_on({a.job: a for a in plan.assignments}, snapshot)
    return AllocationSchedule(assignments=tuple(running.values()))


FALLBACK = priced_dispatch  # it never idles

POLICIES: dict[str, Factory[AllocationInstance, AllocationSchedule]] = {
    **{
        name: heuristic_policy(name, partial(_preemptive, name)) if preemptive else partial(_non_preemptive, name)
        for name, (_, preemptive) in RULES.items()
    },
    "easy-backfilling": partial(_backfilling, "easy-backfilling", EasyBackfilling),
    "conservative-backfilling": partial(_backfilling, "conservative-backfilling", ConservativeBackfilling),
    "priced": heuristic_policy("priced", priced_dispatch),
    "rolling": Portfolio,
    "rolling:look-ahead": heuristic_policy("rolling:look-ahead", partial(optimum, "look-ahead")),
    "rolling:progress": heuristic_policy("rolling:progress", partial(optimum, "progress")),
    "rolling:as-in-text": heuristic_policy("rolling:as-in-text", partial(proxy, "earliest")),
    "rolling:as-printed": heuristic_policy("rolling:as-printed", partial(proxy, "cheapest")),
}
POLICIES |= {name: partial(agent_policy, name) for name in shipped("allocation")}
PARAMETRIC_POLICIES: dict[str, ParametricFactory[AllocationInstance, AllocationSchedule]] = {"agent": agent_policy}
"""As in ``agent:weights.npz``."""
