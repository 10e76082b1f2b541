"""Methods by name: each turns an instance into a result, and says for which families it works and whether it proves a bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from optsched.errors import OptschedError
from optsched.exact import Exact, Report, better, feasible_start
from optsched.instances.base import Instance
from optsched.result import Result, certified
from optsched.rooms import families, room
from optsched.schedules.base import Schedule
from optsched.stop import Clock, Stop


class Method(Protocol):
    """Exact backends, heuristics, decompositions and policies alike."""

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve an instance."""


@dataclass(frozen=True)
class Heuristic:
    """A heuristic of heuristics/ as a method: a schedule without a bound."""

    name: str
    construct: Callable[[Instance, int], Schedule]

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Construct a schedule and return it or the start, whichever is better; it is too quick for limits."""
        clock = Clock()
        schedule = self.construct(instance, seed)
        if start is not None:
            schedule = better(instance, feasible_start(instance, start, schedule), schedule)
        return certified(
            instance,
            schedule,
            method=self.name,
            termination="iteration_limit",
            bound=None,
            seconds=clock.elapsed_s(),
            seed=seed,
        )


@dataclass(frozen=True)
class MethodInfo:
    """What `optsched methods` shows."""

    name: str
    families: tuple[str, ...]
    proves_bound: bool
    summary: str


def catalogue() -> list[MethodInfo]:
    """All methods."""
    found = {"exact": MethodInfo("exact", families(), True, "a MILP or MINLP formulation, solved to proven optimality")}
    for family in families():
        for name, construct in room("heuristics", family).HEURISTICS.items():
            known = found.get(name, MethodInfo(name, (), False, ""))
            summary = known.summary or (construct.__doc__ or "").split("\n")[0]
            found[name] = MethodInfo(name, (*known.families, family), False, summary)
    return list(found.values())


def method(name: str, family: str, **configuration: Any) -> Method:
    """The method of that name for a family.

    Parameters
    ----------
    configuration : of `Exact`: backend, formulation, threads, options.

    Raises
    ------
    OptschedError : no such method, not for this family, or it does not take the configuration.
    """
    given = {key: value for key, value in configuration.items() if value not in (None, {})}
    if name == "exact":
        return Exact(**given)
    heuristics = room("heuristics", family).HEURISTICS
    if name not in heuristics:
        raise OptschedError(f"{family} has no method {name!r}, it has: {', '.join(['exact', *heuristics])}")
    if given:
        raise OptschedError(f"method {name} does not take {', '.join(given)}: only exact does")
    return Heuristic(name, heuristics[name])
