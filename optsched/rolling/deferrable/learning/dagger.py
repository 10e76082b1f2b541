"""Learning from the optimum's prices in the states that the learner visits (DAgger: Ross, Gordon and Bagnell, 2011)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from optsched.instances.base import Floats
from optsched.rl.deferrable.acting import ACTS, Act
from optsched.rl.deferrable.gains import gain
from optsched.rl.deferrable.past import Past
from optsched.rl.deferrable.split import SEEDS, SPLIT, Draw
from optsched.rl.deferrable.state import Seen, start_by_score
from optsched.rl.trained import Card, Trained, told
from optsched.rolling.deferrable.learning.judging import bounds_of, mean_share
from optsched.rolling.deferrable.learning.kept import go_on, kept
from optsched.rolling.deferrable.learning.teacher import Teacher
from optsched.rolling.deferrable.play import Play


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


TOY = Settings(decay=20_000, alone=4, validation=6)


class Dagger(ABC):
    """The learner. A number beside the weights, `knob`, is chosen on validation.

    Attributes
    ----------
    kind, knob, choices
        What acts, the name of the number, and what it may be.
    """

    kind: ClassVar[str]
    knob: ClassVar[str]
    choices: ClassVar[tuple[float, ...]]

    def __init__(self, name: str, network: nn.Module, draw: Draw, scenario: str, seed: int, settings: Settings) -> None:
        self.name, self.network, self.draw, self.scenario, self.seed = name, network, draw, scenario, seed
        self.settings = settings
        self.rng = np.random.default_rng(seed)
        self.optimizer = torch.optim.Adam(network.parameters(), lr=settings.rate[0])
        self.steps = self.turns = 0
        self.chosen = self.choices[0]
        self.validation = [draw("validation", k) for k in range(settings.validation)]
        self.bounds = bounds_of(self.validation)

    @abstractmethod
    def mark(self, seen: Seen, past: Past, prices: Floats) -> None:
        """Keep a decision, and what the prices of the optimum say of it, for `missed`."""

    @abstractmethod
    def missed(self, rows: np.ndarray) -> Tensor:
        """The loss on some of the decisions that are kept."""

    @abstractmethod
    def forget(self) -> None:
        """Keep none."""

    @property
    def act(self) -> Act:
        """How the weights decide."""
        return ACTS[self.kind]

    def turn(self) -> Mapping[str, float]:
        """Some episodes, each decision of which the teacher marks; then so many passes over them."""
        settings = self.settings
        first, last = settings.rate
        self.optimizer.param_groups[0]["lr"] = first + (last - first) * min(1.0, self.steps / settings.decay)
        numbers = self.rng.integers(0, len(SEEDS["train"]), settings.episodes)
        follows = self.rng.random(settings.episodes) < 1 - self.turns / settings.alone
        arrays, count = self.arrays() | {self.knob: np.array(self.choices[0])}, 0  # what validation chooses changes no turn
        self.forget()
        for number, follow in zip(numbers.tolist(), follows.tolist(), strict=True):
            play, teacher = Play(self.draw("train", number)), Teacher()
            while (seen := play.seen) is not None:
                prices, count = teacher.charge(play), count + 1
                self.mark(seen, play.past, prices)
                taught = start_by_score(seen, gain(seen, prices), 0.0) if follow else self.act(arrays, seen, play.past)
                play.start(taught)
        losses = []
        for _ in range(settings.epochs):
            mixed = self.rng.permutation(count)
            for begin in range(0, count, settings.minibatch):
                loss = self.missed(mixed[begin : begin + settings.minibatch])
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
                self.optimizer.step()
                losses.append(float(loss.detach()))
        self.forget()
        self.steps, self.turns = self.steps + count, self.turns + 1
        return {"loss": float(np.mean(losses)), "taught": float(follows.mean())}

    def arrays(self) -> dict[str, np.ndarray]:
        """Weights, and the number beside them."""
        arrays = {name: tensor.detach().numpy().copy() for name, tensor in self.network.state_dict().items()}
        return arrays | {self.knob: np.array(self.chosen)}

    def validate(self) -> float:
        """The mean share of the clairvoyant bound, with the number that serves best."""
        best, arrays = -np.inf, self.arrays()
        for choice in self.choices:
            share = mean_share(self.act, arrays | {self.knob: np.array(choice)}, self.validation, self.bounds)
            if share > best:
                best, self.chosen = share, choice
        return float(best)

    def trained(self) -> Trained:
        """What acts."""
        card = Card(
            name=self.name,
            kind=self.kind,
            problem="deferrable",
            scenario=self.scenario,
            split=SPLIT,
            seed=self.seed,
            steps=self.steps,
            settings={"algorithm": "dagger", **told(asdict(self.settings))},
        )
        return Trained(self.arrays(), card)

    def state(self) -> Mapping[str, object]:
        """Weights, the optimiser's moments, the generator, and how far it is."""
        far = {"count": [self.steps, self.turns], "chosen": self.chosen}
        return kept(self.network, self.optimizer, self.rng) | far

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from there."""
        go_on(self.network, self.optimizer, self.rng, state)
        count, chosen = state["count"], state["chosen"]
        assert isinstance(count, list)
        assert isinstance(chosen, float)
        (self.steps, self.turns), self.chosen = count, chosen
