"""Imitation of the optimum: DAgger on what its prices make of starting each job now (Ross, Gordon and Bagnell, 2011)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from optsched.instances.base import Instance
from optsched.registry import family_of
from optsched.rl.deferrable.acting import KIND, chosen
from optsched.rl.deferrable.batch import Batch, Sight
from optsched.rl.deferrable.configurations import cases
from optsched.rl.deferrable.modules import Scorer, Shape
from optsched.rl.deferrable.play import Play
from optsched.rl.deferrable.ppo import earns
from optsched.rl.deferrable.split import SEEDS, Draw
from optsched.rl.deferrable.state import start_by_score
from optsched.rl.deferrable.teacher import Teacher, gain
from optsched.rl.trained import Card, Trained

LEAST = (-1.0, -0.15, -0.05, 0.0)
"""Scores from which on a job may be started, of which validation chooses."""


@dataclass(frozen=True)
class Settings:
    """Of training.

    Attributes
    ----------
    rate
        Learning rate at first, and after `decay` decisions.
    episodes, epochs, minibatch
        Episodes a turn, passes over their decisions, decisions an update.
    alone
        Turns after which the learner alone decides which states are seen; before, the teacher does in ever fewer episodes.
    validation
        Cases.
    """

    rate: tuple[float, float] = (2e-3, 1e-4)
    decay: int = 100_000
    episodes: int = 8
    epochs: int = 3
    minibatch: int = 64
    alone: int = 12
    validation: int = 12


class Imitation:
    """The learner."""

    def __init__(self, name: str, draw: Draw, scenario: str, seed: int, settings: Settings) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.name, self.draw, self.scenario, self.seed, self.settings = name, draw, scenario, seed, settings
        self.shape = Shape(low=False, high=False)
        self.rng = np.random.default_rng(seed)
        self.scorer = Scorer(self.shape)
        self.optimizer = torch.optim.Adam(self.scorer.parameters(), lr=settings.rate[0])
        self.steps = self.turns = 0
        self.least = LEAST[0]
        self.validation = [draw("validation", k) for k in range(settings.validation)]
        self.bounds = [family_of(case).clairvoyant(case) or 1.0 for case in self.validation]

    def turn(self) -> Mapping[str, float]:
        """Some episodes, each decision of which the teacher marks; then so many passes over them."""
        settings = self.settings
        first, last = settings.rate
        self.optimizer.param_groups[0]["lr"] = first + (last - first) * min(1.0, self.steps / settings.decay)
        numbers = self.rng.integers(0, len(SEEDS["train"]), settings.episodes)
        follows = self.rng.random(settings.episodes) < 1 - self.turns / settings.alone
        arrays = self._arrays()
        sights: list[Sight] = []
        marks: list[np.ndarray] = []
        for number, follow in zip(numbers.tolist(), follows.tolist(), strict=True):
            play, teacher = Play(self.draw("train", number)), Teacher()
            while (seen := play.seen) is not None:
                sight, mark = Sight.of(seen, play.past), gain(seen, teacher.charge(play))
                sights.append(sight)
                marks.append(mark[sight.order])
                play.start(start_by_score(seen, mark, 0.0) if follow else chosen(arrays, seen, play.past))
        loss = self._learn(sights, marks)
        self.steps, self.turns = self.steps + len(sights), self.turns + 1
        return {"loss": loss}

    def _learn(self, sights: Sequence[Sight], marks: Sequence[np.ndarray]) -> float:
        most = self.shape.most
        batch, wanted = Batch.of(sights, most), np.zeros((len(sights), most), np.float32)
        for b, mark in enumerate(marks):
            wanted[b, : min(most, len(mark))] = mark[:most]
        losses = []
        for _ in range(self.settings.epochs):
            mixed = self.rng.permutation(len(sights))
            for first in range(0, len(mixed), self.settings.minibatch):
                rows = mixed[first : first + self.settings.minibatch]
                wide = max(1, int(batch.held[rows].sum(1).max()))
                parts = (batch.jobs[rows][:, :wide], batch.held[rows][:, :wide], batch.whole[rows], batch.past[rows])
                mean, _, _ = self.scorer(*map(torch.from_numpy, parts))
                ready = torch.from_numpy(batch.open[rows][:, :wide])
                missed = (mean - torch.from_numpy(wanted[rows][:, :wide])).square()
                loss = (missed * ready).sum() / ready.sum().clamp(min=1)
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.scorer.parameters(), 1.0)
                self.optimizer.step()
                losses.append(float(loss.detach()))
        return float(np.mean(losses))

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {name: tensor.detach().numpy().copy() for name, tensor in self.scorer.state_dict().items()}
        return arrays | {"least": np.array(self.least)}

    def validate(self) -> float:
        """The mean share of the clairvoyant bound, with the least score that serves best."""
        best = -np.inf
        for least in LEAST:
            arrays = self._arrays() | {"least": np.array(least)}
            shares = []
            for case, bound in zip(self.validation, self.bounds, strict=True):
                earned = earns(arrays, case)
                assert earned <= bound + 1e-6 * abs(bound), "a policy beats the bound"
                shares.append(earned / bound)
            if float(np.mean(shares)) > best:
                best, self.least = float(np.mean(shares)), least
        return float(best)

    def trained(self) -> Trained:
        """The scorer as arrays."""
        told = asdict(self.shape) | asdict(self.settings) | {"algorithm": "dagger"}
        settings = {name: value if isinstance(value, int | float | str) else str(value) for name, value in told.items()}
        split = "train, validation and test draw seeds that never meet (optsched/rl/deferrable/split.py)"
        card = Card(
            name=self.name,
            kind=KIND,
            problem="deferrable",
            scenario=self.scenario,
            split=split,
            seed=self.seed,
            steps=self.steps,
            settings=settings,
        )
        return Trained(self._arrays(), card)

    def state(self) -> Mapping[str, object]:
        """Weights, the optimiser's moments, the generator, the least score."""
        return {
            "scorer": self.scorer.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rng": self.rng.bit_generator.state,
            "count": [self.steps, self.turns],
            "least": self.least,
        }

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from there."""
        self.scorer.load_state_dict(state["scorer"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.rng.bit_generator.state = state["rng"]
        count, least = state["count"], state["least"]
        assert isinstance(count, list)
        assert isinstance(least, float)
        (self.steps, self.turns), self.least = count, least


def made(scenario: str, instances: Sequence[Instance], seed: int) -> Imitation:
    """A learner that imitates the optimum."""
    told = ", ".join(instance.name for instance in instances) or scenario
    settings = Settings(decay=20_000, alone=4, validation=6) if scenario == "toy" else Settings()
    return Imitation("deferrable-imitation", cases(scenario, instances), told, seed, settings)
