"""A made instance goes to a file or to standard output."""

from __future__ import annotations

from pathlib import Path

import click

from optsched.errors import InputError
from optsched.instances import Instance
from optsched.instances.files import dumps, save


def emit(instance: Instance, output: str | None) -> None:
    """Write it, and say on standard error what it is."""
    if output is None:
        click.echo(dumps(instance).decode(), nl=False)
        return
    if not Path(output).name.endswith((".json", ".json.gz")):
        raise InputError(output, "", "an instance file ends in .json or .json.gz")
    save(instance, output)
    click.echo(f"{output}: {instance.problem} {instance.name!r}: {instance.summary()}", err=True)
