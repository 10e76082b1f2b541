"""`optsched import signals`: other prices and carbon for an instance."""

from __future__ import annotations

import click

from optsched.cli import _input
from optsched.cli._emit import check_output
from optsched.cli._importing import COMMON, made
from optsched.cli._options import asked
from optsched.errors import InputError
from optsched.origins.geo import START, ZONE, zones_of


@click.command("signals", no_args_is_help=True)
@click.argument("instance", type=_input.FILE)
@click.argument("files", nargs=-1, required=True, type=click.Path())
@asked(ZONE, None, "--map")
@asked(START)
@COMMON
def signals_command(
    instance: str,
    files: tuple[str, ...],
    zone: tuple[str, ...],
    start: str | None,
    output: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Hourly prices and carbon -> another geo instance.

    INSTANCE is a geo instance; FILES are CSVs of hourly prices (USD/MWh), carbon intensities (g/kWh), or both: one column a
    zone (the file's name says price or carbon, or write price=FILE), or rows of datetime, region and values. What they give
    replaces what the instance has. Missing zones or hours are one line.
    """
    check_output(output, [instance, *files])
    from optsched.instances.geo import GeoInstance
    from optsched.instances.readers.signals import read_signals, replace_signals

    given = _input.instance(instance)
    if not isinstance(given, GeoInstance):
        raise InputError(_input.shown(instance), "problem", "only a geo instance has prices and carbon")
    signals = read_signals(files, skip_bad=skip_bad)
    made(lambda: replace_signals(given, signals, zones_of(zone), start), output, as_json, "signals")
