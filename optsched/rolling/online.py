"""What a family gives a replay: simulator, policies, and what a plan needs to be carried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic

from optsched.errors import OptschedError
from optsched.instances.base import I, Instance
from optsched.registry import family
from optsched.rolling.forecast import Forecast
from optsched.rolling.policy import Factory, ParametricFactory
from optsched.rolling.simulator import Simulator
from optsched.schedules.base import S, Schedule


@dataclass(frozen=True)
class Online(Generic[I, S]):
    """The parts of a replay.

    Attributes
    ----------
    simulator
        The truth as time passes, made from the instance, the longest time between decisions, the forecast and a seed.
    policies
        By name, besides every heuristic and every method as a rolling horizon; ``rolling`` is the recommended one.
    fallback
        Decides where a policy has failed; never infeasible.
    shift_plan
        What is left of a plan some seconds later, for that snapshot.
    truncate_window
        The snapshot with starts only within so many seconds; None where a decision is about the present only.
    parametric_policies
        Policies with an argument, as in ``constant:0.2``.
    """

    simulator: Callable[[I, float | None, Forecast, int], Simulator[I, S]]
    policies: Mapping[str, Factory[I, S]]
    fallback: Callable[[I, int], S]
    shift_plan: Callable[[S, I, float], S]
    truncate_window: Callable[[I, float], I] | None = None
    parametric_policies: Mapping[str, ParametricFactory[I, S]] = field(default_factory=dict)


def online_of(name: str) -> Online[Instance, Schedule]:
    """The replay of a family.

    Raises
    ------
    OptschedError
        It has none.
    """
    found = family(name).online()
    if found is None:
        raise OptschedError(f"{name} has no replay")
    return found
