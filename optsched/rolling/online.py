"""What a family gives a replay: simulator, policies, and what a plan needs to be carried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from optsched.errors import OptschedError
from optsched.instances.base import Data, Instance, Ints
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.registry import family
from optsched.rolling.forecast import Forecast
from optsched.rolling.policy import Factory, I, ParametricFactory, S
from optsched.rolling.simulator import Simulator
from optsched.schedules.base import Schedule

J = TypeVar("J", bound=Data)


@dataclass(frozen=True)
class BidPricing(Generic[I, S, J]):
    """What `BidPricePolicy` asks of a family of jobs that wait for capacity in slots.

    Attributes
    ----------
    job
        The class of its jobs.
    options
        A snapshot's options, and how a choice of them becomes a schedule.
    resubmit
        A job as if submitted in another slot.
    price_discount
        Which share of the prices counts: those of few samples are too sure.
    exact_limit
        Up to so many options a plan of the known jobs is made exactly.
    """

    job: type[J]
    options: Callable[[I], tuple[TimeIndexedProblem, Callable[[Ints], S]]]
    resubmit: Callable[[J, int], J]
    price_discount: float
    exact_limit: int


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
    bid_pricing
        For `BidPricePolicy`, or None.
    """

    simulator: Callable[[I, float | None, Forecast, int], Simulator[I, S]]
    policies: Mapping[str, Factory[I, S]]
    fallback: Callable[[I, int], S]
    shift_plan: Callable[[S, I, float], S]
    truncate_window: Callable[[I, float], I] | None = None
    parametric_policies: Mapping[str, ParametricFactory[I, S]] = field(default_factory=dict)
    bid_pricing: BidPricing[I, S, Any] | None = None


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
