"""Agents of geo that nobody should use: they run what earns least, go anywhere but home, decide by lot, or have no training."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Ints
from optsched.rl.geo.actors import AGENTS, Agents, best_legal
from optsched.rl.geo.observation import Sight, joint_size
from optsched.rl.geo.prices import FEATURES, PRICES, BidPrices
from optsched.rl.trained import Card, Trained


def untrained(kind: str, arrays: dict[str, np.ndarray]) -> Trained:
    """Weights that nobody has trained."""
    return Trained(arrays, Card(name="x", kind=kind, problem="geo", scenario="", split="", seed=0, steps=0, settings={}))


def price(level: float) -> BidPrices:
    """The same price everywhere."""
    arrays = {"w0": np.zeros((FEATURES, 1)), "b0": np.full(1, level), "discount": np.asarray(1.0)}
    return BidPrices(untrained(PRICES, arrays))


def network(seed: int, sites: int) -> Agents:
    """Random weights."""
    weights = np.random.default_rng(seed).normal(size=(sites, joint_size(sites), 1 + sites))
    arrays = {"w0": weights, "b0": np.zeros((sites, 1, 1 + sites)), "residual": np.asarray(0.0)}
    return Agents(untrained(AGENTS, arrays))


class Never(Agents):
    """Runs nothing."""

    def act(self, sight: Sight) -> Ints:
        """Postpone."""
        return np.zeros(sight.rounds.sites, dtype=np.int64)


class Worst(Agents):
    """Runs every job where it earns least."""

    def act(self, sight: Sight) -> Ints:
        """Never postpones what can run."""
        may = sight.rounds.legal.copy()
        may[:, 0] = ~may[:, 1:].any(axis=1)
        return best_legal(-sight.credits(), may)


class Away(Agents):
    """Runs every job anywhere but at home, if it can."""

    def act(self, sight: Sight) -> Ints:
        """The site that comes next."""
        sites = sight.rounds.sites
        score = np.zeros((sites, 1 + sites))
        for home in range(sites):
            score[home, 1 + (home + np.arange(sites)) % sites] = [1.0, *range(sites, 1, -1)]
        return best_legal(score, sight.rounds.legal)


class Coin(Agents):
    """Does anything."""

    def act(self, sight: Sight) -> Ints:
        """By lot, the same whenever the same is asked."""
        rounds = sight.rounds
        rng = np.random.default_rng([int(rounds.asked.sum()) + 1 + rounds.sites, rounds.horizon])
        return best_legal(rng.random(rounds.legal.shape), rounds.legal)
