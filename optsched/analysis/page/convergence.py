"""How a method converged: objective, bound and gap over the seconds it took."""

from __future__ import annotations

import numpy as np

from optsched.analysis.convergence import LEAST_GAP, trace_of
from optsched.analysis.page.timeline import Curve, Panel, Timeline
from optsched.analysis.time_axis import TimeAxis
from optsched.result import Result, relative_gap

LEAST_S = 1e-3
SPARE = 1.04  # so that what is reached last can be seen


def timeline(result: Result, unit: str) -> Timeline | None:
    """Objective and bound, and under them the gap where both are known; None where the method keeps no trace.

    Parameters
    ----------
    result
        Whose trace it is.
    unit
        Of the objective.
    """
    if not result.incumbents:
        return None
    seconds, objective, bound = trace_of(result)
    end = max(SPARE * float(seconds[-1]), LEAST_S)
    edges = np.append(seconds, end)
    known = [np.isfinite(values) for values in (objective, bound)]
    curves = []
    if known[0].any():
        curves.append(Curve("objective", "objective", edges, objective))
    if known[1].any():
        curves.append(Curve("bound", "bound", edges, bound))
    panels = [Panel("Objective and bound", unit, tuple(curves), px=200, from_zero=False)] if curves else []
    both = known[0] & known[1]
    if both.any():
        pairs = zip(objective.tolist(), bound.tolist(), strict=True)
        gaps = np.array([100 * (relative_gap(*pair) or 0.0) for pair in pairs])
        gap = Curve("gap", "gap", edges, np.where(both, gaps, np.nan))
        panels.append(Panel("Gap", "%", (gap,), px=130, log=True, least=LEAST_GAP))
    return Timeline(TimeAxis("seconds of the method", 1.0), end, "", None, tuple(panels)) if panels else None
