"""What the referee of every family returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import fsum
from typing import ClassVar, Literal

from optsched.errors import OptschedError
from optsched.instances.base import Data

TOLERANCE = 1e-6  # relative; two figures closer than that are the same figure
ROUNDING = 1e-12  # absolute, for figures that should be zero
PROVEN = 1e-9  # relative, of the objective: a bound that close proves it optimal


class Schedule(Data):
    """An immutable decision; its fields are the JSON of problems.md, "Schedules, results and the checker".

    `objective_kind` says whether its objective stands in for what will be realised, or is that itself.
    """

    objective_kind: ClassVar[Literal["proxy", "realised"] | None] = None

    @property
    def jobs_run(self) -> int:
        """How many jobs it runs: each entry of its one list is a job."""
        (entries,) = (getattr(self, name) for name in type(self).model_fields)
        return len({entry.job for entry in entries})


@dataclass(frozen=True)
class Evaluation:
    """An objective and its terms, in the objective's unit. Costs are positive numbers; `signs` says how they add up."""

    components: dict[str, float]
    objective: float

    @classmethod
    def of(cls, components: dict[str, float], signs: dict[str, int]) -> Evaluation:
        """Sum the components with their signs, without rounding in between."""
        return cls(components, fsum(signs[name] * value for name, value in components.items()))


@dataclass(frozen=True)
class Violation:
    """A broken rule: which, who, where, when (slot or second) and by how much."""

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
