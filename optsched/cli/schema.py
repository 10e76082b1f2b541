"""`optsched schema`: JSON Schema of instance files."""

from __future__ import annotations

import json

import click

from optsched.cli._verbs import meant
from optsched.errors import OptschedError


@click.command("schema", no_args_is_help=True)
@click.argument("family")
@click.option("--json", is_flag=True, expose_value=False, help="The schema is JSON anyway.")
def command(family: str) -> None:
    """Print the JSON Schema of a family's instance files: one of those that `optsched methods` names.

    Rules between fields (known nodes, long enough price lists, ...) are checked by `optsched validate` only.
    """
    from optsched.reading import schema
    from optsched.registry import families

    if family not in families():
        raise OptschedError(f"no family {family!r}{meant(family, list(families()))}")
    click.echo(json.dumps(schema(family), indent=2))
