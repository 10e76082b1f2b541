"""What is decided, and the referee: it knows the instance and the schedule and imports nothing above `instances/`."""

from typing import cast

from optsched.instances.base import Instance
from optsched.rooms import room
from optsched.schedules.base import Evaluation, Schedule, Violation

__all__ = ["Evaluation", "Schedule", "Violation", "check", "evaluate"]


def evaluate(instance: Instance, schedule: Schedule) -> Evaluation:
    """Recompute the objective of a schedule and its components."""
    return cast(Evaluation, room("schedules", instance.problem).evaluate(instance, schedule))


def check(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Every rule of the instance that the schedule violates."""
    return cast(list[Violation], room("schedules", instance.problem).check(instance, schedule))
