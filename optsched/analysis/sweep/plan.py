"""What a sweep runs: a TOML file of instances, methods and policies, every list of which is an axis of the grid."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from glob import glob
from itertools import product
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, NonNegativeInt, model_validator

from optsched.analysis.sweep.trial import Identity, Trial
from optsched.errors import OptschedError
from optsched.files import read_toml
from optsched.instances.base import Data, refuse
from optsched.instances.files import validated
from optsched.quantities import read_seconds, read_seeds
from optsched.registry import families
from optsched.stop import Stop

T = TypeVar("T")
V = TypeVar("V")
SEEDED = "seed"  # the axis of recipes that may be written as 0-9


def _several(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _read(read: Callable[[V], T], value: V, place: str = "") -> T:
    """What is read, refused where it stands if it cannot be."""
    try:
        return read(value)
    except OptschedError as error:
        refuse(place, str(error))


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _seeds(value: object) -> object:
    return list(_read(read_seeds, value)) if isinstance(value, str) else _several(value)


def _limit(value: str | float | None) -> str | float | None:
    _read(lambda written: Stop(read_seconds(written)), value)
    return value


Axis = Annotated[list[Any], BeforeValidator(_several)]


class Source(Data):
    """Instances: files by pattern, or a recipe with its axes.

    Attributes
    ----------
    files
        Patterns such as ``cases/*.json``.
    recipe
        What is typed after ``optsched``, e.g. ``generate masac --jobs {jobs} --seed {seed}``; every other key of the table is
        an axis, a value or several.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    files: Axis = Field(default_factory=list)
    recipe: str | None = None

    @model_validator(mode="after")
    def _seeded(self) -> Source:
        if isinstance(written := (self.model_extra or {}).get(SEEDED), str):
            _read(read_seeds, written, SEEDED)
        return self

    def recipes(self) -> list[str]:
        """One of each instance.

        Raises
        ------
        OptschedError : no file, or axes that are not those of the recipe.
        """
        found: list[str] = []
        for pattern in self.files:
            named = sorted(glob(str(pattern), recursive=True))
            if not named:
                raise OptschedError(f"no file is called {pattern!r}")
            found += named
        given = self.model_extra or {}
        if self.recipe is None:
            if given or not found:
                raise OptschedError(f"instances have files, or a recipe{' for ' + ', '.join(given) if given else ''}")
            return found
        return found + [self.recipe.format(**point) for point in points(axes_of(given, self.recipe))]


class MethodSpec(Data):
    """A method, with every combination of its options."""

    name: str
    options: dict[str, Axis] = Field(default_factory=dict)


class PolicySpec(Data):
    """A policy, with every combination of what `optsched.replay` takes."""

    name: str
    forecast: Axis = Field(default_factory=lambda: ["perfect"])
    period_s: Axis = Field(default_factory=list)
    window_s: Axis = Field(default_factory=list)
    replan_s: Axis = Field(default_factory=list)
    budget_s: Axis = Field(default_factory=list)
    guard: Axis = Field(default_factory=list)
    estimates: Axis = Field(default_factory=list)

    def axes(self) -> dict[str, list[Any]]:
        """Those that are given."""
        return {name: value for name in type(self).model_fields if name != "name" and (value := getattr(self, name))}


class Plan(Data):
    """A sweep.

    Attributes
    ----------
    instances, methods, policies
        All of each on all of the first.
    seeds
        Of methods and policies: ``"0-9"``, or a list.
    time_limit
        Of each run of a method, e.g. ``"60s"``.
    """

    instances: list[Source] = Field(min_length=1)
    methods: list[Annotated[MethodSpec, BeforeValidator(_named)]] = Field(default_factory=list)
    policies: list[Annotated[PolicySpec, BeforeValidator(_named)]] = Field(default_factory=list)
    seeds: Annotated[list[NonNegativeInt], BeforeValidator(_seeds)] = Field(default_factory=lambda: [0])
    time_limit: Annotated[str | float | None, AfterValidator(_limit)] = "60s"

    @model_validator(mode="after")
    def _runs_something(self) -> Plan:
        if not self.methods and not self.policies:
            refuse("methods", "and policies are missing: there is nothing to run")
        return self

    @property
    def runs(self) -> int:
        """Of each instance, at most."""
        return len(list(self._grid())) * len(self.seeds)

    def recipes(self) -> list[str]:
        """Of all instances, each once.

        Raises
        ------
        OptschedError : as of a source, with its place.
        """
        found: list[str] = []
        for number, source in enumerate(self.instances):
            try:
                found += source.recipes()
            except OptschedError as error:
                raise OptschedError(f"instances[{number}]: {error}") from None
        return list(dict.fromkeys(found))

    def trials(self, instances: Iterable[Identity]) -> list[Trial]:
        """All of the grid, instance by instance; a method that a family does not have is left out of its instances.

        Raises
        ------
        OptschedError : a method, a policy or a setting that no instance can use.
        """
        limit, known = read_seconds(self.time_limit), list(instances)
        unused: dict[tuple[str, str], str] = {}
        used: set[tuple[str, str]] = set()
        found: list[Trial] = []
        for identity in known:
            if self.policies:
                found.append(Trial(identity.recipe, identity.sha256, "bound", "quick"))
            for kind, name, options in self._grid():
                fault = _fault(kind, name, options, identity.problem)
                point = kind, f"{name} {sorted(options.items())}"
                if fault is not None:
                    unused[point] = max(unused.get(point, ""), fault, key=_telling)
                    continue
                used.add(point)
                for seed in self.seeds:
                    time = limit if kind == "offline" else None
                    found.append(Trial(identity.recipe, identity.sha256, kind, name, options, seed, time))  # type: ignore[arg-type]
        if wrong := [(point, fault) for point, fault in unused.items() if point not in used]:
            (kind, _), fault = wrong[0]
            raise OptschedError(f"{'methods' if kind == 'offline' else 'policies'}: {fault}")
        return list({trial.key: trial for trial in found}.values())

    def refuse_unknown(self) -> None:
        """Refuse what no family can run, before any instance is made.

        Raises
        ------
        OptschedError : a method, a policy or a setting.
        """
        self.trials(Identity(problem, problem, problem, problem, 0) for problem in families())

    def _grid(self) -> Iterator[tuple[str, str, Mapping[str, object]]]:
        for method in self.methods:
            yield from (("offline", method.name, point) for point in points(method.options))
        for policy in self.policies:
            yield from (("online", policy.name, point) for point in points(policy.axes()))


def axes_of(given: Mapping[str, object], recipe: str) -> dict[str, list[Any]]:
    """The values of every ``{name}`` of a recipe.

    Raises
    ------
    OptschedError : one of them has none, or the other way round.
    """
    try:
        used = {name for _, name, _, _ in string.Formatter().parse(recipe) if name is not None}
    except ValueError as error:
        raise OptschedError(f"recipe {recipe!r}: {error}; a brace that is meant is written twice") from None
    if "" in used:
        raise OptschedError(f"recipe {recipe!r}: {{}} has no name, expected e.g. {{seed}}")
    if bare := sorted(used - set(given)):
        raise OptschedError(f"recipe {recipe!r}: {{{bare[0]}}} needs an axis: a value, or a list of them, called {bare[0]}")
    if idle := sorted(set(given) - used):
        raise OptschedError(f"recipe {recipe!r}: the axis {idle[0]} is nowhere in it: expected {{{idle[0]}}}")
    return {name: _seeds(value) if name == SEEDED else _several(value) for name, value in given.items()}  # type: ignore[misc]


def points(axes: Mapping[str, Sequence[Any]]) -> list[dict[str, object]]:
    """Every combination of values."""
    return [dict(zip(axes, point, strict=True)) for point in product(*axes.values())]


def _fault(kind: str, name: str, options: Mapping[str, object], problem: str) -> str | None:
    """Why a family's instances cannot be run so."""
    from optsched.instances.events import sigma_of
    from optsched.methods import method
    from optsched.rolling.forecast import forecast
    from optsched.rolling.policy import Settings, policy

    try:
        if kind == "offline":
            method(name, problem, options=dict(options))
        else:
            told = [read_seconds(options.get(word)) for word in ("window_s", "replan_s", "budget_s")]  # type: ignore[arg-type]
            read_seconds(options.get("period_s"))  # type: ignore[arg-type]
            if not isinstance(options.get("guard", True), bool):
                raise OptschedError(f"guard is true or false, got {options['guard']!r}")
            policy(problem, name, Settings(window_s=told[0], replan_s=told[1], budget_s=told[2]))
            forecast(str(options["forecast"]))
            sigma_of(options.get("estimates", "true"))  # type: ignore[arg-type]
    except OptschedError as error:
        return str(error)
    return None


def _telling(fault: str) -> int:
    """What is wrong where a family has it says more than that another has none, and of those what is nearly right does."""
    if any(f"has no {what}" in fault for what in ("method", "policy", "replay")):
        return 2 if "did you mean" in fault else 1
    return 3 if fault else 0


def read_plan(path: str | Path) -> Plan:
    """The plan in a TOML file.

    Raises
    ------
    InputError
        With the place of what is wrong.
    """
    return validated(Plan, read_toml(path), path)
