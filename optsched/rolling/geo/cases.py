"""What an agent of geo is trained on, and how it is judged: cases of a scenario or instances of one's own, and their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from optsched.decomposition.dual import solve_dual
from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.instances.geo import GeoInstance
from optsched.problems.geo import view
from optsched.referee import evaluate
from optsched.rl.geo.actors import Actor
from optsched.rl.geo.split import SCENARIOS, case, seed_of
from optsched.rolling.geo.episode import Episode

VALIDATIONS = 8
A_SEED = 10_000  # cases of a training seed: no two seeds share one
ROUNDING = 1e-6  # of the bound


@dataclass(frozen=True)
class Judged:
    """A case of validation: USD that the clairvoyant cannot earn more than, and that an idle system earns."""

    instance: GeoInstance
    bound: float
    idle: float

    @classmethod
    def of(cls, instance: GeoInstance) -> Judged:
        """That of an instance."""
        program = view(instance).problem
        return cls(instance, solve_dual(program).bound, program.constant)

    def share(self, actor: Actor) -> float:
        """What an actor earns beyond an idle system, as a share of what there is; 0 where there is nothing.

        The idle part is the same for all, and may make utility and bound negative: a share of the bound alone would then be the
        larger the less is earned.
        """
        found, most = utility(self.instance, actor), self.bound - self.idle
        slack = ROUNDING * max(abs(self.bound), abs(self.idle))
        assert found <= self.bound + slack, f"a policy beats the bound of {self.instance.name}: {found} > {self.bound}"
        return (found - self.idle) / most if most > slack else 0.0


@dataclass
class Cases:
    """Cases of training and validation.

    Attributes
    ----------
    own
        Instances in place of the scenario's: the last one is for validation, or the only one for both.
    """

    scenario: str
    seed: int
    own: tuple[GeoInstance, ...] = ()
    _judged: list[Judged] = field(default_factory=list)

    @classmethod
    def of(cls, scenario: str, instances: Sequence[Instance], seed: int) -> Cases:
        """Of what `optsched train` is given.

        Raises
        ------
        OptschedError : an instance is of another family, or leaves nothing to decide.
        """
        own = tuple(instance for instance in instances if isinstance(instance, GeoInstance))
        if len(own) < len(instances):
            raise OptschedError("its agents learn from instances over sites")
        for instance in own:
            if Episode(instance).rounds is None:
                raise OptschedError(f"instance {instance.name!r} leaves nothing to decide: no job of it can run anywhere")
        return cls(scenario, seed, own)

    @property
    def split(self) -> str:
        """In words, for the card."""
        if self.own:
            last = self.own[-1].name
            return f"trained on {len(self.own)} instances of the user's, validated on {last}, which is one of them"
        first, other = seed_of("train", self.seed * A_SEED), seed_of("validation", 0)
        return (
            f"trained on cases of {self.scenario} with seeds from {first:,} on, validated on {VALIDATIONS} with seeds from "
            f"{other:,} on; synthetic signals and jobs in both, none of the test's"
        )

    def training(self, number: int) -> GeoInstance:
        """The so manieth case."""
        if self.own:
            mine = self.own[:-1] or self.own
            return mine[number % len(mine)]
        return case(SCENARIOS[self.scenario], "train", self.seed * A_SEED + number % A_SEED)

    @property
    def sites(self) -> int:
        """How many every case has.

        Raises
        ------
        OptschedError : they differ.
        """
        found = {len(instance.sites) for instance in self.own or (self.training(0),)}
        if len(found) > 1:
            raise OptschedError(f"an agent a site needs the same number of sites in every instance, got {sorted(found)}")
        return found.pop()

    def validation(self) -> list[Judged]:
        """Cases of validation; the same for every seed."""
        if not self._judged:
            given = self.own[-1:] or [case(SCENARIOS[self.scenario], "validation", i) for i in range(VALIDATIONS)]
            self._judged = [Judged.of(each) for each in given]
        return self._judged

    def judge(self, actor: Actor) -> float:
        """The mean share that it earns of what there is on the validation cases."""
        return float(np.mean([each.share(actor) for each in self.validation()]))


def utility(instance: GeoInstance, actor: Actor) -> float:
    """What an actor earns, by the referee."""
    episode = Episode(instance)
    while episode.rounds is not None:
        episode.decide(actor.act(episode.sight))
    return evaluate(instance, episode.history()).objective
