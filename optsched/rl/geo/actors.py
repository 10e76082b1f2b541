"""How trained agents act, with NumPy alone: an agent a site, or one scorer for every job and site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from optsched.errors import InputError
from optsched.instances.base import Bools, Floats, Ints
from optsched.rl.geo.observation import OPTION, WAIT, Sight, joint_size
from optsched.rl.trained import Trained

AGENTS = "geo-agents"
SCORES = "geo-scores"


class Actor(Protocol):
    """Decides a round."""

    def act(self, sight: Sight) -> Ints:
        """An action a site, shape (P,), each of them legal."""

    def knows(self, sites: int) -> bool:
        """Whether it can act for so many sites."""


def forward(x: Floats, layers: tuple[tuple[Floats, Floats], ...]) -> Floats:
    """Through linear layers with ReLU between them: weights (..., in, out), biases (..., 1, out) or (out,)."""
    for weights, bias in layers[:-1]:
        x = np.maximum(0.0, x @ weights + bias)
    weights, bias = layers[-1]
    return np.asarray(x @ weights + bias)


def layers_of(arrays: Mapping[str, np.ndarray], prefix: str = "") -> tuple[tuple[Floats, Floats], ...]:
    """The arrays ``w0``, ``b0``, ``w1``, ... as layers."""
    count = sum(name.startswith(f"{prefix}w") for name in arrays)
    return tuple((arrays[f"{prefix}w{i}"].astype(float), arrays[f"{prefix}b{i}"].astype(float)) for i in range(count))


def best_legal(score: Floats, legal: Bools) -> Ints:
    """The legal action of the largest score in each row; the first of equals."""
    return np.asarray(np.where(legal, score, -np.inf).argmax(axis=-1))


class Agents:
    """A network a site, stacked: logits, or values, of that site's actions."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self.layers = layers_of(trained.arrays)
        self.sites = len(self.layers[0][0])

    def knows(self, sites: int) -> bool:
        """As many as it was trained for."""
        return sites == self.sites

    def scores(self, seen: Floats) -> Floats:
        """Of each agent's actions, shape (P, A), from what it sees, (P, D)."""
        return forward(seen[:, None], self.layers)[:, 0]

    def act(self, sight: Sight) -> Ints:
        """What each agent likes best of what is legal."""
        return best_legal(self.scores(sight.joint()), sight.rounds.legal)


class Scores:
    """One network scores every site for a job, another its postponement; any number of sites."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self.option, self.wait = layers_of(trained.arrays, "option_"), layers_of(trained.arrays, "wait_")

    def knows(self, sites: int) -> bool:
        """Any."""
        return True

    def scores(self, sight: Sight, asked: Ints) -> Floats:
        """Of postponing and of every site, shape (n, 1 + P)."""
        option, wait = sight.options(asked)
        return np.concatenate([forward(wait, self.wait), forward(option, self.option)[..., 0]], axis=1)

    def act(self, sight: Sight) -> Ints:
        """What scores best of what is legal; sites without a job postpone."""
        rounds = sight.rounds
        mine = np.flatnonzero(rounds.asked >= 0)
        actions = np.zeros(rounds.sites, dtype=np.int64)
        actions[mine] = best_legal(self.scores(sight, rounds.asked[mine]), rounds.legal[mine])
        return actions


def loaded(path: str) -> Agents | Scores:
    """The agents in a file.

    Raises
    ------
    InputError : it holds none.
    """
    try:
        found = Trained.load(path, AGENTS)
    except InputError:
        return _fitting(Scores(Trained.load(path, SCORES)), path)
    return _fitting(Agents(found), path)


def _fitting(actor: Agents | Scores, path: str) -> Agents | Scores:
    """Refuse networks of other shapes than what they are shown."""
    if isinstance(actor, Agents):
        sizes = [(actor.layers, joint_size(actor.sites), 1 + actor.sites)] if actor.layers else []
    else:
        sizes = [(actor.option, OPTION, 1), (actor.wait, WAIT, 1)]
    for layers, given, made in sizes:
        wide = [given, *(weights.shape[-1] for weights, _ in layers)]
        if wide[-1] != made or any(w.shape[-2] != n for (w, _), n in zip(layers, wide, strict=False)):
            raise InputError(path, "", f"holds no agent: its network does not make {made} of {given} numbers")
    return actor
