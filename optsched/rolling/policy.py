"""Policies: who decides on a snapshot. A snapshot is an instance, so every method of the house is a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Any, Protocol, runtime_checkable

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.rooms import room
from optsched.schedules.base import Schedule


class Policy(Protocol):
    """Decides on snapshots and sees nothing else."""

    def reset(self, seed: int) -> None:
        """Forget everything; the next snapshot is the first."""

    def decide(self, snapshot: Any) -> Schedule:
        """A schedule for the snapshot, of which the present is carried out."""


@runtime_checkable
class Lasting(Policy, Protocol):
    """A policy that a checkpoint can keep: `state` says what it remembers, as JSON, and `restore` makes it remember that."""

    def state(self) -> Any:
        """All that later decisions depend on, of what JSON can write: it is read back by the same program."""

    def restore(self, state: Any) -> None:
        """Go on from what `state` said, after a `reset`; lists come back for tuples, and keys are strings."""


@dataclass(frozen=True)
class Settings:
    """What a user may ask of a policy; None leaves it to the policy.

    Attributes
    ----------
    window_s : plan only starts from now to then. replan_s : follow the last plan for so long. budget_s : wall time a decision.
    history : an instance of past days, whose jobs tell what to expect.
    """

    window_s: float | None = None
    replan_s: float | None = None
    budget_s: float | None = None
    history: Instance | None = None

    def __post_init__(self) -> None:
        for name in ("window_s", "replan_s", "budget_s"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise OptschedError(f"{name.removesuffix('_s')} must be a positive number of seconds, got {value}")

    def allow(self, policy: str, *names: str) -> None:
        """Refuse what the policy does not take (a budget is for every policy)."""
        for field in fields(self):
            if field.name not in ("budget_s", *names) and getattr(self, field.name) is not None:
                raise OptschedError(f"policy {policy} takes no {field.name.removesuffix('_s')}")


class Heuristic:
    """A heuristic on every snapshot, with a seed of its own for each."""

    def __init__(self, construct: Callable[[Any, int], Schedule]) -> None:
        self.construct = construct
        self.seed = 0

    def reset(self, seed: int) -> None:
        """Take the seed of the replay."""
        self.seed = seed

    def decide(self, snapshot: Instance) -> Schedule:
        """The heuristic's schedule."""
        self.seed += 1
        return self.construct(snapshot, self.seed)

    def state(self) -> int:
        """The last seed."""
        return self.seed

    def restore(self, state: int) -> None:
        """Go on after that seed."""
        self.seed = int(state)


Factory = Callable[[Settings], Policy]


def plain(name: str, construct: Callable[[Any, int], Schedule]) -> Factory:
    """The policy of a heuristic, which takes no settings."""
    return partial(_plain, name, construct)


def _plain(name: str, construct: Callable[[Any, int], Schedule], settings: Settings) -> Policy:
    settings.allow(name)
    return Heuristic(construct)


@cache
def policies(family: str) -> dict[str, Factory]:
    """The policies of a family by name: its own, its heuristics, and every method as a rolling horizon.

    Raises
    ------
    OptschedError : the family has no replay.
    """
    from optsched.methods import solving  # loads the solvers
    from optsched.rolling.horizon import RollingHorizon

    own: dict[str, Factory] = room("rolling", family).POLICIES
    heuristics = room("heuristics", family).HEURISTICS
    found = {name: plain(name, construct) for name, construct in heuristics.items()} | own
    rolling = {f"rolling:{name}": partial(RollingHorizon, family, name) for name in (*solving(family), *heuristics)}
    return found | {name: factory for name, factory in rolling.items() if name not in own}


def policy(family: str, name: str, settings: Settings) -> Policy:
    """The policy of that name.

    Raises
    ------
    OptschedError : no such policy, or it does not take the settings.
    """
    named = policies(family)
    word, _, rest = name.partition(":")
    arguments: dict[str, Callable[[str, Settings], Policy]] = getattr(room("rolling", family), "WITH_ARGUMENT", {})
    if word in arguments and rest:
        return arguments[word](rest, settings)
    if name not in named:
        raise OptschedError(f"{family} has no policy {name!r}, it has: {', '.join(named)}")
    return named[name](settings)
