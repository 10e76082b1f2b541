"""`optsched import google2019`: Google's tasks and the SGIP signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from optsched.cli._emit import check_output
from optsched.cli._importing import COMMON, made

if TYPE_CHECKING:
    from optsched.instances.base import Instance


@click.command("google2019", no_args_is_help=True)
@click.argument("folder", type=click.Path())
@click.option("--days", type=click.IntRange(min=1), default=28, show_default=True, help="So many days.")
@click.option("--first-day", type=click.IntRange(min=0), default=0, show_default=True, help="From this day of the trace on.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Of every task's NCU; at 10 the capacity binds.")
@click.option("--capacity", type=float, help="NCU. [default: the machines']")
@click.option("--delay-penalty", type=float, default=1.0, show_default=True, help="Of an NCU-hour more than a day late, kg.")
@click.option("--daily-penalty", type=float, default=1.0, show_default=True, help="Of an NCU-hour that a day's caps lack, kg.")
@click.option("--unfinished-penalty", type=float, default=1.0, show_default=True, help="Of an NCU-hour not run by the end, kg.")
@click.option("--reference-alignment", is_flag=True, help="Signal, durations and load as the published program reads them.")
@click.option("--moer", metavar="CSV", help="The signal. [default: SGIP*.csv.gz in FOLDER]")
@click.option("--machines", metavar="JSON", help="Machine events. [default: machine_events*.json in FOLDER]")
@COMMON
def google2019_command(folder: str, output: str | None, as_json: bool, **options: object) -> None:
    """Google cluster data 2019 and the SGIP signal -> vcc.

    FOLDER holds daily_events/day_0.csv ... (time us, task_id, duration us, cpu, priority), SGIP*.csv.gz (time UTC, moer,
    f1..f36) and machine_events*.json, as in SustainGym's branch datacenter (github.com/chrisyeh96/sustaingym).
    Assumed: tasks of priority below 120 are flexible; slot 0 is 1 May 2019, midnight, Pacific time; an NCU takes 1 kW.
    """
    check_output(output)
    from optsched.instances.readers.google2019 import read

    build: Callable[..., Instance] = read
    made(lambda: build(folder, **options), output, as_json)
