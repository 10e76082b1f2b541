"""Pictures of a comparison: performance profiles (Dolan and Moré, 2002), and gaps against time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter

from optsched.analysis.convergence import trace_of
from optsched.analysis.marks import BLUE, GREEN, LEGEND, ORANGE, PURPLE, SKY, VERMILLION
from optsched.analysis.statistics import KINDS, by_instance, judged_alike, performance_profile
from optsched.errors import OptschedError
from optsched.instances.base import Floats
from optsched.result import Result, relative_gap

if TYPE_CHECKING:
    import pandas as pd

LEAST_GAP = 1e-6  # on a logarithmic axis what is less is drawn there
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, "#000000", "#8C6D31")
STYLES = ("-", "--", ":", "-.")


def _style(number: int) -> dict[str, Any]:
    """Colour and dashes: as many lines as there are can be told apart, in print too."""
    return {"color": COLOURS[number % len(COLOURS)], "ls": STYLES[number // len(COLOURS) % len(STYLES)], "lw": 1.6}


def draw_profile(table: pd.DataFrame) -> Figure:
    """Left: the share of instances within a gap to the bound. Right: within a factor of the fastest.

    Parameters
    ----------
    table
        As `compare` and sweeps return it; what is judged by a proxy and what was realised have rows of axes of their own.

    Raises
    ------
    OptschedError
        No row has a gap.
    """
    parts = {kind: part for kind, part in judged_alike(table).items() if part["gap"].notna().any()}
    if not parts:
        raise OptschedError("a profile needs the gap of at least one row")
    figure = Figure(figsize=(11, 4.2 * len(parts)), layout="constrained")
    numbers: dict[str, int] = {}  # of methods: whoever is in two parts looks the same in both
    for figures, (kind, part) in zip(figure.subfigures(len(parts), 1, squeeze=False).ravel(), parts.items(), strict=True):
        _draw_alike(figures, part, numbers, f": {KINDS[kind]}" if len(parts) > 1 else "")
    return figure


def _draw_alike(figure: SubFigure, table: pd.DataFrame, numbers: dict[str, int], judged: str) -> None:
    """Both profiles of rows whose gaps can be compared."""
    gaps = by_instance(table)
    left, right = figure.subplots(1, 2)
    times = performance_profile(table, "seconds")
    most = max(float(gaps.max(axis=None)), 10 * LEAST_GAP)
    for name in gaps:
        i = numbers.setdefault(str(name), len(numbers))
        reached = np.sort(np.maximum(LEAST_GAP, gaps[name].dropna().to_numpy()))
        _steps(left, reached, np.arange(1, len(reached) + 1) / len(gaps), LEAST_GAP, 2 * most, str(name), i)
        factors, share = times[str(name)]
        _steps(right, factors, share, 1.0, 2 * max(f[-1] for f, _ in times.values() if len(f)), str(name), i)
    for axes in (left, right):
        axes.set_xscale("log")  # which forgets formatters
    left.set_xlabel("gap to the best bound, %")
    left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: "0" if value <= LEAST_GAP else f"{100 * value:g}"))
    right.set_xlabel("seconds, as a multiple of the fastest")
    right.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for axes in (left, right):
        axes.set_ylim(0, 1.03)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f} %"))
        axes.grid(alpha=0.25)
    left.set_ylabel("share of the instances")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=min(6, gaps.shape[1]), fontsize=8)
    count = len(gaps)
    title = f"performance profiles over {count} instance{'s' * (count != 1)} (mean over seeds){judged}"
    figure.suptitle(title, fontsize=10)


def _steps(axes: Axes, at: Floats, share: Floats, first: float, last: float, name: str, number: int) -> None:
    if len(at):
        whole = np.concatenate([[first], at, [last]]), np.concatenate([[0.0], share, share[-1:]])
        axes.step(*whole, where="post", label=name, **_style(number))


def draw_gaps_over_time(table: pd.DataFrame, results: Sequence[Result]) -> Figure:
    """By method the mean over instances of the incumbent's gap to the best bound of the table, against wall seconds.

    Parameters
    ----------
    table
        As `compare` returns it: the bounds.
    results
        The results of methods, whose incumbents are taken; where there was none yet, the gap counts as 100 %.

    Raises
    ------
    OptschedError
        No method has a trace and a bound.
    """
    bounds = {
        (row["sha256"], kind if isinstance(kind := row["objective_kind"], str) else None): row["bound"]  # None may be a NaN
        for row in table.to_dict("records")
        if row["bound"] is not None and row["bound"] == row["bound"]
    }
    traces: dict[str, list[tuple[Floats, Floats]]] = {}
    for result in results:
        bound = bounds.get((result.instance.sha256, result.objective_kind))
        if bound is None or result.objective is None or not result.incumbents:
            continue
        seconds, objective, _ = trace_of(result)
        gaps = [1.0 if value != value else min(1.0, relative_gap(value, bound) or 0.0) for value in objective.tolist()]
        traces.setdefault(result.method, []).append((seconds, np.array(gaps)))
    if not traces:
        raise OptschedError("no method has both a trace of its incumbents and a bound")
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()
    for i, (name, found) in enumerate(traces.items()):
        at = np.unique(np.concatenate([seconds for seconds, _ in found]))
        held = [np.concatenate([[1.0], gaps])[np.searchsorted(seconds, at, side="right")] for seconds, gaps in found]
        axes.step(at, np.maximum(LEAST_GAP, np.mean(held, axis=0)), where="post", label=f"{name} ({len(found)})", **_style(i))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: "0" if value <= LEAST_GAP else f"{100 * value:g}"))
    axes.set_xlabel("seconds")
    axes.set_ylabel("gap of the incumbent to the best bound, %")
    axes.grid(alpha=0.25)
    axes.legend(**LEGEND)
    figure.suptitle("gap against time, mean over runs", fontsize=10)
    return figure
