"""The referee for users: schedules, mappings of JSON and results are judged alike."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import overload

from optsched import referee
from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.instances.plain import is_frame, plain
from optsched.referee import expect_instance as expect_instance
from optsched.registry import family_of
from optsched.result import RESULT_FORMAT, Proof, Result, certified, parse_result
from optsched.schedules.base import Evaluation, S, Schedule, Violation
from optsched.stop import Clock


def check(instance: Instance, decided: Schedule | Result | Mapping[str, object]) -> list[Violation]:
    """Every broken rule of a schedule; for a result also every figure that the referee does not confirm.

    Parameters
    ----------
    instance
        What was given.
    decided
        A schedule, a result, or either as the JSON object of its file.

    Returns
    -------
    list of Violation
        Empty for a feasible schedule and a certificate that holds.

    Raises
    ------
    InputError
        The mapping is no schedule of the instance's family: one line with the place and what would be right.
    OptschedError
        The schedule is of another family.
    """
    read = read_decided(instance, decided)
    return read.verify(instance) if isinstance(read, Result) else referee.check(instance, read)


def evaluate(instance: Instance, decided: Schedule | Result | Mapping[str, object]) -> Evaluation:
    """Recompute the objective of a schedule and its components; the schedule need not be feasible.

    Parameters
    ----------
    instance
        What was given.
    decided
        A schedule, a result, or either as the JSON object of its file.

    Returns
    -------
    Evaluation
        In the unit of the instance, ``instance.unit``.

    Raises
    ------
    InputError
        The mapping is no schedule of the instance's family: one line with the place and what would be right.
    OptschedError
        The schedule is of another family, or names what the instance does not have.
    """
    read = read_decided(instance, decided)
    return referee.evaluate(instance, read.best if isinstance(read, Result) else read)


@overload
def certify(instance: Instance, schedule: S, bound: float | Result | None = None) -> Result[S]: ...


@overload
def certify(instance: Instance, schedule: Mapping[str, object], bound: float | Result | None = None) -> Result: ...


def certify(instance: Instance, schedule: Schedule | Mapping[str, object], bound: float | Result | None = None) -> Result:
    """A result of a schedule from anywhere: judged by the referee, with the gap to a bound.

    Parameters
    ----------
    instance
        What was given.
    schedule
        The decision, or the JSON object of it.
    bound
        What is proven of every schedule, in the objective's unit; or a result of the same instance, whose bound it is.

    Returns
    -------
    Result
        With ``method`` called ``given``.

    Raises
    ------
    OptschedError
        The schedule breaks a rule, which is named, or the bound is of another instance or objective.
    CertificateError
        The schedule beats the bound: that one is wrong.

    Examples
    --------
    >>> import optsched
    >>> instance = optsched.load("instances/deferrable-small.json")
    >>> optsched.certify(instance, {"starts": []}, bound=optsched.solve(instance)).gap > 1
    True
    """
    clock, read = Clock(), read_decided(instance, schedule)
    if isinstance(read, Result):
        read = read.best
    broken = referee.check(instance, read)
    if broken:
        more = f" (and {len(broken) - 1} more, see optsched.check)" if len(broken) > 1 else ""
        raise OptschedError(f"the schedule is not feasible: {broken[0]}{more}")
    proven, proof = bound_of(instance, read.objective_kind, bound)
    return certified(
        instance,
        read,
        method="given",
        termination="completed",
        bound=proven,
        seconds=clock.elapsed_s(),
        proof=proof,
        shadow_prices=dict(bound.shadow_prices or {}) or None if isinstance(bound, Result) else None,
    )


def bound_of(instance: Instance, kind: str | None, bound: float | Result | None) -> tuple[float | None, Proof | None]:
    """What a number or a result proves of schedules whose objective is of a kind (`Schedule.objective_kind`).

    Raises
    ------
    OptschedError
        It is of another instance, of what another kind of schedule is judged by, does not pass the referee, or is no number.
    """
    if not isinstance(bound, Result):
        if bound is not None and not (isinstance(bound, Real) and isfinite(bound)):
            file = "; optsched.load_result(FILE) reads one" if isinstance(bound, str | Path) else ""
            raise OptschedError(f"a bound is a finite number or a result, got {bound!r:.60}{file}")
        return bound, None
    if bound.instance.sha256 != instance.sha256:
        raise OptschedError(f"the bound is of {bound.instance.name!r}, not of the instance {instance.name!r} given")
    own = bound.objective_kind if bound.schedule is not None else family_of(instance).schedules[0].objective_kind
    if own != kind:  # without a schedule it is of the kind that methods make, which comes first
        raise OptschedError(f"the bound is of a {own} objective, the schedule has a {kind} one")
    broken = bound.verify(instance)
    if broken:
        raise OptschedError(f"the bound cannot be trusted: {broken[0]}")
    return bound.bound, bound.proof


def read_decided(instance: Instance, decided: Schedule | Result | Mapping[str, object]) -> Schedule | Result:
    """A schedule or a result, also from the JSON object of one.

    Raises
    ------
    InputError
        The mapping is no schedule of the instance's family: one line with the place and what would be right.
    OptschedError
        It is none of these.
    """
    expect_instance(instance)
    if isinstance(decided, Schedule | Result):
        return decided
    if not isinstance(decided, Mapping):
        kind = f"got {type(decided).__name__}" + ("" if is_frame(decided) else f": {decided!r:.40}")
        raise OptschedError(f"expected a schedule, a result, or the JSON object of one, {kind}{_way(instance, decided)}")
    if decided.get("format") == RESULT_FORMAT:
        return parse_result(decided, "result")
    return referee.read(instance, plain(decided), "schedule")


def _way(instance: Instance, decided: object) -> str:
    """How a frame or a list of entries becomes a schedule, as the end of a message."""
    if is_frame(decided):
        return f"; {referee.reader(instance)}.from_frame reads one"
    field = next(iter(family_of(instance).schedules[0].model_fields))
    return f'; a dict takes it: {{"{field}": [...]}}' if isinstance(decided, list) else ""
