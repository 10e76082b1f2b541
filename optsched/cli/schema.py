"""`optsched schema`: JSON Schema of instance files."""

from __future__ import annotations

import json

import click

from optsched.errors import OptschedError
from optsched.instances.files import schema
from optsched.rooms import families


@click.command("schema", short_help="Print a JSON Schema.")
@click.argument("family")
def command(family: str) -> None:
    """Print the JSON Schema of a family's instance files: one of those that `optsched methods` names.

    Rules between fields (known nodes, long enough price lists, ...) are checked by `optsched validate` only.
    """
    if family not in families():
        raise OptschedError(f"no family {family!r}, there are: {', '.join(families())}")
    click.echo(json.dumps(schema(family), indent=2))
