"""OSDEC's training (Algorithm 1): PPO with generalised advantages on Gaussian scores, or REINFORCE, and auxiliary tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.nn import functional

from optsched.rl.deferrable.acting import SCORES, by_scores
from optsched.rl.deferrable.batch import Batch, Sight
from optsched.rl.deferrable.modules import Scorer, Shape
from optsched.rl.deferrable.past import TARGETS
from optsched.rl.deferrable.split import SEEDS, SPLIT, Draw
from optsched.rl.deferrable.state import start_by_score
from optsched.rl.trained import Card, Trained, told
from optsched.rolling.deferrable.learning.judging import bounds_of, mean_share
from optsched.rolling.deferrable.learning.kept import go_on, kept
from optsched.rolling.deferrable.play import Play

SLOTS = 10.0  # of the mean capacity are worth 1: values of a few units are learned sooner than of a hundred


@dataclass(frozen=True)
class Settings:
    """Table 3, and what it leaves open (the second half).

    Attributes
    ----------
    policy_rate, value_rate, task_rate
        Learning rates of policy and encoder, of the value head, of the auxiliary tasks: at first, and after `decay` decisions.
    discount, minibatch
        gamma, and decisions an update.
    workers
        Episodes a turn, side by side: about 2,048 decisions at the paper's sizes.
    trace, clip, epochs
        Lambda of the advantages, PPO's clip, and passes over a turn's decisions.
    """

    policy_rate: tuple[float, float] = (1e-4, 1e-5)
    value_rate: tuple[float, float] = (2e-4, 2e-5)
    task_rate: tuple[float, float] = (1e-2, 1e-3)
    discount: float = 0.99
    minibatch: int = 64
    workers: int = 16
    trace: float = 0.95
    clip: float = 0.2
    epochs: int = 4
    decay: int = 400_000
    validation: int = 16


@dataclass
class Episode:
    """What one worker has seen and done."""

    play: Play
    scale: float
    sights: list[Sight] = field(default_factory=list)
    scores: list[np.ndarray] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)


class Osdec:
    """The learner; between two turns no episode is under way."""

    def __init__(
        self, name: str, shape: Shape, draw: Draw, scenario: str, seed: int, settings: Settings, reinforce: bool
    ) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.name, self.shape, self.draw, self.scenario, self.seed = name, shape, draw, scenario, seed
        self.settings, self.reinforce = settings, reinforce
        self.rng = np.random.default_rng(seed)
        self.steps = 0
        self.scorer = Scorer(shape)
        policy: list[nn.Parameter] = []
        value: list[nn.Parameter] = []
        tasks: list[nn.Parameter] = []
        for place, parameter in self.scorer.named_parameters():
            (tasks if place.startswith("aux.") else value if place.startswith("value.") else policy).append(parameter)
        groups = [(policy, settings.policy_rate), (value, settings.value_rate), (tasks, settings.task_rate)]
        self.rates = [rate for parameters, rate in groups if parameters]
        self.optimizer = torch.optim.Adam([{"params": p, "lr": rate[0]} for p, rate in groups if p])
        self.validation = [draw("validation", k) for k in range(settings.validation)]
        self.bounds = bounds_of(self.validation)

    def turn(self) -> Mapping[str, float]:
        """Sixteen episodes, then so many passes over their decisions."""
        done = min(1.0, self.steps / self.settings.decay)
        for group, (first, last) in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = first + (last - first) * done
        episodes = self._collect()
        figures = self._learn(episodes)
        earned = [sum(episode.rewards) for episode in episodes]
        self.steps += sum(len(episode.rewards) for episode in episodes)
        return {"return": float(np.mean(earned)), **figures}

    def _collect(self) -> list[Episode]:
        count = len(SEEDS["train"])
        cases = [self.draw("train", int(number)) for number in self.rng.integers(0, count, self.settings.workers)]
        episodes = [Episode(Play(case), SLOTS * float(case.capacity_cores.mean())) for case in cases]
        while going := [episode for episode in episodes if episode.play.seen is not None]:
            sights = [Sight.of(e.play.seen, e.play.past) for e in going if e.play.seen is not None]
            batch = Batch.of(sights, self.shape.most)
            with torch.no_grad():
                mean, scale, value = self._forward(batch)
            draws = mean.numpy() + scale.numpy() * self.rng.standard_normal(mean.shape).astype(np.float32)
            logs = self._log(mean, scale, torch.from_numpy(draws), torch.from_numpy(batch.open))
            for k, (episode, sight) in enumerate(zip(going, sights, strict=True)):
                seen = episode.play.seen
                assert seen is not None
                begun = start_by_score(seen, sight.back(draws[k]))
                episode.sights.append(sight)
                episode.scores.append(draws[k])
                episode.logs.append(float(logs[k]))
                episode.values.append(float(value[k]))
                episode.rewards.append(episode.play.start(begun) / episode.scale)
        return episodes

    def _forward(self, batch: Batch, rows: np.ndarray | slice = slice(None)) -> tuple[Tensor, Tensor, Tensor]:
        held = batch.held[rows]
        wide = batch.held.shape[1] if self.shape.encoder == "mlp" else max(1, int(held.sum(1).max()))
        parts = (batch.jobs[rows][:, :wide], held[:, :wide], batch.whole[rows], batch.past[rows])
        mean, scale, value = self.scorer(*map(torch.from_numpy, parts))
        rest = (0, batch.held.shape[1] - wide)
        return functional.pad(mean, rest), functional.pad(scale, rest, value=1.0), value

    @staticmethod
    def _log(mean: Tensor, scale: Tensor, drawn: Tensor, ready: Tensor) -> Tensor:
        """Log density of the scores of the jobs that could start, shape (B,)."""
        return (Normal(mean, scale).log_prob(drawn) * ready).sum(1)

    def _learn(self, episodes: Sequence[Episode]) -> dict[str, float]:
        settings = self.settings
        worth, returns = self._advantages(episodes)
        sights = [sight for episode in episodes for sight in episode.sights]
        batch = Batch.of(sights, self.shape.most)
        drawn = torch.from_numpy(np.array([score for episode in episodes for score in episode.scores]))
        before = torch.tensor([log for episode in episodes for log in episode.logs])
        next_targets = np.concatenate(
            [np.array([*(s.targets for s in e.sights[1:]), np.full(TARGETS, np.nan)]) for e in episodes]
        )
        target, advantage = torch.from_numpy(returns), torch.from_numpy((worth - worth.mean()) / (worth.std() + 1e-8))
        ready, told = torch.from_numpy(batch.open), torch.from_numpy(next_targets.astype(np.float32))
        losses: list[tuple[float, float, float]] = []
        for _ in range(1 if self.reinforce else settings.epochs):
            mixed = self.rng.permutation(len(sights))
            for first in range(0, len(mixed), settings.minibatch):
                rows = mixed[first : first + settings.minibatch]
                mean, scale, value = self._forward(batch, rows)
                log = self._log(mean, scale, drawn[rows], ready[rows])
                if self.reinforce:
                    policy = -(log * advantage[rows]).mean()
                else:
                    ratio = (log - before[rows]).exp()
                    bounded = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                    policy = -torch.min(ratio * advantage[rows], bounded * advantage[rows]).mean()
                missed = (value - target[rows]).square().mean()
                tasks = torch.zeros(())
                if self.shape.low or self.shape.high:
                    said = self.scorer.aux(torch.from_numpy(batch.past[rows]))[2]
                    known = ~told[rows].isnan()  # after an episode's last decision nothing is seen
                    tasks = (said[known] - told[rows][known]).square().mean()
                self.optimizer.zero_grad()
                (policy + 0.5 * missed + tasks).backward()
                torch.nn.utils.clip_grad_norm_(self.scorer.parameters(), 1.0)
                self.optimizer.step()
                losses.append((float(policy.detach()), float(missed.detach()), float(tasks.detach())))
        policy_loss, value_loss, task_loss = (float(column) for column in np.mean(losses, axis=0))
        return {"policy loss": policy_loss, "value loss": value_loss, "task loss": task_loss}

    def _advantages(self, episodes: Sequence[Episode]) -> tuple[np.ndarray, np.ndarray]:
        """Generalised advantages (eq. 7) and what the value should be; for REINFORCE both are the discounted return."""
        worth, returns = [], []
        for episode in episodes:
            values, ahead, after = np.array(episode.values), 0.0, 0.0
            own = np.zeros(len(values), np.float32)
            for t in reversed(range(len(values))):
                if self.reinforce:
                    ahead = episode.rewards[t] + self.settings.discount * ahead
                else:
                    delta = episode.rewards[t] + self.settings.discount * after - values[t]
                    ahead = delta + self.settings.discount * self.settings.trace * ahead
                own[t], after = ahead, values[t]
            worth.append(own)
            returns.append(own if self.reinforce else own + values.astype(np.float32))
        return np.concatenate(worth), np.concatenate(returns)

    def validate(self) -> float:
        """The mean share of the clairvoyant bound."""
        return mean_share(by_scores, self.trained().arrays, self.validation, self.bounds)

    def trained(self) -> Trained:
        """The scorer as arrays."""
        arrays = {name: tensor.detach().numpy().copy() for name, tensor in self.scorer.state_dict().items()}
        settings = asdict(self.shape) | asdict(self.settings) | {"algorithm": "reinforce" if self.reinforce else "ppo"}
        return Trained(
            arrays,
            Card(
                name=self.name,
                kind=SCORES,
                problem="deferrable",
                scenario=self.scenario,
                split=SPLIT,
                seed=self.seed,
                steps=self.steps,
                settings=told(settings),
            ),
        )

    def state(self) -> Mapping[str, object]:
        """Weights, the optimiser's moments, the generator, and how far it is."""
        return kept(self.scorer, self.optimizer, self.rng) | {"steps": self.steps}

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from there."""
        go_on(self.scorer, self.optimizer, self.rng, state)
        steps = state["steps"]
        assert isinstance(steps, int)
        self.steps = steps
