"""What every learner keeps of itself between two turns: weights, the optimiser's moments, and the generator of numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from torch import nn, optim


def kept(network: nn.Module, optimizer: optim.Optimizer, rng: np.random.Generator) -> dict[str, object]:
    """All three, as `torch.save` writes them."""
    return {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "rng": rng.bit_generator.state}


def go_on(network: nn.Module, optimizer: optim.Optimizer, rng: np.random.Generator, state: Mapping[str, object]) -> None:
    """As `kept` said."""
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    drawn = state["rng"]
    assert isinstance(drawn, dict)
    rng.bit_generator.state = drawn
