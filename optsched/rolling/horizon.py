"""The rolling horizon: a method on the snapshot, started from what is left of its last plan."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from optsched.errors import OptschedError
from optsched.instances.base import Data, Instance
from optsched.instances.files import validated
from optsched.referee import check, parse
from optsched.result import Result
from optsched.rolling.memory import recalled
from optsched.rolling.online import online_of
from optsched.rolling.policy import NotTaken, Settings
from optsched.schedules.base import Schedule
from optsched.stop import Stop

SHARE = 0.8  # of a decision's budget, for the method; the rest is for carrying its answer


@runtime_checkable
class Timed(Protocol):
    """A snapshot that knows when it is."""

    @property
    def now_s(self) -> float:
        """The present, in seconds of the replay."""


@runtime_checkable
class InSlots(Timed, Protocol):
    """One of slots."""

    @property
    def slot_s(self) -> float:
        """Seconds of a slot."""


class Memory(Data):
    """What a rolling horizon remembers: seed, plan, times, and its last result where the next plan starts from its prices."""

    seed: int
    planned_s: float
    decided_s: float
    plan: dict[str, object] | None
    result: dict[str, object] | None


class RollingHorizon:
    """Plan with any method over a window, carry out the present, plan again.

    The family says how a snapshot is cut to a window and what of a plan is left after some time; see `Online`.
    """

    def __init__(self, family: str, method: str, settings: Settings) -> None:
        self.family, self.method, self.settings = family, method, settings
        if settings.window_s is not None and online_of(family).truncate_window is None:
            raise NotTaken("window_s", f"{family} decides about the present only: it takes no window")
        settings.allow(f"rolling:{method}", "window_s", "replan_s")
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the plan."""
        self.seed = seed
        self.plan: Schedule | None = None
        self.result: Result | None = None
        self.planned_s = self.decided_s = 0.0

    def decide(self, snapshot: Instance) -> Schedule:
        """The last plan while it is fresh, else a new one."""
        from optsched.methods import method  # loads the solvers

        if not isinstance(snapshot, Timed):
            raise OptschedError(
                f"a snapshot of {self.family} has no now_s: nobody knows how old the plan of a rolling horizon is"
            )
        online, window, now_s = online_of(self.family), self.settings.window_s, snapshot.now_s
        snapshot = snapshot if window is None or online.truncate_window is None else online.truncate_window(snapshot, window)
        left = None if self.plan is None else online.shift_plan(self.plan, snapshot, now_s - self.decided_s)
        if left is not None and check(snapshot, left):
            left = None
        fresh = self.settings.replan_s is not None and now_s < self.planned_s + self.settings.replan_s
        if left is None or not fresh:
            self.seed += 1
            seconds = None if self.settings.budget_s is None else SHARE * self.settings.budget_s
            result = method(self.method, self.family)(
                snapshot, stop=Stop(seconds=seconds), seed=self.seed, start=self._warm(left, snapshot)
            )
            if result.termination == "interrupted":
                raise KeyboardInterrupt
            left = result.schedule
            self.result, self.planned_s = result, now_s
        assert left is not None
        self.plan, self.decided_s = left, now_s
        return left

    def state(self) -> dict[str, object]:
        """Seed, plan and times, and the last result where the next plan starts from its prices."""
        priced = self.result if self.result is not None and self.result.shadow_prices is not None else None
        return Memory(
            seed=self.seed,
            planned_s=self.planned_s,
            decided_s=self.decided_s,
            plan=None if self.plan is None else self.plan.model_dump(mode="json"),
            result=None if priced is None else priced.model_copy(update={"schedule": None, "incumbents": ()}).to_json(),
        ).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on with that plan."""
        kept = recalled(Memory, state)
        self.seed, self.planned_s, self.decided_s = kept.seed, kept.planned_s, kept.decided_s
        self.plan = None if kept.plan is None else parse(self.family, kept.plan, "plan")
        self.result = None if kept.result is None else validated(Result, kept.result, "result")

    def _warm(self, left: Schedule | None, snapshot: Instance) -> Schedule | Result | None:
        """What to start from: what is left of the plan and, where the last method had prices, those of the slots to come."""
        if left is None or self.result is None or self.result.shadow_prices is None or not isinstance(snapshot, InSlots):
            return left
        passed = round((snapshot.now_s - self.planned_s) / snapshot.slot_s)
        prices = {place: row[passed:] for place, row in self.result.shadow_prices.items()}
        return self.result.model_copy(update={"schedule": left, "shadow_prices": prices})
