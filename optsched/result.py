"""Result: a schedule with its certificate, and the file that keeps both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Self

from pydantic import Field, PrivateAttr, SerializeAsAny

from optsched import report
from optsched.certificate import (
    InstanceReference,
    Origin,
    Price,
    Proof,
    Termination,
    Timings,
    beats,
    no_better,
    relative_gap,
    settled,
    unconfirmed,
    versions,
)
from optsched.errors import CertificateError, InputError, OptschedError
from optsched.files import read_bytes, write_json
from optsched.instances.base import Data, Instance
from optsched.instances.files import expect_format, parse_object, validated
from optsched.referee import check, evaluate, expect_instance, parse
from optsched.registry import families, family_of
from optsched.schedules.base import PROVEN, TOLERANCE, S, S_co, Violation

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Proof", "Result", "Termination", "beats", "certified", "load_result", "relative_gap", "versions"]

RESULT_FORMAT: Literal["optsched-result/1"] = "optsched-result/1"

UNPROVEN = ("gap_limit", "iteration_limit", "completed")  # words that give way to a proof
KEPT_DUALS = 20_000  # rows; more are not written to the file


class Result(Data, Generic[S_co]):
    """What a method returns: a schedule and its certificate. Objective and components come from the referee; see `certified`.

    Attributes
    ----------
    problem
        The family's name.
    objective_kind
        ``"proxy"``: the objective stands in for what will be realised; ``"realised"``: it is that; None where both are one.
    instance
        Which instance it is about: its name and sha256.
    method, options, seed
        What made it.
    termination
        Why it stopped.
    solution
        What it has: ``"optimal"``, ``"feasible"`` or ``"none"``.
    objective, bound
        In the instance's unit, or None.
    gap
        ``|objective - bound| / max(|objective|, 1e-9)``, or None.
    components
        Of the objective, by name, in its unit.
    message
        What else there is to say.
    timings_s
        Wall seconds of each step.
    incumbents
        Rows of [seconds, objective, bound], None where not known yet.
    versions
        Of Python, optsched and what else computed it.
    schedule
        What is decided, or None; `best` is the same for code that cannot do without.
    shadow_prices
        What one more unit of capacity is worth, by place and slot; None if the method has none.
    proof
        Of the bound; None where there is none, and in older files.
    digest
        sha256 over everything above but timings, so that a later edit shows.

    Examples
    --------
    >>> import optsched
    >>> result = optsched.solve(optsched.load("instances/armida-snapshot.json"))
    >>> result.summary().splitlines()[3]
    'objective     244.422 EUR (proxy), by the referee'
    >>> list(result.to_frame().columns)
    ['job', 'node', 'gpus']
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
    schedule: SerializeAsAny[S_co] | None
    shadow_prices: dict[str, tuple[Price, ...]] | None = None
    proof: Proof | None = None
    digest: str | None = None
    _origin: Origin = PrivateAttr(default_factory=Origin)

    @property
    def best(self) -> S_co:
        """The schedule, for code that cannot do without one.

        Raises
        ------
        OptschedError
            There is none.
        """
        if self.schedule is None:
            raise OptschedError(
                f"the result of {self.method} on {self.instance.name!r} has no schedule: it ended {self.termination}"
            )
        return self.schedule

    def __repr__(self) -> str:
        """One line: a schedule has thousands of entries."""
        return report.line(self, self._origin.unit)

    __str__ = __repr__

    def summary(self) -> str:
        """A few lines: method, how it ended, objective with unit, bound, gap, components, jobs run, seconds."""
        return report.summary(self, self._origin.unit, self._origin.jobs)

    def _repr_html_(self) -> str:
        return report.html(self, self._origin.unit, self._origin.jobs)

    def to_frame(self) -> pd.DataFrame:
        """The schedule as a frame, a row an entry; see `Schedule.to_frame`.

        Raises
        ------
        OptschedError
            There is no schedule.
        """
        return self.best.to_frame()

    def plot(self, instance: Instance | None = None) -> Figure:
        """The schedule as a picture.

        Parameters
        ----------
        instance
            What the result is about; needed where it was read from a file or made by another process.

        Raises
        ------
        OptschedError
            There is no schedule, no instance, or another one.
        """
        if instance is not None:
            expect_instance(instance, "plot().savefig(FILE) writes a picture" if isinstance(instance, str | Path) else None)
        given = instance or self._origin.instance
        given = None if given is None else self.instance.restored(given)
        if given is None:
            raise OptschedError("this result was read from a file or made by another process: plot(instance) with its instance")
        if given.sha256 != self.instance.sha256:
            raise OptschedError(f"the result is about {self.instance.name!r}, not about the instance {given.name!r} given")
        figure = family_of(given).draw(given, self.best)
        heading = [text for text in (figure.get_suptitle(), report.certainty(self)) if text]
        figure.suptitle(", ".join(heading), fontsize=10, parse_math=False)
        return figure

    def to_json(self) -> dict[str, object]:
        """The result as a JSON object; shadow prices and proof are left out where there are none."""
        absent = {name for name in ("shadow_prices", "proof") if getattr(self, name) is None}
        return self.model_dump(mode="json", exclude=absent)

    def sealed(self) -> Self:
        """The same result with its digest."""
        return self.model_copy(update={"digest": self._digest()})

    def _digest(self) -> str:
        data = {k: v for k, v in self.to_json().items() if k not in ("digest", "timings_s", "incumbents")}
        data["instance"] = self.instance.model_dump(mode="json", exclude={"file"})
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write to ``.json`` or ``.json.gz``, atomically; `optsched.load_result` reads it.

        Parameters
        ----------
        path
            The file; one that is there is replaced.

        Raises
        ------
        InputError
            It cannot be written.
        """
        write_json(path, json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n")

    def verify(self, instance: Instance) -> list[Violation]:
        """Judge the whole certificate: instance, schedule, objective, components, bound, gap and digest.

        Parameters
        ----------
        instance
            What the result should be about, with or without the events of a replay.
        """
        if self.problem != instance.problem:
            return [Violation("other problem", detail=f"result is of {self.problem}, instance of {instance.problem}")]
        found, instance = [], self.instance.restored(instance)
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
        found += unconfirmed(claims)
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

    Parameters
    ----------
    path
        A ``.json`` or ``.json.gz`` that `Result.save` wrote.

    Raises
    ------
    InputError
        One line with the file, the place and what would be right.
    """
    return parse_result(parse_object(read_bytes(path), path), path)


def parse_result(raw: Mapping[str, object], path: str | Path) -> Result:
    """The result in a JSON object.

    Parameters
    ----------
    raw
        As `Result.to_json` makes it.
    path
        Named in messages.

    Raises
    ------
    InputError
        One line with the place and what would be right.
    """
    expect_format(dict(raw), RESULT_FORMAT, path)
    problem = raw.get("problem")
    if not isinstance(problem, str) or problem not in families():
        raise InputError(path, "problem", f"expected one of {', '.join(families())}")
    decided = raw.get("schedule")
    if decided is not None and not isinstance(decided, dict):
        raise InputError(path, "schedule", "must be an object or null")
    schedule = None if decided is None else parse(problem, decided, f"{path}: schedule")
    result: Result = validated(Result, {**raw, "schedule": None}, path)
    return result.model_copy(update={"schedule": schedule})


def certified(
    instance: Instance,
    schedule: S | None,
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
) -> Result[S]:
    """A result whose figures come from the referee.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided; None where nothing was found.
    method, seed, options
        What made it, as it can be made again.
    termination
        Why it stopped; ``optimal`` only stands where the bound proves it.
    bound
        What the method has proven, its own errors already counted against it. A bound within 1e-9 of the objective, relative to
        that, is the objective; nothing else is called optimal.
    seconds
        Wall time, all steps together.
    packages
        Distributions whose versions the result names.
    timings
        Wall seconds by step.
    incumbents
        Rows of seconds, objective and bound; none is shown that claims more than the referee says in the end.
    message
        What else there is to say.
    shadow_prices
        What one more unit of capacity is worth, by place and slot.
    proof
        Of the bound.

    Raises
    ------
    CertificateError
        The schedule breaks a rule or beats the bound: the method is wrong, and nothing is returned.
    """
    objective, components = None, {}
    if schedule is not None:
        broken = check(instance, schedule)
        if broken:
            raise CertificateError(f"{method} returned an infeasible schedule: {broken[0]} ({len(broken)} violations)", method)
        judged = evaluate(instance, schedule)
        objective, components = judged.objective, judged.components
        bound, proof = settled(instance, judged, bound, proof)
        if beats(instance, objective, bound):
            raise CertificateError(f"{method}: objective {objective!r} is beyond its bound {bound!r}", method)
    gap = relative_gap(objective, bound)
    if termination == "optimal" and schedule is not None and (gap is None or gap > PROVEN):
        termination = "completed"
    elif termination == "gap_limit" and (gap is None or gap > ((options or {}).get("gap") or 0.0)):
        termination = "completed"  # what the solver takes for none is more than was asked for
    elif termination in UNPROVEN and proof is not None and gap is not None and gap <= PROVEN:
        termination = "optimal"  # whatever ended the method, nothing is left to prove
    solution = "none" if schedule is None else "optimal" if termination == "optimal" else "feasible"
    made: Result[S] = Result(
        problem=instance.problem,
        objective_kind=schedule.objective_kind if schedule is not None else None,
        instance=InstanceReference.of(instance),
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
        incumbents=tuple((at, no_better(instance, shown, objective), proven) for at, shown, proven in incumbents),
        versions=versions(packages),
        schedule=schedule,
        shadow_prices=shadow_prices,
        proof=None if bound is None else proof,
    )
    made._origin.instance = instance
    return made.sealed()


def schedule_of(start: S | Result[S] | None) -> S | None:
    """The schedule to start from."""
    return start.schedule if isinstance(start, Result) else start
