"""`optsched validate`: are these instance files?"""

from __future__ import annotations

import click

from optsched.errors import OptschedError
from optsched.instances import load


@click.command("validate", short_help="Check instance files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def command(files: tuple[str, ...]) -> int:
    """Read instance files and say what they hold, or what is wrong and where; exit code 2 if one is bad."""
    bad = 0
    for file in files:
        try:
            instance = load(file)
            click.echo(f"{file}: ok, {instance.problem} {instance.name!r}: {instance.summary()}")
        except OptschedError as error:
            bad += 1
            click.echo(f"error: {error}", err=True)
    return 2 if bad else 0
