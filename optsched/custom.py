"""A method or a heuristic of one's own: an object or a function instead of a name."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.methods import HeuristicMethod, Method
from optsched.schedules.base import Schedule

if TYPE_CHECKING:
    from optsched.stop import Spare


def as_method(given: Method[Any] | Callable[..., Schedule]) -> Method[Instance]:
    """The method that an object is: what takes a ``stop`` is one, what takes an instance is a heuristic.

    Parameters
    ----------
    given
        As `optsched.Method`; or a function of an instance, and if it likes of ``seed`` and ``spare``, that returns a schedule.

    Raises
    ------
    OptschedError
        It cannot be called, or is a class.
    """
    if not callable(given) or isinstance(given, type):
        raise OptschedError(f"a method is a name or something to call with an instance, got {given!r:.60}")
    takes = signature(given).parameters
    if "stop" in takes:
        return cast("Method[Instance]", given)
    construct = cast("Callable[..., Schedule]", given)

    def heuristic(instance: Instance, seed: int = 0, *, spare: Spare | None = None) -> Schedule:
        more = {name: value for name, value in (("seed", seed), ("spare", spare)) if name in takes}
        return construct(instance, **more)

    return HeuristicMethod(getattr(given, "__name__", type(given).__name__), heuristic)
