"""The referee, whatever the family: it knows the instance and the schedule, and nothing of how that was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.instances.files import validated
from optsched.registry import family, family_of
from optsched.schedules.base import Evaluation, Schedule, Violation


def parse(problem: str, raw: dict[str, Any], path: str | Path) -> Schedule:
    """The family's schedule in a JSON object, told apart by its keys.

    Raises
    ------
    InputError
        One line with the file, the place and what would be right.
    """
    kinds = family(problem).schedules
    fitting = [kind for kind in kinds if set(kind.model_fields) & set(raw)]
    return validated(fitting[0] if fitting else kinds[0], raw, path)


def evaluate(instance: Instance, schedule: Schedule) -> Evaluation:
    """Recompute the objective of a schedule and its components.

    Raises
    ------
    OptschedError
        The schedule is of another family.
    """
    return family_of(instance).evaluate(instance, _fitting(instance, schedule))


def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Every rule of the instance that the schedule violates.

    Raises
    ------
    OptschedError
        The schedule is of another family.
    """
    return family_of(instance).check(instance, _fitting(instance, schedule))


def _fitting(instance: Instance, schedule: Schedule) -> Schedule:
    kinds = family_of(instance).schedules
    if not isinstance(schedule, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise OptschedError(f"{instance.problem} is decided by a {expected}, got a {type(schedule).__name__}")
    return schedule
