"""`optsched import`: traces of real clusters as instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from optsched.cli._emit import emit
from optsched.errors import InputError, OptschedError
from optsched.instances import Instance, load

if TYPE_CHECKING:
    from optsched.instances.readers import Trace

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
FEW = 3  # skipped rows that are named


@click.group("import", short_help="Make an instance from a real trace.")
def command() -> None:
    """Make an instance from the trace of a real cluster.

    What a trace does not say has to be assumed: every assumption is printed and kept in the instance's meta. A broken row ends
    the import with its number; --skip-bad leaves such rows out and counts them. docs/traces.md says where the traces are.
    """


def _all(*decorators: Decorator) -> Decorator:
    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorated


_common = _all(
    click.option("-o", "--output", metavar="FILE", help=".json or .json.gz; standard output if not given."),
    click.option("--skip-bad", is_flag=True, help="Leave broken rows out, and count them."),
)
_window = _all(
    click.option("--limit", type=click.IntRange(min=1), help="At most so many jobs, the first submitted."),
    click.option("--sample", type=click.IntRange(min=1), help="So many jobs of the window, drawn at random."),
    click.option("--from-s", type=float, help="Second of the trace to begin at. [default: the hour of the first submission]"),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of what is drawn."),
    click.option("--hours", type=float, help="Length of the window, and the horizon of deferrable and geo. [default: all]"),
)
_map = click.option(
    "--map", "mapping", multiple=True, metavar="SITE=ZONE", help="Zone of a site; ZONE,ZONE: of its price and of its carbon."
)
_from = click.option(
    "--from", "start", metavar="TIME", help="First hour of the signals, UTC. [default: the first that has all]"
)
_allocation = _all(
    click.option(
        "--nodes", metavar="TYPE:GPUSxCOUNT,...", help="The cluster. [default: V100:4x10, or T4:4x10 where times are for T4]"
    ),
    click.option(
        "--all-submitted", is_flag=True, default=None, help="Set now to the last submission, so that `solve` sees every job."
    ),
)
_geo = _all(
    click.option(
        "--signals",
        multiple=True,
        metavar="CSV",
        help="Prices and carbon; price=FILE and carbon=FILE name a wide file's content.",
    ),
    click.option("--scale", type=float, help="Of the sites' GPUs. [default: 1]"),
    click.option("--gpu-power-kw", type=float, help="[default: 0.07]"),
    _map,
    _from,
)
_deferrable = _all(
    click.option("--slot-s", type=float, default=300.0, show_default=True),
    click.option("--slack", type=float, default=1.0, show_default=True, help="Latest - earliest start, in durations."),
    click.option("--capacity", type=float, help="Constant capacity in cores."),
    click.option(
        "--busy", metavar="CSV", help="timestamp (s), cpu_usage (1/100 core): capacity is the peak less what is busy."
    ),
    click.option(
        "--load",
        type=float,
        default=1.0,
        show_default=True,
        help="Core-slots asked for over those there are, unless --capacity.",
    ),
    click.option("--truncate", is_flag=True, help="Cut jobs off at the horizon instead of leaving them out."),
)


def _check(output: str | None) -> None:
    if output is not None and not Path(output).name.endswith((".json", ".json.gz")):
        raise InputError(output, "", "an instance file ends in .json or .json.gz")


def _pairs(mapping: Sequence[str]) -> dict[str, str]:
    pairs = dict(pair.partition("=")[::2] for pair in mapping)
    if not all(site and zone for site, zone in pairs.items()):
        raise OptschedError("a mapping is written SITE=ZONE, e.g. AU-SA=AU-VIC")
    return pairs


def _signals(files: Sequence[str], skip_bad: bool) -> Any:
    from optsched.instances.readers import read_signals

    return read_signals(files, skip_bad=skip_bad)


def _to_allocation(trace: Trace, hours: float | None, skip_bad: bool, **options: Any) -> Instance:
    from optsched.instances.readers import to_allocation

    return to_allocation(trace, **options)


def _to_geo(
    trace: Trace, hours: float | None, skip_bad: bool, signals: Sequence[str] = (), mapping: Sequence[str] = (), **options: Any
) -> Instance:
    from optsched.instances.readers import to_geo

    if not signals:
        raise click.UsageError("--to geo needs --signals: files of prices and carbon")
    return to_geo(trace, _signals(signals, skip_bad), hours=hours, zones=_pairs(mapping), **options)


def _to_deferrable(trace: Trace, hours: float | None, skip_bad: bool, seed: int, **options: Any) -> Instance:
    from optsched.instances.readers import to_deferrable  # it draws nothing: the seed was the sample's

    return to_deferrable(trace, hours=hours, **options)


# what makes an instance of each family, and the options that are its own
TARGETS: dict[str, tuple[Callable[..., Instance], tuple[str, ...]]] = {
    "allocation": (_to_allocation, ("nodes", "all_submitted")),
    "geo": (_to_geo, ("signals", "scale", "gpu_power_kw", "mapping", "start")),
    "deferrable": (_to_deferrable, ("slot_s", "slack", "capacity", "busy", "load", "truncate")),
}
OPTIONS = {"mapping": "map", "start": "from"}


def _made(build: Callable[[], Instance], output: str | None, place: str | None = None) -> None:
    """Build and write; print what the instance's meta (or the entry `place` of it) says was assumed and left out."""
    try:
        instance = build()
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise OptschedError(f"these files and options make no valid instance: {where}: {fault['msg']}") from None
    emit(instance, output)
    told = instance.meta if place is None else instance.meta[place]
    for sentence in told["assumed"]:
        click.echo(f"  assumed: {sentence}", err=True)
    if count := told["skipped_rows"]:
        first = "; ".join(told["first_skipped"])
        click.echo(f"  skipped: {count} broken rows: {first}{'; ...' if count > len(told['first_skipped']) else ''}", err=True)


def _import(kind: str, target: str, own: Sequence[str], given: dict[str, Any]) -> None:
    """Read the trace with the options of its own, cut the window, and make an instance of the target with the others."""
    file, output, skip_bad = given.pop("file"), given.pop("output"), given.pop("skip_bad")
    _check(output)
    from optsched.instances.readers import READERS

    build, wanted = TARGETS[target]
    reading = {name: given.pop(name) for name in own}
    window = {name: given.pop(name) for name in ("limit", "sample", "from_s", "hours")}
    options = {name: value for name, value in given.items() if value not in (None, ())}
    foreign = {name for _, names in TARGETS.values() for name in names} - set(wanted)
    for name in sorted(foreign & set(options)):
        raise click.UsageError(f"--{OPTIONS.get(name, name).replace('_', '-')} is not an option of --to {target}")
    trace = READERS[kind](file, skip_bad=skip_bad, **reading).window(**window, seed=given["seed"])
    _made(lambda: build(trace, window["hours"], skip_bad, **options), output)


def _gpu(kind: str, help_text: str, *decorators: Decorator, own: tuple[str, ...] = ()) -> None:
    """A command for a trace of GPU jobs, which may become an allocation or a geo instance."""

    @command.command(kind, help=help_text)
    @click.argument("file")
    @click.option("--to", "target", type=click.Choice(["allocation", "geo"]), default="allocation", show_default=True)
    @_all(*decorators, _window, _allocation, _geo, _common)
    def made(target: str, **given: Any) -> None:
        _import(kind, target, own, given)


def _cpu(kind: str, help_text: str, *decorators: Decorator, own: tuple[str, ...] = ()) -> None:
    """A command for a trace of CPU jobs, which becomes a deferrable instance."""

    @command.command(kind, help=help_text)
    @click.argument("file")
    @_all(*decorators, _window, _deferrable, _common)
    def made(**given: Any) -> None:
        _import(kind, "deferrable", own, given)


_gpu(
    "alibaba2020",
    """Alibaba PAI 2020 -> allocation, or geo.

    FILE is a CSV of the official simulator (github.com/alibaba/clusterdata, cluster-trace-gpu-v2020/simulator/traces/pai:
    job_id, submit_time, duration, num_gpu, ...) or the short form arrival_time, length, cpus.
    Assumed: GPUs are whole; times follow Amdahl's law on V100 and T4; due dates and weights are drawn.
    """,
)
_gpu(
    "philly",
    """Microsoft Philly 2017 -> allocation, or geo.

    FILE is the authors' cluster_job_log (github.com/msr-fiddle/philly-traces, JSON) or the CSV of github.com/petuum/adaptdl:
    timestamp, duration, num_gpus, cluster.
    Assumed: times follow Amdahl's law on V100 and T4; due dates and weights are drawn.
    """,
    click.option(
        "--cluster", metavar="ID", help="Only this (virtual) cluster; ee9e8c, 2869ce and 7f04ca mix sizes. [default: all]"
    ),
    own=("cluster",),
)
_gpu(
    "helios",
    """SenseTime Helios 2020 -> allocation, or geo.

    FILE is cluster_log.csv of Venus, Earth, Saturn or Uranus (github.com/S-Lab-System-Group/HeliosData): job_id, gpu_num,
    submit_time, duration, ... Jobs without a GPU are left out.
    Assumed: times follow Amdahl's law on V100 and T4; due dates and weights are drawn.
    """,
)
_gpu(
    "pollux",
    """Pollux or Sia workload -> allocation with measured times.

    FILE is a workload of github.com/petuum/adaptdl (name, time, application, num_replicas, batch_size). The times come from
    Pollux' profiles (T4), or from Gavel's throughputs (K80, P100, V100; the nearest model).
    Assumed: a job trains to its application's last epoch at its submitted batch size; due dates and weights are drawn.
    """,
    click.option(
        "--profiles", metavar="PATH", help="Folder of Pollux profiles, or Gavel's CSV. [default: ../profiles beside FILE]"
    ),
    own=("profiles",),
)
_cpu(
    "azure-v1",
    """Azure Public Dataset V1, binned -> deferrable.

    FILE is a CSV t_bin_s, batch, cores, mem_gb, dur_lo_s, dur_hi_s, censored: one row a virtual machine.
    Assumed: a machine is a deferrable job of its cores; its duration is the midpoint of the bounds.
    """,
)
_cpu(
    "azure-packing",
    """Azure trace for packing 2020 -> deferrable.

    FILE is packing_trace_zone_a_v1.sqlite (github.com/Azure/AzurePublicDataset): vm and vmType, in days and shares
    of a machine.
    Assumed: the cores of a machine; a virtual machine is a deferrable job of its cores. Machines without an end are left out.
    """,
    click.option("--machine-cores", type=float, default=64.0, show_default=True, help="Cores of a whole machine."),
    click.option("--days", type=float, help="Read only so many days; all 14 are 5.5 million machines. [default: all]"),
    own=("machine_cores", "days"),
)
_cpu(
    "swf",
    """Standard Workload Format -> deferrable.

    FILE is an .swf or .swf.gz of the Parallel Workloads Archive: 18 numbers a job, ; comments, -1 = unknown.
    Assumed: a job is deferrable and rigid, its allocated processors for its actual run time.
    """,
)


@command.command("signals")
@click.argument("instance")
@click.argument("files", nargs=-1, required=True)
@_map
@_from
@_common
def signals_command(
    instance: str, files: tuple[str, ...], mapping: tuple[str, ...], start: str | None, output: str | None, skip_bad: bool
) -> None:
    """Hourly prices and carbon -> another geo instance.

    INSTANCE is a geo instance; FILES are CSVs of hourly prices (USD/MWh), carbon intensities (g/kWh), or both: one column a
    zone (the file's name says price or carbon, or write price=FILE), or rows of datetime, region and values. What they give
    replaces what the instance has. Missing zones or hours are one line.
    """
    _check(output)
    from optsched.instances.geo import GeoInstance
    from optsched.instances.readers import replace_signals

    given = load(instance)
    if not isinstance(given, GeoInstance):
        raise InputError(instance, "problem", "only a geo instance has prices and carbon")
    signals = _signals(files, skip_bad)
    _made(lambda: replace_signals(given, signals, _pairs(mapping), start), output, "signals")


@command.command("google2019")
@click.argument("folder")
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
@_common
def google2019_command(folder: str, output: str | None, **options: Any) -> None:
    """Google cluster data 2019 and the SGIP signal -> vcc.

    FOLDER holds daily_events/day_0.csv ... (time us, task_id, duration us, cpu, priority), SGIP*.csv.gz (time UTC, moer,
    f1..f36) and machine_events*.json, as in SustainGym's branch datacenter (github.com/chrisyeh96/sustaingym).
    Assumed: tasks of priority below 120 are flexible; slot 0 is 1 May 2019, midnight, Pacific time; an NCU takes 1 kW.
    """
    _check(output)
    from optsched.instances.readers import read_google2019

    _made(lambda: read_google2019(folder, **options), output)
