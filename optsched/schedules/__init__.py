"""What is decided: per family the schedule, and the referee, who imports nothing above `instances/`."""

from optsched.schedules.base import Evaluation, Schedule, Violation

__all__ = ["Evaluation", "Schedule", "Violation"]
