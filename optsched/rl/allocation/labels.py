"""What a teacher says, and where a learner is taught."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.rl.allocation.pricer import Pricer

PRICES = (0.01, 0.03, 0.1, 0.3, 0.6, 1.2)
"""Of a GPU-second, as shares of what it costs those who wait; the rule has 0.3."""


@dataclass(frozen=True)
class Labelled:
    """A state, and what the teacher says of it.

    Attributes
    ----------
    summary
        What is seen, shape (19,).
    best
        How good each price is, shape (K,), adding up to one.
    weight
        How much depends on the price.
    """

    summary: np.ndarray
    best: np.ndarray
    weight: float


class World(Protocol):
    """Where the learner acts, and is taught."""

    def visit(
        self, instance: AllocationInstance, pricer: Pricer | None, teach: np.random.Generator, share: float
    ) -> list[Labelled]:
        """Labels on a share of the states that a pricer meets, or the rule where there is none; `teach` draws the states."""

    def score(self, instance: AllocationInstance, pricer: Pricer) -> float:
        """How much better than the rule the pricer does: the logarithm of the ratio of costs."""
