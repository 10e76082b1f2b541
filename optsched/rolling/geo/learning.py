"""MASAC and MADQN as learners: they play episodes of the replay's rounds, keep what they have seen, and learn from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import torch

from optsched.instances.base import Floats, Instance, Ints
from optsched.rl.geo.actors import AGENTS, Agents, best_legal, spread
from optsched.rl.geo.dqn import DoubleDqn, DqnSettings
from optsched.rl.geo.memory import Memory
from optsched.rl.geo.observation import JOB, PAIR, Sight, joint_size, unit_usd
from optsched.rl.geo.sac import DiscreteSac, SacSettings
from optsched.rl.perceptron import forward, layers_of
from optsched.rl.trained import Card, Trained, told
from optsched.rolling.geo.cases import Cases
from optsched.rolling.geo.episode import Episode

MOST_ROUNDS = 12_000  # of an episode, as in Table I


@dataclass(frozen=True)
class Practice:
    """How experience is gathered.

    Attributes
    ----------
    capacity
        Rounds that are remembered.
    warm_up
        Rounds of random actions before anything is learned.
    updates
        A round; Table I has 1,000 after ten episodes of up to 12,000.
    explore
        Share of random actions at first, at last, and rounds in between: of MADQN, whose values draw no lots.
    """

    capacity: int = 40_000
    warm_up: int = 2_000
    updates: float = 0.3
    explore: tuple[float, float, int] = (0.2, 0.05, 10_000)


class SiteAgents:
    """An agent a site, trained by discrete SAC or double DQN."""

    def __init__(
        self, name: str, scenario: str, cases: Cases, algorithm: DiscreteSac | DoubleDqn, practice: Practice, seed: int
    ) -> None:
        self.name, self.scenario, self.cases, self.seed = name, scenario, cases, seed
        self.algorithm, self.practice = algorithm, practice
        self.rng = np.random.default_rng((seed, 1))
        self.sites = len(algorithm.actor.layers[0][0])
        size = joint_size(self.sites)
        own = JOB + PAIR * self.sites
        self.memory = Memory(practice.capacity, self.sites, size, 1 + self.sites, size - own)
        self.seen = self.episodes = 0

    @property
    def steps(self) -> int:
        """Rounds played."""
        return self.seen

    def turn(self) -> Mapping[str, float]:
        """One episode of a new case, then updates for its rounds."""
        figures = self._play()
        count = round(self.practice.updates * figures["rounds"]) if len(self.memory) >= self.practice.warm_up else 0
        losses: list[dict[str, float]] = []
        for _ in range(count):
            batch = self.memory.draw(self.algorithm.settings.batch, self.rng)
            losses.append(self.algorithm.update(batch))
        return figures | {key: float(np.mean([each[key] for each in losses])) for key in (losses[0] if losses else ())}

    def _play(self) -> dict[str, float]:
        instance = self.cases.training(self.episodes)
        episode, layers = Episode(instance), layers_of(self.algorithm.actor.arrays())
        assert episode.rounds is not None
        rounds, total, unit = 0, 0.0, unit_usd(episode.rounds)
        seen = self._see(episode)
        while episode.rounds is not None and rounds < MOST_ROUNDS:
            legal, active = episode.rounds.legal, episode.rounds.asked >= 0
            credit, size = episode.sight.credits(), episode.sight.sizes()
            action = self._explore(episode.sight, seen, layers)
            earned = episode.decide(action)
            after = self._see(episode)
            over = episode.rounds is None
            next_legal = legal if over else episode.sight.rounds.legal
            next_credit, next_size = (credit * 0.0, size * 0.0) if over else (episode.sight.credits(), episode.sight.sizes())
            self.memory.add(
                seen=seen,
                legal=legal,
                active=active,
                action=action,
                reward=earned / unit,
                next_seen=after,
                next_legal=next_legal,
                credit=credit,
                next_credit=next_credit,
                size=size,
                next_size=next_size,
                over=over,
            )
            seen, rounds, total = after, rounds + 1, total + earned
        self.episodes += 1
        self.seen += rounds
        return {"rounds": float(rounds), "reward": total / unit / len(instance.jobs), "step_reward": total / max(1, rounds)}

    def _see(self, episode: Episode) -> Floats:
        return np.zeros((self.sites, joint_size(self.sites))) if episode.rounds is None else episode.sight.joint()

    def _explore(self, sight: Sight, seen: Floats, layers: tuple[tuple[Floats, Floats], ...]) -> Ints:
        """By the policy's lots; or the best, but for some at random."""
        legal = sight.rounds.legal
        lots = np.asarray(self.rng.gumbel(size=legal.shape), dtype=float)
        if len(self.memory) < self.practice.warm_up:
            return best_legal(lots, legal)
        scores = spread(forward(seen[:, None], layers)[:, 0], sight.sizes()) + self.algorithm.credited * sight.credits()
        if isinstance(self.algorithm, DiscreteSac):
            return best_legal(scores + lots, legal)
        first, last, until = self.practice.explore
        share = first + (last - first) * min(1.0, self.seen / until)
        blind = self.rng.random(len(legal)) < share
        return np.where(blind, best_legal(lots, legal), best_legal(scores, legal))

    def validate(self) -> float:
        """The mean share of what the clairvoyant bound is beyond an idle system."""
        return self.cases.judge(Agents(self.trained()))

    def trained(self) -> Trained:
        """The actors, or the values."""
        card = Card(
            name=self.name,
            kind=AGENTS,
            problem="geo",
            scenario=self.scenario,
            split=self.cases.split,
            seed=self.seed,
            steps=self.seen,
            settings=told(asdict(self.algorithm.settings) | asdict(self.practice)),
        )
        arrays = {name: array.astype(np.float32) for name, array in self.algorithm.actor.arrays().items()}
        return Trained(arrays | {"residual": np.asarray(self.algorithm.credited), "sized": np.ones(1)}, card)

    def state(self) -> Mapping[str, object]:
        """Networks, memory, and the generator of lots."""
        return {
            "algorithm": self.algorithm.state(),
            "memory": {name: torch.as_tensor(column) for name, column in self.memory.state().items()},
            "count": self.memory.count,
            "seen": self.seen,
            "episodes": self.episodes,
            "lots": json.dumps(self.rng.bit_generator.state),
        }

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on with them."""
        algorithm, memory, count, lots = state["algorithm"], state["memory"], state["count"], state["lots"]
        assert isinstance(algorithm, dict)
        assert isinstance(memory, dict)
        assert isinstance(count, int)
        assert isinstance(lots, str)
        self.algorithm.restore(algorithm)
        self.memory.restore(count, {name: column.numpy() for name, column in memory.items()})
        self.seen, self.episodes = int(str(state["seen"])), int(str(state["episodes"]))
        self.rng.bit_generator.state = json.loads(lots)


# Table I's rates need ten times as long as two cores have
QUICK_SAC = SacSettings((128, 128), 0.97, 128, actor_rate=3e-4, critic_rate=2e-4, entropy=0.01, gap=0.9, additive=True)
QUICK_DQN = DqnSettings((128, 128), 0.97, 128, rate=2e-4, additive=True)
TOY = Practice(capacity=5_000, warm_up=200, updates=0.5, explore=(0.3, 0.05, 2_000))


def masac(scenario: str, instances: Sequence[Instance], seed: int) -> SiteAgents:
    """Discrete SAC, an agent a site."""
    torch.set_num_threads(1)
    cases, rng = Cases.of(scenario, instances, seed), np.random.default_rng((seed, 0))
    settings = SacSettings() if scenario == "table-1" else QUICK_SAC
    sites = cases.sites
    if scenario == "toy":
        settings = replace(settings, hidden=(64, 64), actor_rate=1e-3, critic_rate=1e-3, batch=128)
    algorithm = DiscreteSac(sites, joint_size(sites), 1 + sites, settings, rng)
    return SiteAgents("masac", scenario, cases, algorithm, TOY if scenario == "toy" else Practice(), seed)


def madqn(scenario: str, instances: Sequence[Instance], seed: int) -> SiteAgents:
    """Double DQN, an agent a site."""
    torch.set_num_threads(1)
    cases, rng = Cases.of(scenario, instances, seed), np.random.default_rng((seed, 0))
    settings = DqnSettings() if scenario == "table-1" else QUICK_DQN
    sites = cases.sites
    if scenario == "toy":
        settings = replace(settings, hidden=(64, 64), rate=1e-3, batch=128)
    algorithm = DoubleDqn(sites, joint_size(sites), 1 + sites, settings, rng)
    return SiteAgents("madqn", scenario, cases, algorithm, TOY if scenario == "toy" else Practice(), seed)
