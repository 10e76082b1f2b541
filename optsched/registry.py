"""Which families there are, and what third parties add: by entry points, and by ``module:object`` wherever a name is taken."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar, cast

from optsched.errors import OptschedError, raised
from optsched.interrupts import ours

if TYPE_CHECKING:  # who lists plug-ins, in help for instance, loads nothing else
    from optsched.family import Family
    from optsched.instances.base import I, Instance
    from optsched.schedules.base import Schedule

T = TypeVar("T")
GROUPS = ("families", "methods", "backends", "policies", "importers")
OWN = Path(__file__).parent / "families"

log = logging.getLogger(__name__)


_scan = cache(entry_points)  # every call reads what all distributions say


@cache
def _points(group: str) -> dict[str, EntryPoint]:
    """Entry points of a group by name.

    Raises
    ------
    OptschedError
        Two distributions add the same name.
    """
    found: dict[str, EntryPoint] = {}
    for point in _scan().select(group=f"optsched.{group}"):
        first = found.setdefault(point.name, point)
        if first.value != point.value:
            who = f"{first.value} of {_distribution(first)} and {point.value} of {_distribution(point)}"
            raise OptschedError(f"two plug-ins add {point.name!r} to {group}: {who}")
    return found


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown distribution"


def added(group: str, ours: Collection[str] = ()) -> dict[str, str]:
    """What installed distributions add to a group (``methods``, ...): ``module:object`` by name.

    Parameters
    ----------
    group
        One of `GROUPS`.
    ours
        Names that no plug-in may take.

    Raises
    ------
    OptschedError
        Two of them add the same name, or one adds a name of ours.
    """
    found = _points(group)
    for name in sorted(found.keys() & set(ours)):
        who = _distribution(found[name])
        raise OptschedError(f"the distribution {who} adds {name!r} to {group}, a name of optsched's own: uninstall {who}")
    return {name: point.value for name, point in found.items()}


@contextmanager
def guarded(reference: str, doing: str = "") -> Iterator[None]:
    """Around code of somebody else's: all that it raises becomes one line that names it; Ctrl-C and our own errors pass.

    Parameters
    ----------
    reference
        Whose code it is.
    doing
        What it does, where its call alone would not say so, e.g. ``"making it"``.

    Raises
    ------
    OptschedError
        It raised something else, an exit from the program for instance.
    """
    try:
        yield
    except OptschedError:
        raise
    except BaseException as error:
        if ours(error):
            raise
        who = f"{reference}: {doing}" if doing else reference
        raise OptschedError(f"{who} raised {raised(error)}") from error


@contextmanager
def skipping(what: str) -> Iterator[None]:
    """Around one entry of a list: if it cannot be used, a warning says so, once, and the list goes on without it."""
    try:
        yield
    except OptschedError as error:
        _warn(f"{what} is left out: {error}")


@cache
def _warn(told: str) -> None:
    log.warning("%s", told)


def named(reference: str, *, typed: bool = False) -> object:
    """The object that ``module:object`` names.

    Parameters
    ----------
    reference
        As in ``package.module:object``.
    typed
        Whether a user typed it: modules of the working directory are found too then, after those that are installed.

    Raises
    ------
    OptschedError
        There is no such module or object, or the module fails while it is loaded.
    """
    place, _, path = reference.partition(":")
    here = str(Path.cwd()) if typed else None
    if here is not None:
        sys.path.append(here)
    try:
        with guarded(reference, f"loading {place}"):
            found: object = import_module(place)
    except OptschedError as error:
        if isinstance(error.__cause__, ModuleNotFoundError):
            raise OptschedError(f"{reference}: no module {error.__cause__.name!r}") from None
        raise
    finally:
        if here is not None and here in sys.path:
            del sys.path[len(sys.path) - 1 - sys.path[::-1].index(here)]  # the last: others may have put it there before
    with guarded(reference, "looking it up"):
        for part in path.split("."):
            if not hasattr(found, part):
                raise OptschedError(f"{reference}: {place} has no {path!r}")
            found = getattr(found, part)
    return found


def made(
    reference: str, *, typed: bool = False, functions: bool = False, options: Mapping[str, object] = MappingProxyType({})
) -> object:
    """The object that ``module:object`` names; where that is a class, one of it.

    Parameters
    ----------
    reference, typed
        As for `named`.
    functions
        Whether a function is called too.
    options
        What the class is called with.

    Raises
    ------
    OptschedError
        There is none, or it raises.
    """
    found = named(reference, typed=typed)
    if not (isinstance(found, type) or (functions and callable(found))):
        return found
    with guarded(reference, "making it"):
        return found(**options)


def is_reference(name: str) -> bool:
    """Whether a name is of the form ``module:object``."""
    place, colon, path = name.partition(":")
    return bool(colon) and all(word.isidentifier() for word in (*place.split("."), *path.split(".")))


@cache
def own_families() -> tuple[str, ...]:
    """Names of our own families, one a module of families/."""
    return tuple(sorted(module.name for module in iter_modules([str(OWN)])))


@cache
def families() -> tuple[str, ...]:
    """Names of the families: our own, and those that plug-ins add.

    Raises
    ------
    OptschedError
        A plug-in takes a name of ours: its referee would judge in place of ours.
    """
    own = own_families()
    return tuple(sorted({*own, *added("families", own)}))


def usable_families() -> list[str]:
    """Names of the families that can be loaded; a warning tells of each other."""
    found = []
    for name in families():
        with skipping(f"family {name!r}"):
            family(name)
            found.append(name)
    return found


@cache
def family(name: str) -> Family[Instance, Schedule]:
    """The family of that name.

    Raises
    ------
    OptschedError
        There is none, or what a plug-in adds under the name is none.
    """
    from optsched.family import Family

    if name not in families():
        raise OptschedError(f"there is no family {name!r}, there are: {', '.join(families())}")
    reference = added("families").get(name, f"optsched.families.{name}:FAMILY")
    found = made(reference)
    if not isinstance(found, Family) or getattr(found, "name", None) != name:
        expected = f"expected an optsched.Family of that name, got {found!r:.80}"
        raise OptschedError(f"{reference} is not the family {name!r}: {expected}")
    return cast("Family[Instance, Schedule]", found)


def family_of(instance: I) -> Family[I, Schedule]:
    """The family of an instance."""
    return cast("Family[I, Schedule]", family(instance.problem))


def of_family(problem: str, part: Callable[[Family[Instance, Schedule]], T]) -> T:
    """A part of a family; where the family is a plug-in's, what it raises is one line.

    Parameters
    ----------
    problem
        The family's name.
    part
        Asks the family for it.

    Raises
    ------
    OptschedError
        There is no such family, or a plug-in's raises.
    """
    found = family(problem)
    if problem in own_families():
        return part(found)
    with guarded(added("families")[problem]):
        return part(found)
