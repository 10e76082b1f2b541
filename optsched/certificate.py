"""What a certificate is made of: which instance, how a bound was proven, how long it took; and what is said of a bound."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, SerializerFunctionWrapHandler, model_serializer

from optsched.errors import OptschedError
from optsched.instances.base import LARGEST, Data, Instance
from optsched.instances.events import A, Events, disturbed, events_of
from optsched.instances.files import validated
from optsched.schedules.base import PROVEN, Evaluation, Violation, differs

Termination = Literal[
    "optimal", "gap_limit", "time_limit", "iteration_limit", "completed", "infeasible", "interrupted", "error"
]  # fmt: skip
SUMS = 1e-12  # of the components: what their sum may have lost where they cancel


class InstanceReference(Data):
    """Which instance a result is about.

    Attributes
    ----------
    name, sha256
        Of the instance.
    file
        Where it was read from, a hint for `optsched plot`.
    parameters
        Those that the papers leave open and without which the objective says little.
    events
        What went wrong in a replay, as the JSON object of its file; None where nothing did. The hash counts them in.
    """

    name: str
    sha256: str
    file: str | None = None
    parameters: dict[str, float] = Field(default_factory=dict)
    events: dict[str, Any] | None = None

    @classmethod
    def of(cls, instance: Instance) -> InstanceReference:
        """That instance."""
        events = events_of(instance)
        told = None if events is None else events.to_json()
        return cls(name=instance.name, sha256=instance.sha256, parameters=instance.open_parameters(), events=told)

    def restored(self, instance: A) -> A:
        """The instance given with the events of the replay that a result is of; itself where they do not fit it."""
        if self.events is None or instance.sha256 == self.sha256:
            return instance
        try:
            return disturbed(instance, validated(Events, self.events, "events"), "events")
        except OptschedError:
            return instance

    @model_serializer(mode="wrap")
    def _brief(self, default: SerializerFunctionWrapHandler) -> dict[str, object]:
        data: dict[str, object] = default(self)
        if self.events is None:
            data.pop("events", None)
        return data


Price = Annotated[float, Field(ge=0, le=1e15 * LARGEST)]  # of a unit: a penalty over a tiny one


class PricedCover(Data):
    """Jobs of which one does not run in a slot of a place, for they do not fit there, and what that is worth.

    Attributes
    ----------
    place, slot
        Where and when.
    jobs
        Ids.
    price
        Objective for one more of them, in the objective's unit.
    """

    place: str
    slot: NonNegativeInt
    jobs: tuple[str, ...]
    price: Price


class PricedCovers(Data):
    """Prices of capacity and of lifted cover inequalities, which prove a bound together.

    Attributes
    ----------
    capacity
        Objective for one more unit, by place and slot.
    covers
        Those of a price.
    """

    capacity: dict[str, tuple[Price, ...]]
    covers: tuple[PricedCover, ...]


class Proof(Data):
    """How a bound was proven, and what is taken on trust (docs/certificates.md).

    Attributes
    ----------
    kind
        ``prices`` (of capacity), ``covers`` (prices of these and of capacity), ``duals`` (multipliers of a formulation's
        rows): anybody can work the bound out again, with every rounding charged; ``integers`` (a search in exact arithmetic);
        ``path`` (a shortest path and branching, with every rounding charged); ``search`` (branch and bound in floating point);
        ``sign`` (no cost is negative).
    overlooked
        By how much the search may have missed the optimum, in the objective's unit; counted against the bound.
    tolerance
        Relative, to which the solver held rows and integers; 0 for none.
    formulation, duals
        The multipliers of its rows, where they were kept.
    covered
        Prices of capacity and covers.
    """

    kind: Literal["prices", "covers", "duals", "integers", "path", "search", "sign"]
    overlooked: float = 0.0
    tolerance: float = 0.0
    formulation: str | None = None
    duals: tuple[float, ...] | None = None
    covered: PricedCovers | None = None


class Timings(Data):
    """Wall seconds of each step; null for a step that the method does not have."""

    build: float | None = None
    translate: float | None = None
    solve: float | None = None
    total: float


class Origin:
    """The instance that a result was made from, which is not written to the file; all are alike, and left behind by pickle."""

    def __init__(self, instance: Instance | None = None) -> None:
        self.instance = instance

    @property
    def unit(self) -> str:
        """Of the objective; empty where the instance is not known."""
        return "" if self.instance is None else self.instance.unit

    @property
    def jobs(self) -> int | None:
        """How many a schedule decides about."""
        return None if self.instance is None else self.instance.job_count

    def __eq__(self, other: object) -> bool:
        """No two results differ by it."""
        return isinstance(other, Origin)

    def __hash__(self) -> int:
        """As for equal things."""
        return hash(Origin)

    def __reduce__(self) -> tuple[type[Origin], tuple[()]]:
        """Pickle nothing: an instance may be a hundred times as large as the result."""
        return Origin, ()


def relative_gap(objective: float | None, bound: float | None) -> float | None:
    """|objective - bound| / max(|objective|, 1e-9), None where either is missing."""
    if objective is None or bound is None:
        return None
    return abs(objective - bound) / max(abs(objective), 1e-9)


def settled(
    instance: Instance, judged: Evaluation, bound: float | None, proof: Proof | None
) -> tuple[float | None, Proof | None]:
    """The bound as it is written: the objective where the two agree, and never below zero where no cost can be.

    One that lies beyond the objective by what the referee's own sums may have lost is moved to the other side by as much.
    """
    if bound is None:
        return None, None
    if instance.sense == "minimize" and instance.nonnegative and bound <= 0.0:
        bound, proof = 0.0, Proof(kind="sign")
    objective, noise = judged.objective, SUMS * sum(map(abs, judged.components.values()))
    if beats(instance, objective, bound) and abs(bound - objective) <= noise:
        bound = objective - noise if instance.sense == "minimize" else objective + noise
    return (objective if abs(bound - objective) <= PROVEN * abs(objective) else bound), proof


def beats(instance: Instance, objective: float, bound: float | None) -> bool:
    """Whether an objective lies beyond a bound."""
    return bound is not None and beyond(objective, bound, instance.sense == "minimize")


def beyond(objective: float, bound: float, minimised: bool) -> bool:
    """Whether an objective is better than a bound says is possible."""
    better = bound - objective if minimised else objective - bound
    return better > PROVEN * abs(objective)


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Versions of Python, optsched and the given distributions."""
    found = {"python": platform.python_version()}
    for package in ("optsched", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def unconfirmed(claims: Mapping[str, tuple[float | None, float | None]]) -> Iterator[Violation]:
    """Figures, by name as claimed and as the referee has them, that are not the same."""
    for name, (claimed, true) in claims.items():
        if (claimed is None) != (true is None) or (claimed is not None and true is not None and differs(claimed, true)):
            yield Violation("figure that the referee does not confirm", detail=f"{name} is {claimed}, should be {true}")


def no_better(instance: Instance, shown: float | None, objective: float | None) -> float | None:
    """What a solver has claimed on its way, or what the referee says in the end, if that is worse."""
    if shown is None or objective is None:
        return shown
    return max(shown, objective) if instance.sense == "minimize" else min(shown, objective)
