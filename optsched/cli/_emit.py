"""A made instance goes to a file or to standard output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from optsched.cli import _known
from optsched.cli._lines import warn
from optsched.cli._output import INSTANCE, JSON, tried

if TYPE_CHECKING:
    from optsched.instances import Instance


def check_output(output: str | None, inputs: Sequence[str | None] = ()) -> None:
    """Try the output before anything is read or made.

    Raises
    ------
    InputError
        It cannot be written, or would replace what is no instance.
    """
    if output is not None:
        tried(output, inputs=inputs, ends=JSON, replaces=INSTANCE)


def emit(instance: Instance, output: str | None, as_json: bool = False, remarks: Sequence[str] = ()) -> None:
    """Write it, and say on standard error what it is; `as_json` says so on standard output, as an object."""
    from optsched.instances.files import dumps, save

    note = _known.note(instance, output or "FILE")
    told = [*remarks, *([note] if note else [])]
    if output is None:
        click.echo(dumps(instance).decode(), nl=False)
    else:
        save(instance, output)
    if as_json and output is not None:
        said = {"problem": instance.problem, "name": instance.name, "summary": instance.summary(), "sha256": instance.sha256}
        click.echo(json.dumps({"file": output, **said, "remarks": told}))
        return
    if output is not None:
        warn(f"{output}: {instance.problem} {instance.name!r}: {instance.summary()}")
    for line in told:
        warn(line)
