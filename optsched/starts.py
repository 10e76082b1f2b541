"""Where a method starts: the family's greedy, the schedule that was given, or the better of the two."""

from __future__ import annotations

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.referee import check, evaluate
from optsched.registry import family_of
from optsched.schedules.base import S, Schedule
from optsched.stop import Clock, Spare


def best_start(instance: Instance, given: Schedule | None, seconds: float | None = None) -> Schedule:
    """The better of the given schedule and the family's greedy, so that a time limit never returns empty-handed.

    Parameters
    ----------
    instance
        What is given.
    given
        A schedule, or None.
    seconds
        For the greedy, from now on as if it were alone; what it has not placed by then is left out.

    Raises
    ------
    OptschedError
        The given schedule breaks a rule.
    """
    greedy = family_of(instance).heuristics()["greedy"](instance, 0, spare=None if seconds is None else Spare(Clock(), seconds))
    return greedy if given is None else better(instance, feasible_start(instance, given, greedy), greedy)


def feasible_start(instance: Instance, given: Schedule, like: Schedule) -> Schedule:
    """The given schedule, once it is known to be one of the instance.

    Raises
    ------
    OptschedError
        It is of another kind than `like`, or breaks a rule.
    """
    if type(given) is not type(like):
        has, wants = (f"{type(s).__name__} (of {next(iter(type(s).model_fields))})" for s in (given, like))
        raise OptschedError(f"the start is of class {has}, where this method starts from {wants}")
    broken = check(instance, given)
    if broken:
        raise OptschedError(f"the start is not feasible: {broken[0]}")
    return given


def better(instance: Instance, a: S, b: S) -> S:
    """The one that the referee prefers; `a` on a tie."""
    value_a, value_b = evaluate(instance, a).objective, evaluate(instance, b).objective
    return a if (value_a <= value_b if instance.sense == "minimize" else value_a >= value_b) else b
