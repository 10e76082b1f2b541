"""The loop of a replay: snapshot -> policy -> decision -> simulator, until nothing is left to decide; then the referee."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, get_args, runtime_checkable

from pydantic import ValidationError

from optsched.errors import InputError, OptschedError
from optsched.instances.base import Data, Instance
from optsched.instances.events import Events, events_of
from optsched.interrupts import heard, held
from optsched.referee import check, expect_instance
from optsched.result import Result, certified
from optsched.rolling.budget import Budgeted
from optsched.rolling.checkpoint import LOG, STATE, Checkpoint
from optsched.rolling.forecast import forecast as named_forecast
from optsched.rolling.foreign import foreign_policy
from optsched.rolling.memory import recalled
from optsched.rolling.online import online_of
from optsched.rolling.policy import AnyPolicy, Guarded, Lasting, Policy, Settings, Trained
from optsched.rolling.policy import policy as named_policy
from optsched.rolling.run import Again, Failure, OnFailure, ReplayRun
from optsched.schedules.base import Schedule
from optsched.stop import Clock

SHORTEST_S = 1e-3  # period; time must go on in float64
EVERY = 50  # decisions between checkpoints, or
OFTEN_S = 10.0  # seconds
GUARDED = "its guard let a rule decide"  # so many times: what a result's message says of it
Tell = Callable[[dict[str, object]], None]


class Interrupted(KeyboardInterrupt):
    """A replay that was asked to stop, by Ctrl-C or SIGTERM, with what had happened by then.

    Attributes
    ----------
    decisions : how many had been carried out. result : what happened, judged; None where that is no whole schedule, as in
        `allocation` while work is left, and in `vcc` before the last slot.
    """

    def __init__(self, decisions: int, result: Result | None) -> None:
        super().__init__(f"interrupted after {decisions} decisions")
        self.decisions, self.result = decisions, result


@dataclass(frozen=True)
class Prepared:
    """A policy ready for a replay.

    Attributes
    ----------
    policy
        The object that decides.
    name
        What it is called in messages and results.
    settings
        What it was made with.
    """

    policy: Policy[Instance, Schedule]
    name: str
    settings: Settings


def prepared(instance: Instance, policy: str | AnyPolicy = "rolling", settings: Settings | None = None) -> Prepared:
    """A policy for an instance, by its name or as an object.

    Raises
    ------
    OptschedError
        No such policy, or a setting that it does not take or that does not fit the instance.
    """
    settings = settings or Settings()
    if settings.history is not None:
        expect_instance(settings.history)
    if isinstance(policy, str):
        name, made = policy, named_policy(instance.problem, policy, settings)  # whoever takes no history says so first
    else:
        name = str(getattr(policy, "__name__", type(policy).__name__))
        made = foreign_policy(instance.problem, name, policy, settings)
    _fitting_history(instance, settings.history)
    if settings.window_s is not None and (cut := online_of(instance.problem).truncate_window) is not None:
        cut(instance, settings.window_s)  # refuses a window that no decision could have
    return Prepared(made, name, settings)


def replay(
    instance: Instance,
    policy: str | AnyPolicy | Prepared = "rolling",
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
    on_failure: OnFailure = "raise",
) -> Result:
    """Replay an instance online under a policy; what happened is judged by the referee, as an offline schedule would be.

    Parameters
    ----------
    instance
        The truth.
    policy
        A name of `policies(family)`, an object with ``reset(seed)`` and ``decide(snapshot)``, or what `prepared` returns. What
        may not be known yet is not in the snapshot that it gets.
    period_s
        Decide at least this often while work is pending.
    forecast
        A name of `FORECASTS`: what a snapshot shows of the signals' future.
    settings
        Window, re-planning, budget of a decision, history.
    seed
        Of the policy, and of the noise of a forecast.
    log
        Called with one JSON-able row a decision; rows hold no wall time, so that a resumed replay logs the same.
    progress
        Called with the same rows and what is left.
    checkpoint
        A folder that keeps the replay, locked for as long as it goes on.
    every
        Decisions between two checkpoints.
    resume
        Go on from the checkpoint. The policy needs ``state()`` and ``restore(state)``, as every named one has; see `Lasting`.
    bound
        What is proven of every schedule, online or not, for the result's gap.
    on_failure
        Where the policy raises, decides something infeasible or leaves everything idle for too long, ``raise`` ends the replay
        with `PolicyFailed`; with ``fallback`` a simple rule of the family decides instead, which is logged and counted
        (`fallbacks` of the figures): the outcome is then not the policy's own. A decision that took longer than its budget
        always falls back, and is counted as `out_of_time` besides.

    Returns
    -------
    What happened as a schedule of the whole instance, judged; its `options` hold the settings and the `figures`.

    Raises
    ------
    PolicyFailed
        The policy raised, or decided what cannot be carried out: an OptschedError, from what was raised.
    OptschedError
        No such policy or forecast, a setting that it does not take, the family has no replay, or a checkpoint that cannot be
        used.
    Interrupted
        A KeyboardInterrupt, with what had happened until then.
    """
    clock = Clock()
    ready = policy if isinstance(policy, Prepared) else prepared(instance, policy, settings)
    acting, name, settings = ready.policy, ready.name, ready.settings
    if on_failure not in get_args(OnFailure):
        raise OptschedError(f"on_failure is 'raise' or 'fallback', got {on_failure!r}")
    if period_s is not None and not SHORTEST_S <= period_s < float("inf"):
        raise OptschedError(f"period must be a number of seconds from {SHORTEST_S:g} on, got {period_s}")
    if not isinstance(every, int) or every < 1:
        raise OptschedError(f"every is how many decisions lie between checkpoints, at least 1, got {every!r}")
    if resume and checkpoint is None:
        raise OptschedError("resume goes with the folder of a checkpoint")
    if checkpoint is not None and not isinstance(acting, Lasting):
        raise OptschedError(f"policy {name} cannot be kept in a checkpoint: it has no state() and restore(state)")
    doubt = acting.doubt(instance, forecast) if isinstance(acting, Trained) else None
    online = online_of(instance.problem)
    simulator = online.simulator(instance, period_s, named_forecast(forecast), seed)
    told = (
        {"guard": True} if isinstance(acting, Guarded) else {}
    )  # not of what a checkpoint must agree with: it is the policy's
    if settings.budget_s is not None:
        acting = Budgeted(acting, settings.budget_s)
    acting.reset(seed)
    run = ReplayRun(simulator, acting, online.fallback, seed, name, on_failure)
    options: dict[str, object] = {"policy": name, "period_s": period_s, "forecast": forecast}
    for word in ("window_s", "replan_s", "budget_s"):
        options[word] = getattr(settings, word)
    options["history"] = None if settings.history is None else settings.history.sha256
    options |= {"guard": False} if settings.guard is False else {}
    keeper, spent = None, 0.0
    if checkpoint is not None:
        keeper = Checkpoint(checkpoint, _given(instance) | {"seed": seed} | options)

    def result(termination: str) -> Result:
        fallbacks = run.counts.fallbacks
        overruled = run.counts.overruled
        watched = f"{GUARDED} {overruled} of {len(run.counts.seconds)} times" if overruled else None
        said = [doubt, watched, f"{len(fallbacks)} fallbacks, first: {fallbacks[0]}" if fallbacks else None]
        return certified(
            instance,
            run.simulator.history(),
            method=f"replay:{name}",
            termination=termination,
            bound=bound,
            seconds=spent + clock.elapsed_s(),
            seed=seed,
            options=options | told | {"figures": run.counts.figures() | run.simulator.figures()},
            message="; ".join(filter(None, said)) or None,
        )

    try:
        if keeper is not None:
            with heard():
                spent = _take_up(keeper, run, resume, log)
        with held():  # a decision is carried out, kept and told as a whole
            while (step := run.step(log is not None or keeper is not None)) is not None:
                if keeper is not None:
                    keeper.append(step.row | {"kept": step.again.model_dump(exclude_defaults=True)})
                    if len(run.counts.seconds) % every == 0 or clock.elapsed_s() > OFTEN_S:
                        spent, clock = spent + clock.elapsed_s(), Clock()
                        keeper.save(_memory(run), spent)
                if log is not None:
                    log(step.row)
                if progress is not None:
                    progress(step.row | {"left": run.simulator.unfinished})
            if keeper is not None:
                keeper.save(_memory(run), spent + clock.elapsed_s())
            return result("completed")
    except KeyboardInterrupt as stopped:
        if not run.whole:
            raise
        count = len(run.counts.seconds)
        whole = count > 0 and not check(instance, run.simulator.history())
        raise Interrupted(count, result("interrupted") if whole else None) from stopped
    finally:
        if isinstance(run.policy, Budgeted):
            run.policy.close()
        if keeper is not None:
            keeper.close()


@runtime_checkable
class WithJobs(Protocol):
    """An instance with jobs."""

    @property
    def jobs(self) -> tuple[Data, ...]:
        """What there is to run."""


def _fitting_history(instance: Instance, history: Instance | None) -> None:
    """Past days must be of the same family, slots and sites, or what they tell means nothing here.

    Raises
    ------
    OptschedError : they are not.
    """
    if history is None:
        return
    if history.problem != instance.problem:
        raise OptschedError(f"the history {history.name!r} is of {history.problem}, not of {instance.problem}")
    theirs, ours = (getattr(each, "slot_s", None) for each in (history, instance))
    if theirs != ours:
        raise OptschedError(f"the history {history.name!r} has slots of {theirs:g} s, {instance.name!r} of {ours:g} s")
    if not (isinstance(history, WithJobs) and isinstance(instance, WithJobs)):
        raise OptschedError(f"{history.problem} has no jobs: a history tells nothing")
    if history.jobs == instance.jobs:
        raise OptschedError(f"the history {history.name!r} has the jobs of the replay itself: nothing would be unknown")
    try:
        jobs = tuple(_on_day_one(job.model_dump()) for job in history.jobs)
        own = instance.model_dump(by_alias=True, exclude={"events"})  # those of the present jobs
        type(instance).model_validate(own | {"jobs": jobs})
    except ValidationError as error:
        raise OptschedError(f"the jobs of the history {history.name!r} do not fit here: {error.errors()[0]['msg']}") from None


def _given(instance: Instance) -> dict[str, object]:
    """What a checkpoint is of: first what goes wrong, so that a difference in that is not told as one of the instance."""
    events = events_of(instance) or Events()
    rest = events.model_copy(update={"estimates": Events().estimates})
    named = "none" if rest == Events() else hashlib.sha256(rest.model_dump_json().encode()).hexdigest()[:16]
    return {"estimates": events.estimates, "events": named, "instance": instance.sha256}


def _on_day_one(job: dict[str, object]) -> dict[str, object]:
    """A job of past days, which may be more than there are here."""
    return job | {"submitted": 0} if "submitted" in job else job


def _memory(run: ReplayRun) -> object:
    assert isinstance(run.policy, Lasting)
    return run.policy.state()


def _take_up(keeper: Checkpoint, run: ReplayRun, resume: bool, log: Tell | None) -> float:
    """Bring the run to where the checkpoint is, with its log told again; the seconds that it took until then."""
    assert isinstance(run.policy, Lasting)
    if not resume:
        keeper.begin(run.policy.state())
        return 0.0
    kept = keeper.resume()
    rows = []
    for number, line in enumerate([] if kept is None else kept.lines, 1):
        try:
            follows = run.again(line, recalled(Again, line.pop("kept")))
        except Exception:
            follows = False
        if not follows:
            said = "does not follow from the lines before: another program, or another version of it, has written it"
            raise InputError(keeper.folder / LOG, f"line {number}", said)
        rows.append(line)
    if len(run.counts.fallbacks) > run.counts.late:
        run.meet(Failure(f"its checkpoint {keeper.folder} has fallbacks, e.g. {run.counts.fallbacks[0]}"), None)
    if kept is not None:
        try:
            run.policy.restore(kept.memory)
        except OptschedError as error:
            raise InputError(keeper.folder / STATE, "policy", str(error)) from error
        except Exception as error:
            said = f"is nothing that the policy can restore ({type(error).__name__}: {error})"
            raise InputError(keeper.folder / STATE, "policy", said) from error
    keeper.go_on()
    if kept is None:
        keeper.save(run.policy.state(), 0.0)
    if log is not None:
        for row in rows:
            log(row)
    return 0.0 if kept is None else kept.spent_s
