"""Imitation: prices of the certified optimum of many cases, learned from the states that the learner itself comes to.

In every case it plays by what it has learned so far (DAgger: the states are its own), while a teacher who knows the future
prices what is left. Prices are regressed on features, so that what is learned is their mean over the futures that a state may
have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from optsched.instances.base import Floats, Instance
from optsched.rl.geo.prices import FEATURES, LEADS_H, PRICES, BidPrices, features
from optsched.rl.geo.stack import Stack
from optsched.rl.trained import Card, Trained, told
from optsched.rolling.geo.cases import Cases
from optsched.rolling.geo.episode import Episode
from optsched.rolling.geo.teacher import Teacher

DISCOUNTS = (0.85, 1.0)
DEAREST = 1.5  # of a GPU's revenue: a price beyond what any job can pay says no more than that


@dataclass(frozen=True)
class Lessons:
    """How it is taught.

    Attributes
    ----------
    capacity
        Prices that are remembered.
    batch, updates, rate
        Of the regression, after each case.
    apart_h
        Hours between two states that are kept of a case.
    """

    hidden: tuple[int, ...] = (64, 64)
    capacity: int = 300_000
    batch: int = 512
    updates: int = 300
    rate: float = 1e-3
    apart_h: float = 1.0


class PriceLearner:
    """Learns what the optimum charges for capacity."""

    def __init__(self, scenario: str, cases: Cases, lessons: Lessons, seed: int) -> None:
        self.name, self.scenario, self.cases, self.lessons, self.seed = "geo-imitation", scenario, cases, lessons, seed
        self.rng = np.random.default_rng((seed, 1))
        self.network = Stack(1, (FEATURES, *lessons.hidden, 1), np.random.default_rng((seed, 0)))
        self.optimiser = torch.optim.Adam(self.network.parameters, lessons.rate)
        self.given = np.zeros((lessons.capacity, FEATURES), np.float32)
        self.priced = np.zeros(lessons.capacity, np.float32)
        self.count = self.seen = self.episodes = 0
        self.discount = DISCOUNTS[0]  # of what is kept; what is played in a turn hangs on no validation

    @property
    def steps(self) -> int:
        """Decisions of jobs."""
        return self.seen

    def turn(self) -> Mapping[str, float]:
        """One case, then a number of steps of the regression on all that is remembered."""
        instance = self.cases.training(self.episodes)
        episode, actor = Episode(instance), BidPrices(self._acting(DISCOUNTS[0]))
        teacher, apart, after = Teacher(episode), round(self.lessons.apart_h * episode.network.hour), -1
        while episode.rounds is not None:
            if episode.simulator.now >= after:
                self._keep(features(episode.sight), self._priced(episode, teacher))
                after = episode.simulator.now + apart
            episode.decide(actor.act(episode.sight))
        self.episodes += 1
        self.seen += episode.decided
        held = min(self.count, self.lessons.capacity)
        losses = []
        for _ in range(self.lessons.updates):
            i = self.rng.integers(0, held, self.lessons.batch)
            found = self.network(torch.as_tensor(self.given[i])[None])[0, :, 0]
            loss = torch.nn.functional.mse_loss(found, torch.as_tensor(self.priced[i]))
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            losses.append(float(loss.detach()))
        return {"loss": float(np.mean(losses)), "variance": float(self.priced[:held].var()), "held": float(held)}

    def _priced(self, episode: Episode, teacher: Teacher) -> Floats:
        """What the teacher charges, as a share of a GPU's revenue, shape (P, L)."""
        paid, hour = teacher.paid(), episode.network.hour
        first = np.minimum(np.rint(np.array(LEADS_H) * hour).astype(np.int64), paid.shape[1] - 2)
        last = np.minimum(first + max(1, round(hour)), paid.shape[1] - 1)
        said = (paid[:, last] - paid[:, first]) / (last - first) / episode.network.unit
        return np.asarray(np.minimum(said, DEAREST))

    def _keep(self, given: Floats, priced: Floats) -> None:
        rows = given.reshape(-1, FEATURES)
        i = (self.count + np.arange(len(rows))) % self.lessons.capacity
        self.given[i], self.priced[i] = rows, priced.ravel()
        self.count += len(rows)

    def validate(self) -> float:
        """The mean share of what the clairvoyant bound is beyond an idle system, at the best discount, which is kept."""
        scores = [self.cases.judge(BidPrices(self._acting(discount))) for discount in DISCOUNTS]
        self.discount = DISCOUNTS[int(np.argmax(scores))]
        return max(scores)

    def trained(self) -> Trained:
        """The network of prices, and the discount that was best when it was last validated."""
        return self._acting(self.discount)

    def _acting(self, discount: float) -> Trained:
        card = Card(
            name=self.name,
            kind=PRICES,
            problem="geo",
            scenario=self.scenario,
            split=self.cases.split,
            seed=self.seed,
            steps=self.seen,
            settings=told(asdict(self.lessons)),
        )
        arrays = {name: array[0].astype(np.float32) for name, array in self.network.arrays().items()}
        return Trained(arrays | {"discount": np.asarray(discount)}, card)

    def state(self) -> Mapping[str, object]:
        """Network, optimiser, what is remembered, and the generator of batches."""
        held = min(self.count, self.lessons.capacity)
        return {
            "network": self.network.state(),
            "optimiser": self.optimiser.state_dict(),
            "given": torch.as_tensor(self.given[:held]),
            "priced": torch.as_tensor(self.priced[:held]),
            "counts": [self.count, self.seen, self.episodes],
            "discount": self.discount,
            "lots": json.dumps(self.rng.bit_generator.state),
        }

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on with them."""
        network, optimiser, counts, lots = state["network"], state["optimiser"], state["counts"], state["lots"]
        given, priced = state["given"], state["priced"]
        assert isinstance(network, list)
        assert isinstance(optimiser, dict)
        assert isinstance(counts, list)
        assert isinstance(given, torch.Tensor)
        assert isinstance(priced, torch.Tensor)
        self.network.restore(network)
        self.optimiser.load_state_dict(optimiser)
        self.given[: len(given)], self.priced[: len(priced)] = given.numpy(), priced.numpy()
        self.count, self.seen, self.episodes = counts
        self.discount = float(str(state["discount"]))
        self.rng.bit_generator.state = json.loads(str(lots))


TOY = Lessons(hidden=(32, 32), updates=100)


def imitation(scenario: str, instances: Sequence[Instance], seed: int) -> PriceLearner:
    """Bid prices, learned from the optimum's."""
    torch.set_num_threads(1)
    return PriceLearner(scenario, Cases.of(scenario, instances, seed), TOY if scenario == "toy" else Lessons(), seed)
