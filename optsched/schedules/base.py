"""What the referee of every family returns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import ClassVar, Literal, Self

from typing_extensions import TypeVar  # `default` is of Python 3.13

from optsched.errors import OptschedError
from optsched.files import read_bytes, write_json
from optsched.instances.base import Instance, Tabular
from optsched.instances.files import parse_object, validated

TOLERANCE = 1e-6  # relative; two figures closer than that are the same figure
ROUNDING = 1e-12  # absolute, for figures that should be zero
PROVEN = 1e-9  # relative, of the objective: a bound that close proves it optimal


class Schedule(Tabular):
    """An immutable decision; its fields are those of the file, see docs/instances.md.

    Attributes
    ----------
    objective_kind
        ``"proxy"``: its objective stands in for what will be realised; ``"realised"``: it is that; None where both are one.
    """

    objective_kind: ClassVar[Literal["proxy", "realised"] | None] = None

    @classmethod
    def read(cls, instance: Instance, fields: dict[str, object], where: str | Path) -> Self:
        """A decision about an instance from the fields of its file; a family in which some follow from others adds them.

        Parameters
        ----------
        instance
            What was given.
        fields
            As in the JSON file.
        where
            The file, for messages.

        Raises
        ------
        InputError
            One line with the place, what is wrong and what would be right.
        """
        return validated(cls, fields, where)

    def to_dict(self) -> dict[str, object]:
        """The schedule as a JSON object; `from_dict`, `optsched.check` and `optsched.certify` take it."""
        return self.model_dump(mode="json", by_alias=True)

    def save(self, path: str | Path) -> None:
        """Write to ``.json`` or ``.json.gz``, atomically: a file that ``optsched check`` and ``optsched plot`` take.

        Parameters
        ----------
        path
            The file; one that is there is replaced.

        Raises
        ------
        InputError
            It cannot be written.
        """
        write_json(path, json.dumps(self.to_dict(), ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path
            A ``.json`` or ``.json.gz``.

        Raises
        ------
        InputError
            One line with the file, the place and what would be right.
        """
        return validated(cls, parse_object(read_bytes(path), path), path)

    @property
    def jobs_run(self) -> int:
        """How many jobs it runs: each entry of its one list is a job."""
        (entries,) = (getattr(self, name) for name in type(self).model_fields)
        return len({entry.job for entry in entries})


S = TypeVar("S", bound=Schedule)
H = TypeVar("H", bound=Schedule)  # what a replay leaves
S_co = TypeVar("S_co", bound=Schedule, default=Schedule, covariant=True)


@dataclass(frozen=True)
class Evaluation:
    """An objective and its terms.

    Attributes
    ----------
    components
        By name, in the objective's unit; costs are positive numbers.
    objective
        What they add up to, each with its sign.
    """

    components: dict[str, float]
    objective: float

    @classmethod
    def of(cls, components: dict[str, float], signs: dict[str, int]) -> Evaluation:
        """Sum the components with their signs, without rounding in between.

        Parameters
        ----------
        components
            By name, in the objective's unit.
        signs
            1 or -1 by the same names.
        """
        return cls(components, fsum(signs[name] * value for name, value in components.items()))


@dataclass(frozen=True)
class Violation:
    """A broken rule; as text, one line.

    Attributes
    ----------
    rule
        In words.
    job, place
        Who and where, by id.
    time
        A slot, or in `allocation` a second.
    amount
        By how much, in the rule's own unit.
    detail
        What else there is to say.
    """

    rule: str
    job: str | None = None
    place: str | None = None
    time: float | None = None
    amount: float | None = None
    detail: str = ""

    def __str__(self) -> str:
        named = (("job", self.job), ("at", self.place))
        words = [self.rule + ":"] + [f"{word} {value!r}" for word, value in named if value is not None]
        if self.time is not None:
            words.append(f"time {self.time:g}")
        if self.amount is not None:
            words.append(f"by {self.amount:g}")
        return " ".join([*words, self.detail]).strip().rstrip(":")


def job_violations(scheduled: Iterable[str], known: set[str]) -> Iterator[Violation]:
    """Jobs that are not there (or not known yet) and jobs decided more than once."""
    for job, times in Counter(scheduled).items():
        if job not in known:
            yield Violation("unknown job", job=job)
        if times > 1:
            yield Violation("job decided more than once", job=job, amount=times - 1)


def entry(table: dict[str, int], name: str, kind: str) -> int:
    """Index of a job, node or site that a schedule names.

    Raises
    ------
    OptschedError : the instance has none of that name, so that nothing can be evaluated.
    """
    if name not in table:
        raise OptschedError(f"the schedule names {kind} {name!r}, which the instance does not have")
    return table[name]


def differs(a: float, b: float) -> bool:
    """Whether two figures differ by more than the tolerance, relative to the larger."""
    return abs(a - b) > TOLERANCE * max(abs(a), abs(b)) + ROUNDING
