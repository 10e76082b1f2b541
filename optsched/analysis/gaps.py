"""How far methods and policies are from the optimum: one tidy table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from optsched.instances.base import Instance
from optsched.methods import method
from optsched.result import Result, relative_gap
from optsched.rolling.loop import replay
from optsched.rooms import room
from optsched.stop import Stop

if TYPE_CHECKING:
    import pandas as pd


def compare(
    instance: Instance,
    methods: Iterable[str] = (),
    policies: Iterable[str] = (),
    *,
    time_limit: float | None = 60.0,
    seed: int = 0,
    **replaying: Any,
) -> pd.DataFrame:
    """Solve by methods and replay under policies, each against the best bound that is proven for it.

    Parameters
    ----------
    methods, policies : names of ``optsched methods`` and of `rolling.policy.policies`. time_limit : seconds of a method.
    replaying : what `replay` takes, e.g. ``forecast="yesterday"``.

    Returns
    -------
    A row each with instance, kind (``offline`` or ``online``), name, objective, bound, gap, seconds and termination. A
    snapshot's proxy and a replay's realised cost are bounded apart; where both mean the same, the best bound holds for all.
    """
    import pandas as pd

    solved = [method(name, instance.problem)(instance, stop=Stop(seconds=time_limit), seed=seed) for name in methods]
    played = [replay(instance, name, seed=seed, **replaying) for name in policies]
    bounds: dict[str | None, float] = {}
    if played:
        kind = played[0].objective_kind
        bounds[kind] = room("decomposition", instance.problem).clairvoyant(instance)
    for result in solved:
        if result.bound is not None:
            tighter = max if instance.sense == "minimize" else min
            bounds[result.objective_kind] = tighter(result.bound, bounds.get(result.objective_kind, result.bound))
    rows = [_row(instance, "offline", r.method, r, bounds) for r in solved]
    rows += [_row(instance, "online", r.options["policy"], r, bounds) for r in played]
    return pd.DataFrame(rows)


def _row(instance: Instance, kind: str, name: str, result: Result, bounds: dict[str | None, float]) -> dict[str, Any]:
    bound = bounds.get(result.objective_kind)
    return {
        "instance": instance.name,
        "kind": kind,
        "name": name,
        "objective": result.objective,
        "bound": bound,
        "gap": relative_gap(result.objective, bound),
        "seconds": result.timings_s.total,
        "termination": result.termination,
    }
