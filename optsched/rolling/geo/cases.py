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
from optsched.rl.geo.split import SCENARIOS, STRIDE, case
from optsched.rolling.geo.episode import Episode

VALIDATIONS = 8
A_SEED = STRIDE // 100  # cases of a training seed: two seeds see other ones


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
    _judged: list[tuple[GeoInstance, float]] = field(default_factory=list)

    @classmethod
    def of(cls, scenario: str, instances: Sequence[Instance], seed: int) -> Cases:
        """Of what `optsched train` is given.

        Raises
        ------
        OptschedError : an instance is of another family.
        """
        own = tuple(instance for instance in instances if isinstance(instance, GeoInstance))
        if len(own) < len(instances):
            raise OptschedError("its agents learn from instances over sites")
        return cls(scenario, seed % 100, own)

    @property
    def split(self) -> str:
        """In words, for the card."""
        if self.own:
            last = self.own[-1].name
            return f"trained on {len(self.own)} instances of the user's, validated on {last}, which is one of them"
        return (
            f"trained on cases of {self.scenario} with seeds from 1,000,000 on, validated on {VALIDATIONS} with seeds from "
            "2,000,000 on; synthetic signals and jobs in both, none of the test's"
        )

    def training(self, number: int) -> GeoInstance:
        """The so manieth case."""
        if self.own:
            mine = self.own[:-1] or self.own
            return mine[number % len(mine)]
        return case(SCENARIOS[self.scenario], "train", self.seed * A_SEED + number % A_SEED)

    def validation(self) -> list[tuple[GeoInstance, float]]:
        """Cases and what the clairvoyant cannot earn more than; the same for every seed."""
        if not self._judged:
            given = self.own[-1:] or [case(SCENARIOS[self.scenario], "validation", i) for i in range(VALIDATIONS)]
            self._judged = [(each, solve_dual(view(each).problem).bound) for each in given]
        return self._judged

    def judge(self, actor: Actor) -> float:
        """The mean share of the bound that it earns on the validation cases."""
        return float(np.mean([utility(each, actor) / bound for each, bound in self.validation()]))


def utility(instance: GeoInstance, actor: Actor) -> float:
    """What an actor earns, by the referee."""
    episode = Episode(instance)
    while episode.rounds is not None:
        episode.decide(actor.act(episode.sight))
    return evaluate(instance, episode.history()).objective
