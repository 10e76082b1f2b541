"""What every backend offers, and what it is asked and answers."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, Protocol, SupportsFloat, SupportsInt

from optsched.errors import OptschedError
from optsched.instances.base import Floats
from optsched.models.base import PyomoModel
from optsched.monitor import Monitor
from optsched.solvers.linear_form import LinearForm


@dataclass(frozen=True)
class SolverSettings:
    """How to solve.

    Attributes
    ----------
    seconds : what is left of the time limit. options : the solver's own, by name.
    offered : asked now and then for a better point that has been found elsewhere, by backends that take one on the way.
    """

    seconds: float | None = None
    gap: float | None = None
    threads: int | None = None
    seed: int = 0
    start: bool = False
    options: Mapping[str, object] = field(default_factory=dict)
    offered: Callable[[], Floats | None] | None = None


@dataclass(frozen=True)
class SolverResult:
    """What a backend says, in the sense of a minimisation.

    Attributes
    ----------
    termination : optimal, gap_limit, time_limit, iteration_limit, infeasible, interrupted or error.
    x : values of the form's columns, or None. objective, bound : as the backend claims them, or None.
    message : for an error. duals : multipliers of the rows that prove the bound, shape (rows,), where there are such.
    """

    termination: str
    x: Floats | None = None
    objective: float | None = None
    bound: float | None = None
    message: str | None = None
    duals: Floats | None = None


@dataclass(frozen=True)
class Capabilities:
    """What a backend can do.

    Attributes
    ----------
    continuous : takes models with continuous variables that no integer argument covers. nonlinear : takes a MINLP.
    schedules : returns schedules (else only a bound). proof : of its bounds for models with integers: ``integers`` (a search
        in exact arithmetic), ``search`` (branch and bound in floating point) or ``duals`` (multipliers, with safe rounding).
    duals : whether bounds of models without integers come from multipliers.
    """

    continuous: bool = True
    nonlinear: bool = False
    schedules: bool = True
    proof: Literal["integers", "search", "duals"] = "search"
    duals: bool = False


class Backend(Protocol):
    """A solver behind the waist."""

    @property
    def name(self) -> str:
        """As in ``--backend``."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Distributions that it needs, for `versions`."""

    def unavailable(self) -> str | None:
        """Why it cannot be used here, or None."""

    def refuse_options(self, options: Mapping[str, object]) -> None:
        """Refuse misspelt option names and values of the wrong type."""

    def solve(self, model: PyomoModel, form: LinearForm | None, task: SolverSettings, monitor: Monitor) -> SolverResult:
        """Solve; `form` is None for a nonlinear model. Runs in a thread that `monitor` may ask to stop."""


def unknown_option(backend: str, name: str, known: Iterable[str]) -> OptschedError:
    """The error for a misspelt option, with the nearest names."""
    near = difflib.get_close_matches(name, list(known), n=3)
    hint = f", did you mean {' or '.join(near)}?" if near else ""
    return OptschedError(f"{backend} has no option {name!r}{hint}")


def refuse_unsafe(backend: str, options: Iterable[str], unsafe: tuple[str, ...]) -> None:
    """Refuse options under which a solver may break rows or leave solutions out: no bound could be trusted.

    Raises
    ------
    OptschedError : an option has one of the words in its name.
    """
    for name in options:
        if any(word in name for word in unsafe):
            raise OptschedError(f"{backend} option {name!r} is not taken: under it no bound could be trusted")


def installed(package: str) -> str | None:
    """Version of an installed distribution, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def typed(default: object, value: object) -> bool | int | float | str:
    """`value`, perhaps a word of the command line, in the type of an option's default.

    Raises
    ------
    TypeError, ValueError : it does not fit.
    """
    if isinstance(default, bool):
        words = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        if str(value).lower() not in words:
            raise ValueError(value)
        return words[str(value).lower()]
    if isinstance(default, str):
        return str(value)
    if isinstance(default, float) and isinstance(value, str | SupportsFloat):
        return float(value)
    if isinstance(default, int) and isinstance(value, str | SupportsInt):
        if (isinstance(value, float) and not value.is_integer()) or abs(int(value)) >= 2**63:
            raise ValueError(value)
        return int(value)
    raise TypeError(value)
