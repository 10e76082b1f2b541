"""Policies: who decides on a snapshot. A snapshot is an instance, so every method of the house is a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Generic, Never, Protocol, TypeAlias, runtime_checkable

from optsched.errors import OptschedError, meant
from optsched.family import Heuristic
from optsched.instances.base import I, I_contra, Instance
from optsched.registry import added, is_reference, named, skipping
from optsched.rolling.memory import recalled
from optsched.schedules.base import S, S_co, Schedule


class Policy(Protocol[I_contra, S_co]):
    """Decides on snapshots and sees nothing else."""

    def reset(self, seed: int) -> None:
        """Forget everything; the next snapshot is the first."""

    def decide(self, snapshot: I_contra) -> S_co:
        """A schedule for the snapshot, of which the present is carried out."""


AnyPolicy: TypeAlias = Policy[Never, Schedule]
"""A policy of one family or another: which one, its type does not say."""


@runtime_checkable
class Lasting(Policy[I_contra, S_co], Protocol[I_contra, S_co]):
    """A policy that a checkpoint can keep: `state` says what it remembers, as JSON, and `restore` makes it remember that."""

    def state(self) -> object:
        """All that later decisions depend on, of what JSON can write: it is read back by the same program."""

    def restore(self, state: object) -> None:
        """Go on from what `state` said, after a `reset`; lists come back for tuples, and keys are strings."""


@runtime_checkable
class Trained(Policy[I_contra, S_co], Protocol[I_contra, S_co]):
    """A policy that has learned from an instance, and knows where its decisions mean little."""

    def doubt(self, instance: I_contra, forecast: str) -> str | None:
        """Why they do in this replay, and what to type; None where there is no doubt."""


@runtime_checkable
class Guarded(Policy[I_contra, S_co], Protocol[I_contra, S_co]):
    """A policy with a rule beside it, which decides where the policy would do worse."""

    overruled: bool
    """Whether the rule decided the last snapshot."""


@runtime_checkable
class Hurried(Policy[I_contra, S_co], Protocol[I_contra, S_co]):
    """A policy that can think less where it was too slow."""

    def hurry(self) -> None:
        """The last decision has taken longer than its budget, and never happened."""


class NotTaken(OptschedError):
    """A setting that a policy does not take, whatever its value; `setting` is its name in `Settings`."""

    def __init__(self, setting: str, said: str) -> None:
        super().__init__(said)
        self.setting = setting


@dataclass(frozen=True)
class Settings:
    """What a user may ask of a policy; None leaves it to the policy.

    Attributes
    ----------
    window_s : plan only starts from now to then. replan_s : follow the last plan for so long. budget_s : wall time a decision.
    history : an instance of past days, whose jobs tell what to expect. guard : False shows what has been learned without one.
    """

    window_s: float | None = None
    replan_s: float | None = None
    budget_s: float | None = None
    history: Instance | None = None
    guard: bool | None = None

    def __post_init__(self) -> None:
        for name in ("window_s", "replan_s", "budget_s"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise OptschedError(f"{name.removesuffix('_s')} must be a positive number of seconds, got {value}")

    def past(self, kind: type[I]) -> I | None:
        """The history, for who learns from instances of that class.

        Raises
        ------
        OptschedError : it is of another family.
        """
        if self.history is None or isinstance(self.history, kind):
            return self.history
        raise OptschedError(f"the history {self.history.name!r} is of {self.history.problem}, not of {kind.problem}")

    def allow(self, policy: str, *names: str) -> None:
        """Refuse what the policy does not take (a budget is for every policy, and who has no guard needs none)."""
        for field in fields(self):
            if field.name not in ("budget_s", "guard", *names) and getattr(self, field.name) is not None:
                raise NotTaken(field.name, f"policy {policy} takes no {field.name.removesuffix('_s')}")


class HeuristicPolicy(Generic[I, S]):
    """A heuristic on every snapshot, with a seed of its own for each."""

    def __init__(self, construct: Heuristic[I, S] | Callable[[I, int], S]) -> None:
        self.construct = construct
        self.seed = 0

    def reset(self, seed: int) -> None:
        """Take the seed of the replay."""
        self.seed = seed

    def decide(self, snapshot: I) -> S:
        """The heuristic's schedule."""
        self.seed += 1
        return self.construct(snapshot, self.seed)

    def state(self) -> int:
        """The last seed."""
        return self.seed

    def restore(self, state: object) -> None:
        """Go on after that seed."""
        self.seed = recalled(int, state)


Factory = Callable[[Settings], Policy[I, S]]
ParametricFactory = Callable[[str, Settings], Policy[I, S]]


def heuristic_policy(name: str, construct: Heuristic[I, S] | Callable[[I, int], S]) -> Factory[I, S]:
    """The policy of a heuristic, which takes no settings."""
    return partial(_heuristic_policy, name, construct)


def _heuristic_policy(name: str, construct: Heuristic[I, S] | Callable[[I, int], S], settings: Settings) -> Policy[I, S]:
    settings.allow(name)
    return HeuristicPolicy(construct)


@cache
def policies(problem: str) -> dict[str, Factory[Instance, Schedule]]:
    """The policies of a family by name: its own, its heuristics, and every method as a rolling horizon.

    Raises
    ------
    OptschedError : the family has no replay.
    """
    from optsched.methods import bounding, decides_now
    from optsched.methods import heuristics as heuristics_of
    from optsched.rolling.horizon import RollingHorizon
    from optsched.rolling.online import online_of

    own, heuristics = online_of(problem).policies, heuristics_of(problem)
    found = {name: heuristic_policy(name, construct) for name, construct in heuristics.items()} | dict(own)
    planners = [name for name, made in bounding(problem).items() if decides_now(made)]
    rolling = {f"rolling:{name}": partial(RollingHorizon, problem, name) for name in (*planners, *heuristics)}
    return found | {name: factory for name, factory in rolling.items() if name not in own}


def refuse_as_method(problem: str, name: str) -> None:
    """Say so where a name is a policy's and no method's.

    Raises
    ------
    OptschedError : it is.
    """
    from optsched.methods import bounding, heuristics

    try:
        known = name in policies(problem) and name not in bounding(problem) and name not in heuristics(problem)
    except OptschedError:  # it has no replay
        return
    if known:
        raise OptschedError(f"{name} is a policy, no method: `optsched replay --policy {name}` plays it")


def policy(problem: str, name: str, settings: Settings) -> Policy[Instance, Schedule]:
    """The policy of that name: one of the family, one that a plug-in adds, ``module:object``, or a plan by any such method.

    Raises
    ------
    OptschedError : no such policy, or it does not take the settings.
    """
    from optsched.methods import bounding, decides_now, method
    from optsched.rolling.foreign import foreign_policy
    from optsched.rolling.horizon import RollingHorizon
    from optsched.rolling.online import online_of

    known, arguments = policies(problem), online_of(problem).parametric_policies
    foreign = added("policies", (*known, *arguments))
    solvers = {key: value for key, value in added("methods").items() if key not in foreign}
    if name in known:
        return known[name](settings)
    word, _, rest = name.partition(":")
    if word in arguments and rest:
        return arguments[word](rest, settings)
    if word == "rolling" and (rest in added("methods") or is_reference(rest)):
        method(rest, problem)  # refuses what is none before anything is decided
        return RollingHorizon(problem, rest, settings)
    if (reference := (foreign | solvers).get(name)) is not None:
        return foreign_policy(problem, name, named(reference), settings)
    if is_reference(name) and word != "rolling":
        return foreign_policy(problem, name, named(name, typed=True), settings)
    if not decides_now(bounding(problem).get(name.removeprefix("rolling:"))):
        plan = name.removeprefix("rolling:")
        raise OptschedError(
            f"{plan} plans with jobs that nobody knows of yet: as a method it is what policies are held against"
        )
    usable = [*known, *(f"{word}:..." for word in arguments)]
    for word, reference in (foreign | solvers).items():
        with skipping(f"policy {word!r}"):  # what cannot be loaded is no help
            named(reference)
            usable.append(word)
    raise OptschedError(f"{problem} has no policy {name!r}{meant(name, usable, 'it has')}")
