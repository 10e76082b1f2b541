"""A result in words: one line, a few lines, or a table of HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optsched.result import Result

MOST = 1e6  # from here on, digits behind the point say nothing


def number(value: float | None) -> str:
    """A figure with as many digits as a reader can use; a dash for what is not known."""
    if value is None:
        return "-"
    return f"{value:,.6g}" if abs(value) < MOST else f"{value:,.1f}"


def percent(gap: float | None) -> str:
    """A relative gap in per cent."""
    if gap is None:
        return "-"
    if gap > 1e4:  # of an objective near nothing
        return "> 1e6 %"
    return "0 %" if gap == 0 else f"{100 * gap:.3g} %" if gap >= 1e-8 else "< 1e-6 %"


def line(result: Result, unit: str) -> str:
    """One line: what it is about, how it ended, objective, bound, gap, method and seconds."""
    figures = f"objective {number(result.objective)} {unit}".rstrip()
    proven = f"bound {number(result.bound)}, gap {percent(result.gap)}" if result.bound is not None else "no bound"
    said = f"{result.instance.name}: {result.termination}, {figures}, {proven}"
    return f"<Result {said}, {result.method}, {result.timings_s.total:.2f} s>"


def certainty(result: Result) -> str:
    """Bound, gap and method, as a picture's heading has them."""
    if result.bound is None:
        return f"no bound, by {result.method}"
    gap = "proven optimal" if result.solution == "optimal" else f"gap {percent(result.gap)}"
    return f"bound {number(result.bound)}, {gap}, by {result.method}"


def rows(result: Result, unit: str, jobs: int | None) -> list[tuple[str, str]]:
    """Label and value of each line of a summary."""
    kind = f" ({result.objective_kind})" if result.objective_kind else ""
    proof = f", proven by {result.proof.kind}" if result.proof is not None else ", proven"
    found = [
        ("method", result.method),
        ("ended", "proven optimal" if result.solution == "optimal" else result.termination),
        ("objective", f"{number(result.objective)} {unit}".rstrip() + (f"{kind}, by the referee" if result.components else "")),
        ("bound", "-" if result.bound is None else f"{number(result.bound)} {unit}".rstrip() + proof),
        ("gap", percent(result.gap)),
    ]
    found += [(name, f"{number(value)} {unit}".rstrip()) for name, value in result.components.items()]
    if result.schedule is not None:
        of = "" if jobs is None or result.objective_kind == "realised" else f" of {jobs}"  # known ones: there come others later
        found.append(("jobs run", f"{result.schedule.jobs_run}{of}"))
    spent = result.timings_s
    steps = (("build", spent.build), ("translate", spent.translate), ("solve", spent.solve))
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in steps if seconds is not None)
    found.append(("seconds", f"{spent.total:.2f}" + (f" ({parts})" if parts else "")))
    return [*found, ("message", result.message)] if result.message else found


def summary(result: Result, unit: str, jobs: int | None) -> str:
    """A few lines, the first of which names the instance."""
    told = rows(result, unit, jobs)
    width = max(len(label) for label, _ in told) + 2
    return "\n".join([f"{result.instance.name} ({result.problem})", *(label.ljust(width) + value for label, value in told)])


def html(result: Result, unit: str, jobs: int | None) -> str:
    """The same as a table."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(label)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
        for label, value in rows(result, unit, jobs)
    )
    return f"<table><caption>{escape(result.instance.name)} ({escape(result.problem)})</caption>{cells}</table>"
