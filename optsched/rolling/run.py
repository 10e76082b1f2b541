"""A replay between two decisions: decide, carry out, tell; and carry out again what a log tells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from optsched.errors import CertificateError, Disproved, OptschedError, raised
from optsched.instances.base import Data, Instance, NonNegative
from optsched.interrupts import check, heard, ours
from optsched.referee import evaluate, parse
from optsched.result import Result
from optsched.rolling.budget import OutOfTime, Raised
from optsched.rolling.policy import Guarded, Policy
from optsched.rolling.simulator import Simulator, Told
from optsched.schedules.base import Schedule

MOST_STALLS = 100  # decisions in a row that leave everything idle
ALL_JUDGED = 256  # decisions, of which each shows the objective so far
OnFailure = Literal["raise", "fallback"]


class PolicyFailed(OptschedError):
    """A policy raised, or decided what cannot be carried out; the cause is what it raised.

    Attributes
    ----------
    policy
        Its name.
    time_s
        When, in seconds of the replay; None where a checkpoint tells of it.
    reason
        What was wrong.
    told
        All of that in one line.
    """

    def __init__(self, policy: str, time_s: float | None, reason: str) -> None:
        self.policy, self.time_s, self.reason = policy, time_s, reason
        when = "" if time_s is None else f" at {time_s:,.10g} s"
        way_out = "on_failure='fallback' lets a simple rule decide instead"
        self.told = " ".join(f"the policy failed{when}: {reason}".split())
        super().__init__(f"{self.told} ({way_out})")


@dataclass(frozen=True)
class Failure:
    """Why a policy's decision is not carried out: what it raised or decided, or that its budget was spent (`late`)."""

    reason: str
    late: bool = False
    cause: BaseException | None = None


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
    late: int = 0
    overruled: int = 0

    def add(self, seconds: float, failure: Failure | None, overruled: bool) -> None:
        """One more decision."""
        self.seconds.append(seconds)
        self.overruled += overruled
        self.fallbacks += [] if failure is None else [failure.reason]
        self.late += failure is not None and failure.late

    def figures(self) -> dict[str, float]:
        """Decisions, fallbacks and how many of them for want of time, a guard's, and seconds (median, 99th percentile)."""
        spent = np.array(self.seconds or [0.0])
        return {
            "decisions": len(self.seconds),
            "fallbacks": len(self.fallbacks),
            "out_of_time": self.late,
            "overruled": self.overruled,
            "decision_s_median": float(np.median(spent)),
            "decision_s_p99": float(np.quantile(spent, 0.99)),
        }


class Again(Data):
    """What a checkpoint needs of a decision besides its row of the log, to carry it out again.

    Attributes
    ----------
    seconds
        That it took.
    decision
        Its present part, as JSON.
    late
        Whether its budget was spent.
    """

    seconds: NonNegative
    decision: dict[str, object]
    late: bool = False


@dataclass
class Step:
    """A decision: its row of the log, and what it takes to carry it out again."""

    row: dict[str, object]
    again: Again


@dataclass
class ReplayRun:
    """A replay between two decisions.

    Attributes
    ----------
    name
        Of the policy, for messages.
    on_failure
        ``raise`` ends the replay where the policy fails; a spent budget is no failure.
    stalls
        Decisions in a row that left everything idle.
    given_up
        They were too many, and the policy is asked no more.
    whole
        Whether no decision is half carried out.
    """

    simulator: Simulator[Instance, Schedule]
    policy: Policy[Instance, Schedule]
    fallback: Callable[[Instance, int], Schedule]
    seed: int
    name: str
    on_failure: OnFailure = "raise"
    counts: Counts = field(default_factory=Counts)
    stalls: int = 0
    given_up: bool = False
    whole: bool = True

    def step(self, costs: bool) -> Step | None:
        """Decide once, and carry it out; None when nothing is left to decide. Only the deciding can be interrupted.

        Raises
        ------
        PolicyFailed
            Where that is asked for; nothing of the decision has been carried out.
        """
        simulator = self.simulator
        self.given_up = self.given_up or self.stalls > MOST_STALLS
        with heard():
            snapshot = simulator.snapshot()
            if snapshot is None:
                return None
            began = time.perf_counter()
            part, failure = (None, self._idle()) if self.given_up else self._decide(snapshot)
            if failure is not None:
                self.meet(failure, simulator.now_s)
            if part is None:
                part = simulator.present(self.fallback(snapshot, self.seed))
            seconds = time.perf_counter() - began
        check()  # a policy that was interrupted may have decided all the same
        row: dict[str, object] = {"time_s": simulator.now_s, "event": simulator.event, "waiting": snapshot.job_count}
        row["decision"] = self._apply(part)
        costs = costs and judged(len(self.counts.seconds))
        overruled = failure is None and isinstance(self.policy, Guarded) and self.policy.overruled
        self.counts.add(seconds, failure, overruled)
        row |= {"overruled": True} if overruled else {}
        row |= {"fallback": failure.reason} if failure else {}
        if costs:
            row["objective"] = evaluate(simulator.truth, simulator.history()).objective
        late = failure is not None and failure.late
        return Step(row, Again(seconds=seconds, decision=part.model_dump(mode="json"), late=late))

    def meet(self, failure: Failure, time_s: float | None) -> None:
        """End the replay for a failure of the policy, where that is asked for."""
        if self.on_failure == "raise" and not failure.late:
            raise PolicyFailed(self.name, time_s, failure.reason) from failure.cause

    def again(self, row: dict[str, object], kept: Again) -> bool:
        """Carry out what a line of a log tells, without asking the policy; whether it comes out as it is told."""
        simulator = self.simulator
        self.given_up = self.given_up or self.stalls > MOST_STALLS
        if not simulator.due() or (simulator.now_s, simulator.event) != (row["time_s"], row["event"]):
            return False
        done = self._apply(parse(simulator.truth.problem, kept.decision, "decision"))
        failure = Failure(str(row["fallback"]), kept.late) if "fallback" in row else None
        self.counts.add(kept.seconds, failure, "overruled" in row)
        return done == row["decision"]

    def _apply(self, part: Schedule) -> list[Told]:
        self.whole = False
        done = self.simulator.apply(part)
        self.stalls = self.stalls + 1 if self.simulator.stalled else 0
        self.whole = True
        return done

    def _idle(self) -> Failure:
        return Failure(f"{self.name} left everything idle for {MOST_STALLS} decisions: nothing got on for too long")

    def _decide(self, snapshot: Instance) -> tuple[Schedule | None, Failure | None]:
        """The present part of the policy's decision, or None and what was wrong with it."""
        name = self.name
        try:
            decision = self.policy.decide(snapshot)
            decision = decision.schedule if isinstance(decision, Result) else decision
        except OutOfTime as error:
            return None, Failure(f"{name} {error}", late=True)
        except OptschedError as error:
            if isinstance(error, CertificateError) and not isinstance(error, Disproved):
                raise
            named = str(error).startswith(name)  # as heuristics of somebody else's are
            return None, Failure(str(error) if named else f"{name}: {error}", cause=error)
        except BaseException as error:
            if ours(error):
                raise
            said = str(error) if isinstance(error, Raised) else raised(error)
            return None, Failure(f"{name} raised {said}", cause=error)
        if not isinstance(decision, Schedule):
            said = f"{name} returned {type(decision).__name__}, expected a schedule of {self.simulator.truth.problem}"
            return None, Failure(said)
        try:
            broken = self.simulator.refuses(snapshot, decision)
            part = None if broken else self.simulator.present(decision)
        except BaseException as error:
            if ours(error):
                raise
            said = f"{name} returned {type(decision).__name__}, which cannot be judged: {raised(error)}"
            return None, Failure(said, cause=error)
        return part, Failure(f"{name}: {broken[0]}") if broken else None
