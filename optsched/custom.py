"""A method or a heuristic of one's own: an object or a function instead of a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.methods import HeuristicMethod, Method
from optsched.schedules.base import Schedule

if TYPE_CHECKING:
    from optsched.stop import Spare

OURS = ("seed", "spare")  # what a heuristic is given, where it takes it


def as_method(given: Method[Any] | Callable[..., Schedule], options: Mapping[str, Any] | None = None) -> Method[Instance]:
    """The method that an object is: what takes a ``stop`` is one, what takes an instance is a heuristic.

    Parameters
    ----------
    given
        As `optsched.Method`; or a function of an instance, and if it likes of ``seed`` and ``spare``, that returns a schedule.
    options
        Further arguments of the function, by name.

    Raises
    ------
    OptschedError
        It cannot be called, is a class, or does not take the options.
    """
    options = dict(options or {})
    if not callable(given) or isinstance(given, type):
        raise OptschedError(f"a method is a name or something to call with an instance, got {given!r:.60}")
    takes = signature(given).parameters
    name = getattr(given, "__name__", type(given).__name__)
    known = [] if "stop" in takes else [word for word in list(takes)[1:] if word not in OURS]
    for word in options:
        if word not in known:
            raise OptschedError(f"method {name} has no option {word!r}, it has: {', '.join(known) or 'none'}")
    if "stop" in takes:
        return cast("Method[Instance]", given)
    construct = cast("Callable[..., Schedule]", given)

    def heuristic(instance: Instance, seed: int = 0, *, spare: Spare | None = None) -> Schedule:
        ours = {word: value for word, value in zip(OURS, (seed, spare), strict=True) if word in takes}
        return construct(instance, **ours, **options)

    return HeuristicMethod(name, heuristic, options)
