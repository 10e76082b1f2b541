"""Methods by name: each turns an instance into a result, and says for which families it works and whether it proves a bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from inspect import signature
from typing import Protocol, TypeVar, cast

from optsched.errors import OptschedError
from optsched.exact import Exact
from optsched.family import Heuristic
from optsched.instances.base import Instance
from optsched.interrupts import asked, listening
from optsched.portfolio import Auto
from optsched.registry import added, families, family, is_reference, named
from optsched.result import Result
from optsched.scaffold import BaseMethod, Call, Found, Report
from optsched.schedules.base import Schedule
from optsched.starts import better, feasible_start
from optsched.stop import Spare, Stop

I_contra = TypeVar("I_contra", bound=Instance, contravariant=True)
Setting = object
"""An option's value: a number, or the text that a command line gives."""


class Method(Protocol[I_contra]):
    """Exact backends, heuristics, decompositions and policies alike."""

    def __call__(
        self,
        instance: I_contra,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve an instance.

        Parameters
        ----------
        instance
            What is given.
        stop
            When to stop.
        seed
            Of whatever is drawn.
        start
            A schedule to start from, or a result.
        progress
            Called with what is known, as it comes.
        """


@dataclass(frozen=True)
class HeuristicMethod(BaseMethod[Instance]):
    """A heuristic of heuristics/ as a method: a schedule without a bound."""

    name: str  # type: ignore[misc]  # of each, not of the class
    construct: Heuristic[Instance, Schedule]
    options: Mapping[str, Setting] = field(default_factory=dict)

    def search(self, call: Call[Instance]) -> Found:
        """Construct a schedule; it or the start, whichever is better. What time does not suffice for is left out."""
        spare = Spare(call.clock, call.until, asked)
        may_end = call.stop.seconds is not None or listening()
        schedule = self.construct(call.instance, call.seed, spare=spare if may_end else None)
        if call.given is not None:
            schedule = better(call.instance, feasible_start(call.instance, call.given, schedule), schedule)
        ended = "completed" if not spare.cut else "interrupted" if asked() else "time_limit"
        return Found(schedule, ended, options=dict(self.options))


def bounding(problem: str) -> dict[str, Callable[..., Method[Instance]]]:
    """The methods of a family that prove a bound, ``auto`` first; plug-ins' for every family among them."""
    own = family(problem)
    exact: dict[str, Callable[..., Method[Instance]]] = {"exact": Exact} if own.has_formulations else {}
    found = exact | dict(own.bounding())
    return ({"auto": Auto} if found else {}) | found


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
    listed: list[tuple[str, str, bool, object]] = []
    listed += [(name, problem, True, made) for problem in families() for name, made in bounding(problem).items()]
    listed += [(name, problem, False, made) for problem in families() for name, made in family(problem).heuristics().items()]
    listed += [
        (name, problem, False, named(reference)) for name, reference in added("methods").items() for problem in families()
    ]
    for name, problem, proves, made in listed:
        known = found.get(name, MethodInfo(name, (), proves, ""))
        summary = known.summary or (made.__doc__ or "").split("\n")[0]
        found[name] = MethodInfo(name, (*known.families, problem), proves, summary)
    return list(found.values())


def method(name: str | None, problem: str, **configuration: Setting) -> Method[Instance]:
    """The method of that name for a family: ours, one that a plug-in adds, or ``module:object``.

    Parameters
    ----------
    name
        A name of `catalogue`, or ``module:object``: a method, a class of methods, or a heuristic. None: `auto`, or `exact`
        where the configuration says how.
    problem
        The family.
    configuration
        Of `Exact`: backend, formulation, threads, options. Other methods take their own options, by name.

    Raises
    ------
    OptschedError
        No such method, not for this family, or it does not take the configuration.
    """
    given = {key: value for key, value in configuration.items() if value not in (None, {})}
    name = name or ("exact" if given else "auto")
    heuristics = family(problem).heuristics()
    own = {} if name in heuristics else bounding(problem)
    if name == "exact" and name in own:
        return cast(Callable[..., Method[Instance]], Exact)(**given)
    options = cast(Mapping[str, Setting], given.pop("options", {}))
    if given:
        raise OptschedError(f"method {name} does not take {', '.join(given)}: only exact does")
    if name in own:
        return own[name](**_read_options(name, own[name], options))
    if name in heuristics:
        read = _read_options(name, heuristics[name], options)
        return HeuristicMethod(name, partial(cast(Callable[..., Schedule], heuristics[name]), **read), read)
    reference = added("methods").get(name) or (name if is_reference(name) else None)
    if reference is None:
        known = [*own, *heuristics, *added("methods")]
        near = get_close_matches(name, known, n=1)
        meant = f", did you mean {near[0]}?" if near else ""
        raise OptschedError(f"{problem} has no method {name!r}{meant or ', it has: ' + ', '.join(known)}")
    return _foreign(name, reference, options)


def _foreign(name: str, reference: str, options: Mapping[str, Setting]) -> Method[Instance]:
    """Somebody else's method: what takes a ``stop`` is one, what takes an instance and a seed is a heuristic.

    Raises
    ------
    OptschedError
        It is neither, or does not take the options.
    """
    found = named(reference)
    if not callable(found):
        raise OptschedError(f"{reference} is no method: it cannot be called")
    if isinstance(found, type):
        return cast(Method[Instance], found(**_read_options(name, found, options)))
    if "stop" in signature(found).parameters:
        if options:
            raise OptschedError(f"method {name} takes no options")
        return cast(Method[Instance], found)
    read = _read_options(name, found, options)
    return HeuristicMethod(name, _sparing(partial(found, **read)), read)


def _sparing(found: Callable[..., Schedule]) -> Heuristic[Instance, Schedule]:
    """A heuristic that need not know of time or seeds, as one that is given both."""
    takes = signature(found).parameters

    def construct(instance: Instance, seed: int = 0, *, spare: Spare | None = None) -> Schedule:
        more = {key: value for key, value in (("seed", seed), ("spare", spare)) if key in takes}
        return found(instance, **more)

    return construct


def _read_options(name: str, construct: Callable[..., object], options: Mapping[str, Setting]) -> dict[str, int | float]:
    """A heuristic's options as the numbers that they are, also where the command line gives their text."""
    read: dict[str, int | float] = {}
    parameters = signature(construct).parameters.values()
    known = {p.name: p.default for p in parameters if isinstance(p.default, int | float) and p.name != "seed"}
    for key, value in options.items():
        if key not in known:
            takes = ", ".join(f"{k} ({v})" for k, v in known.items()) or "none"
            raise OptschedError(f"method {name} has no option {key!r}, it has: {takes}")
        kind = int if isinstance(known[key], int) else float
        try:
            read[key] = kind(cast(str, value))
        except (TypeError, ValueError):
            read[key] = -1
        if not 0 <= read[key] < 1e9:
            raise OptschedError(f"option {key} of {name} is a {'whole ' * (kind is int)}number from 0 on, got {value!r}")
    return read
