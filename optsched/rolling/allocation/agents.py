"""Learned policies of allocation, bare and with a guard that lets a rule decide where they do worse or have never been.

The guard plays the learned decision and the rule's (`priced`) out (`instead.py`): where it is not worth it the rule decides.
"""

from __future__ import annotations

import numpy as np

from optsched.heuristics.allocation.priced import USUAL, priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Data
from optsched.rl.allocation.pricer import Pricer, bids
from optsched.rl.allocation.scores import carried_out
from optsched.rl.allocation.view import see
from optsched.rl.trained import file_of
from optsched.rolling.allocation.instead import SAMPLES, foreseen, worth
from optsched.rolling.allocation.outlook import Kept, Outlook
from optsched.rolling.allocation.playout import Present
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Policy, Settings
from optsched.schedules.allocation import AllocationSchedule

FAR = 8.0  # standard deviations of what it was trained on, beyond which it has never been


def agent_policy(name: str, settings: Settings) -> Policy[AllocationInstance, AllocationSchedule]:
    """A learned policy, shipped or of a file; with its guard, unless that is not wanted."""
    settings.allow(name)
    pricer = Pricer.load(file_of("allocation", name))
    return AgentPolicy(pricer) if settings.guard is False else GuardedAgent(pricer)


class AgentPolicy:
    """A learned policy without a guard: it remembers nothing."""

    def __init__(self, pricer: Pricer) -> None:
        self.pricer = pricer

    def reset(self, seed: int) -> None:
        """Nothing is drawn."""

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        """What it wants most."""
        return self.pricer.decide(snapshot)

    def state(self) -> str:
        """Who decides."""
        return self.pricer.trained.sha256

    def restore(self, state: object) -> None:
        """Go on.

        Raises
        ------
        OptschedError : it was another agent.
        """
        self.pricer.trained.expect(recalled(str, state))


class Memory(Data):
    """What a guarded policy remembers."""

    agent: str
    seen: Kept


class GuardedAgent:
    """A learned policy, and the rule that stands in for it.

    Attributes
    ----------
    overruled
        Whether the rule decided the last snapshot.
    """

    def __init__(self, pricer: Pricer) -> None:
        self.pricer = pricer
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Nothing has come yet."""
        self.overruled = False
        self.outlook = Outlook(seed)

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        """The learned decision, or the rule's."""
        self.outlook.observe(snapshot)
        wanted, safe = self._wanted(snapshot), priced_dispatch(snapshot)
        self.overruled = wanted is None or self._dearer(snapshot, wanted, safe)
        return safe if wanted is None or self.overruled else wanted

    def _wanted(self, snapshot: AllocationInstance) -> AllocationSchedule | None:
        """The learned decision; None where it was not trained for this: work that moves is lost, or numbers never met."""
        if snapshot.migration_cost_s:
            return None
        view = see(snapshot)
        if self.pricer.distance(view) > FAR:
            return None
        return carried_out(snapshot, view.listed, bids(view, self.pricer.price(view)))

    def _dearer(self, snapshot: AllocationInstance, wanted: AllocationSchedule, safe: AllocationSchedule) -> bool:
        """Whether that decision is not foreseen to cost less than the rule's, the rule following in both."""
        if wanted == safe:
            return False
        _, cluster, drawn = self.outlook.ahead(snapshot, SAMPLES)
        known = len(snapshot.known_jobs)
        present = Present(np.full(known, -1), np.zeros(known, dtype=bool), 0.0)
        ways = [cluster.ways(snapshot, {a.job: a for a in decision.assignments}) for decision in (wanted, safe)]
        costs = foreseen(cluster, drawn, snapshot.now_s, present, ways, USUAL)
        assert costs is not None  # nothing limits the time
        return not worth(*costs)

    def state(self) -> dict[str, object]:
        """What has been seen, and who decides."""
        return Memory(agent=self.pricer.trained.sha256, seen=self.outlook.kept()).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on from there.

        Raises
        ------
        OptschedError : it was another agent's.
        """
        kept = recalled(Memory, state)
        self.pricer.trained.expect(kept.agent)
        self.reset(0)
        self.outlook.go_on(kept.seen)
