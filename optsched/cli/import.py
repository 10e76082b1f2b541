"""`optsched import`: traces of real clusters, and tables of one's own, as instances."""

from __future__ import annotations

from copy import copy
from functools import partial

import click

from optsched.cli._import_csv import csv_command
from optsched.cli._import_google2019 import google2019_command
from optsched.cli._import_signals import signals_command
from optsched.cli._import_trace import COMMANDS
from optsched.cli._verbs import Group
from optsched.errors import OptschedError


class Importers(Group):
    """Our importers, and those that plug-ins add."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """By name, ours first."""
        from optsched.registry import added, named, skipping

        ours, found = super().list_commands(ctx), []
        for name, reference in sorted(added("importers", ours).items()):
            with skipping(f"importer {name!r}"):
                named(reference)
                found.append(name)
        return [*ours, *found]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of ours, or a plug-in's.

        Raises
        ------
        OptschedError : what the plug-in adds is no click command.
        """
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        from optsched.registry import added, named

        if cmd_name not in added("importers"):
            return None
        found = named(added("importers")[cmd_name])
        if not isinstance(found, click.Command):
            raise OptschedError(f"{added('importers')[cmd_name]} is no importer: expected a click command, got {found!r}")
        theirs = copy(found)
        theirs.invoke = partial(_invoke, f"importer {cmd_name}", found)  # type: ignore[method-assign]
        return theirs


def _invoke(name: str, command: click.Command, ctx: click.Context) -> object:
    """What a plug-in's importer raises is one line that names it; what it says through click is said."""
    from optsched.registry import guarded

    with guarded(name):
        try:
            return command.invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort) as said:
            spoken = said
        except SystemExit as left:
            if left.code:
                raise
            return None
    raise spoken


@click.group("import", cls=Importers)
def command() -> None:
    """Make an instance from the trace of a real cluster, or from your own CSV.

    What a file does not say has to be assumed: every assumption is printed and kept in the instance's meta. A broken row ends
    the import with its number; --skip-bad leaves such rows out and counts them. docs/traces.md says where the traces are.
    """


for own in (csv_command, signals_command, google2019_command, *COMMANDS.values()):
    command.add_command(own)
