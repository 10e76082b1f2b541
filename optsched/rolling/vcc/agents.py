"""Trained agents as policies: networks that say a share of the queue, and a forecast that the rolling plan plans by."""

from __future__ import annotations

from dataclasses import dataclass

from optsched.errors import InputError
from optsched.instances.base import Data
from optsched.instances.vcc import VccInstance
from optsched.rl.trained import Trained, file_of
from optsched.rl.vcc.agent import PROBLEM, CapAgent, agent, kind_of
from optsched.rl.vcc.carbon import KIND, CarbonForecast
from optsched.rl.vcc.observation import Past
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Policy, Settings
from optsched.rolling.vcc.guard import GuardedAgent
from optsched.rolling.vcc.plan import planned_cap, rest_of_day
from optsched.schedules.vcc import VccSchedule

SEEN_H = 24.0  # before a day has been seen, nobody knows what carbon does in one


@dataclass(frozen=True)
class Foresight:
    """Believes a learned forecast of carbon, and plans by it as `rolling` does."""

    forecast: CarbonForecast

    @property
    def trained(self) -> Trained:
        """The forecast's weights and card."""
        return self.forecast.trained

    def believed(self, snapshot: VccInstance, past: Past) -> VccInstance:
        """With the hours that are foretold."""
        return self.forecast.believed(snapshot, past)

    def cap(self, snapshot: VccInstance, past: Past, last: float) -> float:
        """The first cap of the cheapest plan."""
        day, slot = snapshot.day_slots, snapshot.now % snapshot.day_slots
        asked = past.asked[: -slot - 1]  # of the days before
        before = [asked[max(0, end - day) : end] for end in range(len(asked), 0, -day)]
        rest = [sum(hours[slot + 1 :]) for hours in before if len(hours) == day]
        return planned_cap(snapshot, rest_of_day(past.asked[-slot - 1 :], rest, day - slot - 1))

    def at_home(self, snapshot: VccInstance, past: Past, last: float) -> bool:
        """Whether slots are its own, and a day has been seen."""
        return self.forecast.knows(snapshot) and len(past.carbon) * snapshot.slot_h >= SEEN_H

    def doubt(self, instance: VccInstance, forecast: str) -> str | None:
        """Where slots or forecasts are none that it has learned from."""
        card = self.trained.card
        known, slot_s = card.settings["forecast"], card.settings["slot_s"]
        if instance.slot_s != slot_s:
            return (
                f"trained on slots of {slot_s:g} s, and these are of {instance.slot_s:g} s: it foretells nothing, take rolling"
            )
        if forecast != known:
            return (
                f"trained on {known} forecasts, and shown {forecast} ones: look before you trust it, or type --forecast {known}"
            )
        return None

    @property
    def sha256(self) -> str:
        """Of all that it acts by."""
        return self.trained.sha256

    def expect(self, sha256: str) -> None:
        """Refuse to go on in another agent's place.

        Raises
        ------
        OptschedError : a checkpoint was made with the agent of that sha256, which is not this one.
        """
        self.trained.expect(sha256)


def loaded(name: str) -> CapAgent:
    """The shipped agent of that name, or the one in the file, whatever it is.

    Raises
    ------
    OptschedError : neither.
    """
    path = file_of(PROBLEM, name)
    if kind_of(path) != KIND:
        return agent(name)
    forecast = CarbonForecast(Trained.load(path, KIND))
    if (fault := forecast.fault()) is not None:
        raise InputError(path, "", f"holds no agent: {fault}")
    return Foresight(forecast)


class LastCap(Data):
    """What an agent's policy remembers: its last cap, what it has seen, and the sha256 of who set the cap."""

    cap: float
    agent: str
    past: Past


def agent_policy(name: str, settings: Settings) -> Policy[VccInstance, VccSchedule]:
    """A trained agent, shipped or of a file; with its guard, unless that is not wanted."""
    settings.allow(name)
    return AgentPolicy(loaded(name)) if settings.guard is False else GuardedAgent(loaded(name))


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
        self.cap = self.agent.cap(self.agent.believed(snapshot, self.past), self.past, self.cap)
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
