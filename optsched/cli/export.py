"""`optsched export`: a formulation for other solvers."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import click

from optsched.cli import _input
from optsched.cli._output import tried
from optsched.files import write_bytes

FORMATS = (".mps", ".lp")
EPILOG = """\b
Examples:
  optsched export x.json model.mps
  optsched export x.json -o model.lp --formulation cover
"""


@click.command("export", no_args_is_help=True, epilog=EPILOG)
@click.argument("instance_file", metavar="INSTANCE", type=_input.FILE)
@click.argument("path", metavar="[out.mps|out.lp]", required=False, type=click.Path())
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="The same, as an option: a name in .mps or .lp.")
@click.option("--formulation", help="A name from `optsched methods`. [default: the family's recommended one]")
@click.option("--json", "as_json", is_flag=True, help="Say what was written as one JSON object.")
def command(instance_file: str, path: str | None, output: str | None, formulation: str | None, as_json: bool) -> None:
    """Write an instance's model as MPS or LP, rows and columns under the names of the formulation.

    A maximisation is written as one; the constant of the objective is kept as a variable fixed at one in LP files.
    """
    if path is not None and output is not None:
        raise click.UsageError(f"two names for the model, {path} and -o {output}: give one")
    name = output if path is None else path
    if name is None:
        raise click.UsageError("where to? give a name that ends in .mps or .lp: optsched export INSTANCE -o model.mps")
    target = tried(name, inputs=[instance_file], ends=FORMATS)
    instance = _input.instance(instance_file)
    import pyomo.environ  # noqa: F401  (with the writers, which cost a quarter of a second)

    from optsched.models import choose

    model = choose(instance, formulation).of(instance)
    with tempfile.TemporaryDirectory() as folder:
        written = os.path.join(folder, "model" + target.suffix)
        model.pyomo.write(written, io_options={"symbolic_solver_labels": True})
        write_bytes(target, Path(written).read_bytes())
    if as_json:
        click.echo(json.dumps({"file": str(target), "formulation": model.name, "linear": model.linear}))
        return
    click.echo(f"{target}: {model.name}, {'linear' if model.linear else 'quadratic objective'}")
