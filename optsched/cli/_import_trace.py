"""Traces of real clusters: a command a kind, which becomes an instance of every family that can take its jobs."""

from __future__ import annotations

import click

from optsched.cli._emit import check_output
from optsched.cli._importing import COMMON, WINDOW, Families, made, refuse_foreign, targets, window_of
from optsched.cli._live import live
from optsched.cli._options import Decorator, all_of, files, given_options, merged
from optsched.origins import JobTarget, Reading

TARGETS = {name: target for name, target in targets().items() if isinstance(target, JobTarget)}
ALIASES = {"zone": ("--map",)}  # as it was called once
COMMANDS: dict[str, click.Command] = {}


def _trace(kind: str, jobs: str, help_text: str, *own: Decorator, names: tuple[str, ...] = ()) -> None:
    """A command for a trace of jobs on GPUs or on CPUs, with options of its own."""
    fitting = {name: target for name, target in TARGETS.items() if jobs in target.traces}

    @click.command(kind, help=help_text.format(", or ".join(fitting)), no_args_is_help=True)
    @click.argument("file", type=click.Path())
    @click.option("--to", "target", type=Families(fitting), default=next(iter(fitting)), show_default=True)
    @all_of([*own, WINDOW, *merged({name: target.options for name, target in fitting.items()}, ALIASES), COMMON])
    def imported(file: str, target: str, output: str | None, as_json: bool, skip_bad: bool, seed: int, **given: object) -> None:
        check_output(output, [file, *(name for of in fitting.values() for name in files(given, of.options))])
        from optsched.instances.readers import READERS

        chosen = fitting[target]
        refuse_foreign(target, chosen.options, fitting.values(), given)
        window, reading = window_of(given), {name: given[name] for name in names}
        with live("import"):
            trace = READERS[kind](file, skip_bad=skip_bad, **reading).window(**window, seed=seed)
        how = Reading({}, window=window, seed=seed, skip_bad=skip_bad)
        made(lambda: chosen.from_trace(trace, how, given_options(given, chosen.options)), output, as_json)

    COMMANDS[kind] = imported


_trace(
    "alibaba2020",
    "gpu",
    """Alibaba PAI 2020 -> {}.

    FILE is a CSV of the official simulator (github.com/alibaba/clusterdata, cluster-trace-gpu-v2020/simulator/traces/pai:
    job_id, submit_time, duration, num_gpu, ...) or the short form arrival_time, length, cpus.
    Assumed: GPUs are whole; times follow Amdahl's law on V100 and T4; due dates and weights are drawn.
    """,
)
_trace(
    "philly",
    "gpu",
    """Microsoft Philly 2017 -> {}.

    FILE is the authors' cluster_job_log (github.com/msr-fiddle/philly-traces, JSON) or the CSV of github.com/petuum/adaptdl:
    timestamp, duration, num_gpus, cluster.
    Assumed: times follow Amdahl's law on V100 and T4; due dates and weights are drawn.
    """,
    click.option(
        "--cluster", metavar="ID", help="Only this (virtual) cluster; ee9e8c, 2869ce and 7f04ca mix sizes. [default: all]"
    ),
    names=("cluster",),
)
_trace(
    "helios",
    "gpu",
    """SenseTime Helios 2020 -> {}.

    FILE is cluster_log.csv of Venus, Earth, Saturn or Uranus (github.com/S-Lab-System-Group/HeliosData): job_id, gpu_num,
    submit_time, duration, ... Jobs without a GPU are left out.
    Assumed: times follow Amdahl's law on V100 and T4; due dates and weights are drawn.
    """,
)
_trace(
    "pollux",
    "gpu",
    """Pollux or Sia workload -> {}; measured times.

    FILE is a workload of github.com/petuum/adaptdl (name, time, application, num_replicas, batch_size). The times come from
    Pollux' profiles (T4), or from Gavel's throughputs (K80, P100, V100; the nearest model).
    Assumed: a job trains to its application's last epoch at its submitted batch size; due dates and weights are drawn.
    """,
    click.option(
        "--profiles", metavar="PATH", help="Folder of Pollux profiles, or Gavel's CSV. [default: ../profiles beside FILE]"
    ),
    names=("profiles",),
)
_trace(
    "azure-v1",
    "cpu",
    """Azure Public Dataset V1, binned -> {}.

    FILE is a CSV t_bin_s, batch, cores, mem_gb, dur_lo_s, dur_hi_s, censored: one row a virtual machine.
    Assumed: a machine is a deferrable job of its cores; its duration is the midpoint of the bounds.
    """,
)
_trace(
    "azure-packing",
    "cpu",
    """Azure trace for packing 2020 -> {}.

    FILE is packing_trace_zone_a_v1.sqlite (github.com/Azure/AzurePublicDataset): vm and vmType, in days and shares
    of a machine.
    Assumed: the cores of a machine; a virtual machine is a deferrable job of its cores. Machines without an end are left out.
    """,
    click.option("--machine-cores", type=float, default=64.0, show_default=True, help="Cores of a whole machine."),
    click.option("--days", type=float, help="Read only so many days; all 14 are 5.5 million machines. [default: all]"),
    names=("machine_cores", "days"),
)
_trace(
    "swf",
    "cpu",
    """Standard Workload Format -> {}.

    FILE is an .swf or .swf.gz of the Parallel Workloads Archive: 18 numbers a job, ; comments, -1 = unknown.
    Assumed: a job is deferrable and rigid, its allocated processors for its actual run time.
    """,
)
