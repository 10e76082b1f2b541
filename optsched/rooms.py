"""The second axis of the house: a room has one module a family, found by its name.

A fifth family is one new module a room (``instances/vcc.py``, ``schedules/vcc.py``, ...) and no edit elsewhere.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

from optsched.errors import OptschedError


@cache
def families() -> tuple[str, ...]:
    """Names of the families: those with a module in `schedules/`, where nothing but families and `base` live."""
    package = import_module("optsched.schedules")
    return tuple(sorted(m.name for m in iter_modules(package.__path__) if m.name != "base"))


def has(name: str, family: str) -> bool:
    """Whether a room has a module of the family."""
    return find_spec(f"optsched.{name}.{family}") is not None


@cache
def room(name: str, family: str) -> ModuleType:
    """Return the module of a family in a room, e.g. ``room("models", "geo")``.

    Raises
    ------
    OptschedError : the room has nothing for this family.
    """
    if not has(name, family):
        raise OptschedError(f"there is nothing in {name} for the family {family!r}")
    return import_module(f"optsched.{name}.{family}")
