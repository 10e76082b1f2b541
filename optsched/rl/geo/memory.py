"""What agents remember of their rounds: a ring of transitions, of which batches are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Batch:
    """Transitions; B of them, P agents.

    Attributes
    ----------
    seen, next_seen
        Shape (B, P, D).
    legal, next_legal
        Shape (B, P, A).
    active
        Whether the agent had a choice, shape (B, P).
    action
        Shape (B, P).
    credit, next_credit
        What each action is known to earn at once, shape (B, P, A): networks of values learn the rest.
    size, next_size
        GPU-time of the job that each agent is asked about, shape (B, P).
    reward
        Shape (B,).
    over
        Whether the episode ended, shape (B,).
    """

    seen: np.ndarray
    legal: np.ndarray
    active: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_seen: np.ndarray
    next_legal: np.ndarray
    credit: np.ndarray
    next_credit: np.ndarray
    size: np.ndarray
    next_size: np.ndarray
    over: np.ndarray


class Memory:
    """The last `capacity` transitions of `agents` agents, each of which sees `size` numbers and has `actions` actions.

    Of what is seen, the last `shared` numbers are the same for all agents and kept once.
    """

    def __init__(self, capacity: int, agents: int, size: int, actions: int, shared: int = 0) -> None:
        self.capacity, self.shared, self.own = capacity, shared, size - shared
        shape = {"own": (agents, self.own), "all": (shared,)}
        self.held = {
            "own": np.zeros((capacity, *shape["own"]), np.float32),
            "all": np.zeros((capacity, *shape["all"]), np.float32),
            "next_own": np.zeros((capacity, *shape["own"]), np.float32),
            "next_all": np.zeros((capacity, *shape["all"]), np.float32),
            "legal": np.zeros((capacity, agents, actions), bool),
            "next_legal": np.zeros((capacity, agents, actions), bool),
            "credit": np.zeros((capacity, agents, actions), np.float32),
            "next_credit": np.zeros((capacity, agents, actions), np.float32),
            "size": np.zeros((capacity, agents), np.float32),
            "next_size": np.zeros((capacity, agents), np.float32),
            "active": np.zeros((capacity, agents), bool),
            "action": np.zeros((capacity, agents), np.int64),
            "reward": np.zeros(capacity, np.float32),
            "over": np.zeros(capacity, bool),
        }
        self.count = 0

    def __len__(self) -> int:
        return min(self.count, self.capacity)

    def add(self, **fields: np.ndarray | float | bool) -> None:
        """One transition: the fields of `Batch`, without B."""
        i = self.count % self.capacity
        for name, value in fields.items():
            if name in ("seen", "next_seen"):
                assert isinstance(value, np.ndarray)
                prefix = "next_" if name == "next_seen" else ""
                self.held[f"{prefix}own"][i] = value[:, : self.own]
                self.held[f"{prefix}all"][i] = value[0, self.own :]
            else:
                self.held[name][i] = value
        self.count += 1

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """So many, each as likely as any other."""
        i = rng.integers(0, len(self), size)
        held = {name: column[i] for name, column in self.held.items()}
        found = {}
        for prefix in ("", "next_"):
            own, everyone = held.pop(f"{prefix}own"), held.pop(f"{prefix}all")
            wide = np.broadcast_to(everyone[:, None], (*own.shape[:2], self.shared))
            found[f"{prefix}seen"] = np.concatenate([own, wide], axis=2)
        return Batch(**held, **found)

    def state(self) -> dict[str, np.ndarray]:
        """What is held, without what never was."""
        return {name: column[: len(self)] for name, column in self.held.items()}

    def restore(self, count: int, state: Mapping[str, np.ndarray]) -> None:
        """Hold it again."""
        self.count = count
        for name, column in state.items():
            self.held[name][: len(column)] = column
