"""Methods by name: each turns an instance into a result, and says for which families it works and whether it proves a bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Protocol, cast

from optsched.custom import ForeignMethod, as_method, instances_of
from optsched.errors import OptschedError
from optsched.exact import Exact
from optsched.family import Heuristic
from optsched.heuristic_method import HeuristicMethod as HeuristicMethod
from optsched.heuristic_method import parameters, read_options
from optsched.instances.base import I_contra, Instance
from optsched.portfolio import Auto
from optsched.registry import added, family, is_reference, named, of_family, own_families, skipping, usable_families
from optsched.result import Result
from optsched.scaffold import Report
from optsched.schedules.base import Schedule
from optsched.stop import Stop
from optsched.workers import read_address, read_threads

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


def bounding(problem: str) -> dict[str, Callable[..., Method[Instance]]]:
    """The methods of a family that prove a bound, ``auto`` first; plug-ins' for every family among them."""
    own = family(problem)
    exact: dict[str, Callable[..., Method[Instance]]] = {"exact": Exact} if own.has_formulations else {}
    found = exact | dict(of_family(problem, lambda family: family.bounding()))
    return {"auto": Auto} | found


def heuristics(problem: str) -> Mapping[str, Heuristic[Instance, Schedule]]:
    """The heuristics of a family by name."""
    return of_family(problem, lambda family: family.heuristics())


def decides_now(made: object) -> bool:
    """Whether the schedule of a method can be carried out online: it takes no more for known than an instance does."""
    return bool(getattr(made, "decides_now", True))


def own_names() -> set[str]:
    """Names of the methods of our own families."""
    return {name for problem in own_families() for name in (*bounding(problem), *heuristics(problem))}


@dataclass(frozen=True)
class MethodInfo:
    """What `optsched methods` shows."""

    name: str
    families: tuple[str, ...]
    proves_bound: bool
    summary: str


def catalogue() -> list[MethodInfo]:
    """All methods that can be used; a warning tells of each other.

    Raises
    ------
    OptschedError
        A plug-in takes a name of ours.
    """
    found: dict[str, MethodInfo] = {}

    def note(name: str, problem: str, proves: bool, made: object) -> None:
        known = found.get(name, MethodInfo(name, (), proves, ""))
        families = known.families if problem in known.families else (*known.families, problem)
        found[name] = MethodInfo(name, families, known.proves_bound, known.summary or (made.__doc__ or "").split("\n")[0])

    usable = usable_families()
    for proves, part in ((True, bounding), (False, heuristics)):
        for problem in usable:
            with skipping(f"family {problem!r}"):
                for name, made in part(problem).items():
                    note(name, problem, proves, made)
    for name, reference in added("methods", own_names() if added("methods") else ()).items():
        with skipping(f"method {name!r}"):
            foreign = cast(Callable[..., object], named(reference))
            kinds = instances_of(foreign)
            for problem in usable:
                if issubclass(family(problem).instance, kinds):
                    note(name, problem, False, foreign)
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
        Of `Exact`: backend, formulation, threads, options. Other methods take their own options by name, and threads if
        they have some.

    Raises
    ------
    OptschedError
        No such method, not for this family, or it does not take the configuration.
    """
    given = {key: value for key, value in configuration.items() if value not in (None, {})}
    if name is None:
        name = "exact" if given else "auto"
    if name in added("methods"):
        added("methods", own_names())  # refuses a name of ours
    rules = heuristics(problem)
    own = {} if name in rules else bounding(problem)
    if name == "exact" and name in own:
        return cast(Callable[..., Method[Instance]], Exact)(**given)
    options = cast(Mapping[str, Setting], given.pop("options", {}))
    if name in own and "threads" in given and "threads" in {p.name for p in parameters(name, own[name])}:
        options = {**options, "threads": cast(int, given.pop("threads"))}
    if given:
        takes = [other for other, made in bounding(problem).items() if set(given) <= {p.name for p in parameters(other, made)}]
        who = f"only {takes[0]} does" if len(takes) == 1 else f"{' and '.join(takes) or 'none'} do"
        raise OptschedError(f"method {name} does not take {', '.join(given)}: of {problem} {who}")
    foreign = problem not in own_families() and name not in ("auto", "exact")
    if name in own:
        read = read_options(name, own[name], options)
        if "threads" in read:
            read_threads(read["threads"], least=0)
        if read.get("scheduler"):
            read_address(str(read["scheduler"]))
        made = own[name](**read)
        return ForeignMethod(name, made, (Instance,)) if foreign else made
    if name in rules and foreign:
        return as_method(rules[name], options, name)
    if name in rules:
        read = read_options(name, rules[name], options)
        return HeuristicMethod(name, partial(cast(Callable[..., Schedule], rules[name]), **read), read)
    typed = is_reference(name)
    reference = name if typed else added("methods").get(name)
    if reference is None:
        known = [info.name for info in catalogue() if problem in info.families]  # without what cannot be loaded
        near = get_close_matches(name, known, n=1)
        meant = f", did you mean {near[0]}?" if near else ""
        raise OptschedError(f"{problem} has no method {name!r}{meant or ', it has: ' + ', '.join(known)}")
    return as_method(cast(Callable[..., object], named(reference, typed=typed)), options, name)
