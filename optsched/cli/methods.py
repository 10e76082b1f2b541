"""`optsched methods`: what can be asked of `solve`."""

from __future__ import annotations

import click
from rich.table import Table

from optsched.cli._show import console


@click.command("methods", short_help="List methods and backends.")
def command() -> None:
    """List methods, formulations and backends, and why a backend cannot be used here."""
    from optsched.methods import catalogue
    from optsched.models import formulations
    from optsched.rooms import families
    from optsched.solvers import BACKENDS

    out = console()
    table = Table("method", "families", "bound", "what it does", box=None, pad_edge=False)
    for info in catalogue():
        table.add_row(info.name, ", ".join(info.families), "proven" if info.proves_bound else "none", info.summary)
    out.print(table, "")
    table = Table("family", "formulation", "kind", "what it is", box=None, pad_edge=False)
    for family in families():
        for i, (name, model) in enumerate(formulations(family).items()):
            summary = (model.__doc__ or "").split("\n")[0]
            table.add_row(family, name + (" (default)" if i == 0 else ""), "MILP" if model.linear else "MINLP", summary)
    out.print(table, "")
    table = Table("backend", "takes", "gives", "here", box=None, pad_edge=False)
    for name, backend in BACKENDS.items():
        can = backend.capabilities
        takes = "all-integer MILP" if not can.continuous else "MILP, MINLP" if can.nonlinear else "MILP"
        gives = "schedule and bound" if can.schedules else "LP bound"
        table.add_row(name, takes, gives, backend.unavailable() or "available")
    out.print(table)
