"""Learned policies of allocation, bare and with a guard that lets a rule decide where they do worse or have never been.

The guard keeps two accounts of what is known: its own, and that of the rule (`priced`) played beside it on the same arrivals.
What each will have spent when the known jobs are done is foreseen by a rollout. The rule decides where the learned decision
ends dearer than the rule would have, or clearly dearer than the rule's decision here.
"""

from __future__ import annotations

from optsched.heuristics.allocation.priced import priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Data
from optsched.rl.allocation.pricer import Pricer, bids
from optsched.rl.allocation.scores import carried_out
from optsched.rl.allocation.view import see
from optsched.rl.trained import file_of
from optsched.rolling.allocation import beside, ledger
from optsched.rolling.allocation.beside import Beside
from optsched.rolling.allocation.ledger import Ledger
from optsched.rolling.allocation.rollout import Rollout
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Policy, Settings
from optsched.schedules.allocation import AllocationSchedule

FAR = 8.0  # standard deviations of what it was trained on, beyond which it has never been
BEHIND = 1.0  # of what the rule will have spent: more is worse
DEARER = 1.1  # than the rule's decision here, when played out: a rollout knows nothing of who comes, and errs as much


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
    own: ledger.Kept
    rule: beside.Kept


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
        """Nothing spent yet."""
        self.overruled = False
        self.own, self.rule = Ledger(), Beside()

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        """The learned decision, or the rule's."""
        self.own.end(snapshot.now_s)
        ruled = self.rule.follow(snapshot, priced_dispatch)
        wanted, safe = self._wanted(snapshot), priced_dispatch(snapshot)
        self.overruled = wanted is None or self._dearer(snapshot, wanted, safe, ruled)
        decision = safe if wanted is None or self.overruled else wanted
        self.own.begin(snapshot, decision)
        return decision

    def _wanted(self, snapshot: AllocationInstance) -> AllocationSchedule | None:
        """The learned decision; None where it was not trained for this: work that moves is lost, or numbers never met."""
        if snapshot.migration_cost_s:
            return None
        view = see(snapshot)
        if self.pricer.distance(view) > FAR:
            return None
        return carried_out(snapshot, view.listed, bids(view, self.pricer.price(view)))

    def _dearer(
        self,
        snapshot: AllocationInstance,
        wanted: AllocationSchedule,
        safe: AllocationSchedule,
        ruled: AllocationInstance,
    ) -> bool:
        """Whether that decision is foreseen to cost more than the rule's here, or than the rule from the beginning."""
        if wanted == safe:
            return False
        here = Rollout(snapshot)
        mine, rules = here.cost(wanted), here.cost(safe)
        if mine > DEARER * rules:
            return True
        beside = self.rule.ledger.settled(ruled) + Rollout(ruled).cost(priced_dispatch(ruled))
        return rules < mine and self.own.settled(snapshot) + mine > BEHIND * beside

    def state(self) -> dict[str, object]:
        """Both accounts, and who decides."""
        kept = Memory(agent=self.pricer.trained.sha256, own=self.own.kept(), rule=self.rule.kept())
        return kept.model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on from there.

        Raises
        ------
        OptschedError : it was another agent's.
        """
        kept = recalled(Memory, state)
        self.pricer.trained.expect(kept.agent)
        self.own, self.rule = Ledger.of(kept.own), Beside.of(kept.rule)
