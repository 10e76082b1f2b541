"""How figures and results look in a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from optsched.cli._lines import say, width
from optsched.cli._table import Column, show
from optsched.report import number as number
from optsched.report import percent as percent

if TYPE_CHECKING:  # rich takes a while to load, which help and short answers do without
    from rich.console import Console

    from optsched.instances.base import Instance
    from optsched.result import Result


def console(stderr: bool = False) -> Console:
    """The console that everything is printed to: what is data stays as it is, `[red]` and `:name:` among it."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:  # read by a program, or by somebody later
        made.no_color = True
    made.width = width(sys.stderr if stderr else sys.stdout)
    return made


def show_header(out: Console, instance: Instance) -> None:
    """What an instance is called, and what it is."""
    from rich.text import Text

    direction = "minimise cost" if instance.sense == "minimize" else "maximise utility"
    out.print(Text.assemble((instance.name, "bold"), f"  {instance.problem} ({direction})"), soft_wrap=True)
    say(out, instance.summary())


def _unproven(result: Result) -> str:
    """What to type where no bound was proven."""
    if not (result.message or "").startswith("auto"):
        return "none proven: --method auto looks for one"
    return "none proven" + ": a longer --time-limit may find one" * (result.termination == "time_limit")


def show_certificate(out: Console, instance: Instance, result: Result) -> None:
    """Components, objective, bound, gap and times of a result."""
    rows = [[name, number(value), instance.unit] for name, value in result.components.items()]
    kind = f" ({result.objective_kind})" if result.objective_kind else ""
    rows.append(["objective", number(result.objective), f"{instance.unit}{kind}, by the referee".removeprefix(", ").strip()])
    rows.append(["bound", number(result.bound), "proven" if result.bound is not None else _unproven(result)])
    rows.append(["gap", percent(result.gap), ""])
    if result.schedule is not None:
        jobs = instance.job_count if result.objective_kind != "realised" else len(getattr(instance, "jobs", ()))
        rows.append(["jobs run", f"{result.schedule.jobs_run} of {jobs}", ""])
    ended = result.termination if result.solution != "optimal" else "proven optimal"
    rows.append(["ended", ended, result.message or ""])
    spent = result.timings_s
    parts = [("build", spent.build), ("translate", spent.translate), ("solve", spent.solve)]
    known = ", ".join(f"{name} {value:.2f}" for name, value in parts if value is not None)
    rows.append(["seconds", f"{spent.total:.2f}", f"({known})" if known else ""])
    show(out, [Column(""), Column("", right=True), Column("", wraps=True)], rows, head=False)
