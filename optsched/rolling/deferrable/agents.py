"""Learned policies of deferrable, by name or from a file."""

from __future__ import annotations

from optsched.errors import InputError
from optsched.instances.deferrable import DeferrableInstance
from optsched.rl.deferrable.acting import ACTS, fault
from optsched.rl.trained import Trained, file_of
from optsched.rolling.deferrable.guard import GuardedScores
from optsched.rolling.deferrable.scores import ScorePolicy
from optsched.rolling.policy import Policy, Settings
from optsched.schedules.deferrable import DeferrableSchedule


def agent_policy(name: str, settings: Settings) -> Policy[DeferrableInstance, DeferrableSchedule]:
    """A trained scorer, shipped or of a file; with its guard, unless that is not wanted.

    Raises
    ------
    OptschedError : there is none of that name, or the file holds none.
    """
    settings.allow(name)
    file = file_of("deferrable", name)
    trained = Trained.load(file, *ACTS)
    if (wrong := fault(trained.card.kind, trained.arrays)) is not None:
        raise InputError(file, "", f"holds no agent: {wrong}")
    policy = ScorePolicy(trained)
    return policy if settings.guard is False else GuardedScores(policy)
