"""How trained agents act, with NumPy alone: who decides a round, and an agent a site."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.rl.geo.observation import Sight
from optsched.rl.perceptron import forward, layers_of
from optsched.rl.trained import Trained

AGENTS = "geo-agents"


class Actor(Protocol):
    """Decides a round."""

    def act(self, sight: Sight) -> Ints:
        """An action a site, shape (P,), each of them legal."""

    def knows(self, sites: int) -> bool:
        """Whether it can act for so many sites."""


def best_legal(score: Floats, legal: Bools) -> Ints:
    """The legal action of the largest score in each row; the first of equals."""
    return np.asarray(np.where(legal, score, -np.inf).argmax(axis=-1))


def spread(said: Floats, size: Floats) -> Floats:
    """What is said of a state and of each action for a unit of GPU-time, (..., 1 + A), for a job of that size, (..., A).

    What a job takes from the others grows with its GPUs and slots; a network that had to learn that would learn little else.
    """
    return np.asarray(said[..., :1] + size[..., None] * said[..., 1:])


class Agents:
    """A network a site, stacked: what it says of its actions beyond `residual` times what is credited at once."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self.layers = layers_of(trained.arrays)
        self.sites = len(self.layers[0][0])
        self.residual = float(trained.arrays["residual"])
        self.sized = "sized" in trained.arrays

    def knows(self, sites: int) -> bool:
        """As many as it was trained for."""
        return sites == self.sites

    def scores(self, sight: Sight) -> Floats:
        """Of each agent's actions, shape (P, A)."""
        found = forward(sight.joint()[:, None], self.layers)[:, 0]
        if self.sized:
            found = spread(found, sight.sizes())
        return found + self.residual * sight.credits()

    def act(self, sight: Sight) -> Ints:
        """What each agent likes best of what is legal."""
        return best_legal(self.scores(sight), sight.rounds.legal)
