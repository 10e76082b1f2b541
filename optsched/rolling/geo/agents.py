"""Trained agents as policies of geo: they go through the rounds that they were trained in, with S0 beside them as a guard.

Where there are fewer GPUs than in any case of an agent's training, S0 decides: one job is too much of the whole there. Else
after every decision S0 could take over: what has been earned, and what it would make of the jobs that wait, less what it may
cost that there is less room for jobs to come than S0 would leave, is held against what S0 makes of all jobs beside the agent.
Where an agent's decision leaves less than that, and also less than S0 would make of it from here on, S0 decides in its place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pydantic import Field

from optsched.errors import OptschedError
from optsched.instances.base import Data, Ints
from optsched.instances.geo import GeoInstance
from optsched.rl.geo.actors import Actor
from optsched.rl.geo.arrivals import Arrivals
from optsched.rl.geo.arrivals import Kept as KeptArrivals
from optsched.rl.geo.files import Acting, loaded
from optsched.rl.geo.network import Network
from optsched.rl.geo.observation import Sight
from optsched.rl.geo.rounds import Rounds
from optsched.rl.geo.split import SCENARIOS
from optsched.rl.trained import file_of
from optsched.rolling.geo.beside import Beside, Kept, Placed, locally, worth
from optsched.rolling.geo.exposure import crowded_out, shut_out
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Policy, Settings
from optsched.schedules.geo import GeoSchedule, Start

ROUNDING = 1e-9  # of what S0 earns: sums in another order are no loss


class Memory(Data):
    """What a policy remembers: whose it is, arrivals, GPUs seen; where it is guarded, both accounts and its runs."""

    agent: str
    arrivals: KeptArrivals
    gpus: tuple[float, ...]
    earned: float = 0.0
    rule: Kept | None = None
    running: dict[str, tuple[int, float]] = Field(default_factory=dict)


class AgentPolicy:
    """A trained agent without a guard."""

    def __init__(self, acting: Acting) -> None:
        self.acting = acting
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Nothing has been seen."""
        self.network: Network | None = None
        self.gpus = np.zeros(0)
        self.arrivals: Arrivals | None = None
        self.kept = Arrivals(1).kept()  # what the first snapshot finds

    def decide(self, snapshot: GeoInstance) -> GeoSchedule:
        """Round after round until every waiting job has been decided about."""
        rounds, sight, _ = self._see(snapshot)
        if not self.acting.knows(rounds.sites):
            return _schedule(rounds, _plan(rounds)[0])
        _play(rounds, sight, self.acting)
        return rounds.schedule

    def _see(self, snapshot: GeoInstance) -> tuple[Rounds, Sight, list[int]]:
        """The rounds, what is seen in them, and the jobs that are new."""
        left = snapshot.capacity.max(axis=1).astype(float)
        gpus = left if len(self.gpus) != len(left) else np.maximum(self.gpus, left)
        if self.network is None or not np.array_equal(gpus, self.gpus):
            self.network, self.gpus = Network.of(snapshot, gpus), gpus
        if self.arrivals is None:
            self.arrivals = Arrivals(self.network.hour)
            self.arrivals.recall(self.kept)
        rounds = Rounds.of_snapshot(self.network, snapshot)
        rows, before = rounds.rows, self.arrivals.known
        self.arrivals.see(snapshot.now, list(rounds.names), rows.source, rows.gpus * rows.duration, rounds.sites)
        new = [j for j, name in enumerate(rounds.names) if name not in before]
        return rounds, Sight(rounds, self.arrivals, snapshot.now), new

    def doubt(self, instance: GeoInstance, forecast: str) -> str | None:
        """Where it cannot act at all."""
        if self.acting.knows(len(instance.sites)):
            return None
        return f"trained for another number of sites than {len(instance.sites)}: local-fcfs decides in its place"

    def state(self) -> dict[str, object]:
        """What has been seen, and whose it is."""
        return self._memory().model_dump(mode="json")

    def _memory(self) -> Memory:
        arrivals = self.kept if self.arrivals is None else self.arrivals.kept()
        return Memory(agent=self.acting.trained.sha256, arrivals=arrivals, gpus=tuple(self.gpus.tolist()))

    def restore(self, state: object) -> None:
        """Go on with that.

        Raises
        ------
        OptschedError : it was another agent's.
        """
        self._recall(recalled(Memory, state))

    def _recall(self, kept: Memory) -> None:
        self.acting.trained.expect(kept.agent)
        self.reset(0)
        self.gpus = np.array(kept.gpus)
        self.kept = kept.arrivals


class GuardedAgent(AgentPolicy):
    """An agent, and S0 that stands in for it.

    Behind S0, an agent's decision may still be taken where it is no worse than S0's: that holds a decision, not the whole.

    Attributes
    ----------
    overruled
        Whether S0 decided the last snapshot.
    earned
        USD of what has been started, less what migrations have cost, without runs that were cut.
    running
        Of runs by job: the slot after the last one, and what it earns.
    """

    def reset(self, seed: int) -> None:
        """And nothing earned."""
        super().reset(seed)
        self.overruled = False
        self.earned = 0.0
        self.rule = Beside()
        self.running: dict[str, tuple[int, float]] = {}
        self.now = 0

    def decide(self, snapshot: GeoInstance) -> GeoSchedule:
        """The agent's decision, or S0's."""
        rounds, sight, new = self._see(snapshot)
        self.now = snapshot.now
        self.rule.join(rounds, snapshot.now, self._returned(rounds, new))
        plan, room = _plan(rounds)
        self.overruled = True
        if self.acting.knows(rounds.sites) and rounds.network.gpus.sum() >= self._least_gpus:
            started = _play(rounds, sight, self.acting)
            others, left = _plan(rounds, soonest=1)
            value = sum(float(rounds.gain[j, site]) for j, site in started) + worth(rounds, others)
            self.overruled = not (self._ahead(rounds, value, left) or self._better(rounds, value, left, plan, room))
            if not self.overruled:
                self._pay(rounds, started)
                wake = _schedule(rounds, others)  # S0 could only take over if it were asked in time
                return GeoSchedule(starts=(*rounds.schedule.starts, *wake.starts))
        for j, site, start in plan:
            if start == 0:
                self._run(rounds, j, worth(rounds, [(j, site, start)]))
        return _schedule(rounds, plan)

    def doubt(self, instance: GeoInstance, forecast: str) -> str | None:
        """Where it cannot act, or does not know of so few GPUs."""
        gpus, least = int(instance.capacity.max(axis=1).sum()), self._least_gpus
        if gpus >= least:
            return super().doubt(instance, forecast)
        return f"trained on {least} GPUs or more, here are {gpus}: local-fcfs decides in its place"

    @property
    def _least_gpus(self) -> int:
        """That its training had; 0 where that was instances of somebody's own."""
        known = SCENARIOS.get(self.acting.trained.card.scenario)
        return 0 if known is None else known.least_gpus

    def _returned(self, rounds: Rounds, new: list[int]) -> list[int]:
        """Of the new jobs those that have not run before; what others have earned is taken back: their site failed."""
        self.running = {name: run for name, run in self.running.items() if run[0] > self.now}
        back = [j for j in new if rounds.names[j] in self.running]
        self.earned -= sum(self.running.pop(rounds.names[j])[1] for j in back)
        return [j for j in new if j not in back]

    def _ahead(self, rounds: Rounds, value: float, left: Ints) -> bool:
        """Whether a decision leaves no less than S0 beside it."""
        least = self.rule.earned - ROUNDING * abs(self.rule.earned)
        whole = self.earned + value
        return whole >= least and whole - self._risk(rounds, left, self.rule.free[:, self.now :]) >= least

    def _better(self, rounds: Rounds, value: float, left: Ints, plan: list[Placed], room: Ints) -> bool:
        """Whether a decision is no worse than S0's from here on: what has been lost until now, S0 does not bring back."""
        own = worth(rounds, plan)
        return value - self._risk(rounds, left, room) >= own - ROUNDING * abs(own)

    def _risk(self, rounds: Rounds, left: Ints, beside: Ints) -> float:
        """USD that it may cost to leave this room, shape (P, T), and not that."""
        assert self.arrivals is not None
        crowded = crowded_out(rounds, left, beside, self.arrivals.rate(rounds.sites))
        return crowded + shut_out(rounds, left, beside, self.rule.largest)

    def _pay(self, rounds: Rounds, started: list[tuple[int, int]]) -> None:
        """A decision alone: a job that is on its way has cost something, and earns when it starts."""
        rows = rounds.rows
        for j, site in started:
            if not (rounds.leaves[j, site] and rounds.first[j, site] > 0):
                self._run(rounds, j, float(rounds.gain[j, site]))
                continue
            here, there = rows.source[[j]], np.array([site])
            size = rows.data[[j]] + rows.model[[j]]
            self.earned -= float(rounds.signals.transfer(here, there, size, np.zeros(1, dtype=np.int64))[0])

    def _run(self, rounds: Rounds, j: int, usd: float) -> None:
        """A job starts now."""
        self.earned += usd
        self.running[rounds.names[j]] = self.now + int(rounds.rows.duration[j]), usd

    def _memory(self) -> Memory:
        kept = {"earned": self.earned, "rule": self.rule.kept(self.now), "running": self.running}
        return super()._memory().model_copy(update=kept)

    def _recall(self, kept: Memory) -> None:
        super()._recall(kept)
        if kept.rule is None:
            raise OptschedError("the checkpoint was made without the guard")
        self.earned, self.rule, self.running = kept.earned, Beside.of(kept.rule), dict(kept.running)


def _play(rounds: Rounds, sight: Sight, actor: Actor) -> list[tuple[int, int]]:
    """(job, site) of what an actor starts or sends in all rounds."""
    started = []
    while not rounds.over:
        started += rounds.decide(actor.act(sight))
    return started


def _plan(rounds: Rounds, soonest: int = 0) -> tuple[list[Placed], Ints]:
    """What S0 makes of the jobs that wait, from a slot on, and the room that it leaves, shape (P, T)."""
    free, gone = rounds.free.copy(), {start.job for start in rounds.starts}
    left = [j for j, name in enumerate(rounds.names) if name not in gone]
    return locally(rounds, free, left, soonest), free


def _schedule(rounds: Rounds, placed: list[Placed]) -> GeoSchedule:
    ids, names = rounds.network.ids, rounds.names
    return GeoSchedule(starts=tuple(Start(job=names[j], site=ids[n], start=s, departure=None) for j, n, s in placed))


def agent_policy(name: str, settings: Settings) -> Policy[GeoInstance, GeoSchedule]:
    """A trained agent, shipped or of a file; with its guard, unless that is not wanted."""
    settings.allow(name)
    made: Callable[[Acting], AgentPolicy] = AgentPolicy if settings.guard is False else GuardedAgent
    return made(loaded(file_of("geo", name)))
