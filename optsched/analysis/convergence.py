"""How a method converged: objective and bound over the seconds it took, and the gap between them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from optsched.analysis.heading import certainty, short
from optsched.analysis.marks import BLUE, LEGEND, VERMILLION
from optsched.errors import OptschedError
from optsched.instances.base import Floats
from optsched.report import number
from optsched.result import Result, relative_gap

SAME = 1e-6  # relative: no progress to see
LEAST_GAP = 1e-4  # percent: on a logarithmic axis what is less is drawn there, and called 0


def draw(result: Result, *, unit: str = "") -> Figure:
    """Objective and bound as steps; below them the gap in percent, on a logarithmic axis, where both are known.

    Parameters
    ----------
    result
        Of a method that keeps a trace of its incumbents.
    unit
        Of the objective.

    Raises
    ------
    OptschedError
        The result has no trace.
    """
    seconds, objective, bound = trace_of(result)
    both = np.isfinite(objective) & np.isfinite(bound)
    heights = [2, 1] if both.any() else [2]
    figure = Figure(figsize=(9, 1.4 + 1.5 * sum(heights)), layout="constrained")
    panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for values, colour, label, style in ((objective, BLUE, "objective", "-"), (bound, VERMILLION, "bound", "--")):
        known = np.isfinite(values)
        if known.any():
            at, steps = seconds[known], values[known]
            panels[0].step(at, steps, where="post", color=colour, lw=1.6, ls=style, label=label)
            better = np.append(True, ~np.isclose(steps[1:], steps[:-1], rtol=SAME))
            panels[0].plot(at[better], steps[better], ls="", marker="o", ms=3.5, color=colour)
    panels[0].set_ylabel(f"objective, {unit}" if unit else "objective", parse_math=False)
    panels[0].margins(y=0.08)
    if both.any():
        panels[0].fill_between(seconds[both], objective[both], bound[both], step="post", color="0.9", lw=0, label="gap")
        _gap(panels[1], seconds[both], objective[both], bound[both])
    panels[0].legend(ncols=3, **LEGEND)
    panels[-1].set_xlabel("seconds")
    panels[-1].set_xlim(0, max(float(seconds[-1]), 1e-3))
    ended = f"{short(result.instance.name)}: {result.method}, {result.termination.replace('_', ' ')}"
    words = f"objective {number(result.objective)} {unit}".rstrip() + f", {certainty(result.objective, result.bound)}"
    figure.suptitle(f"{ended} after {result.timings_s.total:.3g} s\n{words}", fontsize=10, parse_math=False)
    return figure


def _gap(axes: Axes, seconds: Floats, objective: Floats, bound: Floats) -> None:
    pairs = zip(objective.tolist(), bound.tolist(), strict=True)
    gaps = np.array([100 * (relative_gap(*pair) or 0.0) for pair in pairs])
    axes.step(seconds, np.maximum(gaps, LEAST_GAP), where="post", color="black", lw=1.4)
    axes.set_yscale("log")
    axes.set_ylim(max(0.7 * LEAST_GAP, 0.6 * float(gaps.min())), 1.4 * max(10 * LEAST_GAP, float(gaps.max())))
    near = float(gaps.max()) < 30 * max(LEAST_GAP, float(gaps.min()))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if near else (1,)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: "0" if value <= LEAST_GAP else f"{value:g}"))
    axes.set_ylabel("gap, %")


def trace_of(result: Result) -> tuple[Floats, Floats, Floats]:
    """Seconds, objective and bound of the trace and of the end, NaN where not known.

    Raises
    ------
    OptschedError
        There is none.
    """
    if not result.incumbents:
        raise OptschedError(f"{result.method} keeps no trace of incumbents, so there is no convergence to draw")
    last = (max(result.timings_s.total, result.incumbents[-1][0]), result.objective, result.bound)
    rows = np.array([*result.incumbents, last], dtype=float)
    return rows[:, 0], rows[:, 1], rows[:, 2]
