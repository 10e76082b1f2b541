"""An account of a policy's caps, and of a rule's played beside it: what they have spent, and what they will have spent.

The rule, cap 1, is played on the same snapshots. Ahead of them lie futures (`_futures`): each of the past days may come again,
and at any hour a lump of jobs, such as a day of the trace has now and then, of which a day's caps must then make up most; and
what is believed of carbon may be off as it was at these hours of each past day (`surprises.py`). Days of a history
(`past.py`) stand before those that have been seen.
Plans are played out under all of them (`lanes.py`): the cap that is wanted for some slots, the median rule (`threshold`) or
cap 1, and each of the latter two after the first. What costs least in the mean decides, of those that save several times what
they lose, that hardly risk to cost more than cap 1 from now on and that do not end far behind the rule alone: what has been
lost is lost, up to there. Lumps count by their probability there only where a history has shown that they come, and always by
what is at stake: to who has w left until the rule's cost, a mean saving s and a loss l are worth s - l^2 / 2w, about what a
logarithm of w makes of them. After a history of days without lumps that alone decides. On the first day what it may yet ask
for counts as seen.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from optsched.heuristics.vcc import threshold_cap
from optsched.instances.base import Data, Floats
from optsched.instances.vcc import VccInstance
from optsched.rl.vcc.action import cap_of
from optsched.rolling.vcc import beside, surprises
from optsched.rolling.vcc.beside import Beside, Waiting
from optsched.rolling.vcc.lanes import Futures, Mode, Plan, by_duration, foreseen
from optsched.rolling.vcc.past import NOTHING, Past, usual_day
from optsched.rolling.vcc.surprises import DAYS, Surprises

RULE = 1.0  # its cap
AHEAD_DAYS = 2  # that a plan is played out
RISK = 0.01  # the probability with which a plan may cost more than cap 1 from now on, by what has been seen
SURE = 3.0  # times what a plan loses in some futures it saves in the others: how likely lumps are is a guess
BEHIND = 0.02  # of what the rule alone will have spent: whoever is further behind it stays with it
EARLY = ((1.0, 0.5), (2.0, 0.25), (4.0, 0.25))  # times what the hours so far have asked for, and how likely, on the first day
ROUNDING = 1e-9  # of what the rule alone will have spent
HOLDS = (1, 3, 6, 12)  # slots for which a cap that is wanted may last: who waits for cleaner hours, waits for some


class Kept(Data):
    """An `Account` as JSON."""

    own: beside.Kept
    rule: beside.Kept
    seen: tuple[tuple[Waiting, ...], ...]
    carbon: surprises.Kept


class Account:
    """Of somebody's caps and of the rule's, from the first slot on; nothing is evicted."""

    def __init__(self, kept: Kept | None = None, past: Past = NOTHING) -> None:
        self.past = past
        self.own, self.rule = (Beside(), Beside()) if kept is None else (Beside.of(kept.own), Beside.of(kept.rule))
        self.seen: list[tuple[Waiting, ...]] = [] if kept is None else list(kept.seen)
        self.work = [by_duration(jobs) for jobs in self.seen]
        self.carbon = Surprises(None if kept is None else kept.carbon)

    def observe(self, snapshot: VccInstance) -> float:
        """What has been submitted; hours that are remembered."""
        now, most = snapshot.now, DAYS * snapshot.day_slots
        jobs = tuple((job.ncu, job.duration, now) for job in snapshot.jobs if not job.waited)
        self.seen, self.work = [*self.seen, jobs][-most:], [*self.work, by_duration(jobs)][-most:]
        self.carbon.observe(snapshot, AHEAD_DAYS * snapshot.day_slots)
        for side in (self.own, self.rule):
            side.correct(snapshot)
            side.join(now, list(jobs))
        return len(self.seen) * snapshot.slot_h

    def hours(self, snapshot: VccInstance) -> list[Floats]:
        """What each of the last days' slots has submitted, up to the present one, by `DURATIONS`."""
        return [*self.past.before(snapshot.now + 1 - len(self.work)), *self.work][-DAYS * snapshot.day_slots :]

    def settle(self, snapshot: VccInstance, cap: float) -> None:
        """That cap is set, and the rule sets its own."""
        asked = float(snapshot.asked[0])
        self.own.step(snapshot, 0, cap, asked)
        self.rule.step(snapshot, 0, RULE, asked)

    def cheapest(self, snapshot: VccInstance, wanted: float | None) -> float:
        """The first cap of the plan that is foreseen to cost least, of those that may be risked; else the rule's."""
        if not snapshot.jobs:
            return RULE  # nobody waits: it costs nothing, and the day may come to need it
        slots = min(snapshot.horizon, AHEAD_DAYS * snapshot.day_slots)
        rules = [np.full(slots, Mode.ALL), np.where(threshold_cap(snapshot, slots=slots) < RULE, Mode.HELD, Mode.ALL)]
        held = cap_of(0.0, snapshot)
        plans = [Plan(held if modes[0] else RULE, modes) for modes in rules]
        if wanted is not None and wanted < RULE:
            kept = [np.where(np.arange(slots) < hold, Mode.KEPT, modes) for hold in HOLDS for modes in rules]
            plans += [Plan(wanted, modes) for modes in kept]
        futures = self._futures(snapshot, slots)
        each = foreseen(self.own, snapshot, futures, plans)
        costs, alone = each.mean(axis=2), foreseen(self.rule, snapshot, futures, plans[:1])[0].mean(axis=1)
        dearer = costs > np.maximum(costs[0], alone) * (1 + ROUNDING)  # than cap 1 from now on, and the rule alone
        mean, rule = costs @ futures.weight, float(alone @ futures.weight)
        saved = (each[0] - each) * futures.weight[:, None]
        gained, lost = mean[0] - mean, np.maximum(0.0, costs - np.maximum(costs[0], alone))
        at_stake = 2 * (rule - self.own.spent) * gained < np.square(lost) @ futures.weight
        sure = 1.0 if self.past.lumpy is False else SURE
        unsure = np.maximum(0.0, saved).sum(axis=(1, 2)) < sure * np.maximum(0.0, -saved).sum(axis=(1, 2))
        refused = unsure | at_stake | (dearer @ futures.seen > RISK) | (mean - rule > BEHIND * rule)
        gained = np.where(refused, 0.0, gained)
        best = int(np.argmax(gained))
        return plans[best].cap if gained[best] > ROUNDING * rule else RULE

    def _futures(self, snapshot: VccInstance, slots: int) -> Futures:
        """The hours of past days after this one, each followed by usual ones; and usual ones with a lump of jobs."""
        day, work = snapshot.day_slots, np.array(self.hours(snapshot))
        ahead, left = np.arange(slots) - 1, min(slots, day - snapshot.now % day)
        if len(work) < day:
            times, weight = np.array(EARLY).T
            usual = work[np.arange(day) % len(work)]
            drawn = times[:, None, None] * work[ahead % len(work)]
        else:
            past = [work[first : first + day] for first in range(len(work) - day, -1, -day)]
            usual = usual_day(past)
            later, today = usual[ahead % day], (np.arange(slots) < left)[:, None]
            drawn = np.array([np.where(today, hours[ahead % day], later) for hours in past])
            weight = np.full(len(past), 1 / len(past))
        seen, lumps = weight, self._lumps(slots, left, day)
        if lumps:
            sizes, when, rates = np.array(lumps).T
            more = np.repeat(usual[None, ahead % day], len(lumps), axis=0)
            more[np.arange(len(lumps)), when.astype(np.int64)] += sizes[:, None] * usual.sum(axis=0)
            days = weight * (1 - rates.sum())
            drawn, weight = np.concatenate([drawn, more]), np.concatenate([days, rates])
            seen = np.concatenate([days, rates * bool(self.past.lumpy)])
        drawn[:, 0] = 0.0
        return Futures(weight, seen, drawn, self.carbon.possible(snapshot, slots))

    def _lumps(self, slots: int, left: int, day: int) -> list[tuple[float, int, float]]:
        """Size, slot and probability: one comes in the rest of today, at its beginning, middle or end, or else tomorrow."""
        found, none = list[tuple[float, int, float]](), 1.0
        for first, end in pairwise((1, min(slots, left), min(slots, left + day))):
            moments = sorted({first, (first + end) // 2, end - 1} & set(range(first, end)))
            share = none * (end - first) / day / max(1, len(moments))
            found += [(size, moment, rate * share) for size, rate in self.past.lumps for moment in moments]
            none = 1.0 - sum(likely for *_, likely in found)
        return found

    def kept(self) -> Kept:
        """All of it."""
        return Kept(own=self.own.kept(), rule=self.rule.kept(), seen=tuple(self.seen), carbon=self.carbon.kept())
