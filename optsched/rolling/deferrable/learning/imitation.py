"""Imitation of the optimum: the attention scorer learns by how much its prices prefer each job's start now."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from optsched.instances.base import Floats, Instance
from optsched.rl.deferrable.acting import SCORES
from optsched.rl.deferrable.batch import Batch, Sight
from optsched.rl.deferrable.gains import gain
from optsched.rl.deferrable.modules import Scorer, Shape
from optsched.rl.deferrable.past import Past
from optsched.rl.deferrable.split import Draw
from optsched.rl.deferrable.state import Seen
from optsched.rolling.deferrable.learning.configurations import cases
from optsched.rolling.deferrable.learning.dagger import TOY, Dagger, Settings


class Imitation(Dagger):
    """The learner."""

    kind, knob, choices = SCORES, "least", (-1.0, -0.15, -0.05, 0.0)

    def __init__(self, draw: Draw, scenario: str, seed: int, settings: Settings) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.shape = Shape(low=False, high=False)
        self.scorer = Scorer(self.shape)
        self.forget()
        super().__init__("deferrable-imitation", self.scorer, draw, scenario, seed, settings)

    def mark(self, seen: Seen, past: Past, prices: Floats) -> None:
        """Keep what is seen, and what each job gains by starting now."""
        sight = Sight.of(seen, past)
        self.sights.append(sight)
        self.gains.append(gain(seen, prices)[sight.order])

    def missed(self, rows: np.ndarray) -> Tensor:
        """The mean square over the jobs that may start."""
        sights, wide = [self.sights[row] for row in rows], self.shape.most
        wide = min(wide, max(1, max(len(sight.order) for sight in sights)))
        batch, wanted = Batch.of(sights, wide), np.zeros((len(sights), wide), np.float32)
        for b, row in enumerate(rows):
            wanted[b, : min(wide, len(self.gains[row]))] = self.gains[row][:wide]
        mean, _, _ = self.scorer(*map(torch.from_numpy, (batch.jobs, batch.held, batch.whole, batch.past)))
        ready = torch.from_numpy(batch.open)
        found: Tensor = ((mean - torch.from_numpy(wanted)).square() * ready).sum() / ready.sum().clamp(min=1)
        return found

    def forget(self) -> None:
        """Keep nothing."""
        self.sights: list[Sight] = []
        self.gains: list[np.ndarray] = []


def made(scenario: str, instances: Sequence[Instance], seed: int) -> Imitation:
    """A learner that imitates the optimum."""
    draw, source = cases(scenario, instances)
    return Imitation(draw, source, seed, TOY if scenario == "toy" else Settings())
