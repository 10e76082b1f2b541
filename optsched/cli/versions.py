"""`optsched versions`: what runs here."""

from __future__ import annotations

import click

from optsched.cli._show import console
from optsched.result import versions


@click.command("versions", short_help="Print versions.")
def command() -> None:
    """Print the versions of optsched and everything it stands on, and whether each backend can be used."""
    packages = (
        "pyomo", "highspy", "ortools", "pyscipopt", "numpy", "pandas", "scipy", "networkx",
        "pydantic", "click", "rich", "matplotlib", "torch",
    )  # fmt: skip
    from optsched.solvers import BACKENDS

    out = console()
    for name, number in versions(packages).items():
        out.print(f"{name:<12} {number}")
    for name, backend in BACKENDS.items():
        out.print(f"backend {name:<8} {backend.unavailable() or 'available'}", soft_wrap=True)
