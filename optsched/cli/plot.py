"""`optsched plot`: a result as a picture."""

from __future__ import annotations

import click

from optsched.cli._instance import instance_of
from optsched.cli._picture import picture, save
from optsched.errors import InputError
from optsched.result import load_result
from optsched.rooms import room


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
    """Draw a schedule: nodes over time for allocation, load against capacity, price and carbon over time for the others."""
    path = picture(output)
    result = load_result(result_file)
    if result.schedule is None:
        raise InputError(result_file, "schedule", "is null, there is nothing to draw")
    instance = instance_of(result, result_file, instance_file)
    found = result.verify(instance)
    if found:
        raise InputError(result_file, "", f"does not pass the referee: {found[0]}; see `optsched check`")
    save(room("analysis", instance.problem).draw(instance, result.schedule), path)
    click.echo(f"{path}: {instance.name}", err=True)
