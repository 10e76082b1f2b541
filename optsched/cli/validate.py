"""`optsched validate`: are these instance files?"""

from __future__ import annotations

import json

import click

from optsched.cli import _input, _known
from optsched.cli._lines import told, warn
from optsched.errors import OptschedError


@click.command("validate", no_args_is_help=True)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_input.FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file.")
def command(files: tuple[str, ...], as_json: bool) -> int:
    """Read instance files and say what they hold, or what is wrong and where; exit code 2 if one is bad.

    A file called - is standard input.
    """
    _input.once(*files)
    bad = 0
    for file in files:
        shown = _input.shown(file)
        try:
            instance = _input.instance(file)
        except OptschedError as error:
            bad += 1
            if as_json:
                click.echo(json.dumps({"file": shown, "ok": False, "error": str(error)}))
            else:
                warn(f"error: {error}")
            continue
        note = _known.note(instance, file)
        if as_json:
            what = {"problem": instance.problem, "name": instance.name, "jobs": instance.job_count, "sha256": instance.sha256}
            click.echo(json.dumps({"file": shown, "ok": True, **what, "summary": instance.summary(), "note": note}))
            continue
        told(f"{shown}: ok, {instance.problem} {instance.name!r}: {instance.summary()}")
        if note:
            warn(note)
    return 2 if bad else 0
