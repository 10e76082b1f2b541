"""`optsched import`: traces of real clusters, and tables of one's own, as instances."""

from __future__ import annotations

from typing import Any

import click

from optsched.cli import _input
from optsched.cli._emit import check_output
from optsched.cli._import_csv import csv_command
from optsched.cli._importing import (
    ALLOCATION,
    COMMON,
    DEFERRABLE,
    GEO,
    START,
    WINDOW,
    ZONES,
    Decorator,
    all_of,
    from_trace,
    made,
    pairs,
    signals_of,
)
from optsched.cli._verbs import Group
from optsched.errors import InputError, OptschedError


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
        return found


@click.group("import", cls=Importers)
def command() -> None:
    """Make an instance from the trace of a real cluster, or from your own CSV.

    What a file does not say has to be assumed: every assumption is printed and kept in the instance's meta. A broken row ends
    the import with its number; --skip-bad leaves such rows out and counts them. docs/traces.md says where the traces are.
    """


command.add_command(csv_command)


def _gpu(kind: str, help_text: str, *decorators: Decorator, own: tuple[str, ...] = ()) -> None:
    """A command for a trace of GPU jobs, which may become an allocation or a geo instance."""

    @command.command(kind, help=help_text, no_args_is_help=True)
    @click.argument("file", type=click.Path())
    @click.option("--to", "target", type=click.Choice(["allocation", "geo"]), default="allocation", show_default=True)
    @all_of(*decorators, WINDOW, ALLOCATION, GEO, COMMON)
    def imported(target: str, **given: Any) -> None:
        from_trace(kind, target, own, given)


def _cpu(kind: str, help_text: str, *decorators: Decorator, own: tuple[str, ...] = ()) -> None:
    """A command for a trace of CPU jobs, which becomes a deferrable instance."""

    @command.command(kind, help=help_text, no_args_is_help=True)
    @click.argument("file", type=click.Path())
    @all_of(*decorators, WINDOW, DEFERRABLE, COMMON)
    def imported(**given: Any) -> None:
        from_trace(kind, "deferrable", own, given)


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


@command.command("signals", no_args_is_help=True)
@click.argument("instance", type=_input.FILE)
@click.argument("files", nargs=-1, required=True, type=click.Path())
@ZONES
@START
@COMMON
def signals_command(
    instance: str,
    files: tuple[str, ...],
    mapping: tuple[str, ...],
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
    from optsched.instances.readers import replace_signals

    given = _input.instance(instance)
    if not isinstance(given, GeoInstance):
        raise InputError(_input.shown(instance), "problem", "only a geo instance has prices and carbon")
    signals = signals_of(files, skip_bad)
    made(lambda: replace_signals(given, signals, pairs(mapping), start), output, as_json, "signals")


@command.command("google2019", no_args_is_help=True)
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
def google2019_command(folder: str, output: str | None, as_json: bool, **options: Any) -> None:
    """Google cluster data 2019 and the SGIP signal -> vcc.

    FOLDER holds daily_events/day_0.csv ... (time us, task_id, duration us, cpu, priority), SGIP*.csv.gz (time UTC, moer,
    f1..f36) and machine_events*.json, as in SustainGym's branch datacenter (github.com/chrisyeh96/sustaingym).
    Assumed: tasks of priority below 120 are flexible; slot 0 is 1 May 2019, midnight, Pacific time; an NCU takes 1 kW.
    """
    check_output(output)
    from optsched.instances.readers import read_google2019

    made(lambda: read_google2019(folder, **options), output, as_json)
