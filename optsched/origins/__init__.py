"""Where instances of a family come from: generated scenarios, tables of one's own, and traces of clusters.

One module a family. They tell the command line what it may ask for, and load what reads or generates only when that is run:
`optsched generate` and `optsched import` show their help without pandas, NumPy and pydantic.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypedDict, TypeVar

from optsched.errors import OptschedError, meant
from optsched.registry import added, families, family, own_families, skipping

if TYPE_CHECKING:
    from optsched.instances.base import Instance
    from optsched.instances.readers.own_fields import Field
    from optsched.instances.readers.trace import Trace

I_co = TypeVar("I_co", bound="Instance", covariant=True)
Given = Mapping[str, object]
Kind = type[int] | type[float] | type[str] | type[bool] | type[Path] | type[timedelta] | range | tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """A keyword argument of what makes an instance, as a command asks for it.

    Attributes
    ----------
    name
        The keyword.
    help
        What it means, with its unit.
    kind
        A type: `Path` for a file that is read, `timedelta` for a duration, which is passed on in seconds; or a range of
        integers; or the words that are allowed.
    default
        Shown, and passed on; with None nothing is passed on where nothing is given, and `help` says what holds then.
    many
        Whether it may be given several times.
    metavar
        What stands for its value in help.
    word
        The option's own word, where that is not the keyword.
    least
        The smallest number that is allowed.
    """

    name: str
    help: str
    kind: Kind = float
    default: object = None
    many: bool = False
    metavar: str | None = None
    word: str | None = None
    least: int | None = None

    @property
    def flag(self) -> str:
        """As it is typed."""
        return "--" + (self.word or self.name).replace("_", "-")


@dataclass(frozen=True)
class Scenario(Generic[I_co]):
    """A generator of instances; it takes a `seed` besides its options.

    Attributes
    ----------
    help
        What it generates, in a sentence.
    options
        Its other keyword arguments.
    load
        Loads what makes an instance of all of them.
    """

    help: str
    options: tuple[Option, ...]
    load: Callable[[], Callable[..., I_co]]


class Window(TypedDict, total=False):
    """Which jobs of a trace count, as `Trace.window` takes it."""

    from_s: float | Literal["busiest"] | None
    hours: float | None
    limit: int | None
    sample: int | None


@dataclass(frozen=True)
class Reading:
    """How a table of one's own is to be read: which field is which column, and which part of it counts.

    Attributes
    ----------
    mapping
        Field: column.
    units
        Field: unit of its numbers.
    time_format
        Of dates; None for ISO 8601.
    window
        Of jobs.
    seed
        Of what is drawn.
    skip_bad
        Leave broken rows out, and count them.
    found
        Fields of `mapping` that nobody named: the column is called so.
    """

    mapping: dict[str, str]
    units: dict[str, str] = field(default_factory=dict)
    time_format: str | None = None
    window: Window = field(default_factory=lambda: Window())
    seed: int = 0
    skip_bad: bool = False
    found: tuple[str, ...] = ()

    @property
    def hours(self) -> float | None:
        """Length of the window."""
        return self.window.get("hours")


class Target(ABC, Generic[I_co]):
    """What a table of one's own needs to become an instance.

    Attributes
    ----------
    fields_told
        The fields in a line for help, those in capitals needed.
    options
        What is asked for besides.
    """

    fields_told: str
    options: tuple[Option, ...] = ()

    @abstractmethod
    def from_table(self, path: str, reading: Reading, options: Given) -> I_co:
        """An instance from a CSV file.

        Parameters
        ----------
        path
            The file.
        reading
            What its columns mean.
        options
            Those of `options` that were given.
        """


class JobTarget(Target[I_co]):
    """A target whose rows are jobs, so that traces of clusters become instances too.

    Attributes
    ----------
    traces
        Kinds of traces that fit: ``gpu``, ``cpu``.
    timed
        Whether a job may have a time for each type and number of GPUs.
    """

    traces: tuple[str, ...] = ()
    timed = False

    @abstractmethod
    def fields(self) -> Mapping[str, Field]:
        """What a column may be."""

    @abstractmethod
    def from_trace(self, trace: Trace, reading: Reading, options: Given) -> I_co:
        """An instance from jobs.

        Parameters
        ----------
        trace
            The jobs, within the window.
        reading
            Hours, seed, and whether broken rows are left out of other files.
        options
            Those of `options` that were given.
        """

    def from_table(self, path: str, reading: Reading, options: Given) -> I_co:
        """The jobs of the file, cut to the window."""
        from optsched.instances.readers.own_csv import read

        trace = read(
            path,
            self.fields(),
            reading.mapping,
            timed=self.timed,
            units=reading.units,
            time_format=reading.time_format,
            skip_bad=reading.skip_bad,
        )
        found = (f"{name} is column {reading.mapping[name]}." for name in reading.found)
        trace = replace(trace, assumed=(*found, *trace.assumed))
        return self.from_trace(trace.window(**reading.window, seed=reading.seed), reading, options)


@dataclass(frozen=True)
class Origins(Generic[I_co]):
    """Where instances of a family come from.

    Attributes
    ----------
    scenarios
        Generators by name.
    target
        How a table of one's own becomes an instance; None where it cannot.
    """

    scenarios: Mapping[str, Scenario[I_co]] = field(default_factory=dict)
    target: Target[I_co] | None = None


def origins() -> dict[str, Origins[Instance]]:
    """Of every family by name: ours without loading the family, then those of plug-ins that have any."""
    found: dict[str, Origins[Instance]] = {n: import_module(f"optsched.origins.{n}").ORIGINS for n in own_families()}
    for name in sorted(added("families", own_families()).keys() & set(families())):
        with skipping(f"family {name!r}"):
            theirs = family(name).origins()
            if theirs is not None:
                found[name] = theirs
    return found


def scenarios() -> dict[str, Scenario[Instance]]:
    """Of every family, by name."""
    return {name: scenario for of in origins().values() for name, scenario in of.scenarios.items()}


def generate(scenario: str, seed: int = 0, **options: object) -> Instance:
    """Generate an instance of a scenario: same options, same seed, same instance.

    Parameters
    ----------
    scenario
        As ``optsched generate`` lists it, e.g. ``"masac"``.
    seed
        Of what is drawn.
    **options
        As ``optsched generate SCENARIO --help`` tells them, e.g. ``jobs=40``.

    Raises
    ------
    OptschedError
        There is no such scenario or option, or a value is out of range.

    Examples
    --------
    >>> import optsched
    >>> optsched.generate("osdec", seed=3, jobs=20).job_count
    20
    """
    known = scenarios()
    if scenario not in known:
        raise OptschedError(f"there is no scenario {scenario!r}{meant(scenario, known)}")
    words = [option.name for option in known[scenario].options]
    for word in options:
        if word not in words:
            raise OptschedError(f"{scenario} has no option {word!r}{meant(word, words, 'it has')}")
    for option in known[scenario].options:
        given = options.get(option.name)
        if option.least is not None and isinstance(given, int | float) and not given >= option.least:
            raise OptschedError(f"{option.name}: is {given!r}, expected at least {option.least}")
    return known[scenario].load()(seed=seed, **options)
