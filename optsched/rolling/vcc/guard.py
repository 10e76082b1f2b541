"""A guard around a trained agent: where it is out of its depth, or behind what a rule would have cost, a rule decides.

An agent knows what it was trained on. What it sees elsewhere may lie outside that; and where it does not, its decisions may
still be dear. So a rule is played beside it, and both are held to the same account (`account.py`).
"""

from __future__ import annotations

from optsched.instances.base import Data
from optsched.instances.vcc import VccInstance
from optsched.rl.vcc.agent import CapAgent
from optsched.rl.vcc.observation import Past
from optsched.rolling.memory import recalled
from optsched.rolling.vcc.account import RULE, Account, Kept
from optsched.schedules.vcc import VccSchedule

FIRST_H = 6.0  # hours in which the rule decides: nothing is known yet


class Memory(Data):
    """What a guarded agent remembers."""

    cap: float
    agent: str
    account: Kept
    past: Past


class GuardedAgent:
    """An agent, and the rule that stands in for it.

    Attributes
    ----------
    overruled
        Whether the rule decided the last snapshot.
    """

    def __init__(self, agent: CapAgent) -> None:
        self.agent = agent
        self.reset(0)

    def reset(self, seed: int) -> None:
        """No cap yet, and nothing spent."""
        self.cap = 0.0
        self.overruled = False
        self.account = Account()
        self.past = Past()

    def decide(self, snapshot: VccInstance) -> VccSchedule:
        """The agent's cap, or the rule's."""
        self.past = self.past.seen(snapshot)
        if snapshot.preempt:  # agents are trained without evictions, and the account knows none
            self.overruled = True
            return VccSchedule(cap=(RULE,), starts=())
        shown, snapshot = snapshot, self.agent.believed(snapshot, self.past)
        known = self.account.observe(snapshot) >= FIRST_H
        wanted, at_home = self.agent.cap(snapshot, self.past, self.cap), self.agent.at_home(snapshot, self.past, self.cap)
        self.cap = self.account.cheapest(snapshot, wanted if at_home else None) if known else RULE
        self.overruled = not (known and at_home) or self.cap != wanted
        self.account.settle(shown, self.cap)
        return VccSchedule(cap=(self.cap,), starts=())

    def doubt(self, instance: VccInstance, forecast: str) -> str | None:
        """Where the agent was trained on other loads, another instance, or other forecasts."""
        return self.agent.doubt(instance, forecast)

    def state(self) -> dict[str, object]:
        """The account, the last cap, and who set it."""
        kept = Memory(cap=self.cap, agent=self.agent.sha256, account=self.account.kept(), past=self.past)
        return kept.model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on from there.

        Raises
        ------
        OptschedError : it was another agent's.
        """
        kept = recalled(Memory, state)
        self.agent.expect(kept.agent)
        self.cap, self.past = kept.cap, kept.past
        self.account = Account(kept.account)
