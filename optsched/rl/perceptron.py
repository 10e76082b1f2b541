"""Multilayer perceptrons as plain arrays: what trained agents of several families act by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from optsched.instances.base import Floats

Layers = Sequence[tuple[Floats, Floats]]
"""Weights, shape (..., in, out), and biases, (..., 1, out) or (out,)."""


def relu(x: Floats) -> Floats:
    """What is positive of it."""
    return np.asarray(np.maximum(0.0, x))


def forward(x: Floats, layers: Layers, between: Callable[[Floats], Floats] = relu) -> Floats:
    """Through linear layers with an activation between them."""
    for weights, bias in layers[:-1]:
        x = between(x @ weights + bias)
    weights, bias = layers[-1]
    return np.asarray(x @ weights + bias)


def layers_of(arrays: Mapping[str, np.ndarray]) -> tuple[tuple[Floats, Floats], ...]:
    """The arrays ``w0``, ``b0``, ``w1``, ... as layers."""
    count = sum(name.startswith("w") for name in arrays)
    return tuple((arrays[f"w{i}"].astype(float), arrays[f"b{i}"].astype(float)) for i in range(count))
