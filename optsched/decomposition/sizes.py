"""How large a time-indexed problem is, from a sample where counting all of it would take too long."""

from __future__ import annotations

from collections.abc import Callable

from optsched.instances.base import I
from optsched.problems.sample import sampled
from optsched.problems.size import ExactSize
from optsched.problems.view import TimeIndexedView
from optsched.schedules.base import S

EXACT_LIMIT = 2000  # options of a time-indexed problem


def options(instance: I, view: Callable[[I], TimeIndexedView[S]]) -> ExactSize:
    """The number of options, which a time-indexed model's effort grows with."""
    problem, times = sampled(instance, view)
    return ExactSize(round(len(problem) * times), "options", EXACT_LIMIT, estimated=times > 1.0)
