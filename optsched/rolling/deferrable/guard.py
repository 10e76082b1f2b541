"""A guard around a learned policy of deferrable: where FIFO would have earned more by now, FIFO decides.

FIFO is played beside the agent on the same arrivals. On every snapshot both are held to the same account: what their starts so
far are worth, and what those of a plan of the known jobs will be: FIFO's for the one, and what the agent starts now followed by
FIFO for the other. The agent decides while it is behind by no more than a small share of what there will be in the end, and
also where FIFO's starts now would do no better: FIFO that takes over a queue is not the FIFO that has been played.
"""

from __future__ import annotations

import numpy as np

from optsched.heuristics.deferrable import dispatch, fifo
from optsched.instances.base import Data
from optsched.instances.deferrable import DeferrableInstance
from optsched.rolling.deferrable.scores import Remembered, ScorePolicy
from optsched.rolling.deferrable.shadow import Kept, Shadow
from optsched.rolling.memory import recalled
from optsched.schedules.deferrable import DeferrableSchedule

ALLOWED = 0.01  # of what FIFO will have earned in the end, by which the agent may be behind
EARLY = 0.15  # of the horizon: what is known until then says little of the end


class Account(Data):
    """What a guarded agent remembers."""

    agent: Remembered
    rule: Kept
    earned: float


class GuardedScores:
    """An agent, and the rule that stands in for it.

    Attributes
    ----------
    overruled
        Whether FIFO decided the last snapshot.
    """

    def __init__(self, policy: ScorePolicy) -> None:
        self.policy = policy
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Nothing earned yet."""
        self.policy.reset(seed)
        self.overruled, self.earned, self.rule = False, 0.0, Shadow()

    def decide(self, snapshot: DeferrableInstance) -> DeferrableSchedule:
        """The agent's starts, or FIFO's."""
        before = self.policy.past.copied()
        wanted = self.policy.decide(snapshot)
        gone = snapshot.now / (snapshot.now + snapshot.horizon)
        rule = self.rule.sees(snapshot)
        least = rule - ALLOWED * rule / max(EARLY, gone)
        own = worth(snapshot, followed(snapshot, wanted))
        self.overruled = self.earned + own < least and own < worth(snapshot, dispatch(snapshot, fifo))
        if self.overruled:
            wanted = dispatch(snapshot, fifo, slots=1)
            self.policy.past = before
            self.policy.note(snapshot, wanted)
        self.rule.done(snapshot, wanted)
        self.earned += worth(snapshot, wanted)
        return wanted

    def doubt(self, instance: DeferrableInstance, forecast: str) -> str | None:
        """None: the account tells."""
        return self.policy.doubt(instance, forecast)

    def state(self) -> dict[str, object]:
        """The account, and what the agent remembers."""
        kept = recalled(Remembered, self.policy.state())
        return Account(agent=kept, rule=self.rule.kept(), earned=self.earned).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on from there.

        Raises
        ------
        OptschedError : it was another agent's.
        """
        kept = recalled(Account, state)
        self.policy.restore(kept.agent.model_dump(mode="json"))
        self.rule, self.earned = Shadow.of(kept.rule), kept.earned


def worth(snapshot: DeferrableInstance, plan: DeferrableSchedule) -> float:
    """What a plan that overloads nothing earns."""
    index, jobs = {job.id: j for j, job in enumerate(snapshot.jobs)}, snapshot.columns
    j = np.array([index[start.job] for start in plan.starts], dtype=np.int64)
    start = np.array([start.start for start in plan.starts], dtype=np.int64)
    delay = start - jobs.earliest[j] + jobs.waited[j]
    return float((jobs.cores[j] * jobs.duration[j] - snapshot.delay_penalty * delay).sum())


def followed(snapshot: DeferrableInstance, now: DeferrableSchedule) -> DeferrableSchedule:
    """Those starts, and what FIFO makes of the other jobs from the next slot on."""
    left, chosen = snapshot.capacity_cores.copy(), {start.job for start in now.starts}
    for job in snapshot.jobs:
        if job.id in chosen:
            left[: job.duration] -= job.cores
    others = tuple(
        job.model_copy(update={"earliest": max(1, job.earliest), "waited": job.waited + (job.earliest == 0)})
        for job in snapshot.jobs
        if job.id not in chosen and job.latest >= 1
    )
    capacity = tuple(np.maximum(0.0, left).tolist())
    rest = snapshot.model_copy(update={"jobs": others, "capacity": capacity})
    later = dispatch(rest, fifo)
    return DeferrableSchedule(starts=(*now.starts, *later.starts))
