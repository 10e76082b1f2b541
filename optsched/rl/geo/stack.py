"""Networks of several agents as one: layers of batched matrices, trained together and apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch


class Stack:
    """A multilayer perceptron for each of P agents; no agent's weights see another's data.

    Attributes
    ----------
    layers
        (weights, bias) of shapes (P, in, out) and (P, 1, out).
    """

    def __init__(self, agents: int, sizes: Sequence[int], rng: np.random.Generator) -> None:
        self.layers: list[tuple[torch.Tensor, torch.Tensor]] = []
        for given, made in itertools.pairwise(sizes):
            bound = 1 / np.sqrt(given)  # PyTorch's own for a linear layer
            weights = torch.tensor(rng.uniform(-bound, bound, (agents, given, made)), dtype=torch.float32)
            bias = torch.tensor(rng.uniform(-bound, bound, (agents, 1, made)), dtype=torch.float32)
            self.layers.append((weights.requires_grad_(), bias.requires_grad_()))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """From (P, B, in) to (P, B, out)."""
        for weights, bias in self.layers[:-1]:
            x = torch.relu(torch.baddbmm(bias, x, weights))
        weights, bias = self.layers[-1]
        return torch.baddbmm(bias, x, weights)

    def silence(self) -> None:
        """Say zero to everything, until something has been learned."""
        with torch.no_grad():
            for tensor in self.layers[-1]:
                tensor.zero_()

    @property
    def parameters(self) -> list[torch.Tensor]:
        """All of them."""
        return [tensor for pair in self.layers for tensor in pair]

    def follow(self, other: Stack, share: float) -> None:
        """Move towards another's weights by a share of the way."""
        with torch.no_grad():
            for mine, theirs in zip(self.parameters, other.parameters, strict=True):
                mine.lerp_(theirs, share)

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights as `optsched.rl.geo.actors` reads them."""
        pairs = enumerate(self.layers)
        return {f"{kind}{i}": t.detach().numpy().copy() for i, pair in pairs for kind, t in zip("wb", pair, strict=True)}

    def state(self) -> list[torch.Tensor]:
        """The weights."""
        return [tensor.detach().clone() for tensor in self.parameters]

    def restore(self, state: Sequence[torch.Tensor]) -> None:
        """Take them."""
        with torch.no_grad():
            for mine, kept in zip(self.parameters, state, strict=True):
                mine.copy_(kept)
