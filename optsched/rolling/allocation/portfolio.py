"""The recommended policy of allocation: rules played out under futures drawn from what has come; the best on the mean decides.

Rollouts over a portfolio (Bertsekas, Rollout, Policy Iteration, and Distributed Reinforcement Learning, 2020), with common
random numbers for all rules. The rules are the priced dispatch at prices from nearly nothing to more than those who wait would
pay, some of which let a job wait for a better way, and least slack first. A rule decides for a while, then the one with the
best mean: so what counts is what it does now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from optsched.heuristics.allocation.dispatch import dispatch, due_date, submission
from optsched.heuristics.allocation.greedy import greedy
from optsched.heuristics.allocation.priced import Bidding, priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Data, Floats, Ints
from optsched.rolling.allocation import instead
from optsched.rolling.allocation.futures import Futures
from optsched.rolling.allocation.holding import Held, going_on
from optsched.rolling.allocation.ledger import rate_per_h
from optsched.rolling.allocation.match_running import match_running_nodes
from optsched.rolling.allocation.outlook import Kept, Outlook
from optsched.rolling.allocation.playout import Cluster, Playout, Present, pace
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Settings
from optsched.schedules.allocation import AllocationSchedule, Assignment
from optsched.stop import Clock, Spare

HARDLY = 0.003  # so little of a fade orders jobs by their slack
RULES = (
    *(
        Bidding(price, fade, short, True, patience)
        for price, fade, short, patience in (
            *product((0.03, 0.1, 0.2, 0.4, 0.8, 1.6), (0.3,), (0.5,), (np.inf,)),
            *product((0.03, 0.1, 0.2, 0.4, 0.8), (0.3,), (0.5,), (30.0,)),
            (0.8, 0.3, 0.0, np.inf),
            *product((0.1, 0.3), (1.0,), (0.5,), (np.inf,)),
        )
    ),
    *(Bidding(0.03, HARDLY, 0.0, shared) for shared in (True, False)),
    Bidding(0.03, 0.3, 0.5, False),
)
KEEPING = tuple(replace(rule, keeps=True) for rule in RULES if np.isinf(rule.patience))
"""Besides, where work that moves is lost: what runs goes on as it does."""
WARY = tuple(
    replace(rule, caution=caution)
    for caution in (2.0, 4.0)
    for rule in RULES
    if rule.price in (0.03, 0.2, 0.8) and rule.short and np.isinf(rule.patience)
)
"""Besides, where jobs do not take what is told of them."""
ALL = RULES + KEEPING + WARY
BASES = tuple(i for i, rule in enumerate(RULES) if rule.price in (0.03, 0.1, 0.4, 1.6))
"""One of them takes over later."""
FIRST = RULES.index(Bidding(0.4, 0.3, 0.5, True, 30.0))  # decides until another one is known to be better

SAMPLES = instead.USUAL_ONES  # futures, fewer where a step is large
STEPS = 40  # decisions in a future
AFTER = 5  # of them, a rule makes way for the one with the best mean: what counts is what it does now
EASY, WORK = 3e4, 1.3e6  # jobs times ways in all lanes: of a step up to which samples are added, and of a decision
SURE = 1.0  # standard errors by which another rule must be ahead of the last one
SHARE = 0.5  # of a budget, for playing
ROUNDING = 1e-9  # of what nodes cost
MUCH = 1e300  # what numbers beyond all measure cost


class Memory(Data):
    """What the policy remembers."""

    seen: Kept
    held: tuple[Assignment, ...]
    begun: tuple[str, ...]
    last: int


class Portfolio:
    """The rule that is best on the mean of sampled futures decides, anew at every event.

    Parameters
    ----------
    settings
        `history`: an instance of past days, whose arrivals tell what to expect. `budget_s`: by the clock, so that decisions
        are no longer the same on every machine.
    """

    def __init__(self, settings: Settings) -> None:
        settings.allow("rolling", "history")
        self.history, self.budget_s = settings.past(AllocationInstance), settings.budget_s
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Nothing has come but the history."""
        self.outlook = Outlook(seed, () if self.history is None else self.history.jobs)
        self.held: dict[str, Assignment] = {}
        self.begun: set[str] = set()
        self.last = FIRST

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        """What the rule does now that serves best from here on."""
        spare = None if self.budget_s is None else Spare(Clock(), SHARE * self.budget_s)
        away = self._observe(snapshot)
        if not len(snapshot.known_jobs):
            decision = AllocationSchedule(assignments=())
        else:
            rules = self._rules(snapshot)
            steps, samples = _sizes(len(snapshot.known_jobs) * sum(c.gpus for c in snapshot.node_classes), len(rules))
            snapshot, cluster, ahead = self.outlook.ahead(snapshot, samples)
            present = self._present(snapshot, cluster)
            self.last = self._best(snapshot.now_s, cluster, ahead, present, rules, steps, spare)
            decision = priced_dispatch(snapshot, bidding=ALL[self.last], held=self.held)
            if samples == SAMPLES and (spare is None or spare()):  # of many jobs it would take long
                decision = self._instead(snapshot, cluster, ahead, present, decision, spare)
        decision = match_running_nodes(snapshot, decision, {job: (a.node, a.gpus) for job, a in self.held.items()})
        self.held = {a.job: a for a in decision.assignments}
        self.outlook.decided(snapshot, self.held, self.begun)
        self.begun |= self.held.keys()
        self.held |= away
        return decision

    def _observe(self, snapshot: AllocationInstance) -> Held:
        """Who is new, and who is gone; what is out of sight."""
        self.held, away = going_on(self.held, snapshot)
        self.outlook.observe(snapshot, away)
        self.begun &= {job.id for job in snapshot.known_jobs} | away.keys()
        return away

    def _best(
        self,
        now_s: float,
        cluster: Cluster,
        ahead: Futures,
        present: Present,
        rules: Sequence[int],
        steps: int,
        spare: Spare | None,
    ) -> int:
        """Which rule has the least mean cost; the last one where none is clearly better, or all do the same now."""
        ends, samples = pace(cluster), len(ahead.submit_s)

        def opened(now: Sequence[int]) -> Playout:
            lanes = [ALL[r] for r in now for _ in range(samples)]
            return Playout(cluster, ahead, now_s, present, lanes, np.tile(np.arange(samples), len(now)))

        def played(playout: Playout, later: Bidding | None = None) -> Floats | None:
            found = playout.run(steps, ends, spare, later, AFTER)
            return None if found is None else np.nan_to_num(found, nan=MUCH, posinf=MUCH).reshape(-1, samples)

        everyone = opened(rules)
        if not everyone.differ(ends) or (alone := played(opened(BASES))) is None:
            return self.last
        costs = played(everyone, ALL[BASES[int(alone.mean(axis=1).argmin())]])
        if costs is None:
            return self.last
        best = int(costs.mean(axis=1).argmin())
        ahead_by = costs[rules.index(self.last)] - costs[best]
        sure = ahead_by.mean() > SURE * ahead_by.std() / np.sqrt(samples)
        return rules[best] if sure else self.last

    def _rules(self, snapshot: AllocationInstance) -> list[int]:
        """Those that are worth a look, the last one among them."""
        rules = list(range(len(RULES)))
        if snapshot.migration_cost_s:
            rules += range(len(RULES), len(RULES + KEEPING))
        if self.outlook.durations.surprise:
            rules += range(len(RULES + KEEPING), len(ALL))
        return rules if self.last in rules else [*rules, self.last]  # a failure has undone what was a surprise

    def _instead(
        self,
        snapshot: AllocationInstance,
        cluster: Cluster,
        ahead: Futures,
        present: Present,
        ruled: AllocationSchedule,
        spare: Spare | None,
    ) -> AllocationSchedule:
        """The rule's decision, or a heuristic's that is worth more, or that runs the same on nodes that cost less."""
        frugal = greedy(snapshot)

        def ways(decision: AllocationSchedule) -> Ints:
            return cluster.ways(snapshot, {a.job: a for a in decision.assignments})

        unlike = {ways(ruled).tobytes(): ruled}
        for other in (frugal, dispatch(snapshot, due_date), dispatch(snapshot, submission, self.held)):
            if other.assignments:
                unlike.setdefault(ways(other).tobytes(), other)
        if len(listed := list(unlike.values())) > 1:
            drawn, rule = ahead.taken(np.arange(instead.SAMPLES) % SAMPLES), ALL[self.last]
            costs = instead.foreseen(cluster, drawn, snapshot.now_s, present, [*map(ways, listed)], rule, spare)
            if costs is not None:
                order = np.argsort(costs[:, : instead.USUAL_ONES].mean(axis=1), kind="stable").tolist()
                better = (i for i in order if instead.dominates(costs[i], costs[0]) or instead.worth(costs[i], costs[0]))
                ruled = next((listed[i] for i in better), ruled)
        cheaper = rate_per_h(snapshot, frugal) < rate_per_h(snapshot, ruled) * (1 - ROUNDING) and not snapshot.migration_cost_s
        return frugal if cheaper and (ways(frugal) == ways(ruled)).all() else ruled

    def _present(self, snapshot: AllocationInstance, cluster: Cluster) -> Present:
        """What runs by this policy's last decision."""
        begun = [job.id in self.begun for job in snapshot.known_jobs]
        return Present(cluster.ways(snapshot, self.held), np.array(begun, dtype=bool), snapshot.migration_cost_s)

    def state(self) -> dict[str, object]:
        """The `Memory`."""
        return Memory(
            seen=self.outlook.kept(),
            held=tuple(self.held.values()),
            begun=tuple(sorted(self.begun)),
            last=self.last,
        ).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on with it."""
        kept = recalled(Memory, state)
        self.reset(0)
        self.outlook.go_on(kept.seen)
        self.held, self.begun, self.last = {a.job: a for a in kept.held}, set(kept.begun), kept.last


def _sizes(size: int, rules: int) -> tuple[int, int]:
    """Steps and samples: fewer of the latter, then of the former, where there are many jobs and ways (their product)."""
    samples = int(np.clip(EASY / (size * rules), 2, SAMPLES))
    return int(np.clip(WORK / (samples * size * rules), 6, STEPS)), samples
