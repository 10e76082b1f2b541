"""Somebody else's policies: objects, what makes one, and heuristics. What `decide` raises is for the replay to tell."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from inspect import Parameter
from typing import cast

from optsched.custom import ForeignMethod, as_method, instances_of
from optsched.errors import OptschedError
from optsched.heuristic_method import HeuristicMethod, parameters
from optsched.instances.base import Instance
from optsched.instances.plain import plain
from optsched.referee import read
from optsched.registry import family, guarded
from optsched.rolling.policy import Guarded, HeuristicPolicy, Hurried, Lasting, Policy, Settings, Trained
from optsched.schedules.base import Schedule

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def foreign_policy(problem: str, name: str, found: object, settings: Settings) -> Policy[Instance, Schedule]:
    """The policy that an object is: one, a class or function without arguments that makes one, or a heuristic.

    Parameters
    ----------
    problem
        The family.
    name
        For messages.
    found
        The object.
    settings
        It takes none, but for a budget.

    Raises
    ------
    OptschedError
        It is none, making it raises, or it is a heuristic of another family.
    """
    settings.allow(name)
    if not isinstance(found, type) and hasattr(found, "decide"):
        return shielded(name, found)
    if isinstance(found, type) or not callable(found):
        if isinstance(found, type):
            with guarded(name, "making it"):
                found = found()
        return shielded(name, found)
    if not any(p.default is Parameter.empty and p.kind in POSITIONAL for p in parameters(name, found)):
        with guarded(name, "making it"):
            return shielded(name, found())
    solver = as_method(found, name=name)
    if isinstance(solver, ForeignMethod):
        raise OptschedError(f"{name} is a method, no policy: rolling:METHOD plans with one of that name")
    if not issubclass(family(problem).instance, kinds := instances_of(found)):
        of = " or ".join(kind.problem for kind in kinds)
        raise OptschedError(f"heuristic {name} is for {of}, not for {problem}")
    return HeuristicPolicy(cast("HeuristicMethod", solver).construct)


def shielded(name: str, policy: object) -> Policy[Instance, Schedule]:
    """Somebody else's policy, which may decide by a dict.

    Raises
    ------
    OptschedError : it is none.
    """
    lacks = " and ".join(f"no {word}" for word in ("reset", "decide") if not callable(getattr(policy, word, None)))
    if lacks:
        has = f"{policy!r:.80} has {lacks}"
        raise OptschedError(f"{name} is no policy, an object with reset(seed) and decide(snapshot): {has}")
    found = cast("Policy[Instance, Schedule]", policy)  # of which family, its first decision shows
    return ShieldedLasting(name, found) if isinstance(found, Lasting) else Shielded(name, found)


class Shielded:
    """A policy of somebody else's. What `decide` raises stays as it is, for the replay to tell."""

    def __init__(self, name: str, policy: Policy[Instance, Schedule]) -> None:
        self.name, self.policy = name, policy

    def reset(self, seed: int) -> None:
        """Forget everything."""
        with guarded(self.name, "reset"):
            self.policy.reset(seed)

    def decide(self, snapshot: Instance) -> Schedule:
        """The policy's decision, a dict read as the schedule that it is."""
        shown = deepcopy(snapshot)  # what they write to is theirs, down to the times of a job
        decision: Schedule | Mapping[str, object] = self.policy.decide(shown)
        if isinstance(decision, Mapping):
            return read(snapshot, plain(decision), f"{self.name} returned")
        return decision

    def hurry(self) -> None:
        """Tell the policy that it was late, if it wants to know."""
        if isinstance(self.policy, Hurried):
            with guarded(self.name, "hurry"):
                self.policy.hurry()

    @property
    def overruled(self) -> bool:
        """Whether the policy's guard decided the last snapshot."""
        return isinstance(self.policy, Guarded) and self.policy.overruled

    def doubt(self, instance: Instance, forecast: str) -> str | None:
        """What the policy says where it has learned from another instance."""
        with guarded(self.name, "doubt"):
            return self.policy.doubt(deepcopy(instance), forecast) if isinstance(self.policy, Trained) else None


class ShieldedLasting(Shielded):
    """One that a checkpoint can keep."""

    policy: Lasting[Instance, Schedule]

    def state(self) -> object:
        """What the policy remembers."""
        with guarded(self.name, "state"):
            return self.policy.state()

    def restore(self, state: object) -> None:
        """Make it remember that."""
        with guarded(self.name, "restore"):
            self.policy.restore(state)
