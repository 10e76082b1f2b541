"""optsched: an instance goes in, a schedule with a certificate comes out.

>>> import optsched
>>> instance = optsched.load("instances/armida-snapshot.json")
>>> result = optsched.solve(instance)
>>> result.solution, round(result.objective, 6), round(result.bound, 6)
('optimal', 244.422325, 244.422325)
>>> optsched.check(instance, result)
[]

`optsched.allocation`, `.deferrable`, `.geo`, `.vcc` and `.day_ahead` build instances. The logger is called ``optsched``.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from optsched import allocation as allocation
    from optsched import day_ahead as day_ahead
    from optsched import deferrable as deferrable
    from optsched import geo as geo
    from optsched import vcc as vcc
    from optsched.analysis.pareto import pareto
    from optsched.errors import CertificateError, InputError, OptschedError
    from optsched.family import Family
    from optsched.instances.base import Instance
    from optsched.instances.events import Events
    from optsched.judging import certify, check, evaluate
    from optsched.listing import backends, methods, policies
    from optsched.methods import Method
    from optsched.monitor import Progress
    from optsched.origins import generate
    from optsched.reading import load
    from optsched.result import Result, load_result
    from optsched.rolling.policy import Policy
    from optsched.rolling.run import PolicyFailed
    from optsched.scaffold import Report
    from optsched.schedules.base import Evaluation, H, S, Schedule, Violation
    from optsched.stop import Stop

PLACES = {
    "CertificateError": "errors",
    "Evaluation": "schedules.base",
    "Events": "instances.events",
    "Family": "family",
    "InputError": "errors",
    "Instance": "instances.base",
    "Method": "methods",
    "OptschedError": "errors",
    "Policy": "rolling.policy",
    "PolicyFailed": "rolling.run",
    "Progress": "monitor",
    "Result": "result",
    "Schedule": "schedules.base",
    "Stop": "stop",
    "Violation": "schedules.base",
    "backends": "listing",
    "certify": "judging",
    "check": "judging",
    "evaluate": "judging",
    "generate": "origins",
    "load": "reading",
    "load_result": "result",
    "methods": "listing",
    "pareto": "analysis.pareto",
    "policies": "listing",
}  # the module of a name
FACES = ("allocation", "day_ahead", "deferrable", "geo", "vcc")

__all__ = [
    "CertificateError",
    "Evaluation",
    "Events",
    "Family",
    "InputError",
    "Instance",
    "Method",
    "OptschedError",
    "Policy",
    "PolicyFailed",
    "Progress",
    "Result",
    "Schedule",
    "Stop",
    "Violation",
    "allocation",
    "backends",
    "certify",
    "check",
    "compare",
    "day_ahead",
    "deferrable",
    "evaluate",
    "generate",
    "geo",
    "load",
    "load_result",
    "methods",
    "pareto",
    "policies",
    "replay",
    "solve",
    "vcc",
]

logging.getLogger("optsched").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """Load a name when it is asked for: `import optsched` alone loads neither pydantic nor NumPy."""
    if name in FACES:
        return import_module(f"optsched.{name}")
    if name == "__version__":
        found: Any = import_module("optsched.certificate").versions().get("optsched", "not installed")
    elif name in PLACES:
        found = getattr(import_module(f"optsched.{PLACES[name]}"), name)
    else:
        raise AttributeError(f"module 'optsched' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


class _Package(ModuleType):
    """The package: importing the submodule ``optsched.methods`` does not hide the function `methods`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name == "methods" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def solve(
    instance: Instance[S, Schedule],
    method: str | Method[Any] | Callable[..., Schedule | Mapping[str, Any]] | None = None,
    *,
    time_limit: float | str | None = None,
    gap: float | str | None = None,
    stop: Stop | None = None,
    threads: int | None = None,
    seed: int = 0,
    start: Schedule | Result | Mapping[str, Any] | None = None,
    backend: str | None = None,
    formulation: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Report | None = None,
    display: bool = False,
) -> Result[S]:
    """Solve an instance by a method.

    Parameters
    ----------
    instance
        What is given.
    method
        A name of `methods`, ``module:object``, a `Method`, or a heuristic: a function of an instance (and of ``seed``, if it
        likes) that returns a schedule, or the dict of one. By default ``auto``, a portfolio within the limits; ``exact`` where
        `backend`, `formulation`, `threads` or `options` say how.
    time_limit
        Seconds of wall time, building included; or text, e.g. ``"90s"``, ``"5m"``, ``"1h30m"``.
    gap
        Relative gap at which to stop, e.g. 0.01 or ``"1%"`` for one per cent.
    stop
        The same limits, and more, as an object; whichever comes first ends the search.
    threads
        Of the backend, for ``exact``.
    seed
        Of whatever is drawn: the same seed, the same run.
    start
        A schedule to start from, or the dict of one; or a result, of which ``decomposition`` uses the prices too.
    backend, formulation
        A name of `backends`, and one of the family's, for ``exact``.
    options
        Of the backend or of the heuristic, by name.
    progress
        Called with `Progress` as it comes, from any thread.
    display
        Whether to show progress on standard error, a row a second at most.

    Returns
    -------
    Result
        The schedule, its objective by the referee, and what is proven of it.

    Raises
    ------
    OptschedError
        A name, limit or start that cannot be used.
    CertificateError
        The method is wrong: its schedule breaks a rule, or beats its bound.

    Notes
    -----
    Ctrl-C ends the search, not the program: the result has the best schedule so far, and its termination is ``interrupted``.

    Examples
    --------
    >>> import optsched
    >>> optsched.solve(optsched.load("instances/geo-small.json"), "greedy").solution
    'feasible'
    """
    from optsched.display import LOGGER, displayed, solving
    from optsched.instances.events import refuse_events
    from optsched.judging import expect_instance, read_decided
    from optsched.quantities import read_gap, read_options, read_seconds, read_seed
    from optsched.stop import Stop

    expect_instance(instance)
    refuse_events(instance)
    seed, named, begin = read_seed(seed), read_options(options), None if start is None else read_decided(instance, start)
    limits = Stop(seconds=read_seconds(time_limit), gap=None if gap is None else read_gap(gap)) | (stop or Stop())
    with displayed(display):
        chosen = _method(instance, method, backend=backend, formulation=formulation, threads=threads, options=named)
        told = solving(instance, progress) if display else progress
        result = chosen(instance, stop=limits, seed=seed, start=begin, progress=told)
        LOGGER.info("%r", result)
    return cast("Result[S]", result)


def _method(
    instance: Instance, method: str | Method[Any] | Callable[..., Schedule | Mapping[str, Any]] | None, **configuration: Any
) -> Method[Any]:
    if method is None or isinstance(method, str):
        from optsched.methods import method as named  # Pyomo is loaded only when something is solved

        return named(method, instance.problem, **configuration)
    from optsched.custom import as_method
    from optsched.errors import OptschedError

    options = configuration.pop("options", None)
    if given := [name for name, value in configuration.items() if value is not None]:
        raise OptschedError(f"a method that is no name does not take {', '.join(given)}")
    return as_method(method, options)


def replay(
    instance: Instance[Schedule, H],
    policy: str | Policy[Any, Schedule] = "rolling",
    *,
    forecast: str = "perfect",
    period_s: float | str | None = None,
    window_s: float | str | None = None,
    replan_s: float | str | None = None,
    budget_s: float | str | None = None,
    history: Instance | None = None,
    guard: bool = True,
    events: Events | Mapping[str, Any] | str | Path | None = None,
    estimates: str | None = None,
    seed: int = 0,
    log: Callable[[dict[str, Any]], None] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    checkpoint: str | Path | None = None,
    every: int = 50,
    resume: bool = False,
    bound: float | Result | Literal["quick"] | None = None,
    on_failure: Literal["raise", "fallback"] = "raise",
    display: bool = False,
) -> Result[H]:
    """Replay an instance online under a policy; what happened is judged by the same referee.

    Parameters
    ----------
    instance
        What will have happened; a policy sees only what is known by then.
    policy
        A name of `policies`, ``module:object``, or a `Policy`: an object with ``reset(seed)`` and ``decide(snapshot)``.
    forecast
        What is believed of capacity, price and carbon, e.g. ``"perfect"``, ``"noisy:0.2"``.
    period_s
        Decide at least this often, in seconds or as text (``"15m"``), while work is pending.
    window_s, replan_s, budget_s
        How far a rolling horizon plans, how long it follows a plan, and the wall time of a decision, likewise.
    history
        An instance of past days, for policies that learn what to expect.
    guard
        Whether a rule decides where what an agent has learned would do worse.
    events
        What goes wrong, or the file or object that says so: outages, cancelled jobs, estimates. Policies see it as it happens.
    estimates
        What policies believe of durations: ``"true"``, ``"user"`` (the jobs' own `estimate`), ``"noisy:0.3"``.
    seed
        Of the policy, and of a forecast's noise.
    log, progress
        Called with a row a decision, which JSON can write and which holds no wall time; `progress` also with what is ``left``.
    checkpoint, every, resume
        A folder that keeps the replay if it is killed, how many decisions lie between, and whether to go on from there.
    bound
        For the gap: what is proven of every schedule, online or not, in the objective's unit; a result that proves it; or
        ``"quick"``, the best that a few seconds prove, which is what the command line takes. By default there is none.
    on_failure
        What to do where the policy raises or decides something infeasible: ``"raise"`` `PolicyFailed`, or let a simple rule
        decide instead (``"fallback"``), which is counted among the result's figures.
    display
        Whether to show on standard error what happens, a row a second at most.

    Returns
    -------
    Result
        Of what happened; ``options["figures"]`` counts decisions, fallbacks and seconds.

    Raises
    ------
    OptschedError
        A name or setting that cannot be used, or a policy that failed (`PolicyFailed`).
    KeyboardInterrupt
        Ctrl-C ends the replay, with ``result`` (None where what happened is no whole schedule) and ``decisions`` so far.

    Examples
    --------
    >>> import optsched
    >>> round(optsched.replay(optsched.load("instances/armida.json"), "fifo").objective, 3)
    1.813
    """
    from optsched.display import LOGGER, displayed, replaying
    from optsched.instances.events import laid_over
    from optsched.judging import expect_instance
    from optsched.quantities import read_seconds, read_seed
    from optsched.result import Result
    from optsched.rolling.loop import replay as replayed
    from optsched.rolling.policy import Settings

    expect_instance(instance)
    period, window, replan, budget = map(read_seconds, (period_s, window_s, replan_s, budget_s))
    settings = Settings(window, replan, budget, history, None if guard else False)
    instance = laid_over(instance, events, estimates)
    if isinstance(bound, Result | str):
        from optsched.analysis.bounds import wanted_bound

        bound = None if (known := wanted_bound(instance, bound)) is None else known.value
    with displayed(display):
        result = replayed(
            instance,
            policy,
            forecast=forecast,
            period_s=period,
            settings=settings,
            seed=read_seed(seed),
            log=log,
            progress=replaying(progress) if display else progress,
            checkpoint=checkpoint,
            every=every,
            resume=resume,
            bound=bound,
            on_failure=on_failure,
        )
        LOGGER.info("%r", result)
    return cast("Result[H]", result)


def compare(
    instance: Instance | Iterable[Instance],
    methods: Iterable[str | Method[Any] | Callable[..., Schedule | Mapping[str, Any]]] = (),
    policies: Iterable[str | Policy[Any, Schedule]] = (),
    **options: Any,
) -> pd.DataFrame:
    """Methods offline and policies online against the best proven bound, a row each.

    Parameters
    ----------
    instance
        What is given; or several.
    methods
        Names of `methods`, methods, or heuristics, as `solve` takes them; or a single one.
    policies
        Names of `policies`, or policies, as `replay` takes them; or a single one.
    **options
        ``time_limit`` (of each method, as `solve` takes it), ``seed`` or ``seeds`` (several, or ``"0-9"``), ``bound``,
        ``on_failure``, what `replay` takes; see `optsched.analysis.gaps.compare`. `optsched.analysis.statistics.summary` has
        the means.

    Returns
    -------
    pandas.DataFrame
        With name, objective, bound, gap, kind (``offline``, ``online``), termination, seconds, instance, figures of replays.

    Raises
    ------
    OptschedError
        A name or setting that cannot be used, or a policy that failed.
    KeyboardInterrupt
        Ctrl-C ends the comparison, with the ``table`` so far.
    """
    from optsched.analysis.across import compare_any

    return compare_any(instance, methods, policies, **options)
