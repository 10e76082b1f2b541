"""optsched: scheduling compute with a certificate.

An instance goes in, a schedule with a certificate comes out:

>>> import optsched
>>> instance = optsched.load("instances/armida-snapshot.json")
>>> result = optsched.solve(instance)
>>> result.solution, round(result.objective, 6), round(result.bound, 6)
('optimal', 244.422325, 244.422325)
>>> optsched.check(instance, result)
[]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from optsched.errors import CertificateError, InputError, OptschedError
from optsched.instances import Instance, load
from optsched.result import Result, load_result, versions
from optsched.schedules import Evaluation, Schedule, Violation, evaluate
from optsched.schedules import check as _check

if TYPE_CHECKING:
    import pandas as pd

    from optsched.exact import Report
    from optsched.rolling.policy import Policy

__version__ = versions().get("optsched", "not installed")

__all__ = [
    "CertificateError",
    "Evaluation",
    "InputError",
    "Instance",
    "OptschedError",
    "Result",
    "Schedule",
    "Violation",
    "check",
    "compare",
    "evaluate",
    "load",
    "load_result",
    "replay",
    "solve",
]


def solve(
    instance: Instance,
    method: str = "exact",
    *,
    time_limit: float | None = None,
    gap: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    start: Schedule | Result | None = None,
    backend: str | None = None,
    formulation: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Report | None = None,
) -> Result:
    """Solve an instance by a method.

    Parameters
    ----------
    method : a name of ``optsched methods``. time_limit : seconds of wall time, building included.
    gap : relative gap at which to stop.
    start : a schedule to start from, or a result, of which `decomposition` uses the prices too.
    backend, formulation, threads, options : for ``exact``. progress : called with `Progress` as it comes.

    Raises
    ------
    OptschedError : a name, limit or start that cannot be used.
    """
    from optsched.methods import method as named  # Pyomo is loaded only when something is solved
    from optsched.stop import Stop

    chosen = named(
        method,
        instance.problem,
        backend=backend,
        formulation=formulation,
        threads=threads,
        options=dict(options or {}),
    )
    return chosen(
        instance,
        stop=Stop(seconds=time_limit, gap=gap),
        seed=seed,
        start=start,
        progress=progress,
    )


def check(instance: Instance, decided: Schedule | Result) -> list[Violation]:
    """Every broken rule of a schedule; for a result also every figure that the referee does not confirm."""
    return decided.verify(instance) if isinstance(decided, Result) else _check(instance, decided)


def replay(
    instance: Instance,
    policy: str | Policy = "rolling",
    *,
    forecast: str = "perfect",
    period_s: float | None = None,
    window_s: float | None = None,
    replan_s: float | None = None,
    budget_s: float | None = None,
    history: Instance | None = None,
    seed: int = 0,
    **more: Any,
) -> Result:
    """Replay an instance online under a policy; what happened is judged by the same referee.

    Parameters
    ----------
    policy : a name of ``optsched replay --help``, or an object with ``reset(seed)`` and ``decide(snapshot)``.
    forecast : what is believed of capacity, price and carbon. period_s : decide at least this often.
    window_s, replan_s : how far a rolling horizon plans, and how long it follows a plan. budget_s : wall time a decision.
    history : an instance of past days, for policies that learn what to expect. more : see `optsched.rolling.loop.replay`.

    Raises
    ------
    OptschedError : a name or setting that cannot be used.
    """
    from optsched.rolling.loop import replay as replayed
    from optsched.rolling.policy import Settings

    settings = Settings(window_s=window_s, replan_s=replan_s, budget_s=budget_s, history=history)
    return replayed(instance, policy, forecast=forecast, period_s=period_s, settings=settings, seed=seed, **more)


def compare(instance: Instance, methods: Iterable[str] = (), policies: Iterable[str] = (), **options: Any) -> pd.DataFrame:
    """Methods offline and policies online against the best proven bound, a row each; see `optsched.analysis.gaps.compare`."""
    from optsched.analysis.gaps import compare as compared

    return compared(instance, methods, policies, **options)
