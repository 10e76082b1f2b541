"""A replay between two decisions: decide, carry out, tell; and carry out again what a log tells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optsched.errors import CertificateError
from optsched.interrupts import check, heard
from optsched.result import Result
from optsched.rolling.budget import OutOfTime
from optsched.rolling.policy import Policy
from optsched.rolling.simulator import Simulator
from optsched.schedules import evaluate, parse
from optsched.schedules.base import Schedule

MOST_STALLS = 100  # decisions in a row that leave everything idle
ALL_JUDGED = 256  # decisions, of which each shows the objective so far


def judged(count: int) -> bool:
    """Whether a row of the log shows the objective so far: the first 256, every second up to 512, every fourth up to 1024, ...

    To judge what happened takes as long as it is: judged in every row, a replay would take the square of its length.
    """
    return count % max(1, (1 << count.bit_length()) // ALL_JUDGED) == 0


@dataclass
class Counts:
    """What the final table shows besides the referee's figures."""

    seconds: list[float] = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)

    def add(self, seconds: float, fallback: str | None) -> None:
        """One more decision."""
        self.seconds.append(seconds)
        self.fallbacks += [] if fallback is None else [fallback]

    def figures(self) -> dict[str, float]:
        """Decisions, fallbacks, and seconds a decision (median, 99th percentile)."""
        spent = np.array(self.seconds or [0.0])
        return {
            "decisions": len(self.seconds),
            "fallbacks": len(self.fallbacks),
            "decision_s_median": float(np.median(spent)),
            "decision_s_p99": float(np.quantile(spent, 0.99)),
        }


@dataclass
class Step:
    """A decision: its row of the log, and what a checkpoint needs besides to carry it out again."""

    row: dict[str, Any]
    kept: dict[str, Any]


@dataclass
class Run:
    """A replay between two decisions.

    Attributes
    ----------
    stalls : decisions in a row that left everything idle. given_up : they were too many, and the policy is asked no more.
    whole : whether no decision is half carried out.
    """

    simulator: Simulator
    policy: Policy
    rescue: Callable[[Any, int], Any]
    seed: int
    counts: Counts = field(default_factory=Counts)
    stalls: int = 0
    given_up: bool = False
    whole: bool = True

    def step(self, costs: bool) -> Step | None:
        """Decide once, and carry it out; None when nothing is left to decide. Only the deciding can be interrupted."""
        simulator = self.simulator
        self.given_up = self.given_up or self.stalls > MOST_STALLS
        with heard():
            snapshot = simulator.snapshot()
            if snapshot is None:
                return None
            began = time.perf_counter()
            part, failure = (None, "nothing got on for too long") if self.given_up else self._decide(snapshot)
            if part is None:
                part = simulator.present(self.rescue(snapshot, self.seed))
            seconds = time.perf_counter() - began
        check()  # a policy that was interrupted may have decided all the same
        row: dict[str, Any] = {"time_s": simulator.now_s, "event": simulator.event, "waiting": snapshot.job_count}
        row["decision"] = self._apply(part)
        costs = costs and judged(len(self.counts.seconds))
        self.counts.add(seconds, failure)
        row |= {"fallback": failure} if failure else {}
        if costs:
            row["objective"] = evaluate(simulator.truth, simulator.history()).objective
        return Step(row, {"seconds": seconds, "decision": part.model_dump(mode="json")})

    def again(self, row: dict[str, Any], kept: dict[str, Any]) -> bool:
        """Carry out what a line of a log tells, without asking the policy; whether it comes out as it is told."""
        simulator = self.simulator
        self.given_up = self.given_up or self.stalls > MOST_STALLS
        if not simulator.due() or (simulator.now_s, simulator.event) != (row["time_s"], row["event"]):
            return False
        done = self._apply(parse(simulator.truth.problem, kept["decision"], "decision"))
        self.counts.add(float(kept["seconds"]), row.get("fallback"))
        return bool(done == row["decision"])

    def _apply(self, part: Schedule) -> list[dict[str, Any]]:
        self.whole = False
        done = self.simulator.apply(part)
        self.stalls = self.stalls + 1 if self.simulator.stalled else 0
        self.whole = True
        return done

    def _decide(self, snapshot: Any) -> tuple[Schedule | None, str | None]:
        """The present part of the policy's decision, or None and what was wrong with it."""
        name = getattr(self.policy, "name", type(self.policy).__name__)
        try:
            decision = self.policy.decide(snapshot)
            decision = decision.schedule if isinstance(decision, Result) else decision
            broken = self.simulator.refuses(snapshot, decision)
            part = None if broken else self.simulator.present(decision)
        except CertificateError:
            raise
        except OutOfTime as error:
            return None, f"{name} {error}"
        except Exception as error:
            return None, f"{name} raised {type(error).__name__}: {error}"
        return part, f"{name}: {broken[0]}" if broken else None
