"""A time-indexed problem of some of an instance's jobs, where listing all takes too long to learn its size."""

from __future__ import annotations

from collections.abc import Callable

from optsched.instances.base import I
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.problems.view import TimeIndexedView
from optsched.schedules.base import S

MOST = 200  # jobs


def sampled(instance: I, view: Callable[[I], TimeIndexedView[S] | None]) -> tuple[TimeIndexedProblem, float]:
    """The problem of every so manieth job, and how many times as many jobs there are."""
    jobs = instance.jobs  # type: ignore[attr-defined]
    some = jobs[:: max(1, -(-len(jobs) // MOST))]
    found = view(instance if len(some) == len(jobs) else instance.model_copy(update={"jobs": some}))
    assert found is not None  # a time-indexed family's
    return found.problem, len(jobs) / max(1, len(some))
