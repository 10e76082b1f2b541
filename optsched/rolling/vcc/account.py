"""An account of a policy's caps, and of a rule's played beside it: what they have spent, and what they will have spent.

The rule, cap 1, is played on the same snapshots. Ahead of them lie three days in which a rule decides from the next slot on and
the jobs of past days come again (rollouts). Where little is asked for, the median rule (`threshold`) is another that may
decide, now or from the next slot on: what is foreseen to cost least does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsched.heuristics.vcc import threshold_cap
from optsched.instances.base import Data
from optsched.instances.vcc import VccInstance
from optsched.rolling.vcc import beside
from optsched.rolling.vcc.beside import Beside, Waiting

RULE = 1.0  # its cap
AHEAD_DAYS = 3  # that a rollout goes
CALM = 0.2  # of what the inflexible load leaves, asked for in a day: up to there the median rule has room to make up for it
CROWDED = 0.4  # of what the inflexible load leaves, asked for in a day: what is held back then may not be made up for


class Kept(Data):
    """An `Account` as JSON."""

    own: beside.Kept
    rule: beside.Kept
    seen: tuple[tuple[Waiting, ...], ...]


class Account:
    """Of somebody's caps and of the rule's, from the first slot on; nothing is evicted.

    Parameters
    ----------
    days
        So many past days are futures, equally likely.
    surge
        Besides, all jobs of the largest of them so many times; 0: not.
    holds
        Slots for which a cap that is wanted may last before a rule decides: who waits for cleaner hours, waits for some.
    usual
        So many past days say, by their median, what a day asks for: one crowded day is none of many.
    early
        Before a whole day has been seen it may ask for so many times what the slots so far say.
    kept
        To go on from.
    """

    def __init__(
        self,
        days: int = 1,
        surge: int = 0,
        kept: Kept | None = None,
        holds: tuple[int, ...] = (1,),
        usual: int = 1,
        early: float = 1.0,
    ) -> None:
        self.days, self.surge, self.holds, self.usual, self.early = days, surge, holds, usual, early
        self.own, self.rule = (Beside(), Beside()) if kept is None else (Beside.of(kept.own), Beside.of(kept.rule))
        self.seen: list[tuple[Waiting, ...]] = [] if kept is None else list(kept.seen)

    def observe(self, snapshot: VccInstance) -> float:
        """What has been submitted; hours that are remembered."""
        now, day = snapshot.now, snapshot.day_slots
        jobs = [(job.ncu, job.duration, now) for job in snapshot.jobs if not job.waited]
        self.seen = [*self.seen, tuple(jobs)][-max(self.days, self.usual) * day :]
        for side in (self.own, self.rule):
            side.join(now, jobs)
        return len(self.seen) * snapshot.slot_h

    def settle(self, snapshot: VccInstance, cap: float) -> None:
        """That cap is set, and the rule sets its own."""
        asked = float(snapshot.asked[0])
        self.own.step(snapshot, 0, cap, asked)
        self.rule.step(snapshot, 0, RULE, asked)

    def crowded(self, snapshot: VccInstance) -> bool:
        """Whether so much is asked for that the rule decides whatever anybody wants."""
        return self._share(snapshot) > CROWDED

    def _share(self, snapshot: VccInstance) -> float:
        """Of what the inflexible load leaves in a day, what a day asks for."""
        day = snapshot.day_slots
        past = [_work(jobs) for jobs in self._past(day, self.usual)]
        asked = float(np.median(past)) if past else _work(self.seen) * self.early * day / len(self.seen)
        room = day * float(np.maximum(0.0, snapshot.capacity_ncu - snapshot.inflexible[:day]).mean())
        return asked / room if room else float("inf") if asked else 0.0

    def cheapest(self, snapshot: VccInstance, wanted: float | None) -> float:
        """The cap that is foreseen to cost least; the rule's where that is more than the rule alone would have cost."""
        share = self._share(snapshot)
        if share > CROWDED:
            return RULE
        slots = min(snapshot.horizon, AHEAD_DAYS * snapshot.day_slots)
        rules = [np.full(slots, RULE)]
        if share <= CALM:
            rules.append(threshold_cap(snapshot)[:slots])
        futures = self._futures(snapshot, slots)
        holds = () if wanted is None else self.holds
        first = [np.concatenate([np.full(min(hold, slots), wanted), rule[hold:]]) for hold in holds for rule in rules]
        paths = [*first, *rules]
        costs = [sum(self.own.foreseen(snapshot, path, coming) for coming in futures) for path in paths]
        best = int(np.argmin(costs))
        alone = sum(self.rule.foreseen(snapshot, rules[0], coming) for coming in futures)
        return RULE if costs[best] > alone else float(paths[best][0])

    def _past(self, day: int, count: int) -> list[list[tuple[Waiting, ...]]]:
        """What the last so many whole days have submitted, slot by slot, the last one first."""
        return [self.seen[first : first + day] for first in range(len(self.seen) - day, -1, -day)][:count]

    def _futures(self, snapshot: VccInstance, ahead: int) -> list[list[list[Waiting]]]:
        """What the slots to come may submit, shape (futures, slots, jobs): the present one's jobs have come."""
        past = self._past(snapshot.day_slots, self.days) or [self.seen]
        most = max(past, key=_work)

        def again(jobs: Sequence[tuple[Waiting, ...]], times: int) -> list[list[Waiting]]:
            return [
                [(ncu, duration, snapshot.now + k) for ncu, duration, _ in jobs[(k - 1) % len(jobs)]] * times
                for k in range(ahead)
            ]

        return [*(again(jobs, 1) for jobs in past), *([again(most, self.surge)] if self.surge else [])]

    def kept(self) -> Kept:
        """All of it."""
        return Kept(own=self.own.kept(), rule=self.rule.kept(), seen=tuple(self.seen))


def _work(slots: Sequence[tuple[Waiting, ...]]) -> float:
    """NCU-slots that they submit."""
    return sum(ncu * duration for jobs in slots for ncu, duration, _ in jobs)
