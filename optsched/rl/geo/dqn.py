"""Double deep Q-learning with masks, an agent a site and a shared reward (MADQN).

A decision comes again a minute later, so that postponing costs next to nothing by itself, and one error of the values among
dozens of repetitions is enough to lose a job. Advantage learning (Bellemare et al. 2016) widens these gaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from optsched.rl.geo.memory import Batch
from optsched.rl.geo.sac import added, by_agent, each, valued
from optsched.rl.geo.stack import Stack


@dataclass(frozen=True)
class DqnSettings:
    """Those of `SacSettings`, where they mean something here; rate is the critic's.

    Attributes
    ----------
    gap
        Share of what an action lacks to the best that it is charged with once more: gaps grow by 1 / (1 - gap).
    """

    hidden: tuple[int, ...] = (256, 256)
    gamma: float = 0.99
    batch: int = 256
    rate: float = 5e-4
    follow: float = 0.005
    gap: float = 0.9
    additive: bool = False


class DoubleDqn:
    """A network of action values and its target, for all agents at once."""

    credited = 1.0  # its values and the utility known at once are in one unit

    def __init__(self, agents: int, size: int, actions: int, settings: DqnSettings, rng: np.random.Generator) -> None:
        self.settings = settings
        sizes = (size, *settings.hidden, 1 + actions)
        self.actor, self.target = Stack(agents, sizes, rng), Stack(agents, sizes, rng)
        self.actor.silence()  # values begin at the utility known at once: gaps are smaller than what a random layer says
        self.target.follow(self.actor, 1.0)
        self.steps = torch.optim.Adam(self.actor.parameters, settings.rate)

    def update(self, batch: Batch) -> dict[str, float]:
        """One step of the values, and of the target behind them."""
        seen, after, action = by_agent(batch.seen), by_agent(batch.next_seen), by_agent(batch.action)
        goes_on, credit = 1 - torch.as_tensor(batch.over).float(), by_agent(batch.credit)
        size, next_size = by_agent(batch.size), by_agent(batch.next_size)
        total = added if self.settings.additive else each
        with torch.no_grad():
            later = by_agent(batch.next_credit)
            values = valued(self.actor, after, next_size) + later
            best = values.masked_fill(~by_agent(batch.next_legal), -1e9).argmax(-1, keepdim=True)
            value = (valued(self.target, after, next_size) + later).gather(2, best)[..., 0]
            now = valued(self.target, seen, size) + credit
            most = now.masked_fill(~by_agent(batch.legal), -1e9).max(-1).values
            lack = most - now.gather(2, action[..., None])[..., 0]
            goal = (
                torch.as_tensor(batch.reward) + self.settings.gamma * goes_on * total(value) - self.settings.gap * total(lack)
            )
        found = total((valued(self.actor, seen, size) + credit).gather(2, action[..., None])[..., 0])
        loss = torch.nn.functional.smooth_l1_loss(found, goal)
        self.steps.zero_grad()
        loss.backward()
        self.steps.step()
        self.target.follow(self.actor, self.settings.follow)
        return {"critic_loss": float(loss.detach())}

    def state(self) -> dict[str, object]:
        """Weights and optimiser."""
        return {"stacks": [self.actor.state(), self.target.state()], "steps": [self.steps.state_dict()]}

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on with them."""
        stacks, steps = state["stacks"], state["steps"]
        assert isinstance(stacks, list)
        assert isinstance(steps, list)
        for stack, kept in zip((self.actor, self.target), stacks, strict=True):
            stack.restore(kept)
        self.steps.load_state_dict(steps[0])
