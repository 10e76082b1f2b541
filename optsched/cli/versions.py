"""`optsched versions`: what runs here."""

from __future__ import annotations

import json

import click

from optsched.cli._lines import say
from optsched.cli._show import console

PACKAGES = (
    "pyomo", "highspy", "ortools", "pyscipopt", "numpy", "pandas", "scipy", "networkx",
    "pydantic", "click", "rich", "matplotlib", "torch",
)  # fmt: skip


@click.command("versions")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """Print the versions of optsched and everything it stands on, and whether each backend can be used."""
    from optsched.listing import backends
    from optsched.result import versions

    found = versions(PACKAGES)
    states = {name: reason or "available" for name, reason in backends().items()}
    if as_json:
        click.echo(json.dumps({"versions": found, "backends": states}))
        return
    out = console()
    for name, number in found.items():
        say(out, f"{name:<12} {number}")
    for name, state in states.items():
        say(out, f"backend {name:<8} {state}")
