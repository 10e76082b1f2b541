"""What the optimum charges for capacity, learned from features of the slots ahead; the rolling policy's rule does the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from optsched.instances.base import Floats, Instance
from optsched.rl.deferrable.acting import CHARGES
from optsched.rl.deferrable.charges import SLOT, slots
from optsched.rl.deferrable.past import Past
from optsched.rl.deferrable.split import Draw
from optsched.rl.deferrable.state import Seen
from optsched.rolling.deferrable.learning.configurations import cases
from optsched.rolling.deferrable.learning.dagger import TOY, Dagger, Settings

AHEAD = 48
"""Slots from the present on whose prices are learned from."""
WIDTH = 48


class Charge(nn.Module):  # type: ignore[misc]
    """Three layers, the same for every slot."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(SLOT, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))

    def forward(self, numbers: Tensor) -> Tensor:
        """Prices of shape (N,), from numbers of shape (N, F)."""
        return functional.softplus(self.layers(numbers)[:, 0])


class Pricing(Dagger):
    """The learner."""

    kind, knob, choices = CHARGES, "share", (0.5, 0.7, 0.9, 1.1)

    def __init__(self, draw: Draw, scenario: str, seed: int, settings: Settings) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.forget()
        super().__init__("deferrable-prices", Charge(), draw, scenario, seed, settings)

    def mark(self, seen: Seen, past: Past, prices: Floats) -> None:
        """Keep the slots ahead, and what they cost."""
        past.look(seen)
        self.kept.append((slots(seen, past)[:AHEAD].astype(np.float32), prices[:AHEAD].astype(np.float32)))

    def missed(self, rows: np.ndarray) -> Tensor:
        """Huber's loss over the slots."""
        numbers, prices = (
            torch.from_numpy(np.concatenate(parts)) for parts in zip(*(self.kept[row] for row in rows), strict=True)
        )
        return functional.smooth_l1_loss(self.network(numbers), prices.clamp(max=3.0), beta=0.2)

    def forget(self) -> None:
        """Keep nothing."""
        self.kept: list[tuple[np.ndarray, np.ndarray]] = []


def made(scenario: str, instances: Sequence[Instance], seed: int) -> Pricing:
    """A learner of prices."""
    draw, source = cases(scenario, instances)
    return Pricing(draw, source, seed, TOY if scenario == "toy" else Settings())
