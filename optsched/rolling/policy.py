"""Policies: who decides on a snapshot. Every method is one; the non-preemptive rules remember what they started."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from optsched.instances.base import Instance
from optsched.schedules.base import Schedule


class Policy(Protocol):
    """Decides on snapshots and sees nothing else."""

    def reset(self, seed: int) -> None:
        """Forget everything; the next snapshot is the first."""

    def decide(self, snapshot: Any) -> Schedule:
        """A schedule for the snapshot."""


class Heuristic:
    """A heuristic or exact method on every snapshot: a rolling horizon of which only the present is carried out."""

    def __init__(self, construct: Callable[[Any, int], Schedule]) -> None:
        self.construct = construct
        self.seed = 0

    def reset(self, seed: int) -> None:
        """Take the seed of the replay."""
        self.seed = seed

    def decide(self, snapshot: Instance) -> Schedule:
        """The method's schedule; every decision has a seed of its own."""
        self.seed += 1
        return self.construct(snapshot, self.seed)
