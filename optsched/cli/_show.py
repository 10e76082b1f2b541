"""How figures and results look in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich takes a while to load, which help and short answers do without
    from rich.console import Console
    from rich.table import Table

    from optsched.instances.base import Instance
    from optsched.result import Result


def console(stderr: bool = False) -> Console:
    """A console that does not wrap or colour when its output is read by a program."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=200, no_color=True)


def number(value: float | None) -> str:
    """A figure with as many digits as a reader can use; a dash for what is not known."""
    if value is None:
        return "-"
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.1f}"


def percent(gap: float | None) -> str:
    """A relative gap."""
    if gap is None:
        return "-"
    return "0 %" if gap == 0 else f"{100 * gap:.3g} %" if gap >= 1e-8 else "< 1e-6 %"


def unit(instance: Instance) -> str:
    """The objective's unit."""
    from rich.markup import escape

    return escape(instance.unit)


def header(instance: Instance) -> str:
    """Two lines about an instance."""
    from rich.markup import escape

    direction = "minimise cost" if instance.sense == "minimize" else "maximise utility"
    return f"[bold]{escape(instance.name)}[/bold]  {instance.problem} ({direction})\n{escape(instance.summary())}"


def _unproven(result: Result) -> str:
    """What to type where no bound was proven."""
    if (result.message or "").startswith("auto"):
        return "none proven: a longer --time-limit may find one"
    return "none proven: --method auto looks for one"


def certificate(instance: Instance, result: Result) -> Table:
    """Components, objective, bound, gap and times of a result."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column()
    for name, value in result.components.items():
        table.add_row(name, number(value), unit(instance))
    kind = f" ({result.objective_kind})" if result.objective_kind else ""
    table.add_row("objective", f"[bold]{number(result.objective)}[/bold]", f"{unit(instance)}{kind}, by the referee")
    table.add_row("bound", number(result.bound), "proven" if result.bound is not None else _unproven(result))
    table.add_row("gap", percent(result.gap), "")
    if result.schedule is not None:
        table.add_row("jobs run", f"{result.schedule.jobs_run} of {instance.job_count}", "")
    ended = result.termination if result.solution != "optimal" else "proven optimal"
    table.add_row("ended", ended, escape(result.message or ""))
    spent = result.timings_s
    parts = [("build", spent.build), ("translate", spent.translate), ("solve", spent.solve)]
    known = ", ".join(f"{name} {value:.2f}" for name, value in parts if value is not None)
    table.add_row("seconds", f"{spent.total:.2f}", f"({known})" if known else "")
    return table
