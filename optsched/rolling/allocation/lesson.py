"""`optsched train allocation-imitation`: the learner, the simulator that it acts in, and the teacher who knows the future."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from optsched.errors import OptschedError
from optsched.heuristics.allocation.priced import priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Instance
from optsched.rl.allocation.imitation import TOY, Imitation
from optsched.rl.allocation.labels import Labelled
from optsched.rl.allocation.pricer import Pricer
from optsched.rl.allocation.scenarios import scenario
from optsched.rolling.allocation.hindsight import labelled, played
from optsched.rolling.allocation.ledger import Ledger
from optsched.rolling.allocation.simulator import AllocationSimulator

LEAST = 1e-9  # of a cost, so that it has a logarithm


class Replays:
    """Cases played on the replay's simulator; `priced` is the rule."""

    def __init__(self) -> None:
        self.ruled: dict[str, float] = {}

    def visit(
        self, instance: AllocationInstance, pricer: Pricer | None, teach: np.random.Generator, share: float
    ) -> list[Labelled]:
        """What the teacher says on a share of the states that are met."""
        decide = priced_dispatch if pricer is None else pricer.decide
        simulator, ledger, found = AllocationSimulator(instance), Ledger(), []
        while (snapshot := simulator.snapshot()) is not None:
            decision = decide(snapshot)
            if teach.random() < share:
                found.append(labelled(simulator, snapshot, ledger))
            ledger.begin(snapshot, decision)
            simulator.apply(decision)
            ledger.end(simulator.now_s)
        return found

    def score(self, instance: AllocationInstance, pricer: Pricer) -> float:
        """The logarithm of what the rule costs over what the pricer costs."""
        if instance.name not in self.ruled:
            self.ruled[instance.name] = played(AllocationSimulator(instance), priced_dispatch)
        own = played(AllocationSimulator(instance), pricer.decide)
        return log(max(self.ruled[instance.name], LEAST) / max(own, LEAST))


def imitation(title: str, instances: Sequence[Instance] = (), seed: int = 0) -> Imitation:
    """A learner that has seen nothing yet.

    Raises
    ------
    OptschedError : no such scenario, or instances of another family.
    """
    given = [instance for instance in instances if isinstance(instance, AllocationInstance)]
    if len(given) < len(instances):
        raise OptschedError("the learner needs instances of a GPU cluster")
    return Imitation(Replays(), scenario(title), title, given, seed, TOY if title == "toy" else None)
