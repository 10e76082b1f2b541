"""`optsched example`: the instances that come along."""

from __future__ import annotations

import json
from pathlib import Path

import click

from optsched.cli._emit import check_output
from optsched.cli._show import console
from optsched.cli._table import Column, show
from optsched.cli._verbs import meant
from optsched.errors import OptschedError
from optsched.files import write_bytes

PACKAGE = Path(__file__).parents[1]
FOLDERS = (PACKAGE / "examples", PACKAGE.parent / "instances")  # as installed, and in the repository
EPILOG = """\b
Examples:
  optsched example
  optsched example armida-snapshot -o x.json
  optsched example geo-small | optsched solve -
"""


def shipped() -> dict[str, Path]:
    """Files of the examples by name."""
    folder = next((folder for folder in FOLDERS if folder.is_dir()), FOLDERS[0])
    return {path.stem: path for path in sorted(folder.glob("*.json"))}


@click.command("example", epilog=EPILOG)
@click.argument("name", required=False)
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help=".json or .json.gz; standard output if not given.")
@click.option("--json", "as_json", is_flag=True, help="List as JSON; an instance is JSON anyway.")
def command(name: str | None, output: str | None, as_json: bool) -> None:
    """List the instances that come along, or write one of them."""
    files = shipped()
    if name is None:
        if output is not None:
            raise OptschedError(f"-o goes with the name of an example, there are: {', '.join(files)}")
        _list(files, as_json)
        return
    if name not in files:
        raise OptschedError(f"no example {name!r}{meant(name, list(files))}")
    data = files[name].read_bytes()
    if output is None:
        click.echo(data.decode(), nl=False)
        return
    check_output(output, [str(files[name])])
    write_bytes(output, data)
    if as_json:
        click.echo(json.dumps({"file": output, "example": name}))
    else:
        click.echo(f"{output}: {name}", err=True)


def _list(files: dict[str, Path], as_json: bool) -> None:
    import optsched

    found = {name: optsched.load(path) for name, path in files.items()}
    if as_json:
        rows = [{"name": n, "problem": i.problem, "summary": i.summary()} for n, i in found.items()]
        click.echo(json.dumps(rows))
        return
    columns = [Column("example"), Column("family"), Column("what it is", wraps=True)]
    show(console(), columns, [[name, i.problem, i.summary()] for name, i in found.items()])
