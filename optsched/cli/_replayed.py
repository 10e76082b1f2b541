"""How replays look: a row a policy, which always has its name, its objective, its gap, and whether it was its own doing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optsched.cli._frames import parquet
from optsched.cli._lines import say
from optsched.cli._show import number, percent
from optsched.cli._table import GAP, Column, show

if TYPE_CHECKING:
    from rich.console import Console

    from optsched.analysis.bounds import Bound
    from optsched.instances import Instance
    from optsched.result import Result

COMPARISON = (".csv", ".json", ".parquet")
LATE = "+"  # marks who was out of time now and then, and ranks all the same
PLAIN = ("utilisation", "mean_cap", "mean_slowdown", "mean_bounded_slowdown")  # shown with three digits
HEADS = {
    "mean_wait_s": "wait s",
    "p95_wait_s": "p95 s",
    "mean_slowdown": "slowdown",
    "mean_bounded_slowdown": "bounded",
    "makespan_s": "makespan s",
    "utilisation": "used",
}
"""Of the metrics, as they are shown; their definitions are in `optsched.analysis.metrics`."""


@dataclass(frozen=True)
class Cells:
    """A column and its cells; `rank`: the larger, the sooner it is left out where the terminal is narrow, 0 for never."""

    name: str
    cells: tuple[str, ...]
    rank: int = 0


def show_replays(
    out: Console, instance: Instance, results: Sequence[Result], bound: Bound | None, metrics: bool = False
) -> None:
    """Print the table, policies that failed last, and under it what is to be said."""
    from optsched.analysis.gaps import failed, figures_of, policy_of, ranked

    results = ranked(results)
    kept, dropped = fitting(_columns(instance, results, bound, metrics), out.width)
    _show(out, kept)
    if dropped:
        said = f"left out for want of width: {', '.join(column.name for column in dropped)}; --json has all"
        say(out, said, "dim")
    if metrics:
        out.print()
        _show(out, _of_metrics(results))
    for result in results:
        name, figures = policy_of(result), figures_of(result)
        late, decisions = figures["out_of_time"], figures["decisions"]
        instead = "a simple rule decided instead"
        if times := figures["fallbacks"] - late:
            say(out, f"* {name} failed in {times:,} of {decisions:,} decisions: {instead}, and its row does not rank")
        if late:
            said = f"{name} took longer than its budget in {late:,} of {decisions:,} decisions: {instead}"
            say(out, f"* {said}, and its row does not rank" if failed(result) else f"{LATE} {said}")
        if result.message:
            say(out, f"{name}: {result.message}")


def _show(out: Console, table: Sequence[Cells]) -> None:
    rows = [[column.cells[i] for column in table] for i in range(len(table[0].cells))]
    show(out, [Column(column.name, right=i > 0) for i, column in enumerate(table)], rows)


def fitting(table: Sequence[Cells], width: int) -> tuple[list[Cells], list[Cells]]:
    """The columns that fit side by side, and those left out; where not even the most needed do, those are kept."""
    kept = list(table)
    for column in sorted((column for column in reversed(table) if column.rank), key=lambda column: -column.rank):
        if _width(kept) <= width:
            break
        kept.remove(column)
    return kept, [column for column in table if column not in kept]


def _width(table: Sequence[Cells]) -> int:
    return sum(max(map(len, (column.name, *column.cells))) for column in table) + GAP * (len(table) - 1)


def _columns(instance: Instance, results: Sequence[Result], bound: Bound | None, metrics: bool) -> list[Cells]:
    """Columns by the order in which they are read; the last row is the bound's, where there is one."""
    from optsched.analysis.gaps import failed, figures_of

    own = [not failed(result) for result in results]
    figures = [figures_of(result) for result in results]
    below = ("",) if bound is not None else ()

    def column(name: str, cells: Sequence[str], rank: int = 0) -> Cells:
        return Cells(name, (*cells, *below), rank)

    totals = [number(r.objective) if ours else f"({number(r.objective)})" for r, ours in zip(results, own, strict=True)]
    last = () if bound is None else (f"bound ({bound.kind})",), () if bound is None else (number(bound.value),)
    table = [Cells("policy", (*_names(results), *last[0]))]
    table += [column(name, [number(r.components[name]) for r in results], 2) for name in results[0].components]
    table.append(Cells(f"total {instance.unit}", (*totals, *last[1])))
    if bound is not None:
        table.append(column("gap", [percent(r.gap) if ours else "-" for r, ours in zip(results, own, strict=True)]))
    guarded = any(result.options.get("guard") for result in results)
    for name in figures[0]:
        if name.startswith("decision_s") or (metrics and name in HEADS):
            continue
        needed = guarded if name == "overruled" else name in ("fallbacks", "out_of_time") and any(f[name] for f in figures)
        if name not in ("out_of_time", "overruled") or needed:
            table.append(column(name, [_figure(name, f[name]) for f in figures], 0 if needed else 3))
    table.append(column("s/decision", [f"{f['decision_s_median']:.3f}" for f in figures], 4))
    table.append(column("p99", [f"{f['decision_s_p99']:.3f}" for f in figures], 5))
    return table


def _of_metrics(results: Sequence[Result]) -> list[Cells]:
    """A table of its own: these are no terms of the objective, and have been asked for."""
    from optsched.analysis.gaps import figures_of

    found = [figures_of(result, "metrics") for result in results]
    columns = [Cells(head, tuple(_figure(name, values.get(name)) for values in found)) for name, head in HEADS.items()]
    return [Cells("policy", tuple(_names(results))), *columns]


def _names(results: Sequence[Result]) -> list[str]:
    """Of the policies, marked where not all decisions are their own."""
    from optsched.analysis.gaps import failed, figures_of, policy_of

    marks = [" *" if failed(r) else f" {LATE}" if figures_of(r)["out_of_time"] else "" for r in results]
    return [policy_of(result) + mark for result, mark in zip(results, marks, strict=True)]


def _figure(name: str, value: float | None) -> str:
    return f"{value:.3f}" if name in PLAIN and value is not None else number(value)


def comparison(instance: Instance, results: Sequence[Result], ending: str) -> bytes:
    """The rows of `optsched.compare` with the components, as a file of that ending.

    Raises
    ------
    OptschedError
        For Parquet pandas needs an engine that is not installed.
    """
    from optsched.analysis.gaps import failed, policy_of, ranked, row

    bounds: dict[str | None, float] = {result.objective_kind: result.bound for result in results if result.bound is not None}
    rows = []
    for result in ranked(results):
        parts = {name: None if failed(result) else value for name, value in result.components.items()}
        rows.append(row(instance, "online", policy_of(result), result, bounds) | parts | {"message": result.message})
    if ending == ".json":
        return (json.dumps(rows, indent=1) + "\n").encode()
    if ending == ".csv":
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode()
    import pandas as pd

    return parquet(pd.DataFrame(rows))
