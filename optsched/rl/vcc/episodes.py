"""What a learner of caps needs of the world: episodes of many data centres at once, and a score on others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from optsched.instances.base import Floats
from optsched.rl.vcc.carbon import Regression

Shares = Callable[[Floats], Floats]
"""From what is seen, shape (B, SIZE), to the shares of the waiting load that start, shape (B,)."""


class Episodes(Protocol):
    """As many data centres as `size`, in step, at their first slot."""

    size: int

    def seen(self) -> Floats:
        """What each agent sees, shape (size, SIZE)."""

    def step(self, share: Floats) -> tuple[Floats, bool]:
        """Start these shares; rewards, and whether the episodes are over, all at once."""


class Source(Protocol):
    """Where episodes come from.

    Attributes
    ----------
    size, slots
        Of each `draw`: data centres, and steps of an episode.
    scenario, split
        For the card.
    settings
        Loads, slots and forecasts that are drawn, for the card.
    carbon
        What the hours to come are foretold by in what agents see; None where they believe what they are shown.
    """

    size: int
    slots: int
    scenario: str
    split: str
    settings: dict[str, bool | int | float | str]
    carbon: Regression | None

    def draw(self, rng: np.random.Generator) -> Episodes:
        """Some of the training cases."""

    def score(self, shares: Shares) -> float:
        """By how much less than uncapped the validation cases cost, a share of it, in the mean."""
