"""`optsched export`: a formulation for other solvers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from optsched.errors import InputError
from optsched.files import write_bytes
from optsched.instances import load

FORMATS = (".lp", ".mps")


@click.command("export", short_help="Write a model as MPS or LP.")
@click.argument("instance_file", metavar="INSTANCE")
@click.argument("output", metavar="out.mps|out.lp")
@click.option("--formulation", help="A name from `optsched methods`. [default: the family's recommended one]")
def command(instance_file: str, output: str, formulation: str | None) -> None:
    """Write an instance's model as MPS or LP, rows and columns under the names of the formulation.

    A maximisation is written as one; the constant of the objective is kept as a variable fixed at one in LP files.
    """
    instance, path = load(instance_file), Path(output)
    if path.suffix not in FORMATS:
        raise InputError(path, "", "the name must end in .mps or .lp")
    from optsched.models import choose

    model = choose(instance, formulation).of(instance)
    with tempfile.TemporaryDirectory() as folder:
        written = os.path.join(folder, "model" + path.suffix)
        model.pyomo.write(written, io_options={"symbolic_solver_labels": True})
        write_bytes(path, Path(written).read_bytes())
    click.echo(f"{path}: {model.name}, {'linear' if model.linear else 'quadratic objective'}")
