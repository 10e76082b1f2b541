"""The loop of a replay: snapshot -> policy -> decision -> simulator, until nothing is left to decide; then the referee."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from optsched.errors import CertificateError, OptschedError
from optsched.instances.base import Instance
from optsched.result import Result, certified
from optsched.rolling.budget import Budgeted, OutOfTime
from optsched.rolling.checkpoint import Checkpoint
from optsched.rolling.forecast import forecast as named_forecast
from optsched.rolling.policy import Policy, Settings
from optsched.rolling.policy import policy as named_policy
from optsched.rolling.simulator import Simulator
from optsched.rooms import room
from optsched.schedules import evaluate
from optsched.stop import Clock

MOST_STALLS = 100  # decisions in a row that leave everything idle
SHORTEST_S = 1e-3  # period; time must go on in float64
EVERY = 50  # decisions between checkpoints, or
OFTEN_S = 10.0  # seconds
Tell = Callable[[dict[str, Any]], None]


@dataclass
class Counts:
    """What the final table shows besides the referee's figures."""

    seconds: list[float] = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)

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
class Run:
    """A replay between two decisions: all that a checkpoint keeps."""

    simulator: Simulator
    policy: Policy
    rescue: Callable[[Any, int], Any]
    seed: int
    counts: Counts = field(default_factory=Counts)
    stalls: int = 0
    given_up: bool = False
    spent_s: float = 0.0

    def step(self, costs: bool) -> dict[str, Any] | None:
        """Decide once; a row of the log, or None when nothing is left to decide."""
        simulator = self.simulator
        snapshot = simulator.snapshot()
        if snapshot is None:
            return None
        began = time.perf_counter()
        self.given_up = self.given_up or self.stalls > MOST_STALLS
        decision, failure = (None, "nothing got on for too long") if self.given_up else self._decide(snapshot)
        if decision is None:
            assert failure is not None
            decision = self.rescue(snapshot, self.seed)
            self.counts.fallbacks.append(failure)
        self.counts.seconds.append(time.perf_counter() - began)
        row: dict[str, Any] = {"time_s": simulator.now_s, "event": simulator.event, "waiting": snapshot.job_count}
        row["decision"] = simulator.apply(decision)
        self.stalls = self.stalls + 1 if simulator.stalled else 0
        row |= {"fallback": failure} if failure else {}
        if costs:
            row["objective"] = evaluate(simulator.truth, simulator.history()).objective
        return row

    def _decide(self, snapshot: Any) -> tuple[Any, str | None]:
        """The policy's decision, or None and what was wrong with it."""
        name = getattr(self.policy, "name", type(self.policy).__name__)
        try:
            decision = self.policy.decide(snapshot)
            decision = decision.schedule if isinstance(decision, Result) else decision
            broken = self.simulator.refuses(snapshot, decision)
        except CertificateError:
            raise
        except OutOfTime as error:
            return None, f"{name} {error}"
        except Exception as error:
            return None, f"{name} raised {type(error).__name__}: {error}"
        return (None, f"{name}: {broken[0]}") if broken else (decision, None)


def replay(
    instance: Instance,
    policy: str | Policy = "rolling",
    *,
    period_s: float | None = None,
    forecast: str = "perfect",
    settings: Settings | None = None,
    seed: int = 0,
    log: Tell | None = None,
    progress: Tell | None = None,
    checkpoint: str | Path | None = None,
    every: int = EVERY,
    resume: bool = False,
    bound: float | None = None,
) -> Result:
    """Replay an instance online under a policy; what happened is judged by the referee, as an offline schedule would be.

    Parameters
    ----------
    policy : a name of `policies(family)`, or an object with `reset(seed)` and `decide(snapshot)`. What may not be known yet is
        not in the snapshot that it gets. A policy that raises, is out of time or decides something infeasible is caught, the
        family's `RESCUE` decides instead, and the fallback is counted and logged.
    period_s : decide at least this often while work is pending. forecast : a name of `FORECASTS`: what a snapshot shows of the
        signals' future. settings : window, re-planning, budget of a decision, history.
    log : called with one JSON-able row a decision; rows hold no wall time, so that a resumed replay logs the same.
    progress : called with the same rows and what is left.
    checkpoint : a folder that keeps the replay every `every` decisions. resume : go on from there.
    bound : what is proven of every schedule, online or not, for the result's gap.

    Raises
    ------
    OptschedError : no such policy or forecast, a setting that it does not take, or the family has no replay.
    """
    settings, clock = settings or Settings(), Clock()
    _fitting_history(instance, settings.history)
    if not isinstance(policy, str):
        settings.allow(type(policy).__name__)
        if not (hasattr(policy, "decide") and hasattr(policy, "reset")):
            raise OptschedError(f"a policy is a name or an object with reset(seed) and decide(snapshot), got {policy!r}")
    acting = named_policy(instance.problem, policy, settings) if isinstance(policy, str) else policy
    name = policy if isinstance(policy, str) else type(policy).__name__
    if period_s is not None and not SHORTEST_S <= period_s < float("inf"):
        raise OptschedError(f"period must be a number of seconds from {SHORTEST_S:g} on, got {period_s}")
    simulator = room("rolling", instance.problem).SIMULATOR(instance, period_s, named_forecast(forecast), seed)
    if settings.budget_s is not None:
        acting = Budgeted(acting, settings.budget_s)
    acting.reset(seed)
    run = Run(simulator, acting, room("rolling", instance.problem).RESCUE, seed)
    options: dict[str, Any] = {"policy": name, "period_s": period_s, "forecast": forecast}
    for word in ("window_s", "replan_s", "budget_s"):
        options[word] = getattr(settings, word)
    options["history"] = None if settings.history is None else settings.history.sha256
    keeper = None
    if checkpoint is not None:
        given = {"truth": instance, "history": settings.history}
        keeper = Checkpoint(checkpoint, {"instance": instance.sha256, "seed": seed} | options, given)
        run = _take_up(keeper, run, resume, log)
    try:
        while (row := run.step(log is not None or keeper is not None)) is not None:
            if keeper is not None:
                keeper.append(row)
                if len(run.counts.seconds) % every == 0 or clock.elapsed_s() > OFTEN_S:
                    run.spent_s, clock = run.spent_s + clock.elapsed_s(), Clock()
                    keeper.save(run)
            if log is not None:
                log(row)
            if progress is not None:
                progress(row | {"left": run.simulator.unfinished})
    finally:
        if isinstance(run.policy, Budgeted):
            run.policy.close()
    if keeper is not None:
        keeper.save(run)
    fallbacks = run.counts.fallbacks
    return certified(
        instance,
        run.simulator.history(),
        method=f"replay:{name}",
        termination="iteration_limit",
        bound=bound,
        seconds=run.spent_s + clock.elapsed_s(),
        seed=seed,
        options=options | {"figures": run.counts.figures() | run.simulator.figures()},
        message=f"{len(fallbacks)} fallbacks, first: {fallbacks[0]}" if fallbacks else None,
    )


def _fitting_history(instance: Instance, history: Instance | None) -> None:
    """Past days must be of the same family, slots and sites, or what they tell means nothing here.

    Raises
    ------
    OptschedError : they are not.
    """
    if history is None:
        return
    if history.jobs == instance.jobs:  # type: ignore[attr-defined]
        raise OptschedError(f"the history {history.name!r} has the jobs of the replay itself: nothing would be unknown")
    if history.problem != instance.problem or getattr(history, "slot_s", None) != getattr(instance, "slot_s", None):
        raise OptschedError(f"the history {history.name!r} is not of the same family and slot as {instance.name!r}")
    try:
        jobs = tuple(job.model_dump() for job in history.jobs)  # type: ignore[attr-defined]
        type(instance).model_validate(instance.model_dump(by_alias=True) | {"jobs": jobs})
    except ValidationError as error:
        raise OptschedError(f"the jobs of the history {history.name!r} do not fit here: {error.errors()[0]['msg']}") from None


def _take_up(keeper: Checkpoint, run: Run, resume: bool, log: Tell | None) -> Run:
    """The kept run with its log told again, or the given one at its beginning."""
    if not resume:
        keeper.begin()
        return run
    kept = keeper.resume()
    if kept is None:
        return run
    for row in kept[1] if log is not None else ():
        log(row)  # type: ignore[misc]
    found: Run = kept[0]
    return found
