"""Imitation of a teacher on the states that the learner visits (DAgger): a perceptron that prices GPU time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np
import torch
from torch import nn

from optsched.instances.allocation import AllocationInstance
from optsched.rl.allocation.labels import PRICES, World
from optsched.rl.allocation.pricer import KIND, Pricer
from optsched.rl.allocation.scenarios import Scenario
from optsched.rl.allocation.view import SIZE
from optsched.rl.trained import Card, Trained

NAME = "allocation-imitation"
SPLIT = (
    "cases of the scenario by seed: training from 10,000,000 on, validation from 20,000,000 on, test from 30,000,000 on; "
    "the teacher knows the future of training cases, and nobody that of the others"
)
SMALLEST = 1e-2  # standard deviation of a number that the first cases say nothing about


@dataclass(frozen=True)
class Settings:
    """Of the learner.

    Attributes
    ----------
    hidden
        Units of both layers.
    rate, decay
        Adam's, with decoupled weight decay.
    batch
        States.
    fits
        Gradient steps a turn.
    share
        Of the states that are met, how many are labelled.
    led
        Turns after which the learner acts; until then the rule does.
    validation
        Cases.
    """

    hidden: int = 32
    rate: float = 2e-3
    decay: float = 1e-2
    batch: int = 256
    fits: int = 40
    share: float = 0.15
    led: int = 10
    validation: int = 32


TOY = Settings(share=0.5, led=6, validation=16)


class Imitation:
    """A `Learner`. A turn plays a case by what has been learned so far, asks the teacher, and fits to all that it has said."""

    name = NAME

    def __init__(
        self,
        world: World,
        scenario: Scenario,
        title: str,
        instances: Sequence[AllocationInstance] = (),
        seed: int = 0,
        settings: Settings | None = None,
    ) -> None:
        torch.set_num_threads(1)
        self.world, self.scenario, self.title, self.given, self.seed = world, scenario, title, tuple(instances), seed
        self.settings = settings = settings or Settings()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            hidden = settings.hidden
            self.net = nn.Sequential(
                nn.Linear(SIZE, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, len(PRICES))
            )
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=settings.rate, weight_decay=settings.decay)
        self.mean, self.scale = torch.zeros(SIZE), torch.ones(SIZE)
        self.turns = 0
        self.seen, self.best, self.weight = torch.zeros((0, SIZE)), torch.zeros((0, len(PRICES))), torch.zeros(0)

    @property
    def steps(self) -> int:
        """States labelled so far."""
        return len(self.weight)

    def turn(self) -> Mapping[str, float]:
        """One case."""
        settings, rng = self.settings, np.random.default_rng([self.seed, self.turns])
        if self.given:
            instance = self.given[int(rng.integers(len(self.given)))]
        else:
            instance = self.scenario.instance("train", int(rng.integers(100_000)))
        led = self.turns < settings.led
        found = self.world.visit(instance, None if led else Pricer(self.trained()), rng, settings.share)
        if found:
            self.seen = torch.cat([self.seen, torch.from_numpy(np.stack([state.summary for state in found]))])
            self.best = torch.cat([self.best, torch.from_numpy(np.stack([state.best for state in found]))])
            self.weight = torch.cat([self.weight, torch.tensor([state.weight for state in found], dtype=torch.float32)])
        self.turns += 1
        if self.turns <= settings.led and len(self.seen) > 1:
            self.mean, self.scale = self.seen.mean(0), self.seen.std(0).clamp(min=SMALLEST)
        return {"loss": self._fit(rng)}

    def _fit(self, rng: np.random.Generator) -> float:
        """Cross-entropy between how good each price was and how good it is thought to be."""
        if not self.steps:
            return 0.0
        total = 0.0
        for _ in range(self.settings.fits):
            at = torch.from_numpy(rng.integers(self.steps, size=self.settings.batch))
            said = torch.log_softmax(self.net((self.seen[at] - self.mean) / self.scale), dim=1)
            loss = -((self.best[at] * said).sum(1) * self.weight[at]).sum() / self.weight[at].sum()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += float(loss.detach())
        return total / self.settings.fits

    def validate(self) -> float:
        """Mean over cases that nobody learns from."""
        pricer = Pricer(self.trained())
        cases = [self.scenario.instance("validation", k) for k in range(self.settings.validation)]
        return float(np.mean([self.world.score(case, pricer) for case in cases]))

    def trained(self) -> Trained:
        """The network, with the normalisation of what it sees."""
        arrays = {"prices": np.array(PRICES), "mean": self.mean.numpy().copy(), "scale": self.scale.numpy().copy()}
        for i, layer in enumerate(module for module in self.net if isinstance(module, nn.Linear)):
            arrays |= {f"w{i}": layer.weight.detach().numpy().T.copy(), f"b{i}": layer.bias.detach().numpy().copy()}
        card = Card(
            name=NAME,
            kind=KIND,
            problem="allocation",
            scenario=self.title,
            split=SPLIT,
            seed=self.seed,
            steps=self.steps,
            settings=asdict(self.settings),
        )
        return Trained(arrays, card)

    def state(self) -> Mapping[str, object]:
        """All labels too: what is fitted is drawn from them. What is random comes from the seed and the number of the turn."""
        held = {name: getattr(self, name) for name in ("mean", "scale", "seen", "best", "weight")}
        return {"turns": self.turns, "net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(), **held}

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from there."""
        self.turns = cast(int, state["turns"])
        self.net.load_state_dict(cast(dict[str, torch.Tensor], state["net"]))
        self.optimizer.load_state_dict(cast(dict[str, object], state["optimizer"]))
        for name in ("mean", "scale", "seen", "best", "weight"):
            setattr(self, name, cast(torch.Tensor, state[name]).clone())
