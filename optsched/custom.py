"""Somebody else's methods and heuristics: objects, and what plug-ins and ``module:object`` name. None is believed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from inspect import unwrap
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast, get_args

from optsched.errors import CertificateError, Disproved, OptschedError
from optsched.heuristic_method import OURS, HeuristicMethod, parameters, read_options
from optsched.instances.base import I, Instance
from optsched.instances.plain import plain
from optsched.interrupts import heard
from optsched.referee import read
from optsched.registry import family, family_of, guarded, usable_families
from optsched.result import Result
from optsched.scaffold import BaseMethod, Report
from optsched.schedules.base import Schedule
from optsched.stop import Spare, Stop

if TYPE_CHECKING:
    from optsched.methods import Method

Kinds = tuple[type[Instance], ...]


@dataclass(frozen=True)
class ForeignMethod:
    """A method that is not believed: the referee judges what it returns.

    Attributes
    ----------
    name
        For messages.
    method
        Somebody else's.
    kinds
        Instances that it takes.
    """

    name: str
    method: Callable[..., object]
    kinds: Kinds

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Call it, and judge.

        Raises
        ------
        OptschedError
            It does not take the instance, writes to it, raises, or returns no result.
        Disproved
            The referee refuses the result.
        """
        _expect(self.name, self.kinds, instance)
        keeps = isinstance(self.method, BaseMethod)  # a request ends its parts one by one, and it keeps what they have found
        with (
            _theirs(self.name, getattr(self.method, "name", self.name)),
            guarded(self.name),
            nullcontext() if keeps else heard(),
            _untouched(self.name, instance) as shown,
        ):
            result = self.method(shown, stop=stop, seed=seed, start=deepcopy(start), progress=progress)
        if not isinstance(result, Result):
            way = "optsched.certify(instance, schedule, bound) makes one"
            raise OptschedError(f"{self.name} returned {_told(result)}, expected an optsched.Result: {way}")
        broken = result.verify(instance)
        if broken:
            raise Disproved(f"{self.name} returned a result that the referee refuses: {broken[0]}", self.name)
        return result


class ForeignHeuristic(HeuristicMethod):
    """A heuristic that is not believed."""

    def __call__(self, instance: Instance, **how: Any) -> Result:
        """Call it, and judge.

        Raises
        ------
        OptschedError
            The heuristic has written to its instance.
        Disproved
            The schedule breaks a rule.
        """
        with _theirs(self.name):
            return super().__call__(instance, **how)


@contextmanager
def _theirs(*names: str) -> Iterator[None]:
    """What the referee refuses of somebody else's; a contradiction of ours, in a method that theirs calls, passes."""
    try:
        yield
    except CertificateError as error:
        if error.method not in names:
            raise
        raise Disproved(str(error), error.method) from error


@contextmanager
def _untouched(name: str, instance: I) -> Iterator[I]:
    """An instance of their own for somebody else's code, who is told so where it writes to it: ours is what judges."""
    shown = deepcopy(instance.model_copy())  # without what was worked out of it, which may be large
    yield shown
    if shown != instance:
        raise OptschedError(
            f"{name} has written to its instance, which stays as it is: instance.model_copy(update=...) is another"
        )


def as_method(
    given: Callable[..., object], options: Mapping[str, object] | None = None, name: str | None = None
) -> Method[Instance]:
    """The method that an object is: what takes a ``stop`` is one, what takes an instance is a heuristic.

    Parameters
    ----------
    given
        As `optsched.Method`, or a class of such; or a function of an instance, and if it likes of ``seed`` and ``spare``, that
        returns a schedule, the dict of one, or a result.
    options
        Further arguments of the class or function, by name.
    name
        What it is called in messages and results; by default by its own name.

    Raises
    ------
    OptschedError
        It cannot be called, or does not take the options.
    """
    if isinstance(given, ForeignMethod | HeuristicMethod) and not options:
        return given
    called = name or str(getattr(given, "__name__", type(given).__name__))
    if not callable(given):
        raise OptschedError(f"a method is a name or something to call with an instance, got {given!r:.60}")
    options, found = dict(options or {}), given
    read = read_options(called, found, options) if isinstance(given, type) else {}
    if isinstance(given, type):
        with guarded(called, "making it"):
            found = cast("Callable[..., object]", given(**read))
        options = {}
        if not callable(found):
            raise OptschedError(f"{called} is no method: what it makes cannot be called with an instance")
    kinds, takes = instances_of(found), [p.name for p in parameters(called, found)]
    if "stop" in takes:
        if options:
            raise OptschedError(f"method {called} has no option {next(iter(options))!r}, it has: none")
        return ForeignMethod(called, found, kinds)
    further = read_options(called, found, options)
    ours = [word for word in OURS if word in takes]

    def heuristic(instance: Instance, seed: int = 0, *, spare: Spare | None = None) -> Schedule:
        _expect(called, kinds, instance)
        known = {"seed": seed, "spare": spare}
        may_end = nullcontext() if "spare" in ours else heard()  # who cannot ask is ended
        with guarded(called), may_end, _untouched(called, instance) as shown:
            returned = found(shown, **{word: known[word] for word in ours}, **further)
        return as_schedule(called, instance, returned)

    return ForeignHeuristic(called, heuristic, read | further)


def as_schedule(name: str, instance: Instance, returned: object) -> Schedule:
    """The schedule that somebody else's code returned for an instance: one, the dict of one, or a result.

    Raises
    ------
    OptschedError
        It is none of these.
    """
    if isinstance(returned, Result):
        returned = returned.schedule
    if isinstance(returned, Coroutine):
        returned.close()  # else Python warns of it
    if isinstance(returned, Mapping):
        return read(instance, plain(returned), f"{name} returned")
    if not isinstance(returned, Schedule):
        kinds = " or ".join(kind.__name__ for kind in family_of(instance).schedules)
        raise OptschedError(f"{name} returned {_told(returned)}, expected a {kinds} or the dict of one")
    return returned


def instances_of(found: Callable[..., object]) -> Kinds:
    """Which instances a method or heuristic takes, as the annotation of its first parameter says; else any.

    Parameters
    ----------
    found
        A function, a class of methods, or an object to be called.
    """
    call: Callable[..., object] = found
    while isinstance(call, partial):
        call = call.func
    is_function = hasattr(call, "__code__") and not isinstance(call, type)
    call = call if is_function else attrgetter("__call__")(call)
    hints = [p.annotation for p in parameters(repr(found), call) if p.name != "self"]
    hint: object = hints[0] if hints else None
    if isinstance(hint, str):
        hint = _evaluated(hint, getattr(unwrap(call), "__globals__", {}))
    kinds = tuple(kind for kind in get_args(hint) or (hint,) if isinstance(kind, type) and issubclass(kind, Instance))
    return kinds or (Instance,)


def _evaluated(hint: str, names: dict[str, object]) -> object:
    """What an annotation means, as typing.get_type_hints reads it; by its last word where only type checkers import it."""
    try:
        return eval(hint, names)
    except Exception:
        classes = [family(problem).instance for problem in usable_families()]
        return next((kind for kind in classes if kind.__name__ == hint.split(".")[-1]), None)


def _expect(name: str, kinds: Kinds, instance: Instance) -> None:
    if not isinstance(instance, kinds):
        of = " or ".join(kind.__dict__.get("problem", kind.__name__) for kind in kinds)
        raise OptschedError(f"method {name} is for {of}, not for {instance.problem}")


def _told(returned: object) -> str:
    return "None" if returned is None else f"a {type(returned).__name__}"
