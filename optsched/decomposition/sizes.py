"""How large a time-indexed problem is, from a sample where counting all of it would take too long."""

from __future__ import annotations

from collections.abc import Callable

from optsched.instances.base import I
from optsched.problems.size import ExactSize
from optsched.problems.view import TimeIndexedView
from optsched.schedules.base import S

EXACT_LIMIT = 2000  # options of a time-indexed problem
SAMPLE = 200  # jobs whose options are counted for all


def options(instance: I, view: Callable[[I], TimeIndexedView[S]]) -> ExactSize:
    """The number of options, which a time-indexed model's effort grows with."""
    jobs = instance.jobs  # type: ignore[attr-defined]
    step = max(1, -(-len(jobs) // SAMPLE))
    some = instance if step == 1 else instance.model_copy(update={"jobs": jobs[::step]})
    sampled = len(some.jobs)  # type: ignore[attr-defined]
    count = round(len(view(some).problem) * len(jobs) / max(1, sampled))
    return ExactSize(count, "options", EXACT_LIMIT, estimated=step > 1)
