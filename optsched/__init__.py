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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optsched.errors import CertificateError, InputError, OptschedError
from optsched.instances import Instance, load
from optsched.result import Result, load_result, versions
from optsched.schedules import Evaluation, Schedule, Violation, evaluate
from optsched.schedules import check as _check

if TYPE_CHECKING:
    from optsched.exact import Report

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
    "evaluate",
    "load",
    "load_result",
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
    gap : relative gap at which to stop. start : a schedule or result to start from.
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
        start=start.schedule if isinstance(start, Result) else start,
        progress=progress,
    )


def check(instance: Instance, decided: Schedule | Result) -> list[Violation]:
    """Every broken rule of a schedule; for a result also every figure that the referee does not confirm."""
    return decided.verify(instance) if isinstance(decided, Result) else _check(instance, decided)
