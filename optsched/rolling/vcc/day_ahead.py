"""The operator of Radovanovic et al. as a policy: at each midnight the caps of the day, by the linear program."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optsched.heuristics.day_ahead import greedy
from optsched.instances.base import Floats
from optsched.instances.day_ahead import Campus, Cluster, DayAheadInstance
from optsched.instances.vcc import VccInstance
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Settings
from optsched.schedules.day_ahead import DayAheadSchedule, flexible
from optsched.schedules.vcc import VccSchedule

MARGIN = 0.97  # quantile of the days' work over their mean that the caps leave room for
ROOM = 1e9  # MW: one cluster, no contract


class Days(NamedTuple):
    """What the policy remembers: loads of past days and of today (NCU-hours), the day, and its caps to come."""

    days: list[float]
    today: float
    day: int
    caps: list[float]


class DayAheadPolicy:
    """Caps of the next 24 hours for the flexible load that past days have had; cap 1 until there is one.

    The load of a day is what was submitted on it, as far as it has been seen, at most what the data centre has left.
    """

    def __init__(self, settings: Settings) -> None:
        settings.allow("day-ahead")
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the days."""
        self.days: list[float] = []
        self.today = 0.0
        self.day = -1
        self.caps: list[float] = []

    def decide(self, snapshot: VccInstance) -> VccSchedule:
        """The plan's cap for the present slot."""
        day = snapshot.now // snapshot.day_slots
        if day != self.day:
            if self.day >= 0:
                self.days.append(self.today)
            self.day, self.caps = day, self._plan(snapshot)
        self.today = float(snapshot.asked[0])
        return VccSchedule(cap=(self.caps.pop(0) if self.caps else 1.0,), starts=())

    def state(self) -> Days:
        """The days."""
        return Days(self.days, self.today, self.day, self.caps)

    def restore(self, state: object) -> None:
        """Remember them."""
        self.days, self.today, self.day, self.caps = recalled(Days, state)

    def _plan(self, snapshot: VccInstance) -> list[float]:
        if not self.days:
            return []
        slots = min(snapshot.day_slots, snapshot.horizon)
        size, h = snapshot.capacity_ncu, snapshot.slot_h
        inflexible: Floats = np.minimum(snapshot.inflexible[:slots], size)
        room = np.maximum(0.0, size - inflexible)
        seen = np.array(self.days) / snapshot.day_slots * slots / h  # NCU-slots
        asked = min(float(seen.mean() + np.quantile(seen - seen.mean(), MARGIN)), 0.999 * float(room.sum()))
        cluster = Cluster(
            id="here",
            campus="here",
            inflexible_ncu=tuple(inflexible.tolist()),
            inflexible_high_ncu=tuple(inflexible.tolist()),
            flexible_ncu_h=asked,
            reserved_ncu_h=asked + float(inflexible.sum()),
            reservation_ratio=(1.0,) * slots,
            carbon_kg_per_kwh=tuple(snapshot.carbon[:slots].tolist()),
            idle_kw=snapshot.idle_kw,
            kw_per_ncu=snapshot.kw_per_ncu,
            capacity_ncu=size,
            usage_limit_ncu=size,
        )
        program = DayAheadInstance(name="day", campuses=(Campus(id="here", contract_mw=ROOM),), clusters=(cluster,))
        from optsched.models.day_ahead import DayAhead
        from optsched.solvers import SolverSettings
        from optsched.solvers.uncertified import solve_uncertified

        found = solve_uncertified(DayAhead(program), greedy(program), SolverSettings(start=False))
        assert isinstance(found, DayAheadSchedule)
        return [float(cap) for cap in np.clip(flexible(program, found)[0] / size, 0.0, 1.0)]
