"""The layers of an agent's network, as plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from optsched.instances.base import Floats
from optsched.rl.perceptron import relu

ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"tanh": np.tanh, "relu": relu}


def fault_of(layers: Sequence[tuple[Floats, Floats]], size: int) -> str | None:
    """What keeps layers, (weights, bias) each, from making one number of so many; None where nothing does."""
    for i, (weights, bias) in enumerate(layers, start=1):
        if weights.ndim != 2 or weights.shape[1] != size or bias.shape != weights.shape[:1]:
            return f"layer {i} does not take {size} numbers"
        size = len(bias)
    return None if layers and size == 1 else "it does not end in one number"
