"""Tables of the page: sortable, numbers to the right, units in the heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from optsched.instances.base import Instance
from optsched.report import number, percent, rows
from optsched.result import Result, relative_gap

NONE = '<span class="none">none</span>'


@dataclass(frozen=True)
class Cell:
    """What a cell shows (HTML), and by what it is sorted; None sorts last."""

    html: str
    value: float | str | None


def text(value: str) -> str:
    """Text from a file, harmless in HTML; what UTF-8 cannot write is a question mark."""
    return escape(value.encode("utf-8", "replace").decode(), quote=True)


def figure(value: float | None) -> Cell:
    """A number, or that there is none."""
    return Cell(NONE if value is None else text(number(value)), value)


def share(value: float | None) -> Cell:
    """A relative gap in per cent, or that there is none."""
    return Cell(NONE if value is None else text(percent(value)), value)


def sortable(heads: Sequence[tuple[str, bool]], body: Sequence[Sequence[Cell]], caption: str) -> str:
    """A table; heads are (text, whether it is a column of numbers)."""
    top = "".join(f'<th scope="col"{_right(right)}><button type="button">{text(head)}</button></th>' for head, right in heads)
    lines = []
    for row in body:
        cells = zip(row, heads, strict=True)
        lines.append("<tr>" + "".join(f"<td{_right(right)}{_key(cell.value)}>{cell.html}</td>" for cell, (_, right) in cells))
    made = f'<table class="sortable"><caption>{text(caption)}</caption><thead><tr>{top}</tr></thead>'
    return f'<div class="wide">{made}<tbody>{"".join(lines)}</tbody></table></div>'


def _right(right: bool) -> str:
    return ' class="number"' if right else ""


def _key(value: float | str | None) -> str:
    return "" if value is None else f' data-key="{text(str(value))}"'


def best_bound(instance: Instance, results: Sequence[Result], kind: str | None) -> float | None:
    """The best bound that any of the results proves on objectives of a kind; None where none does."""
    bounds = [r.bound for r in results if r.objective_kind == kind and r.bound is not None]
    if not bounds:
        return None
    return max(bounds) if instance.sense == "minimize" else min(bounds)


def comparison(instance: Instance, results: Sequence[Result], labels: Sequence[str], ids: Sequence[str]) -> str:
    """A row a result: objective, bound, gap, the gap to the best bound of all, seconds and the terms of the objective."""
    unit = f", {instance.unit}" if instance.unit else ""
    kinds = {r.objective_kind for r in results}
    terms = list(dict.fromkeys(name for r in results for name in r.components))
    shared = len(results) > 1 and any(r.bound is None for r in results) and any(r.bound is not None for r in results)
    heads = [("method or policy", False), *([("objective is", False)] if len(kinds) > 1 else [])]
    heads += [(f"objective{unit}", True), (f"bound{unit}", True), ("gap", True)]
    heads += [("gap to the best bound here", True)] * shared
    heads += [("seconds", True), ("jobs run", True), ("ended", False), *((f"{term}{unit}", True) for term in terms)]
    body = []
    for result, label, target in zip(results, labels, ids, strict=True):
        row = [Cell(f'<a href="#{target}" data-show="{target}">{text(label)}</a>', label)]
        row += [Cell(text(result.objective_kind or "both"), result.objective_kind or "both")] if len(kinds) > 1 else []
        row += [_objective(instance, result, results), figure(result.bound), share(result.gap)]
        if shared:
            row.append(share(relative_gap(result.objective, best_bound(instance, results, result.objective_kind))))
        run = None if result.schedule is None else float(result.schedule.jobs_run)
        ended = "proven optimal" if result.solution == "optimal" else result.termination.replace("_", " ")
        seconds = result.timings_s.total
        row += [Cell(f"{seconds:.3g}" if seconds < 1000 else f"{seconds:,.0f}", seconds), figure(run), Cell(text(ended), ended)]
        body.append([*row, *(figure(result.components.get(term)) for term in terms)])
    better = "lower" if instance.sense == "minimize" else "higher"
    return sortable(heads, body, f"Results: a {better} objective is better. A click on a head sorts.")


def _objective(instance: Instance, result: Result, results: Sequence[Result]) -> Cell:
    """The objective, marked where no result of its kind has a better one."""
    cell = figure(result.objective)
    known = [r.objective for r in results if r.objective_kind == result.objective_kind and r.objective is not None]
    best = (min if instance.sense == "minimize" else max)(known, default=None)
    if result.objective is None or result.objective != best or len(known) < 2:
        return cell
    return Cell(f'<span class="best">best</span> {cell.html}', cell.value)


def facts(result: Result, instance: Instance) -> str:
    """Label and value of each line of a result's summary, and how it can be made again."""
    told = rows(result, instance.unit, instance.job_count)
    told.append(("seed", "-" if result.seed is None else str(result.seed)))
    options = {name: value for name, value in result.options.items() if value is not None and not isinstance(value, dict)}
    if options:
        told.append(("options", ", ".join(f"{name} {value}" for name, value in options.items())))
    for group in ("figures", "metrics"):  # of a replay
        found = result.options.get(group)
        if isinstance(found, dict):
            told += [(name.replace("_", " "), _plain(value)) for name, value in found.items()]
    told.append(("versions", ", ".join(f"{name} {value}" for name, value in result.versions.items())))
    lines = "".join(f"<div><dt>{text(label)}</dt><dd>{text(value)}</dd></div>" for label, value in told)
    return f'<dl class="facts">{lines}</dl>'


def _plain(value: object) -> str:
    return number(value) if isinstance(value, int | float) else str(value)
