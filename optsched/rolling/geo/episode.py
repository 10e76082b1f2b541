"""An episode of geo's decision rounds on the replay's simulator: what environments step through, and agents learn from.

Rewards credit a job's whole utility when it starts or leaves for another site, as it will be if it starts on arrival; what
turns out otherwise is corrected when it starts, or as soon as it cannot any more: at the episode's end an agent would no longer
know why. With what the idle system costs, an episode's rewards are the referee's objective.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsched.instances.base import Ints
from optsched.instances.geo import GeoInstance
from optsched.problems.geo import time_indexed
from optsched.rl.geo.arrivals import Arrivals
from optsched.rl.geo.network import Network, Rows, Signals
from optsched.rl.geo.observation import Sight
from optsched.rl.geo.rounds import Rounds
from optsched.rolling.forecast import Forecast, perfect
from optsched.rolling.geo.simulator import GeoSimulator
from optsched.schedules.geo import GeoSchedule


class Episode:
    """A replay, one round after the other.

    Attributes
    ----------
    rounds
        The present decision time; None when the episode is over.
    sight
        What is seen in it.
    """

    rounds: Rounds | None
    sight: Sight

    def __init__(self, truth: GeoInstance, forecast: Forecast = perfect, seed: int = 0) -> None:
        self.truth, self.forecast = truth, forecast
        self.network, self.all = Network.of(truth), Rows.of(truth)
        self.simulator = GeoSimulator(truth, forecast=forecast, seed=seed)
        self.arrivals = Arrivals(self.network.hour)
        self.credited: dict[int, float] = {}
        self.paid: dict[int, float] = {}
        self.hour = -1
        self.decided = 0
        self.rounds = None
        self._next()

    def _next(self) -> None:
        """Go to the next time at which there is something to decide."""
        simulator = self.simulator
        while simulator.due():
            self.waiting = np.array(simulator.waiting, dtype=np.int64)
            now, rows = simulator.now, self._rows()
            self._believe(now)
            names = [self.truth.jobs[j].id for j in simulator.waiting]
            work = rows.gpus * rows.duration
            self.arrivals.see(self.truth.now + now, names, rows.source, work, len(self.network.ids))
            free = (self.truth.capacity[:, now:] - simulator.load[:, now:]).astype(np.int64)
            self.rounds = Rounds(self.network, self.believed, rows, free, names)
            if not self.rounds.over:
                self.sight = Sight(self.rounds, self.arrivals, self.truth.now + now)
                return
            simulator.apply(self.rounds.schedule)
        self.rounds = None

    def _rows(self) -> Rows:
        """The waiting jobs, as a snapshot would show them."""
        found, departed, now = self.all.take(self.waiting), self.simulator.departed, self.simulator.now
        at, arrives, moved = found.source.copy(), np.zeros_like(found.source), np.zeros(len(found.source), dtype=bool)
        for i, j in enumerate(self.waiting.tolist()):
            if j in departed:
                at[i], moved[i], arrives[i] = departed[j][0], True, max(0, departed[j][2] - now)
        fixed = found.source, found.gpus, found.duration, found.due - now, found.data, found.model, found.out, found.back
        return Rows(*fixed, at, arrives, moved)

    def _believe(self, now: int) -> None:
        """Prices and carbon as they are believed, and as they will be."""
        slot = self.truth.now % self.network.ratio + now
        hour, phase = divmod(slot, self.network.ratio)
        if hour != self.hour:
            self.hour = hour
            price, carbon = (self.simulator.signal(name) for name in ("price_usd_per_mwh", "carbon_g_per_kwh"))
            self.shown = price, np.maximum(0.0, carbon)
            until = hour + price.shape[1]
            self.true = tuple(
                np.array([getattr(site, name)[hour:until] for site in self.truth.sites], dtype=float)
                for name in ("price_usd_per_mwh", "carbon_g_per_kwh")
            )
        self.believed = Signals.of(self.network, phase, *self.shown)
        self.actual = self.believed if self.forecast is perfect else Signals.of(self.network, phase, *self.true)

    def decide(self, actions: Sequence[int] | Ints) -> float:
        """Carry a round out, go to the next one, and say what it has earned in USD."""
        rounds = self.rounds
        assert rounds is not None
        self.decided += int((rounds.asked >= 0).sum())
        earned = self._credit(rounds, rounds.decide(actions))
        if rounds.over:
            self.simulator.apply(rounds.schedule)
            self._next()
            earned -= self._missed()
        return earned

    def _missed(self) -> float:
        """What has been credited to jobs that left and can no longer start."""
        waiting = set() if self.rounds is None else set(self.waiting.tolist())
        return sum(self.credited.pop(j) + self.paid[j] for j in sorted(self.credited.keys() - waiting))

    def _credit(self, rounds: Rounds, done: list[tuple[int, int]]) -> float:
        if not done:
            return 0.0
        rows, signals, earned = rounds.rows, self.actual, 0.0
        i, site = np.array(done, dtype=np.int64).T
        first = rounds.first[i, site]
        gain = rows.gpus[i] * (signals.upto(site, first + rows.duration[i]) - signals.upto(site, first))
        over = np.minimum(first + rows.duration[i], rounds.horizon - 1)
        away = site != rows.source[i]
        gain = gain - np.where(away, signals.transfer(site, rows.source[i], rows.model[i], over), 0.0)
        sent = signals.transfer(rows.source[i], site, rows.data[i] + rows.model[i], np.zeros_like(over))
        for k, row in enumerate(i.tolist()):
            job, worth, price = int(self.waiting[row]), float(gain[k]), float(sent[k])
            if rounds.leaves[row, site[k]]:
                if first[k] > 0:
                    self.credited[job], self.paid[job] = worth - price, price
                earned += worth - price
            else:
                if job in self.credited:
                    worth -= self.credited.pop(job) + self.paid[job]
                earned += worth
        return earned

    def history(self) -> GeoSchedule:
        """What has happened so far."""
        return self.simulator.history()

    @property
    def idle(self) -> float:
        """USD of an idle system: what the rewards add to."""
        return time_indexed(self.truth)[0].constant
