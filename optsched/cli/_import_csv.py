"""`optsched import csv`: a table of one's own as an instance of any family."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._emit import check_output
from optsched.cli._importing import COMMON, WINDOW, Families, made, refuse_foreign, targets, window_of
from optsched.cli._options import all_of, files, given_options, merged
from optsched.cli._own_table import read
from optsched.errors import OptschedError
from optsched.origins import JobTarget, Reading

if TYPE_CHECKING:
    from optsched.instances.base import Instance

EXAMPLES = """
\b
Examples:
  optsched import csv jobs.csv --to allocation --map submit=Submit
      --map duration=Runtime_min --map gpus=GPUs --map due=Deadline
      --map priority=Priority --map id=JobID --nodes V100:4x10
      --all-submitted -o x.json
  optsched import csv jobs.csv --to geo --map submit=Start
      --map duration=Elapsed --sites sites.csv --signals prices.csv -o y.json
"""
TARGETS = targets()


def _epilog() -> str:
    """The fields of every family, and examples."""
    lines = ["\b", "Fields and options, those in capitals needed:"]
    for name, target in TARGETS.items():
        lines += textwrap.wrap(target.fields_told, 77, initial_indent=f"  {name:<12}", subsequent_indent=" " * 14)
    return "\n".join(lines) + "\n" + EXAMPLES


@click.command("csv", epilog=_epilog(), no_args_is_help=True)
@click.argument("file", type=_input.FILE)
@click.option("--to", "target", type=Families(TARGETS), required=True, help="The family.")
@click.option("--map", "mapping", multiple=True, metavar="FIELD=COLUMN", help="Which column is which field; once for each.")
@click.option(
    "--unit", "units", multiple=True, metavar="FIELD=UNIT", help="ms, s, min, h or d. [default: by the column's name]"
)
@click.option("--time-format", metavar="FORMAT", help="Of dates, e.g. '%d.%m.%Y %H:%M'. [default: ISO 8601, or numbers]")
@all_of([WINDOW, *merged({name: target.options for name, target in TARGETS.items()}), COMMON])
def csv_command(
    target: str,
    file: str,
    output: str | None,
    skip_bad: bool,
    as_json: bool,
    mapping: tuple[str, ...],
    units: tuple[str, ...],
    time_format: str | None,
    seed: int,
    **given: object,
) -> None:
    """Your own table -> any family.

    FILE is a CSV with a header, separated by commas, semicolons or tabs; - is standard input. --map says which column is which
    field; what is not mapped is assumed, printed, and kept in the instance's meta. Times are dates, or numbers in the unit that
    the column's name ends in (Runtime_min, hours) or --unit says; durations may be [D-]HH:MM:SS too. A job's id is --map
    id=COLUMN, else a column called id or JobID, else its line in the file.
    """
    chosen = TARGETS[target]
    check_output(output, [file, *(name for of in TARGETS.values() for name in files(given, of.options))])
    fields, measured, window = (
        _assigned("--map due=Deadline", mapping),
        _assigned("--unit duration=min", units),
        window_of(given),
    )
    refuse_foreign(target, chosen.options, TARGETS.values(), given)
    jobs = isinstance(chosen, JobTarget)
    of_jobs = {"--unit": measured, "--time-format": time_format} | {f"--{k.replace('_', '-')}": v for k, v in window.items()}
    for flag in sorted(flag for flag, value in of_jobs.items() if value and not jobs):
        raise click.UsageError(f"{flag} is not an option of --to {target}")
    options = given_options(given, chosen.options)

    def from_table(path: str, mapped: dict[str, str]) -> Instance:
        found = tuple(mapped.keys() - fields.keys())
        return chosen.from_table(path, Reading(mapped, measured, time_format, window, seed, skip_bad, found), options)

    made(lambda: read(file, fields, from_table, ids=jobs), output, as_json)


def _assigned(example: str, given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in given:
        name, _, value = (part.strip() for part in pair.partition("="))
        if not name or not value:
            raise OptschedError(f"{pair!r}: write it as {example}")
        if name in found:
            raise OptschedError(f"{name} is given twice: {found[name]} and {value}")
        found[name] = value
    return found
