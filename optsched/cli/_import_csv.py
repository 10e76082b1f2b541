"""`optsched import csv`: a table of one's own as an instance of any family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from optsched.cli import _input
from optsched.cli._durations import DURATION
from optsched.cli._emit import check_output
from optsched.cli._importing import COMMON, START, WINDOW, all_of, cut, made, pairs, signals_of
from optsched.errors import OptschedError

if TYPE_CHECKING:
    from optsched.instances import Instance
    from optsched.instances.readers import Trace

Options = dict[str, Any]
OPTIONS = {"start": "from", "formats": "time-format"}
EPILOG = """\b
Fields, those in capitals needed:
  allocation  SUBMIT, DURATION (or time.V100.1, time.V100.2, ...), gpus, due,
              weight or priority, id
  deferrable  SUBMIT, DURATION, cores, earliest, latest (start) or due (end),
              id
  geo         SUBMIT, DURATION, gpus, source, due or slack, data_gb, model_gb,
              id
  vcc         SUBMIT, DURATION, ncu, id
  day_ahead   CLUSTER, HOUR, INFLEXIBLE, CARBON, high, ratio, campus,
              flexible, reserved, capacity, usage_limit, idle_kw, kw_per_ncu:
              a row a cluster and hour
\b
Examples:
  optsched import csv jobs.csv --to allocation --map submit=Submit
      --map duration=Runtime_min --map gpus=GPUs --map due=Deadline
      --map priority=Priority --map id=JobID --nodes V100:4x10
      --all-submitted -o x.json
  optsched import csv jobs.csv --to geo --map submit=Start
      --map duration=Elapsed --sites sites.csv --signals prices.csv -o y.json
"""


def _allocation(trace: Trace, hours: float | None, skip_bad: bool, options: Options) -> Instance:
    from optsched.instances.readers import to_allocation

    return to_allocation(trace, **options)


def _deferrable(trace: Trace, hours: float | None, skip_bad: bool, options: Options) -> Instance:
    from optsched.instances.readers import to_deferrable

    options.pop("seed")  # it was the sample's
    return to_deferrable(trace, hours=hours, **options)


def _geo(trace: Trace, hours: float | None, skip_bad: bool, options: Options) -> Instance:
    from optsched.instances.readers import read_sites, to_geo

    sites = read_sites(options.pop("sites")) if "sites" in options else ()
    signals, zones = _signals(options, skip_bad, "geo", "prices and carbon"), pairs(options.pop("zone", ()))
    return to_geo(trace, signals, hours=hours, sites=sites, zones=zones, **options)


def _vcc(trace: Trace, hours: float | None, skip_bad: bool, options: Options) -> Instance:
    from optsched.instances.readers import to_vcc

    options.pop("seed")
    signals, zones = _signals(options, skip_bad, "vcc", "carbon"), options.pop("zone", (None,))
    if len(zones) > 1:
        raise OptschedError("a vcc instance has one --zone")
    return to_vcc(trace, signals, hours=hours, zone=zones[0], **options)


def _signals(options: Options, skip_bad: bool, target: str, what: str) -> Any:
    files = options.pop("signals", ())
    if not files:
        raise click.UsageError(f"--to {target} needs --signals FILE, a CSV of hourly {what}")
    return signals_of(files, skip_bad)


# what makes an instance of each family of jobs, and the options that are its own
TARGETS: dict[str, tuple[Callable[[Trace, float | None, bool, Options], Instance], tuple[str, ...]]] = {
    "allocation": (_allocation, ("nodes", "all_submitted")),
    "deferrable": (_deferrable, ("slot_s", "slack", "capacity", "busy", "load", "truncate")),
    "geo": (_geo, ("signals", "sites", "zone", "start", "scale", "gpu_power_kw")),
    "vcc": (_vcc, ("signals", "zone", "start", "capacity", "load", "inflexible", "penalty")),
}
DAY_AHEAD = ("share", "contract_mw")
FAMILY = all_of(
    click.option("--nodes", metavar="TYPE:GPUSxCOUNT,...", help="allocation: the cluster. [default: V100:4x10]"),
    click.option("--all-submitted", is_flag=True, default=None, help="allocation: set now to the last submission."),
    click.option("--slot-s", type=DURATION, metavar="SECONDS", help="deferrable: length of a slot. [default: 5m]"),
    click.option("--slack", type=float, help="deferrable: latest - earliest start, in durations. [default: 1]"),
    click.option("--capacity", type=float, help="deferrable, vcc: cores or NCU. [default: by --load]"),
    click.option("--load", type=float, help="deferrable, vcc: work asked for over capacity. [default: 1, 0.7]"),
    click.option("--busy", metavar="CSV", help="deferrable: what else is busy, as timestamp (s), cpu_usage (1/100 core)."),
    click.option("--truncate", is_flag=True, default=None, help="deferrable: cut jobs off at the horizon."),
    click.option("--signals", multiple=True, metavar="CSV", help="geo, vcc: hourly prices (USD/MWh), carbon (g/kWh)."),
    click.option("--sites", metavar="CSV", help="geo: sites as id, gpus, pue. [default: Table I's five]"),
    click.option("--zone", multiple=True, metavar="[SITE=]ZONE", help="geo, vcc: whose prices and carbon."),
    START,
    click.option("--scale", type=float, help="geo: of the GPUs of Table I's sites. [default: 1]"),
    click.option("--gpu-power-kw", type=float, help="geo. [default: 0.07]"),
    click.option("--inflexible", type=float, help="vcc: NCU that run always. [default: 0]"),
    click.option("--penalty", type=float, help="vcc: kg for a late, unfinished or missing NCU-hour. [default: 1]"),
    click.option("--share", type=float, help="day_ahead: flexible over inflexible usage, unless mapped. [default: 0.25]"),
    click.option("--contract-mw", type=float, help="day_ahead: of every campus. [default: a tenth above its even peak]"),
)


@click.command("csv", epilog=EPILOG, no_args_is_help=True)
@click.argument("file", type=_input.FILE)
@click.option("--to", "target", type=click.Choice([*TARGETS, "day_ahead"]), required=True, help="The family.")
@click.option("--map", "mapping", multiple=True, metavar="FIELD=COLUMN", help="Which column is which field; once for each.")
@click.option(
    "--unit", "units", multiple=True, metavar="FIELD=UNIT", help="ms, s, min, h or d. [default: by the column's name]"
)
@click.option("--time-format", metavar="FORMAT", help="Of dates, e.g. '%d.%m.%Y %H:%M'. [default: ISO 8601, or numbers]")
@all_of(WINDOW, FAMILY, COMMON)
def csv_command(target: str, **given: Any) -> None:
    """Your own table -> any family.

    FILE is a CSV with a header, separated by commas, semicolons or tabs; - is standard input. --map says which column is which
    field; what is not mapped is assumed, printed, and kept in the instance's meta. Times are dates, or numbers in the unit that
    the column's name ends in (Runtime_min) or --unit says; durations may be [D-]HH:MM:SS. A job's id is --map id=COLUMN, else a
    column called id or JobID, else its line in the file.
    """
    file, output, skip_bad, as_json = (given.pop(name) for name in ("file", "output", "skip_bad", "as_json"))
    check_output(output, [file, given["busy"], given["sites"], *given["signals"]])
    mapping = _assigned("--map due=Deadline", given.pop("mapping"))
    units = _assigned("--unit duration=min", given.pop("units"))
    reading = {"units": units, "time_format": given.pop("time_format")}
    window = cut(given)
    options = {name: value for name, value in given.items() if value not in (None, ())}
    _refuse_foreign(target, options, [name for name, value in {**reading, **window}.items() if value])
    if target not in TARGETS:
        from optsched.cli._own_table import read
        from optsched.instances.readers import read_day_ahead

        options.pop("seed")

        def built() -> Instance:
            return read(file, mapping, lambda path, m: read_day_ahead(path, m, skip_bad=skip_bad, **options), ids=False)

        made(built, output, as_json)
        return
    from optsched.cli._own_table import read
    from optsched.instances.readers import read_own_csv

    build, _ = TARGETS[target]
    table = read(file, mapping, lambda path, m: read_own_csv(path, target, m, skip_bad=skip_bad, **reading), ids=True)
    trace = table.window(**window, seed=given["seed"])
    made(lambda: build(trace, window["hours"], skip_bad, options), output, as_json)


def _refuse_foreign(target: str, options: Options, jobs_only: Sequence[str]) -> None:
    """Refuse options of other families, and for a table without jobs those about jobs."""
    own = {name: names for name, (_, names) in TARGETS.items()} | {"day_ahead": DAY_AHEAD}
    foreign = {name for names in own.values() for name in names} - set(own[target])
    wrong = sorted(foreign & set(options)) + (sorted(jobs_only) if target not in TARGETS else [])
    if wrong:
        raise click.UsageError(f"--{OPTIONS.get(wrong[0], wrong[0]).replace('_', '-')} is not an option of --to {target}")


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
