"""Result: a schedule with its certificate, and the file that keeps both."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SerializeAsAny

from optsched.errors import CertificateError, InputError, OptschedError
from optsched.files import read_bytes, write_bytes
from optsched.instances.base import Data, Instance, NonNegative
from optsched.instances.files import expect_format, parse_object, validated
from optsched.rooms import families
from optsched.schedules import check, evaluate, parse
from optsched.schedules.base import PROVEN, TOLERANCE, Evaluation, Schedule, Violation, differs

RESULT_FORMAT: Literal["optsched-result/1"] = "optsched-result/1"

Termination = Literal["optimal", "gap_limit", "time_limit", "iteration_limit", "infeasible", "interrupted", "error"]
SUMS = 1e-12  # of the components: what their sum may have lost where they cancel
KEPT_DUALS = 20_000  # rows; more are not written to the file


class InstanceReference(Data):
    """Which instance a result is about; `file` is where it was read from, a hint for `plot`.

    `parameters` are those that the papers leave open and without which the objective says little.
    """

    name: str
    sha256: str
    file: str | None = None
    parameters: dict[str, float] = Field(default_factory=dict)


class Proof(Data):
    """How a bound was proven, and what is taken on trust (docs/certificates.md).

    Attributes
    ----------
    kind : ``prices`` (of capacity), ``duals`` (multipliers of a formulation's rows): anybody can work the bound out again, with
        every rounding charged; ``integers`` (a search in exact arithmetic); ``path`` (a shortest path and branching, with every
        rounding charged); ``search`` (branch and bound in floating point); ``sign`` (no cost is negative).
    overlooked : by how much the search may have missed the optimum, in the objective's unit; counted against the bound.
    tolerance : relative, to which the solver held rows and integers; 0 for none.
    formulation, duals : the multipliers of its rows, where they were kept.
    """

    kind: Literal["prices", "duals", "integers", "path", "search", "sign"]
    overlooked: float = 0.0
    tolerance: float = 0.0
    formulation: str | None = None
    duals: tuple[float, ...] | None = None


class Timings(Data):
    """Wall seconds of each step; null for a step that the method does not have."""

    build: float | None = None
    translate: float | None = None
    solve: float | None = None
    total: float


class Result(Data):
    """What a method returns. Objective and components come from the referee; see `certified`.

    Attributes
    ----------
    termination : why it stopped. solution : what it has: optimal, feasible or none.
    objective, bound, gap : numbers or None; ``gap = |objective - bound| / max(|objective|, 1e-9)``.
    incumbents : rows of [seconds, objective, bound], None where not known yet.
    shadow_prices : what one more unit of capacity is worth, by place and slot; absent if the method has none.
    proof : of the bound; absent where there is none, and in older files.
    digest : sha256 over everything above but timings, so that a later edit shows.
    """

    format: Literal["optsched-result/1"] = RESULT_FORMAT
    problem: str
    objective_kind: Literal["proxy", "realised"] | None = None
    instance: InstanceReference
    method: str
    options: dict[str, Any] = Field(default_factory=dict)
    seed: int | None
    termination: Termination
    solution: Literal["optimal", "feasible", "none"]
    objective: float | None
    bound: float | None
    gap: float | None
    components: dict[str, float]
    message: str | None = None
    timings_s: Timings
    incumbents: tuple[tuple[float, float | None, float | None], ...] = ()
    versions: dict[str, str]
    schedule: SerializeAsAny[Schedule] | None
    shadow_prices: dict[str, tuple[NonNegative, ...]] | None = None
    proof: Proof | None = None
    digest: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object; shadow prices and proof are left out where there are none."""
        absent = {name for name in ("shadow_prices", "proof") if getattr(self, name) is None}
        return self.model_dump(mode="json", exclude=absent)

    def sealed(self) -> Result:
        """This result with its digest."""
        return self.model_copy(update={"digest": self._digest()})

    def _digest(self) -> str:
        data = {k: v for k, v in self.to_json().items() if k not in ("digest", "timings_s", "incumbents")}
        data["instance"] = {k: v for k, v in data["instance"].items() if k != "file"}
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write to ``.json`` or ``.json.gz``, atomically."""
        write_bytes(path, (json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n").encode())

    def verify(self, instance: Instance) -> list[Violation]:
        """Judge the whole certificate: instance, schedule, objective, components, bound, gap and digest."""
        if self.problem != instance.problem:
            return [Violation("other problem", detail=f"result is of {self.problem}, instance of {instance.problem}")]
        found = []
        if self.instance.sha256 != instance.sha256:
            named = f"the result is about {self.instance.name!r}, sha256 {self.instance.sha256[:12]}..."
            return [Violation("other instance", detail=named)]
        if self.digest is not None and self.digest != self._digest():
            found.append(Violation("edited", detail="the file was changed after it was written: its digest differs"))
        if self.schedule is None:
            if self.objective is not None or self.solution != "none":
                found.append(Violation("objective without a schedule", amount=self.objective))
            return found
        broken = check(instance, self.schedule)
        found += broken
        try:
            judged = evaluate(instance, self.schedule)
        except OptschedError:  # it names something that is not there, which is among the violations
            return found
        claims: dict[str, tuple[float | None, float | None]] = {"objective": (self.objective, judged.objective)}
        claims |= {f"components.{k}": (self.components.get(k), v) for k, v in judged.components.items()}
        claims |= {f"components.{k}": (v, None) for k, v in self.components.items() if k not in judged.components}
        claims["gap"] = (self.gap, relative_gap(self.objective, self.bound))
        for name, (claimed, true) in claims.items():
            if (claimed is None) != (true is None) or (claimed is not None and true is not None and differs(claimed, true)):
                found.append(
                    Violation(
                        "figure that the referee does not confirm",
                        detail=f"{name} is {claimed}, should be {true}",
                    )
                )
        if beats(instance, judged.objective, self.bound):
            detail = f"objective {judged.objective:.9g}, bound {self.bound:.9g}"
            found.append(Violation("objective beyond its bound", detail=detail))
        if self.solution == "none" or (self.solution == "optimal") != (self.termination == "optimal"):
            found.append(Violation("words that contradict", detail=f"{self.termination!r} with solution {self.solution!r}"))
        elif self.solution == "optimal" and not self._closed():
            found.append(Violation("optimal without a proof", detail=f"gap is {self.gap}"))
        return found

    def _closed(self) -> bool:
        """Whether the gap is none; files from before there were proofs called 1e-6 none."""
        return self.gap is not None and self.gap <= (TOLERANCE if self.proof is None else PROVEN)


def load_result(path: str | Path) -> Result:
    """Read a result file.

    Raises
    ------
    InputError : one line with the file, the place and what would be right.
    """
    raw = parse_object(read_bytes(path), path)
    expect_format(raw, RESULT_FORMAT, path)
    problem = raw.get("problem")
    if not isinstance(problem, str) or problem not in families():
        raise InputError(path, "problem", f"expected one of {', '.join(families())}")
    decided = raw.get("schedule")
    if decided is not None and not isinstance(decided, dict):
        raise InputError(path, "schedule", "must be an object or null")
    schedule = None if decided is None else parse(problem, decided, f"{path}: schedule")
    result: Result = validated(Result, raw | {"schedule": None}, path)
    return result.model_copy(update={"schedule": schedule})


def certified(
    instance: Instance,
    schedule: Schedule | None,
    *,
    method: str,
    termination: str,
    bound: float | None,
    seconds: float,
    seed: int | None = None,
    options: dict[str, Any] | None = None,
    packages: Iterable[str] = (),
    timings: dict[str, float] | None = None,
    incumbents: Iterable[tuple[float, float | None, float | None]] = (),
    message: str | None = None,
    shadow_prices: dict[str, tuple[float, ...]] | None = None,
    proof: Proof | None = None,
) -> Result:
    """A result whose figures come from the referee.

    Parameters
    ----------
    bound : what the method has proven, its own errors already counted against it. A bound within 1e-9 of the objective,
        relative to that, is the objective; nothing else is called optimal. proof : of the bound.

    Raises
    ------
    CertificateError : the schedule breaks a rule or beats the bound: the method is wrong, and nothing is returned.
    """
    objective, components = None, {}
    if schedule is not None:
        broken = check(instance, schedule)
        if broken:
            raise CertificateError(f"{method} returned an infeasible schedule: {broken[0]} ({len(broken)} violations)")
        judged = evaluate(instance, schedule)
        objective, components = judged.objective, judged.components
        bound, proof = settled(instance, judged, bound, proof)
        if beats(instance, objective, bound):
            raise CertificateError(f"{method}: objective {objective!r} is beyond its bound {bound!r}")
    gap = relative_gap(objective, bound)
    if termination == "optimal" and schedule is not None and (gap is None or gap > PROVEN):
        termination = "gap_limit" if gap is not None else "iteration_limit"
    elif termination in ("gap_limit", "iteration_limit") and proof is not None and gap is not None and gap <= PROVEN:
        termination = "optimal"  # whatever ended the method, nothing is left to prove
    solution = "none" if schedule is None else "optimal" if termination == "optimal" else "feasible"
    return Result(
        problem=instance.problem,
        objective_kind=schedule.objective_kind if schedule is not None else None,
        instance=InstanceReference(name=instance.name, sha256=instance.sha256, parameters=instance.open_parameters()),
        method=method,
        options=options or {},
        seed=seed,
        termination=termination,  # type: ignore[arg-type]
        solution=solution,  # type: ignore[arg-type]
        objective=objective,
        bound=bound,
        gap=gap,
        components=components,
        message=message,
        timings_s=Timings(**(timings or {}), total=seconds),
        incumbents=tuple(incumbents),
        versions=versions(packages),
        schedule=schedule,
        shadow_prices=shadow_prices,
        proof=None if bound is None else proof,
    ).sealed()


def schedule_of(start: Schedule | Result | None) -> Schedule | None:
    """The schedule to start from."""
    return start.schedule if isinstance(start, Result) else start


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
    if instance.sense == "minimize" and bound <= 0.0:
        bound, proof = 0.0, Proof(kind="sign")
    objective, noise = judged.objective, SUMS * sum(map(abs, judged.components.values()))
    if beats(instance, objective, bound) and abs(bound - objective) <= noise:
        bound = objective - noise if instance.sense == "minimize" else objective + noise
    return (objective if abs(bound - objective) <= PROVEN * abs(objective) else bound), proof


def beats(instance: Instance, objective: float, bound: float | None) -> bool:
    """Whether an objective lies beyond a bound."""
    if bound is None:
        return False
    better = bound - objective if instance.sense == "minimize" else objective - bound
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
