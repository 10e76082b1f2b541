"""A guard around a trained agent: where it is out of its depth, or behind what a rule would have cost, a rule decides.

An agent knows what it was trained on. What it sees elsewhere may lie outside that; and where it does not, its decisions may
still be dear. So a rule, cap 1, is played beside it on the same snapshots, and both are held to the same account: what they
have spent, and what they will have spent in three days if a rule decides from the next slot on and the jobs of the last day
come again (a rollout). Where little is asked for, the median rule (`threshold`) is another that may decide, now or from the
next slot on: what is foreseen to cost least does.
"""

from __future__ import annotations

import numpy as np

from optsched.heuristics.vcc import threshold_cap
from optsched.instances.base import Data
from optsched.instances.vcc import VccInstance
from optsched.rl.vcc.agent import CapAgent
from optsched.rl.vcc.observation import Past
from optsched.rolling.memory import recalled
from optsched.rolling.vcc.beside import Beside, Kept, Waiting
from optsched.schedules.vcc import VccSchedule

RULE = 1.0  # its cap
AHEAD_DAYS = 3  # that a rollout goes
CALM = 0.2  # of what the inflexible load leaves, asked for in a day: up to there the median rule has room to make up for it
CROWDED = 0.4  # of what the inflexible load leaves, asked for in a day: what is held back then may not be made up for


class Memory(Data):
    """What a guarded agent remembers."""

    cap: float
    agent: str
    own: Kept
    rule: Kept
    seen: tuple[tuple[Waiting, ...], ...]
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
        self.own, self.rule = Beside(), Beside()
        self.seen: list[tuple[Waiting, ...]] = []
        self.past = Past()

    def decide(self, snapshot: VccInstance) -> VccSchedule:
        """The agent's cap, or the rule's."""
        self.past = self.past.seen(snapshot)
        if snapshot.preempt:  # agents are trained without evictions, and the account knows none
            self.overruled = True
            return VccSchedule(cap=(RULE,), starts=())
        now, day = snapshot.now, snapshot.day_slots
        jobs = [(job.ncu, job.duration, now) for job in snapshot.jobs if not job.waited]
        self.seen = [*self.seen[-day + 1 :], tuple(jobs)]
        for side in (self.own, self.rule):
            side.join(now, jobs)
        asked, wanted = float(snapshot.asked[0]), self.agent.cap(snapshot, self.past, self.cap)
        known, at_home = len(self.seen) >= day, self.agent.at_home(snapshot, self.past, self.cap)
        self.cap = self._cheapest(snapshot, wanted if at_home else None) if known else RULE
        self.overruled = not (known and at_home) or self.cap != wanted
        self.own.step(snapshot, 0, self.cap, asked)
        self.rule.step(snapshot, 0, RULE, asked)
        return VccSchedule(cap=(self.cap,), starts=())

    def _cheapest(self, snapshot: VccInstance, wanted: float | None) -> float:
        """The cap that is foreseen to cost least; the rule's where that is more than the rule alone would have cost."""
        day, slots = snapshot.day_slots, min(snapshot.horizon, AHEAD_DAYS * snapshot.day_slots)
        asked = sum(ncu * duration for jobs in self.seen for ncu, duration, _ in jobs)
        room = float(np.maximum(0.0, snapshot.capacity_ncu - snapshot.inflexible[:day]).sum())
        if asked > CROWDED * room:
            return RULE
        rules = [np.full(slots, RULE)]
        if asked <= CALM * room:
            rules.append(threshold_cap(snapshot)[:slots])
        coming = [[(ncu, duration, snapshot.now + k) for ncu, duration, _ in self.seen[(k - 1) % day]] for k in range(slots)]
        first = [] if wanted is None else [np.concatenate([[wanted], rule[1:]]) for rule in rules]
        paths = [*first, *rules]
        costs = [self.own.foreseen(snapshot, path, coming) for path in paths]
        best = int(np.argmin(costs))
        return RULE if costs[best] > self.rule.foreseen(snapshot, rules[0], coming) else float(paths[best][0])

    def doubt(self, instance: VccInstance, forecast: str) -> str | None:
        """Where the agent was trained on other loads, another instance, or other forecasts."""
        return self.agent.doubt(instance, forecast)

    def state(self) -> dict[str, object]:
        """Both accounts, the last cap, and who set it."""
        own, rule, seen = self.own.kept(), self.rule.kept(), tuple(self.seen)
        kept = Memory(cap=self.cap, agent=self.agent.sha256, own=own, rule=rule, seen=seen, past=self.past)
        return kept.model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on from there.

        Raises
        ------
        OptschedError : it was another agent's.
        """
        kept = recalled(Memory, state)
        self.agent.expect(kept.agent)
        self.cap, self.seen, self.past = kept.cap, list(kept.seen), kept.past
        self.own, self.rule = Beside.of(kept.own), Beside.of(kept.rule)
