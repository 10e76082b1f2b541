"""The referee, whatever the family: it knows the instance and the schedule, and nothing of how that was found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.instances.files import validated
from optsched.registry import family, family_of, of_family, own_families
from optsched.schedules.base import Evaluation, Schedule, Violation


def parse(problem: str, raw: dict[str, object], path: str | Path) -> Schedule:
    """The family's schedule in a JSON object, told apart by its keys.

    Raises
    ------
    InputError
        One line with the file, the place and what would be right.
    """
    return validated(_kind(problem, raw), raw, path)


def read(instance: Instance, raw: dict[str, object], path: str | Path) -> Schedule:
    """The same for a decision about an instance, which may leave out what follows from the rest (`Schedule.read`).

    Raises
    ------
    InputError
        One line with the file, the place and what would be right.
    """
    kind = _kind(instance.problem, raw)
    return of_family(instance.problem, lambda family: kind.read(instance, raw, path))


def _kind(problem: str, raw: dict[str, object]) -> type[Schedule]:
    kinds = family(problem).schedules
    return next((kind for kind in kinds if set(kind.model_fields) & set(raw)), kinds[0])


def evaluate(instance: Instance, schedule: Schedule) -> Evaluation:
    """Recompute the objective of a schedule and its components.

    Raises
    ------
    OptschedError
        The schedule is of another family.
    """
    fitting = expect_schedule(instance, schedule)
    return of_family(instance.problem, lambda family: family.evaluate(instance, fitting))


def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Every rule of the instance that the schedule violates.

    Raises
    ------
    OptschedError
        The schedule is of another family.
    """
    fitting = expect_schedule(instance, schedule)
    return of_family(instance.problem, lambda family: family.check(instance, fitting))


def expect_schedule(instance: Instance, schedule: object) -> Schedule:
    """The schedule, if it is one of the instance's family.

    Raises
    ------
    OptschedError
        It is none; a dict is told what reads it.
    """
    kinds = family_of(instance).schedules
    if not isinstance(schedule, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        said = f"{instance.problem} is decided by a {expected}, got a {type(schedule).__name__}"
        raise OptschedError(said + (f"; {reader(instance)}.from_dict reads one" if isinstance(schedule, Mapping) else ""))
    return schedule


def expect_instance(given: object, way: str | None = None) -> None:
    """Refuse what is no instance, a file name for instance.

    Parameters
    ----------
    given
        What may be one.
    way
        What was probably wanted, for the message.

    Raises
    ------
    OptschedError
        It is none.
    """
    if not isinstance(given, Instance):
        raise OptschedError(f"expected an instance, got {given!r:.60}; {way or 'optsched.load(FILE) reads one'}")


def reader(instance: Instance) -> str:
    """The class that decides an instance, as a user types it."""
    first = family_of(instance).schedules[0]
    own = instance.problem in own_families()
    return f"optsched.{instance.problem}.Schedule" if own else first.__name__
