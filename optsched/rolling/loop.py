"""The loop of a replay: snapshot -> policy -> decision -> simulator, until all work is done; then the referee."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optsched.errors import CertificateError, OptschedError
from optsched.instances.base import Instance
from optsched.result import Result, certified
from optsched.rolling.policy import Policy
from optsched.rooms import room
from optsched.stop import Clock

MOST_STALLS = 100  # decisions in a row that leave everything idle
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


def policies(family: str) -> dict[str, Callable[[], Policy]]:
    """The policies of a family by name."""
    found: dict[str, Callable[[], Policy]] = room("rolling", family).POLICIES
    return found


def replay(
    instance: Instance,
    policy: str | Policy = "rolling",
    *,
    period_s: float | None = None,
    seed: int = 0,
    log: Tell | None = None,
    progress: Tell | None = None,
) -> Result:
    """Replay an instance online under a policy; the history is judged by realised cost.

    Parameters
    ----------
    policy : a name of `policies(family)`, or an object with `reset(seed)` and `decide(snapshot)`. What may not be known yet is
        not in the snapshot that it gets. A policy that raises or decides something infeasible is caught, the greedy decides
        instead, and the fallback is counted and logged.
    period_s : decide at least this often while work is pending, besides at submissions and ends.
    log : called with one JSON-able row an event.

    Raises
    ------
    OptschedError : no such policy, or the family has no replay yet.
    """
    named = policies(instance.problem)
    if isinstance(policy, str) and policy not in named:
        raise OptschedError(f"{instance.problem} has no policy {policy!r}, it has: {', '.join(named)}")
    if period_s is not None and not 0 < period_s < float("inf"):
        raise OptschedError(f"period must be a positive number of seconds, got {period_s}")
    acting, name = (named[policy](), policy) if isinstance(policy, str) else (policy, type(policy).__name__)
    rescue = room("heuristics", instance.problem).HEURISTICS["greedy"]
    clock, counts = Clock(), Counts()
    simulator = room("rolling", instance.problem).SIMULATOR(instance, period_s)
    acting.reset(seed)
    stalls = 0
    while (snapshot := simulator.snapshot()) is not None:
        began = time.perf_counter()
        decision, failure = _decide(acting, snapshot, simulator)
        if decision is None or stalls > MOST_STALLS:
            failure = failure or "nothing was run for too long"
            decision = rescue(snapshot, seed)
            counts.fallbacks.append(failure)
        counts.seconds.append(time.perf_counter() - began)
        before, now = len(simulator.runs), simulator.now_s
        simulator.apply(decision)
        stalls = stalls + 1 if not simulator.running and len(simulator.runs) == before else 0
        row = {"time_s": now, "waiting": snapshot.job_count, "decided": decision.jobs_run, "until_s": simulator.now_s}
        row |= {"fallback": failure} if failure else {}
        if log is not None:
            log(row)
        if progress is not None:
            progress(row | {"left": sum(left > 0 for left in simulator.left.values())})
    figures = counts.figures() | simulator.figures()
    return certified(
        instance,
        simulator.history(),
        method=f"replay:{name}",
        termination="iteration_limit",
        bound=None,
        seconds=clock.elapsed_s(),
        seed=seed,
        options={"policy": name, "period_s": period_s, "figures": figures},
        message=f"{len(counts.fallbacks)} fallbacks, first: {counts.fallbacks[0]}" if counts.fallbacks else None,
    )


def _decide(policy: Policy, snapshot: Any, simulator: Any) -> tuple[Any, str | None]:
    """The policy's decision, or None and what was wrong with it."""
    try:
        decision = policy.decide(snapshot)
        broken = simulator.refuses(snapshot, decision)
    except CertificateError:
        raise
    except Exception as error:
        return None, f"{type(policy).__name__} raised {type(error).__name__}: {error}"
    return (None, f"{type(policy).__name__}: {broken[0]}") if broken else (decision, None)
