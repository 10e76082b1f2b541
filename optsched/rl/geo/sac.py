"""Discrete soft actor-critic, an agent a site with a shared reward (MASAC, Algorithm 1; Christodoulou 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from optsched.rl.geo.memory import Batch
from optsched.rl.geo.stack import Stack


@dataclass(frozen=True)
class SacSettings:
    """Table I's, where it has one.

    Attributes
    ----------
    entropy
        The weight of the entropy, in units of the (scaled) reward, where it is fixed.
    target_ratio
        Of the entropy of a uniform choice among the legal actions, that is aimed at instead; None keeps the weight.
    follow
        Share of the way that the targets go after each update.
    """

    hidden: tuple[int, ...] = (256, 256)
    gamma: float = 0.99
    batch: int = 256
    actor_rate: float = 1e-5
    critic_rate: float = 5e-4
    entropy: float = 0.02
    target_ratio: float | None = None
    follow: float = 0.005


class DiscreteSac:
    """Actors, two critics and their targets, for all agents at once."""

    def __init__(self, agents: int, size: int, actions: int, settings: SacSettings, rng: np.random.Generator) -> None:
        self.settings = settings
        sizes = (size, *settings.hidden, actions)
        self.actor = Stack(agents, sizes, rng)
        self.critics = Stack(agents, sizes, rng), Stack(agents, sizes, rng)
        self.targets = Stack(agents, sizes, rng), Stack(agents, sizes, rng)
        for target, critic in zip(self.targets, self.critics, strict=True):
            target.follow(critic, 1.0)
        self.log_weight = torch.full((agents, 1), float(np.log(settings.entropy)), requires_grad=True)
        self.actor_steps = torch.optim.Adam(self.actor.parameters, settings.actor_rate)
        both = [*self.critics[0].parameters, *self.critics[1].parameters]
        self.critic_steps = torch.optim.Adam(both, settings.critic_rate)
        self.weight_steps = torch.optim.Adam([self.log_weight], settings.critic_rate)

    def update(self, batch: Batch) -> dict[str, float]:
        """One step of the critics, the actors, the entropy weight, and of the targets behind them."""
        settings = self.settings
        seen, after = by_agent(batch.seen), by_agent(batch.next_seen)
        legal, next_legal = by_agent(batch.legal), by_agent(batch.next_legal)
        action, active = by_agent(batch.action), by_agent(batch.active).float()
        goes_on = 1 - torch.as_tensor(batch.over).float()
        weight = self.log_weight.detach().exp()
        with torch.no_grad():
            share, log = policy(self.actor(after), next_legal)
            least = torch.minimum(*(target(after) for target in self.targets)) + by_agent(batch.next_credit)
            value = (share * (least - weight[..., None] * log)).sum(-1)
            goal = torch.as_tensor(batch.reward) + settings.gamma * goes_on * value
        credit = by_agent(batch.credit)
        values = [critic(seen) + credit for critic in self.critics]
        errors = [value.gather(2, action[..., None])[..., 0] - goal for value in values]
        loss = sum(torch.nn.functional.smooth_l1_loss(e, torch.zeros_like(e)) for e in errors)
        self.critic_steps.zero_grad()
        loss.backward()
        self.critic_steps.step()
        least = torch.minimum(*(value.detach() for value in values))
        share, log = policy(self.actor(seen), legal)
        chosen = (share * (weight[..., None] * log - least)).sum(-1)
        many = active.sum().clamp(min=1.0)
        actor_loss = (chosen * active).sum() / many
        self.actor_steps.zero_grad()
        actor_loss.backward()
        self.actor_steps.step()
        entropy = -(share * log).sum(-1).detach()
        most = torch.log(legal.sum(-1).float())
        if settings.target_ratio is not None:
            above = ((entropy - settings.target_ratio * most) * active).sum(1, keepdim=True) / many
            self.weight_steps.zero_grad()
            (self.log_weight.exp() * above).sum().backward()
            self.weight_steps.step()
        for target, critic in zip(self.targets, self.critics, strict=True):
            target.follow(critic, settings.follow)
        ratio = float((entropy * active).sum() / (most * active).sum().clamp(min=1e-9))
        return {"critic_loss": float(loss.detach()) / 2, "entropy_ratio": ratio, "entropy_weight": float(weight.mean())}

    def state(self) -> dict[str, object]:
        """Weights and optimisers."""
        stacks = self.actor, *self.critics, *self.targets
        optimisers = self.actor_steps, self.critic_steps, self.weight_steps
        kept = {"stacks": [stack.state() for stack in stacks], "steps": [each.state_dict() for each in optimisers]}
        return kept | {"log_weight": self.log_weight.detach().clone()}

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on with them."""
        stacks, steps, weight = state["stacks"], state["steps"], state["log_weight"]
        assert isinstance(stacks, list)
        assert isinstance(steps, list)
        assert isinstance(weight, torch.Tensor)
        for stack, kept in zip((self.actor, *self.critics, *self.targets), stacks, strict=True):
            stack.restore(kept)
        for each, kept in zip((self.actor_steps, self.critic_steps, self.weight_steps), steps, strict=True):
            each.load_state_dict(kept)
        with torch.no_grad():
            self.log_weight.copy_(weight)


def by_agent(column: np.ndarray) -> torch.Tensor:
    """From (B, P, ...) to (P, B, ...)."""
    return torch.as_tensor(np.ascontiguousarray(np.swapaxes(column, 0, 1)))


def policy(logits: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Probabilities of the legal actions and their logarithms, zero for the others."""
    log = torch.log_softmax(logits.masked_fill(~legal, -1e9), dim=-1)
    share = log.exp() * legal
    return share, log.masked_fill(~legal, 0.0)
