"""A heuristic as a method, and its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import Parameter, signature, unwrap
from typing import cast, get_args, get_type_hints

from optsched.errors import OptschedError
from optsched.family import Heuristic
from optsched.instances.base import Instance
from optsched.interrupts import asked, listening
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.base import Schedule
from optsched.starts import better, feasible_start
from optsched.stop import Spare

OURS = ("seed", "spare")  # what a heuristic is given, where it takes it: never options
MOST = 10**9
NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class HeuristicMethod(BaseMethod[Instance]):
    """A heuristic of heuristics/ as a method: a schedule without a bound."""

    name: str  # type: ignore[misc]  # of each, not of the class
    construct: Heuristic[Instance, Schedule]
    options: Mapping[str, object] = field(default_factory=dict)

    def search(self, call: Call[Instance]) -> Found:
        """Construct a schedule; it or the start, whichever is better. What time does not suffice for is left out."""
        spare = Spare(call.clock, call.until, asked)
        may_end = call.stop.seconds is not None or listening()
        schedule = self.construct(call.instance, call.seed, spare=spare if may_end else None)
        if call.given is not None:
            schedule = better(call.instance, feasible_start(call.instance, call.given, schedule), schedule)
        late = None
        if call.stop.seconds is not None and not spare.cut and (took := call.clock.elapsed_s()) > call.stop.seconds:
            told = f"it took {took:.3g} s, the limit is {call.stop.seconds:g} s"
            late = f"{told}: a heuristic ends early only where it asks spare"
        ended = "completed" if not spare.cut else "interrupted" if asked() else "time_limit"
        return Found(schedule, ended, options=dict(self.options), message=late)


def read_options(name: str, made: Callable[..., object], options: Mapping[str, object]) -> dict[str, object]:
    """The options of what is called with an instance first, or of a class of methods, as it takes them.

    Parameters
    ----------
    name
        For messages.
    made
        What takes them: each of its parameters by name but the first of a function, ``seed`` and ``spare``.
    options
        By name. Where the default is a number, a number of its kind, or the text of one, as a command line gives it: from 0 to
        `MOST`, or as an annotation such as ``Annotated[float, Field(ge=0, le=1)]`` says.

    Raises
    ------
    OptschedError
        It takes no such option, or not that value.
    """
    named = [p for p in parameters(name, made) if p.kind in NAMED]
    if not isinstance(made, type) and named and named[0].kind is Parameter.POSITIONAL_OR_KEYWORD:
        named = named[1:]
    named = [p for p in named if p.name not in OURS]
    known = {p.name: p.default for p in named}
    hints: dict[str, object] = {}
    with suppress(Exception):  # of what only type checkers import: that limits nothing
        hints = get_type_hints(unwrap(made), include_extras=True)
    read: dict[str, object] = {}
    for key, value in options.items():
        if key not in known:
            takes = ", ".join(k if v is Parameter.empty else f"{k} ({v})" for k, v in known.items()) or "none"
            raise OptschedError(f"method {name} has no option {key!r}, it has: {takes}")
        whose, default = f"option {key} of {name}", known[key]
        read[key] = _number(whose, _range(hints.get(key)), default, value) if isinstance(default, int | float) else value
    return read


def parameters(name: str, made: Callable[..., object]) -> list[Parameter]:
    """What something takes.

    Raises
    ------
    OptschedError
        It cannot say so.
    """
    try:
        return list(signature(made).parameters.values())
    except (TypeError, ValueError):
        raise OptschedError(f"{name} is no method: it takes no instance") from None


def _range(hint: object) -> tuple[float, float]:
    """From where to where an option goes, both included."""
    marks = [mark for field in get_args(hint)[1:] for mark in getattr(field, "metadata", ())]
    low = [mark.ge for mark in marks if hasattr(mark, "ge")]
    high = [mark.le for mark in marks if hasattr(mark, "le")]
    return max(low, default=0), min(high, default=MOST)


def _number(whose: str, ends: tuple[float, float], default: int | float, value: object) -> int | float:
    if isinstance(default, bool):
        words = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        if str(value).lower() not in words:
            raise OptschedError(f"{whose} is true or false, got {value!r:.60}")
        return words[str(value).lower()]
    kind = int if isinstance(default, int) else float
    try:
        number = kind(cast(str, value))
    except (TypeError, ValueError, OverflowError):
        number = ends[0] - 1
    if not ends[0] <= number <= ends[1]:
        span = f"from {ends[0]:,} to {ends[1]:,}"
        raise OptschedError(f"{whose} is a {'whole ' * (kind is int)}number {span}, got {value!r:.60}")
    return number
