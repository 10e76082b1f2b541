"""`optsched replay`: an instance while time passes."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import click
from rich.live import Live
from rich.table import Table
from rich.text import Text

from optsched.cli._show import console, header, number, unit
from optsched.errors import InputError, OptschedError
from optsched.files import write_bytes
from optsched.instances import Instance, load
from optsched.result import Result

EPILOG = """\b
Examples:
  optsched replay instances/armida.json
  optsched replay instances/armida.json --policy fifo --policy preemptive-edf --policy rolling
  optsched replay x.json --policy rolling -o history.json --log events.jsonl
"""


@click.command("replay", short_help="Replay online under policies.", epilog=EPILOG)
@click.argument("instance_file", metavar="INSTANCE")
@click.option("--policy", "names", multiple=True, help="A policy; several give one table. [default: rolling]")
@click.option("--period", type=float, metavar="SECONDS", help="Decide at least this often. [default: at events only]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Result file of a single policy: the history and its realised cost.")
@click.option("--log", "log_file", metavar="FILE", help="One JSON line an event, of a single policy.")
def command(
    instance_file: str, names: tuple[str, ...], period: float | None, seed: int, output: str | None, log_file: str | None
) -> int:
    """Replay an instance event by event; every policy is judged by the same referee on what it really cost.

    A policy sees a snapshot: the jobs submitted so far with their remaining times, and nothing of the future.
    """
    instance = load(instance_file)
    chosen = names or ("rolling",)
    if len(chosen) > 1 and (output or log_file):
        raise OptschedError("-o and --log go with a single --policy")
    for file in (output, log_file):
        if file is not None and not os.access(Path(file).resolve().parent, os.W_OK):
            raise InputError(file, "", "cannot be written")
    out = console()
    out.print(header(instance))
    lines = io.StringIO()
    results = [_one(instance, name, period, seed, lines) for name in chosen]
    out.print(_table(instance, results))
    for result in results:
        if result.message:
            out.print(f"{result.method}: {result.message}", markup=False, soft_wrap=True)
    if output is not None:
        reference = results[0].instance.model_copy(
            update={"file": os.path.relpath(instance_file, Path(output).resolve().parent)}
        )
        results[0].model_copy(update={"instance": reference}).save(output)
    if log_file is not None:
        write_bytes(log_file, lines.getvalue().encode())
    return 0


def _one(instance: Instance, name: str, period: float | None, seed: int, lines: io.StringIO) -> Result:
    from optsched.rolling.loop import replay

    def keep(row: dict[str, object]) -> None:
        lines.write(json.dumps(row) + "\n")

    screen = console(stderr=True)
    with Live(Text(name), console=screen, transient=True, refresh_per_second=8) as live:
        return replay(
            instance,
            name,
            period_s=period,
            seed=seed,
            log=keep,
            progress=lambda row: live.update(
                Text(f"{name}: {row['time_s']:,.0f} s, {row['waiting']} known, {row['left']} unfinished")
            ),
        )


def _table(instance: Instance, results: list[Result]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("policy")
    names = [*results[0].components, f"total {unit(instance)}"]
    figures = ["makespan_s", "utilisation", "preemptions", "migrations", "decisions", "fallbacks"]
    for column in [*names, *figures, "median s", "p99 s"]:
        table.add_column(column, justify="right")
    for r in results:
        f = r.options["figures"]
        cells = [number(v) for v in [*r.components.values(), r.objective, *(f[name] for name in figures)]]
        table.add_row(r.options["policy"], *cells, f"{f['decision_s_median']:.3f}", f"{f['decision_s_p99']:.3f}")
    return table
