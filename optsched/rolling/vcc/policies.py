"""Policies of vcc: rules, the rolling plan, and what any method needs to be one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from optsched.errors import OptschedError
from optsched.heuristics.vcc import RULES, constant_cap, threshold_cap, uncapped_cap
from optsched.instances.base import Data, Floats
from optsched.instances.vcc import VccInstance
from optsched.rl.vcc.agent import shipped
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Factory, ParametricFactory, Policy, Settings, heuristic_policy
from optsched.rolling.slots import whole_slots
from optsched.rolling.vcc.account import RULE, Account, Kept
from optsched.rolling.vcc.agents import agent_policy
from optsched.rolling.vcc.day_ahead import DayAheadPolicy
from optsched.rolling.vcc.past import NOTHING, Past
from optsched.rolling.vcc.plan import planned_cap, rest_of_day
from optsched.schedules.vcc import VccSchedule, simulate_queue

FIRST_H = 24.0  # hours that must be known of, here or from a history, before anything but cap 1 decides


def present(rule: Callable[[VccInstance], Floats], snapshot: VccInstance, seed: int = 0) -> VccSchedule:
    """A decision with the cap of the present slot alone."""
    return VccSchedule(cap=(float(rule(snapshot)[0]),), starts=())


class Memory(Data):
    """What the rolling plan remembers: NCU-hours submitted by slot, by day, and its account."""

    submitted: list[tuple[int, list[float]]]
    account: Kept


class Rolling:
    """The cheapest staircase of the known jobs, planned anew in every slot (`plan.py`).

    Its cap is held to an account: cap 1 decides where it is foreseen to cost less, or the plan's risks to cost more; and in the
    first hours, where there is no history.

    Parameters
    ----------
    settings
        `history`: an instance of past days, whose submissions tell what to expect.
    """

    def __init__(self, settings: Settings) -> None:
        settings.allow("rolling", "history")
        history = settings.past(VccInstance)
        self.past = NOTHING if history is None else Past.of(history)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget what has been submitted."""
        self.submitted: dict[int, list[float]] = {}  # NCU-hours by slot, by day
        self.account = Account(past=self.past)

    def decide(self, snapshot: VccInstance) -> VccSchedule:
        """The first cap of the plan, or a rule's where that is foreseen to cost less."""
        self.account.observe(snapshot)
        coming = self._coming(snapshot)
        ruled = len(self.account.hours(snapshot)) * snapshot.slot_h < FIRST_H
        cap = RULE if ruled else self.account.cheapest(snapshot, planned_cap(snapshot, coming))
        self.account.settle(snapshot, cap)
        return VccSchedule(cap=(cap,), starts=())

    def state(self) -> dict[str, object]:
        """What was submitted, and the account."""
        return Memory(submitted=list(self.submitted.items()), account=self.account.kept()).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Remember it."""
        kept = recalled(Memory, state)
        self.submitted, self.account = dict(kept.submitted), Account(kept.account, self.past)

    def _coming(self, snapshot: VccInstance) -> Floats:
        """NCU-hours that the rest of the day may submit, shape (futures,)."""
        day, slot = divmod(snapshot.now, snapshot.day_slots)
        today = self.submitted.setdefault(day, [0.0] * snapshot.day_slots)
        today[slot] = sum(job.ncu * job.duration for job in snapshot.jobs if not job.waited) * snapshot.slot_h
        days = [*self.past.asked, *(hours for d, hours in self.submitted.items() if d != day)]
        past = [sum(hours[slot + 1 :]) for hours in days]
        return rest_of_day(today[: slot + 1], past, snapshot.day_slots - slot - 1)


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
