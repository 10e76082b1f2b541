"""Methods by name: each turns an instance into a result, and says for which families it works and whether it proves a bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any, Protocol

from optsched.errors import OptschedError
from optsched.exact import Exact, Report, better, feasible_start
from optsched.instances.base import Instance
from optsched.interrupts import asked, listening
from optsched.result import Result, certified, schedule_of
from optsched.rooms import families, has, room
from optsched.schedules.base import Schedule
from optsched.stop import Clock, Spare, Stop, deadline, ends_early


class Method(Protocol):
    """Exact backends, heuristics, decompositions and policies alike."""

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve an instance."""


@dataclass(frozen=True)
class Heuristic:
    """A heuristic of heuristics/ as a method: a schedule without a bound."""

    name: str
    construct: Callable[..., Schedule]
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Construct a schedule and return it or the start, whichever is better; what time does not suffice for is left out."""
        clock, stop = Clock(), stop or Stop()
        spare = Spare(clock, deadline(stop.seconds, instance.job_count), asked)
        may_end = stop.seconds is not None or listening()
        limited = {"spare": spare} if may_end and ends_early(self.construct) else {}
        schedule, given = self.construct(instance, seed, **limited), schedule_of(start)
        if given is not None:
            schedule = better(instance, feasible_start(instance, given, schedule), schedule)
        return certified(
            instance,
            schedule,
            method=self.name,
            termination="iteration_limit" if not spare.cut else "interrupted" if asked() else "time_limit",
            bound=None,
            seconds=clock.elapsed_s(),
            seed=seed,
            options=self.options,
        )


@dataclass(frozen=True)
class Auto:
    """Exact where that will finish, the decomposition where it will not; the message says which, and why."""

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Measure the model, and solve."""
        clock, stop = Clock(), stop or Stop()
        family = room("decomposition", instance.problem)
        large = family.too_large(instance)
        chosen: Method = Exact() if large is None else family.METHOD()
        why = "exact: the model is small enough" if large is None else f"decomposition: {large}"
        if stop.seconds is not None:
            stop = replace(stop, seconds=max(1e-3, stop.seconds - clock.elapsed_s()))
        result = chosen(instance, stop=stop, seed=seed, start=start, progress=progress)
        message = why if result.message is None else f"{why}; {result.message}"
        return result.model_copy(update={"message": f"auto chose {message}"}).sealed()


def solving(family: str) -> dict[str, Callable[..., Method]]:
    """The methods of a family that prove a bound."""
    if not has("decomposition", family):
        return {"exact": Exact}
    own = room("decomposition", family)
    return {"exact": Exact, "auto": Auto, "decomposition": own.METHOD, **getattr(own, "OTHERS", {})}


@dataclass(frozen=True)
class MethodInfo:
    """What `optsched methods` shows."""

    name: str
    families: tuple[str, ...]
    proves_bound: bool
    summary: str


def catalogue() -> list[MethodInfo]:
    """All methods."""
    found: dict[str, MethodInfo] = {}
    for family in families():
        for name, solver in solving(family).items():
            known = found.get(name, MethodInfo(name, (), True, (solver.__doc__ or "").split("\n")[0]))
            found[name] = MethodInfo(name, (*known.families, family), True, known.summary)
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
    configuration : of `Exact`: backend, formulation, threads, options. A heuristic takes its own options, by name.

    Raises
    ------
    OptschedError : no such method, not for this family, or it does not take the configuration.
    """
    given = {key: value for key, value in configuration.items() if value not in (None, {})}
    if name == "exact":
        return Exact(**given)
    own, heuristics = solving(family), room("heuristics", family).HEURISTICS
    if name not in own and name not in heuristics:
        raise OptschedError(f"{family} has no method {name!r}, it has: {', '.join([*own, *heuristics])}")
    options = dict(given.pop("options", {}))
    if given:
        raise OptschedError(f"method {name} does not take {', '.join(given)}: only exact does")
    options = _read_options(name, own.get(name) or heuristics[name], options)
    if name in own:
        return own[name](**options)
    return Heuristic(name, partial(heuristics[name], **options) if options else heuristics[name], options)


def _read_options(name: str, construct: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """A heuristic's options as the numbers that they are, also where the command line gives their text."""
    read = {}
    known = {p.name: p.default for p in signature(construct).parameters.values() if p.name not in ("instance", "seed", "spare")}
    for key, value in options.items():
        if key not in known:
            takes = ", ".join(f"{k} ({v})" for k, v in known.items()) or "none"
            raise OptschedError(f"method {name} has no option {key!r}, it has: {takes}")
        kind = int if isinstance(known[key], int) else float
        try:
            read[key] = kind(value)
        except (TypeError, ValueError):
            read[key] = -1
        if not 0 <= read[key] < 1e9:
            raise OptschedError(f"option {key} of {name} is a {'whole ' * (kind is int)}number from 0 on, got {value!r}")
    return read
