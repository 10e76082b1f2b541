"""How far methods and policies are from the optimum: one tidy table."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, Never, TypeAlias, TypeVar, cast, get_args

from optsched.analysis.bounds import Bound, bounded, quick_bound, wanted_bound
from optsched.analysis.metrics import METRICS, metrics
from optsched.custom import as_method
from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.instances.events import refuse_events
from optsched.methods import Method, method, own_names
from optsched.quantities import read_seconds, read_seed
from optsched.registry import is_reference
from optsched.result import Result, relative_gap
from optsched.rolling.loop import Prepared, Tell, prepared, replay
from optsched.rolling.policy import AnyPolicy, Guarded, NotTaken, Settings
from optsched.rolling.run import OnFailure
from optsched.schedules.base import Schedule
from optsched.stop import Clock, Stop

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
AnyMethod: TypeAlias = str | Method[Never] | Callable[..., Schedule | Mapping[str, object]]
COUNTED = ("decisions", "fallbacks", "out_of_time", "overruled")  # of a replay
Row: TypeAlias = dict[str, str | float | None]
LOGGER = logging.getLogger(__name__)


class Interrupted(KeyboardInterrupt):
    """A comparison that was asked to stop.

    Attributes
    ----------
    table : the rows of what had ended by then, against the bounds that these have proven.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        super().__init__(f"interrupted after {len(table)} rows")
        self.table = table


def compare(
    instance: Instance,
    methods: Iterable[AnyMethod] = (),
    policies: Iterable[str | AnyPolicy] = (),
    *,
    time_limit: float | str | None = 60.0,
    seed: int = 0,
    bound: Result | Bound | float | Literal["quick"] | None = None,
    on_failure: OnFailure = "raise",
    forecast: str = "perfect",
    period_s: float | str | None = None,
    window_s: float | str | None = None,
    replan_s: float | str | None = None,
    budget_s: float | str | None = None,
    history: Instance | None = None,
    guard: bool = True,
    log: Tell | None = None,
    progress: Tell | None = None,
    keep: Callable[[Result], None] | None = None,
) -> pd.DataFrame:
    """Solve by methods and replay under policies, each against the best bound that is proven for it.

    Parameters
    ----------
    instance
        What is given.
    methods
        Names of ``optsched methods``, methods, or heuristics; or a single one.
    policies
        Names of ``optsched replay --help``, or objects with ``reset(seed)`` and ``decide(snapshot)``; or a single one.
    time_limit
        Seconds of each method, or text as ``"5m"``; None for none.
    seed
        Of all of them.
    bound
        A bound that is known already, of every schedule's realised objective: a result with one, a number, or ``"quick"``, the
        best that is to be had in five seconds. By default replays are held against the family's bound on whoever knows
        everything, or a better one of the methods, which takes no clock: equal seeds, equal tables.
    on_failure
        Where a policy fails, ``raise`` ends with `PolicyFailed`; with ``fallback`` its row tells so and has no figures: what
        happened was not its doing. Nor has one whose every decision took longer than its budget. Where a method of somebody
        else's fails, ``raise`` ends with its error; with ``fallback`` its row ends in ``error``, without figures, and a warning
        says why.
    forecast, period_s, window_s, replan_s, budget_s, history, guard, log, progress
        Of all replays, as `optsched.replay` takes them; of these, policies are given what they take.
    keep
        Called with each result as it comes, for its schedule and its incumbents.

    Returns
    -------
    pandas.DataFrame
        A row each, methods first, and what failed last, with

        - ``name`` of the method or policy;
        - ``objective``, by the referee, in the objective's unit; None for a policy that failed;
        - ``bound`` and ``gap``, relative to the objective: the best bound that is proven of what the row is judged by; a
          snapshot's proxy and a replay's realised cost are bounded apart;
        - ``kind`` (``offline`` or ``online``), ``termination``, ``seconds`` of wall time, and ``instance``;
        - ``decisions``, ``fallbacks`` and ``out_of_time`` of a replay: how often the policy decided, how often a simple rule
          had to, and how many of these because a budget was spent; ``overruled``: how often a guard let a rule decide;
        - the figures of merit of `optsched.analysis.metrics.metrics`, where the schedule is a realised one;
        - ``seed``, ``sense`` (``minimize`` or ``maximize``), ``objective_kind`` (``proxy``, ``realised`` or None), ``sha256``
          of the instance, ``message``, and the components of the objective by name.

    Raises
    ------
    PolicyFailed
        A policy raised, or decided what cannot be carried out.
    OptschedError
        A name, a bound or a setting that cannot be used.
    Interrupted
        A KeyboardInterrupt with the ``table`` so far: Ctrl-C in one method or replay ends them all.
    """
    from optsched.analysis.table import Table  # loads pandas

    seed, seconds = read_seed(seed), read_seconds(time_limit)
    period, settings = read_seconds(period_s), settings_of(window_s, replan_s, budget_s, history, guard)
    known = None if bound is None else wanted_bound(instance, bound)
    if on_failure not in get_args(OnFailure):
        raise OptschedError(f"on_failure is 'raise' or 'fallback', got {on_failure!r}")
    given = several(methods)
    if given:
        refuse_events(instance)
    solvers = [method(m, instance.problem) if isinstance(m, str) else as_method(m) for m in given]
    players = prepared_all(instance, several(policies), settings)
    how = partial(replay, instance, seed=seed, period_s=period, forecast=forecast, on_failure=on_failure)
    solved: list[Result] = []
    played: list[Result] = []
    broken: list[Row] = []
    try:
        for named, solver in zip(given, solvers, strict=True):
            clock = Clock()
            try:
                result = solver(instance, stop=Stop(seconds=seconds), seed=seed)
            except OptschedError as error:
                if on_failure == "raise" or (isinstance(named, str) and named in own_names()):
                    raise
                broken.append(broken_row(instance, named, clock.elapsed_s(), error))
                continue
            if result.termination == "interrupted":
                raise KeyboardInterrupt
            solved.append(result)
            if keep is not None:
                keep(result)
        for player in players:
            played.append(how(player, log=log, progress=progress))
            if keep is not None:
                keep(played[-1])
        if played and known is None:
            known = quick_bound(instance, seconds=0)  # without a clock: equal seeds, equal tables
    except KeyboardInterrupt as stopped:
        raise Interrupted(Table(rows_of(instance, solved, played, known) + broken)) from stopped
    return Table(rows_of(instance, solved, played, known) + broken)


def refuse_unknown(
    instance: Instance, methods: Iterable[AnyMethod], policies: Iterable[str | AnyPolicy], settings: Settings
) -> None:
    """Refuse what `compare` would refuse of an instance, before any other is run.

    Raises
    ------
    OptschedError
        No such method or policy, or settings that no policy takes.
    """
    for named in methods:
        if isinstance(named, str):
            method(named, instance.problem)
    prepared_all(instance, policies, settings)


def settings_of(
    window_s: float | str | None = None,
    replan_s: float | str | None = None,
    budget_s: float | str | None = None,
    history: Instance | None = None,
    guard: bool = True,
) -> Settings:
    """What `compare` makes of its keywords for policies."""
    window, replan, budget = map(read_seconds, (window_s, replan_s, budget_s))
    return Settings(window, replan, budget, history, None if guard else False)


def several(given: Iterable[T]) -> list[T]:
    """What there are several of, or one: text is a single name, an instance is one, and so is what cannot be gone through."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | Instance) else [cast("T", given)]


def rows_of(instance: Instance, solved: list[Result], played: list[Result], known: Bound | None) -> list[Row]:
    """Methods as they come, then policies, those that failed last."""
    bounds = best_bounds(instance, solved, played, known)
    rows = [row(instance, "offline", result.method, result, bounds) for result in solved]
    return rows + [row(instance, "online", policy_of(result), result, bounds) for result in ranked(played)]


def broken_row(instance: Instance, named: object, seconds: float, error: OptschedError) -> Row:
    """The row of a method that has failed, which a warning tells."""
    name = named if isinstance(named, str) else str(getattr(named, "__name__", type(named).__name__))
    LOGGER.warning("%s failed: %s", name, error)
    told: Row = {"name": name, "objective": None, "bound": None, "gap": None, "kind": "offline", "termination": "error"}
    told |= {"seconds": seconds, "instance": instance.name}
    told |= dict.fromkeys((*COUNTED, *METRICS, "seed")) | {"sense": instance.sense, "objective_kind": None}
    return told | {"sha256": instance.sha256, "message": str(error)}


def prepared_all(instance: Instance, policies: Iterable[str | AnyPolicy], settings: Settings) -> list[Prepared]:
    """The policies of a table; a setting that some do not take is for the others.

    Raises
    ------
    OptschedError
        No such policy, or a setting that none of them takes.
    """
    made: list[Prepared] = []
    refused: dict[str, NotTaken] = {}
    for policy in policies:
        ready, own = None, settings
        while ready is None:
            try:
                ready = prepared(instance, policy, own)
            except NotTaken as error:
                refused[error.setting] = error
                own = replace(own, **{error.setting: None})
        made.append(ready)
    for name, refusal in refused.items():
        if all(getattr(each.settings, name) is None for each in made):
            raise refusal
    return made


def has_guard(instance: Instance, policy: Prepared) -> bool:
    """Whether a rule stands in for a policy of ours unless that is not wanted; of somebody's own it may be so."""
    return is_reference(policy.name) or isinstance(
        prepared(instance, policy.name, replace(policy.settings, guard=None)).policy, Guarded
    )


def policy_of(result: Result) -> str:
    """Who decided in a replay."""
    return str(result.options["policy"])


def figures_of(result: Result, kind: Literal["figures", "metrics"] = "figures") -> Mapping[str, float]:
    """What a replay counts, or its figures of merit; empty where there are none."""
    found = result.options.get(kind)
    return found if isinstance(found, dict) else {}


def failed(result: Result) -> bool:
    """Whether somebody else has decided in a policy's place: once but for want of time, or for want of it always."""
    figures = figures_of(result)
    fallbacks, late = figures.get("fallbacks", 0), figures.get("out_of_time", 0)
    return bool(fallbacks > late or 0 < figures.get("decisions", 0) <= fallbacks)


def ranked(results: Iterable[Result]) -> list[Result]:
    """As they come, those of policies that failed last."""
    return sorted(results, key=failed)


def best_bounds(instance: Instance, solved: list[Result], played: list[Result], known: Bound | None) -> dict[str | None, float]:
    """The best bound by what it is about: methods' own, and what is known of what is realised.

    Raises
    ------
    OptschedError
        What is claimed to be known is beaten by a schedule.
    """
    bounds: dict[str | None, float] = {}
    tighter = max if instance.sense == "minimize" else min
    for result in solved:
        if result.bound is not None:
            bounds[result.objective_kind] = tighter(result.bound, bounds.get(result.objective_kind, result.bound))
    kind = played[0].objective_kind if played else None
    if known is not None and (played or not any(result.objective_kind == "proxy" for result in solved)):
        bounds[kind] = tighter(known.value, bounds.get(kind, known.value))
    for result in (*solved, *played):
        if result.objective_kind == kind and known is not None:
            bounded(instance, result, known)  # refuses what is beaten
    return bounds


def row(instance: Instance, kind: str, name: str, result: Result, bounds: dict[str | None, float]) -> Row:
    """A row of the table."""
    bound, own = bounds.get(result.objective_kind), not failed(result)
    objective = result.objective if own else None
    figures = figures_of(result)
    found = (metrics(instance, result.schedule) if own else None) or {}
    told: Row = {
        "name": name,
        "objective": objective,
        "bound": bound,
        "gap": relative_gap(objective, bound),
        "kind": kind,
        "termination": result.termination,
        "seconds": result.timings_s.total,
        "instance": instance.name,
    }
    told |= {word: figures.get(word) for word in COUNTED}
    told |= {word: found.get(word) for word in METRICS}
    told |= {"seed": result.seed, "sense": instance.sense, "objective_kind": result.objective_kind}
    told |= {"sha256": instance.sha256, "message": result.message}
    return told | (dict(result.components) if own else {})
