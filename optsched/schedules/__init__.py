"""What is decided, and the referee: it knows the instance and the schedule and imports nothing above `instances/`."""

from pathlib import Path
from typing import Any, cast

from optsched.instances.base import Instance
from optsched.instances.files import validated
from optsched.rooms import room
from optsched.schedules.base import Evaluation, Schedule, Violation

__all__ = ["Evaluation", "Schedule", "Violation", "check", "evaluate", "parse"]


def parse(problem: str, raw: dict[str, Any], path: str | Path) -> Schedule:
    """The family's schedule in a JSON object, told apart by its keys.

    Raises
    ------
    InputError : one line with the file, the place and what would be right.
    """
    kinds: tuple[type[Schedule], ...] = room("schedules", problem).SCHEDULES
    fitting = [kind for kind in kinds if set(kind.model_fields) & set(raw)]
    return validated(fitting[0] if fitting else kinds[0], raw, path)


def evaluate(instance: Instance, schedule: Schedule) -> Evaluation:
    """Recompute the objective of a schedule and its components."""
    return cast(Evaluation, room("schedules", instance.problem).evaluate(instance, schedule))


def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Every rule of the instance that the schedule violates."""
    return cast(list[Violation], room("schedules", instance.problem).check(instance, schedule))
