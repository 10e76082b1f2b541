"""Which families there are, and what third parties add: by entry points, and by ``module:object`` wherever a name is taken."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeVar, cast

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.schedules.base import Schedule

if TYPE_CHECKING:
    from optsched.family import Family

I = TypeVar("I", bound=Instance)  # noqa: E741 (the noun's initial)
GROUPS = ("families", "methods", "backends", "policies", "importers")
OWN = Path(__file__).parent / "families"


@cache
def added(group: str) -> dict[str, str]:
    """What installed distributions add to a group (``methods``, ...): ``module:object`` by name.

    Raises
    ------
    OptschedError
        Two of them add the same name.
    """
    found: dict[str, str] = {}
    for point in entry_points(group=f"optsched.{group}"):
        if found.setdefault(point.name, point.value) != point.value:
            raise OptschedError(f"two plug-ins add {point.name!r} to {group}: {found[point.name]} and {point.value}")
    return found


def named(reference: str) -> object:
    """The object that ``module:object`` names; modules of the working directory are found too.

    Raises
    ------
    OptschedError
        There is no such module or object, or the module fails while it is loaded.
    """
    place, _, path = reference.partition(":")
    here = str(Path.cwd())
    try:
        sys.path.insert(0, here)
        found: object = import_module(place)
    except ModuleNotFoundError as error:
        raise OptschedError(f"{reference}: no module {error.name!r}") from None
    except Exception as error:
        raise OptschedError(f"{reference}: loading {place} raised {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(here)
    for part in path.split("."):
        if not hasattr(found, part):
            raise OptschedError(f"{reference}: {place} has no {path!r}")
        found = getattr(found, part)
    return found


def is_reference(name: str) -> bool:
    """Whether a name is of the form ``module:object``."""
    place, colon, path = name.partition(":")
    return bool(colon) and all(word.isidentifier() for word in (*place.split("."), *path.split(".")))


@cache
def families() -> tuple[str, ...]:
    """Names of the families: our own, one a module of families/, and those that plug-ins add."""
    own = {module.name for module in iter_modules([str(OWN)])}
    return tuple(sorted(own | added("families").keys()))


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
    found = named(reference)
    if isinstance(found, type):
        found = found()
    if not isinstance(found, Family) or found.name != name:
        raise OptschedError(f"{reference} is not the family {name!r}: expected an optsched.Family of that name, got {found!r}")
    return cast("Family[Instance, Schedule]", found)


def family_of(instance: I) -> Family[I, Schedule]:
    """The family of an instance."""
    return cast("Family[I, Schedule]", family(instance.problem))
