"""Policies of vcc: rules, the rolling plan, and what any method needs to be one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optsched.decomposition.vcc.relaxation import StaircaseRelaxation
from optsched.errors import OptschedError
from optsched.heuristics.vcc import RULES, constant_cap, threshold_cap, uncapped_cap
from optsched.instances.base import Data, Floats
from optsched.instances.vcc import VccInstance
from optsched.problems.vcc import Staircase, round_down_to_feasible
from optsched.rl.vcc.agent import CapAgent, agent, shipped
from optsched.rl.vcc.observation import Past
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Factory, ParametricFactory, Policy, Settings, heuristic_policy
from optsched.rolling.slots import whole_slots
from optsched.rolling.vcc.account import RULE, Account, Kept
from optsched.rolling.vcc.day_ahead import DayAheadPolicy
from optsched.rolling.vcc.guard import GuardedAgent
from optsched.schedules.vcc import VccSchedule, simulate_queue

FIRST_DAY = np.array([1.0, 2.0, 4.0, 8.0])  # of the mean so far: nothing else is known
WORSE = 2.0  # than the worst day so far may be the next, with the weight of one day (Laplace's rule of succession)
ROUNDS = 3  # of guessing what a day's caps add up to
FIRST_H = 6.0  # hours in which cap 1 decides: nothing is known yet
DAYS, SURGE = 4, 3  # past days that are futures, and the largest of them so many times over


def present(rule: Callable[[VccInstance], Floats], snapshot: VccInstance, seed: int = 0) -> VccSchedule:
    """A decision with the cap of the present slot alone."""
    return VccSchedule(cap=(float(rule(snapshot)[0]),), starts=())


class Memory(Data):
    """What the rolling plan remembers: NCU-hours submitted by slot, by day, and its account."""

    submitted: list[tuple[int, list[float]]]
    account: Kept


class Rolling:
    """The cheapest staircase of the known jobs, planned anew in every slot, for a day that will ask for more than so far.

    Its cap is held to an account: cap 1 decides in the first hours, where the capacity is crowded, and where that is foreseen
    to cost less.

    What the rest of a day will submit is not known: each past day's remainder after that hour is one of equally likely futures,
    and so is twice the largest (on the first day: multiples of the mean of the hours so far), and the penalty for the caps
    that the day then lacks is the mean over them. The caps that a plan's last staircase would have had stand in for those of
    the next.
    """

    def __init__(self, settings: Settings) -> None:
        settings.allow("rolling")
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget what has been submitted."""
        self.submitted: dict[int, list[float]] = {}  # NCU-hours by slot, by day
        self.account = Account(DAYS, SURGE)

    def decide(self, snapshot: VccInstance) -> VccSchedule:
        """The first cap of the plan, or a rule's where that is foreseen to cost less."""
        if snapshot.preempt:
            return present(uncapped_cap, snapshot)
        self.account.observe(snapshot)
        coming = self._coming(snapshot)
        ruled = len(self.account.seen) * snapshot.slot_h < FIRST_H or self.account.crowded(snapshot)
        cap = RULE if ruled else self.account.cheapest(snapshot, self._planned(snapshot, coming))
        self.account.settle(snapshot, cap)
        return VccSchedule(cap=(cap,), starts=())

    def _planned(self, snapshot: VccInstance, coming: Floats) -> float:
        """The first cap of the plan that costs least in the mean over what may come."""
        known = snapshot.daily_fraction * snapshot.asked[0]
        snapshot = snapshot.model_copy(update={"asked_ncu_h": snapshot.asked_ncu_h + float(coming.max(initial=0.0))})
        relaxed, penalty = StaircaseRelaxation(snapshot), snapshot.daily_penalty_per_ncu_h
        asked = known + snapshot.daily_fraction * coming  # of today, by future
        most = snapshot.daily_fraction * snapshot.asked[0]

        def lacking(given: Floats) -> Floats:
            """Mean penalty of today over the futures, beyond that of the largest one, by what the caps give."""
            mean = np.maximum(0.0, asked[:, None] - given).mean(axis=0)
            return np.asarray(penalty * (mean - np.maximum(0.0, most - given)))

        def expected(stairs: Staircase) -> float:
            today = float(stairs.cap[snapshot.day == 0].sum()) * snapshot.capacity_ncu * snapshot.slot_h
            return stairs.cost() + float(lacking(np.array([today + snapshot.allotted_ncu_h]))[0])

        best = round_down_to_feasible(snapshot, snapshot.arrived.astype(float))
        least, sums = expected(best), relaxed.range[0][:, 0]
        for _ in range(ROUNDS):
            cost = relaxed.lacking(sums)
            cost[0] += lacking(sums[0] + most - relaxed.asked[0])
            path = relaxed.with_daily(np.zeros(snapshot.horizon), cost)
            stairs = round_down_to_feasible(snapshot, path.started.astype(float))
            value = expected(stairs)
            if value < least:
                best, least = stairs, value
            sums = stairs.filled
        return float(best.cap[0])

    def state(self) -> dict[str, object]:
        """What was submitted, and the account."""
        return Memory(submitted=list(self.submitted.items()), account=self.account.kept()).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Remember it."""
        kept = recalled(Memory, state)
        self.submitted, self.account = dict(kept.submitted), Account(DAYS, SURGE, kept.account)

    def _coming(self, snapshot: VccInstance) -> Floats:
        """NCU-hours that the rest of the day may submit, shape (futures,)."""
        day, slot = divmod(snapshot.now, snapshot.day_slots)
        today = self.submitted.setdefault(day, [0.0] * snapshot.day_slots)
        today[slot] = sum(job.ncu * job.duration for job in snapshot.jobs if not job.waited) * snapshot.slot_h
        past = [sum(hours[slot + 1 :]) for d, hours in self.submitted.items() if d != day]
        mean = sum(today) / (slot + 1) * (snapshot.day_slots - slot - 1)
        return np.array([*past, WORSE * max(past)]) if past else mean * FIRST_DAY


class LastCap(Data):
    """What an agent's policy remembers: its last cap, what it has seen, and the sha256 of who set the cap."""

    cap: float
    agent: str
    past: Past


def agent_policy(name: str, settings: Settings) -> Policy[VccInstance, VccSchedule]:
    """A trained agent, shipped or of a file; with its guard, unless that is not wanted."""
    settings.allow(name)
    return AgentPolicy(agent(name)) if settings.guard is False else GuardedAgent(agent(name))


class AgentPolicy:
    """A trained agent without a guard."""

    def __init__(self, agent: CapAgent) -> None:
        self.agent = agent
        self.reset(0)

    def reset(self, seed: int) -> None:
        """No cap yet, and nothing seen."""
        self.cap, self.past = 0.0, Past()

    def decide(self, snapshot: VccInstance) -> VccSchedule:
        """What the agent says to what it sees."""
        self.past = self.past.seen(snapshot)
        self.cap = self.agent.cap(snapshot, self.past, self.cap)
        return VccSchedule(cap=(self.cap,), starts=())

    def doubt(self, instance: VccInstance, forecast: str) -> str | None:
        """Where it was trained on other loads, another instance, or other forecasts."""
        return self.agent.doubt(instance, forecast)

    def state(self) -> dict[str, object]:
        """The last cap, what has been seen, and who set the cap."""
        return LastCap(cap=self.cap, agent=self.agent.sha256, past=self.past).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on after that cap.

        Raises
        ------
        OptschedError : it was another agent's.
        """
        kept = recalled(LastCap, state)
        self.agent.expect(kept.agent)
        self.cap, self.past = kept.cap, kept.past


def _ruled(rule: Callable[..., Floats], name: str, word: str, settings: Settings) -> Policy[VccInstance, VccSchedule]:
    """A rule with its number.

    Raises
    ------
    OptschedError : it is none from 0 to 1.
    """
    try:
        share = float(word)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise OptschedError(f"a policy's number is from 0 to 1, as in constant:0.2 or threshold:0.3, got {word!r}")
    return heuristic_policy(word, partial(present, partial(rule, **{name: share})))(settings)


def truncate_window(snapshot: VccInstance, window_s: float) -> VccInstance:
    """The snapshot over fewer slots; what runs beyond is charged as unfinished."""
    slots = min(snapshot.horizon, whole_slots("window", window_s, snapshot.slot_s))
    fields = ("carbon_kg_per_kwh", "inflexible_ncu", "running_ncu")
    return snapshot.model_copy(update={name: getattr(snapshot, name)[:slots] for name in fields if getattr(snapshot, name)})


def shift_plan(left: VccSchedule, snapshot: VccInstance, passed_s: float) -> VccSchedule:
    """The caps of a plan from now on, and what they start of the jobs known now."""
    caps = left.cap[round(passed_s / snapshot.slot_s) :][: snapshot.horizon]
    return simulate_queue(snapshot, (*caps, *(1.0,) * (snapshot.horizon - len(caps))))


FALLBACK = partial(present, uncapped_cap)

POLICIES: dict[str, Factory[VccInstance, VccSchedule]] = {
    name: heuristic_policy(name, partial(present, rule)) for name, rule in RULES.items()
}
POLICIES["day-ahead"] = DayAheadPolicy
POLICIES["rolling"] = Rolling
POLICIES |= {name: partial(agent_policy, name) for name in shipped()}
PARAMETRIC_POLICIES: dict[
    str, ParametricFactory[VccInstance, VccSchedule]
] = {  # as in agent:weights.npz, constant:0.2, threshold:0.3
    "agent": agent_policy,
    "constant": partial(_ruled, constant_cap, "cap"),
    "threshold": partial(_ruled, threshold_cap, "quantile"),
}
