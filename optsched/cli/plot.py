"""`optsched plot`: a result as a picture."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import click

from optsched.errors import InputError
from optsched.files import write_bytes
from optsched.instances import Instance, load
from optsched.result import Result, load_result
from optsched.rooms import room

FORMATS = (".png", ".pdf", ".svg")


@click.command("plot", short_help="Draw a result.")
@click.argument("result_file", metavar="RESULT")
@click.option("-o", "--output", required=True, metavar="out.png", help="Picture: .png, .pdf or .svg.")
@click.option(
    "--instance",
    "instance_file",
    metavar="FILE",
    help="The instance. [default: the file that the result names]",
)
def command(result_file: str, output: str, instance_file: str | None) -> None:
    """Draw a schedule: nodes over time for allocation, load against capacity for the others."""
    path = Path(output)
    if path.suffix not in FORMATS:
        raise InputError(path, "", f"a picture ends in {', '.join(FORMATS)}")
    result = load_result(result_file)
    if result.schedule is None:
        raise InputError(result_file, "schedule", "is null, there is nothing to draw")
    instance = _instance(result, result_file, instance_file)
    found = result.verify(instance)
    if found:
        raise InputError(result_file, "", f"does not pass the referee: {found[0]}; see `optsched check`")
    figure = room("analysis", instance.problem).draw(instance, result.schedule)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:], dpi=150)
    write_bytes(path, buffer.getvalue())
    click.echo(f"{path}: {instance.name}", err=True)


def _instance(result: Result, result_file: str, instance_file: str | None) -> Instance:
    """The instance given, or found where the result says: from here, or beside the result."""
    named = result.instance.file
    folder = Path(result_file).parent
    beside = [] if named is None else [folder / named, Path(named), folder / Path(named).name]
    if instance_file:
        instance = load(instance_file)
        if instance.sha256 != result.instance.sha256:
            raise InputError(instance_file, "", "is not the instance of this result: its sha256 differs")
        return instance
    for candidate in beside:
        with contextlib.suppress(InputError):
            instance = load(candidate)
            if instance.sha256 == result.instance.sha256:
                return instance
    raise InputError(result_file, "", f"instance {result.instance.name!r} is not at {named}: give it with --instance FILE")
