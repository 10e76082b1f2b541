"""Discrete soft actor-critic, an agent a site with a shared reward (MASAC, Algorithm 1; Christodoulou 2019).

Critics learn what the utility that is known at once leaves out, and actors what it leaves out of their logits: both begin at
a soft choice by that utility. No state is worth less than nothing, which is ours, not the papers'. A decision comes again a
minute later, so that gaps between actions are small; a share of what an action lacks to the policy's value is charged once more
and widens them, as advantage learning does in `dqn` (where the policy is the soft optimum that is a share of its weighted
log-likelihood, Vieillard et al. 2020).
"""

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
    gap
        Share of what an action lacks to the policy's value that it is charged with once more; 0 as in the papers.
    additive
        Whether the critics' sum over the agents answers for the shared reward (value decomposition, Sunehag et al. 2018), so
        that what the others are known to earn is no noise to anybody; in the papers every agent's critic does.
    """

    hidden: tuple[int, ...] = (256, 256)
    gamma: float = 0.99
    batch: int = 256
    actor_rate: float = 1e-5
    critic_rate: float = 5e-4
    entropy: float = 0.02
    target_ratio: float | None = None
    follow: float = 0.005
    gap: float = 0.0
    additive: bool = False


class DiscreteSac:
    """Actors, two critics and their targets, for all agents at once.

    Attributes
    ----------
    credited
        What a unit of utility known at once adds to an action's logit.
    """

    def __init__(self, agents: int, size: int, actions: int, settings: SacSettings, rng: np.random.Generator) -> None:
        self.settings, self.credited = settings, 1 / settings.entropy
        sizes = (size, *settings.hidden, 1 + actions)
        self.actor = Stack(agents, sizes, rng)
        self.critics = Stack(agents, sizes, rng), Stack(agents, sizes, rng)
        self.targets = Stack(agents, sizes, rng), Stack(agents, sizes, rng)
        for stack in (self.actor, *self.critics):
            stack.silence()  # gaps are smaller than what a random layer says
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
        goes_on, total = 1 - torch.as_tensor(batch.over).float(), added if settings.additive else each
        weight = self.log_weight.detach().exp()
        credit, next_credit = by_agent(batch.credit), by_agent(batch.next_credit)
        size, next_size = by_agent(batch.size), by_agent(batch.next_size)
        share, log = self._policy(seen, size, credit, legal)
        with torch.no_grad():
            later_share, later_log = self._policy(after, next_size, next_credit, next_legal)
            value = soft(later_share, later_log, self._least(after, next_size, next_credit), weight)
            now = self._least(seen, size, credit)
            worth = soft(share, log, now, weight)
            lack = (worth - now.gather(2, action[..., None])[..., 0]).clamp(min=0.0)
            later = total(value).clamp(min=0.0)  # whoever postpones for ever earns nothing
            goal = torch.as_tensor(batch.reward) - settings.gap * total(lack) + settings.gamma * goes_on * later
        values = [valued(critic, seen, size) + credit for critic in self.critics]
        errors = [total(value.gather(2, action[..., None])[..., 0]) - goal for value in values]
        loss = sum(torch.nn.functional.smooth_l1_loss(e, torch.zeros_like(e)) for e in errors)
        self.critic_steps.zero_grad()
        loss.backward()
        self.critic_steps.step()
        least = torch.minimum(*(value.detach() for value in values))
        lost = -soft(share, log, least, weight)
        many = active.sum().clamp(min=1.0)
        actor_loss = (lost * active).sum() / many
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

    def _policy(
        self, seen: torch.Tensor, size: torch.Tensor, credit: torch.Tensor, legal: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Probabilities of the actions and their logarithms, (P, B, A)."""
        return policy(valued(self.actor, seen, size) + self.credited * credit, legal)

    def _least(self, seen: torch.Tensor, size: torch.Tensor, credit: torch.Tensor) -> torch.Tensor:
        """What the targets say of each action, the less of both, (P, B, A)."""
        return torch.minimum(*(valued(target, seen, size) for target in self.targets)) + credit

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


def added(values: torch.Tensor) -> torch.Tensor:
    """Of all agents together, shape (1, B), from (P, B)."""
    return values.sum(0, keepdim=True)


def each(values: torch.Tensor) -> torch.Tensor:
    """Of every agent by itself."""
    return values


def valued(network: Stack, seen: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    """Of each action, shape (P, B, A), as `optsched.rl.geo.actors.spread` has it."""
    said = network(seen)
    return said[..., :1] + size[..., None] * said[..., 1:]


def soft(share: torch.Tensor, log: torch.Tensor, values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """What a policy earns, with the weight of its entropy, (P, B)."""
    return (share * (values - weight[..., None] * log)).sum(-1)


def policy(logits: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Probabilities of the legal actions and their logarithms, zero for the others."""
    log = torch.log_softmax(logits.masked_fill(~legal, -1e9), dim=-1)
    share = log.exp() * legal
    return share, log.masked_fill(~legal, 0.0)
