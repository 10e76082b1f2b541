"""What `optsched train` can train, by name; nothing is loaded until it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeAlias, cast

from optsched.errors import BackendUnavailable, OptschedError, meant
from optsched.registry import named
from optsched.rl.lesson import Lesson

if TYPE_CHECKING:  # who lists what can be trained loads nothing else
    from optsched.instances.base import Instance
    from optsched.rl.learner import Learner

Make: TypeAlias = "Callable[..., Learner]"
"""From a scenario's name, instances to learn from in place of the scenario's, and a seed; `forecast` where a lesson has one."""


@cache
def lessons() -> dict[str, Lesson]:
    """What can be trained, by name."""
    found: dict[str, Lesson] = {}
    for module in iter_modules([str(Path(__file__).with_name("lessons"))]):
        found |= cast("dict[str, Lesson]", named(f"optsched.rl.lessons.{module.name}:LESSONS"))
    return dict(sorted(found.items()))


def lesson(name: str) -> Lesson:
    """What that name trains.

    Raises
    ------
    OptschedError : nothing.
    """
    if name not in lessons():
        raise OptschedError(f"there is no training {name!r}{meant(name, lessons(), 'there is')}")
    return lessons()[name]


def learner(
    name: str,
    scenario: str | None = None,
    instances: Sequence[Instance] = (),
    seed: int = 0,
    forecast: str | None = None,
) -> Learner:
    """A learner that has seen nothing yet.

    Raises
    ------
    BackendUnavailable : the `rl` extra is not installed.
    OptschedError : no such name or scenario, or instances of another family.
    """
    found = lesson(name)
    scenario = found.scenarios[0] if scenario is None else scenario
    if scenario not in found.scenarios:
        raise OptschedError(f"{name} has no scenario {scenario!r}{meant(scenario, found.scenarios, 'it has')}")
    for instance in instances:
        if instance.problem != found.problem:
            raise OptschedError(f"{name} learns from {found.problem} instances, {instance.name} is of {instance.problem}")
        if not instance.job_count:
            raise OptschedError(f"{instance.name} has no jobs, so there is nothing to learn from")
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise BackendUnavailable(f"training needs the rl extra (pip install 'optsched[rl]'): {error}") from None
    shown = {} if found.forecast is None else {"forecast": forecast or found.forecast}
    return cast("Make", named(found.make))(scenario, instances, seed, **shown)
