"""PPO and SAC on shares of the waiting load, through Stable-Baselines3; imported only where something is trained.

An agent begins as `uncapped`, whatever it sees: a cap is worth its price now and then only, and who begins elsewhere pays for
thousands of episodes. First only the critic learns, so that the actor is not led by one that knows nothing. A turn is an
episode in every environment: nothing of an episode has to be kept between turns.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import cast

import numpy as np
import torch
from stable_baselines3 import PPO, SAC
from torch import nn

from optsched.instances.base import Floats
from optsched.rl.trained import Card, Trained
from optsched.rl.vcc.agent import CARBON, KIND, PROBLEM, Agent
from optsched.rl.vcc.episodes import Source
from optsched.rl.vcc.vector import SameTime

GAMMA = 0.97  # a slot; what is held back is run within a day or so
ALL = 0.3  # the action that everyone begins with
FEEBLE = 0.1  # of the last layer's first weights, so that it is nearly the same whatever is seen
LEAST_SCALE = 0.05  # of a number that hardly varies
DRAWS = 3  # batches that what is seen is normalised by
PPO_SETTINGS = {
    "epochs": 6,
    "minibatches": 8,
    "learning_rate": 5e-4,
    "clip": 0.2,
    "lambda": 0.95,
    "log_std": -1.0,
    "critic_turns": 5,
}
SAC_SETTINGS = {"buffer": 80_000, "minibatch": 256, "learning_rate": 3e-4, "entropy": 0.001, "updates": 8, "critic_turns": 5}
EVERY_STEPS = 8  # of SAC, between its updates
HIDDEN = 64


class CapLearner(ABC):
    """What both share.

    Parameters
    ----------
    name
        As in ``optsched train NAME``.
    source
        Of episodes.
    seed
        Of the weights, the exploration and the cases' order.
    settings
        Instead of the default ones, by name.
    """

    activation: str
    squash: bool

    def __init__(self, name: str, source: Source, seed: int, settings: Mapping[str, float]) -> None:
        torch.set_num_threads(1)
        self.name, self.source, self.seed, self.settings = name, source, seed, dict(settings)
        rng = np.random.default_rng(seed)
        self.mean, self.scale = normal(source, rng)
        self.venv = SameTime(source, self.mean, self.scale, rng)
        self.model = self._model()
        self.turns = 0

    @abstractmethod
    def _model(self) -> PPO | SAC:
        """As Stable-Baselines3 has it."""

    @abstractmethod
    def _actor(self) -> tuple[nn.Module, nn.Module]:
        """Hidden layers, and the last one."""

    def _frozen(self) -> list[nn.Parameter]:
        """What does not learn while the critic begins."""
        hidden, last = self._actor()
        return [*hidden.parameters(), *last.parameters()]

    @property
    def steps(self) -> int:
        """Decisions seen so far."""
        return int(self.model.num_timesteps)

    def turn(self) -> dict[str, float]:
        """An episode in every environment."""
        critic_only = self.turns < self.settings["critic_turns"]
        for parameter in self._frozen():
            parameter.requires_grad_(not critic_only)
        self.model._last_obs = None  # so that it begins with new cases
        self.model.learn(self.source.slots * self.source.size, reset_num_timesteps=False, log_interval=None)
        self.turns += 1
        told = self.model.logger.name_to_value
        losses = {name.removeprefix("train/"): float(value) for name, value in told.items() if name.startswith("train/")}
        return {"return": self.venv.earned} | losses

    def validate(self) -> float:
        """By how much less than uncapped the validation cases cost, a share of it, in the mean."""
        return self.source.score(Agent(self.trained()).shares)

    def trained(self) -> Trained:
        """The actor as arrays."""
        hidden, last = self._actor()
        linear = [module for module in [*hidden.children(), last] if isinstance(module, nn.Linear)]
        arrays: dict[str, Floats] = {"mean": self.mean.astype(np.float32), "scale": self.scale.astype(np.float32)}
        for i, layer in enumerate(linear):
            arrays |= {f"w{i}": layer.weight.detach().numpy().copy(), f"b{i}": layer.bias.detach().numpy().copy()}
        if (carbon := self.source.carbon) is not None:
            arrays |= dict(zip(CARBON, (carbon.scale, carbon.weights), strict=True))
        shape: dict[str, bool | int | float | str] = {
            "activation": self.activation,
            "squash": self.squash,
            "gamma": GAMMA,
            "hidden": HIDDEN,
        }
        card = Card(
            name=self.name,
            kind=KIND,
            problem=PROBLEM,
            scenario=self.source.scenario,
            split=self.source.split,
            seed=self.seed,
            steps=self.steps,
            settings={**self.source.settings, **shape, "environments": self.source.size, **self.settings},
        )
        return Trained(arrays, card)

    def state(self) -> dict[str, object]:
        """Weights, optimisers, counters, and every generator of random numbers."""
        drawn = dict(np.random.get_state(legacy=False))  # noqa: NPY002 (what Stable-Baselines3 draws from)
        drawn["state"] = {"key": drawn["state"]["key"].tolist(), "pos": drawn["state"]["pos"]}
        return {
            "policy": self.model.policy.state_dict(),
            "optimizers": [each.state_dict() for each in self._optimizers()],
            "counters": [self.model.num_timesteps, self.model._n_updates, self.turns],
            "torch": torch.get_rng_state(),
            "numpy": json.dumps([drawn, self.venv.rng.bit_generator.state]),
        }

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from what `state` said."""
        self.model.policy.load_state_dict(cast("dict[str, torch.Tensor]", state["policy"]))
        for each, held in zip(self._optimizers(), cast("list[dict[str, object]]", state["optimizers"]), strict=True):
            each.load_state_dict(held)
        self.model.num_timesteps, self.model._n_updates, self.turns = cast("list[int]", state["counters"])
        torch.set_rng_state(cast(torch.Tensor, state["torch"]))
        drawn, self.venv.rng.bit_generator.state = json.loads(cast(str, state["numpy"]))
        drawn["state"]["key"] = np.array(drawn["state"]["key"], np.uint32)
        np.random.set_state(drawn)  # noqa: NPY002

    @abstractmethod
    def _optimizers(self) -> list[torch.optim.Optimizer]:
        """Whose moments go on."""


class PPOLearner(CapLearner):
    """Proximal policy optimisation."""

    activation, squash = "tanh", False

    def _model(self) -> PPO:
        told = self.settings
        shape = {"net_arch": [HIDDEN, HIDDEN], "activation_fn": nn.Tanh, "log_std_init": told["log_std"]}
        model = PPO(
            "MlpPolicy",
            self.venv,
            n_steps=self.source.slots,
            batch_size=self.source.slots * self.source.size // int(told["minibatches"]),
            n_epochs=int(told["epochs"]),
            gamma=GAMMA,
            gae_lambda=told["lambda"],
            learning_rate=told["learning_rate"],
            clip_range=told["clip"],
            policy_kwargs=shape,
            seed=self.seed,
            device="cpu",
        )
        begin(model.policy.action_net)
        return model

    def _actor(self) -> tuple[nn.Module, nn.Module]:
        return self.model.policy.mlp_extractor.policy_net, self.model.policy.action_net

    def _frozen(self) -> list[nn.Parameter]:
        return [*super()._frozen(), self.model.policy.log_std]

    def _optimizers(self) -> list[torch.optim.Optimizer]:
        return [self.model.policy.optimizer]


class SACLearner(CapLearner):
    """Soft actor-critic, with a fixed price of entropy."""

    activation, squash = "relu", True

    def _model(self) -> SAC:
        told, shape = self.settings, {"net_arch": [HIDDEN, HIDDEN]}
        model = SAC(
            "MlpPolicy",
            self.venv,
            gamma=GAMMA,
            buffer_size=int(told["buffer"]),
            batch_size=int(told["minibatch"]),
            learning_rate=told["learning_rate"],
            learning_starts=0,
            train_freq=(EVERY_STEPS, "step"),
            gradient_steps=int(told["updates"]),
            ent_coef=told["entropy"],
            policy_kwargs=shape,
            seed=self.seed,
            device="cpu",
        )
        begin(model.actor.mu)
        with torch.no_grad():
            model.actor.log_std.weight.mul_(FEEBLE)
            model.actor.log_std.bias.fill_(-1.0)
        return model

    def _actor(self) -> tuple[nn.Module, nn.Module]:
        return self.model.actor.latent_pi, self.model.actor.mu

    def _frozen(self) -> list[nn.Parameter]:
        return [*super()._frozen(), *self.model.actor.log_std.parameters()]

    def _optimizers(self) -> list[torch.optim.Optimizer]:
        return [self.model.actor.optimizer, self.model.critic.optimizer]

    def state(self) -> dict[str, object]:
        """And what the replay buffer holds."""
        held = self.model.replay_buffer
        upto = held.buffer_size if held.full else held.pos
        arrays = {name: torch.from_numpy(getattr(held, name)[:upto].copy()) for name in BUFFER}
        return super().state() | {"buffer": arrays, "place": [held.pos, int(held.full)]}

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from what `state` said."""
        super().restore(state)
        held = self.model.replay_buffer
        for name, array in cast("dict[str, torch.Tensor]", state["buffer"]).items():
            getattr(held, name)[: len(array)] = array.numpy()
        held.pos, full = cast("list[int]", state["place"])
        held.full = bool(full)


BUFFER = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


def begin(last: nn.Linear) -> None:
    """Nearly the same action, all, whatever is seen."""
    with torch.no_grad():
        last.weight.mul_(FEEBLE)
        last.bias.fill_(ALL)


def normal(source: Source, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Mean and scale of what is seen under caps that often hold something back, each shape (SIZE,)."""
    rows = []
    for _ in range(DRAWS):
        episodes, over = source.draw(rng), False
        while not over:
            rows.append(episodes.seen())
            _, over = episodes.step(rng.random(episodes.size) ** 0.3)
    seen = np.concatenate(rows).astype(float)
    return seen.mean(axis=0), np.maximum(LEAST_SCALE, seen.std(axis=0))
