"""`optsched replay`: an instance while time passes."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.live import Live
from rich.table import Table
from rich.text import Text

from optsched.cli._show import console, header, number, percent, unit
from optsched.errors import InputError, OptschedError
from optsched.files import can_be_written, write_bytes
from optsched.instances import Instance, load
from optsched.interrupts import INTERRUPTED, keeping
from optsched.result import Result

if TYPE_CHECKING:
    from optsched.rolling.policy import Settings

EPILOG = """\b
Examples:
  optsched replay instances/armida.json
  optsched replay instances/armida.json --policy fifo --policy preemptive-edf --policy rolling
  optsched replay instances/geo-small.json --policy local-fcfs --policy rolling --forecast noisy:0.2
  optsched replay x.json --policy rolling:exact --budget 5 --checkpoint state/ -o history.json --log events.jsonl
  optsched replay x.json --policy rolling:exact --budget 5 --checkpoint state/ --resume -o history.json --log events.jsonl

\b
Policies: every heuristic of `optsched methods`, rolling (the recommended one of each family), and rolling:METHOD
for any method. A wrong name lists those of the family. Forecasts: perfect, persistence, yesterday (the same slot), noisy (or
noisy:0.2, a relative error after a day that grows with the lead), fitted.
"""


@click.command("replay", short_help="Replay online under policies.", epilog=EPILOG)
@click.argument("instance_file", metavar="INSTANCE")
@click.option("--policy", "names", multiple=True, help="A policy; several give one table. [default: rolling]")
@click.option("--period", type=float, metavar="SECONDS", help="Decide at least this often. [default: by the family]")
@click.option("--forecast", default="perfect", show_default=True, help="What is believed of capacity, price and carbon.")
@click.option("--window", type=float, metavar="SECONDS", help="rolling:METHOD plans starts only so far ahead.")
@click.option("--replan", type=float, metavar="SECONDS", help="Follow a plan, or keep prices, for so long.")
@click.option(
    "--budget", type=float, metavar="SECONDS", help="End a decision that takes longer; a simple rule decides instead."
)
@click.option("--history", metavar="FILE", help="An instance of past days, for policies that learn what to expect (rolling).")
@click.option("--checkpoint", metavar="DIR", help="Keep the replay there, so that it can go on after a crash.")
@click.option("--every", type=click.IntRange(min=1), default=50, show_default=True, help="Decisions between checkpoints.")
@click.option("--resume", is_flag=True, help="Go on from --checkpoint.")
@click.option(
    "--bound/--no-bound", default=None, help="The bound of whoever knows everything. [default: with several policies]"
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Result file of a single policy: what happened, judged.")
@click.option("--log", "log_file", metavar="FILE", help="One JSON line a decision, of a single policy.")
def command(
    instance_file: str,
    names: tuple[str, ...],
    period: float | None,
    forecast: str,
    window: float | None,
    replan: float | None,
    budget: float | None,
    history: str | None,
    checkpoint: str | None,
    every: int,
    resume: bool,
    bound: bool | None,
    seed: int,
    output: str | None,
    log_file: str | None,
) -> int:
    """Replay an instance event by event; every policy is judged by the same referee on what it really cost or earned.

    A policy sees a snapshot: the jobs submitted so far, what capacity is left, and a forecast; nothing else of the future.
    Ctrl-C and SIGTERM end it between two decisions (exit codes 130 and 143): --log gets what happened so far, and so does -o
    where it is a whole schedule; a --checkpoint goes on with --resume.
    """
    from optsched.rolling.loop import Interrupted
    from optsched.rolling.policy import Settings

    instance = load(instance_file)
    chosen = names or ("rolling",)
    past = None if history is None else load(history)
    settings = Settings(window_s=window, replan_s=replan, budget_s=budget, history=past)
    taken = _settings(instance.problem, chosen, settings)  # a wrong name ends here, not after the first replay
    if len(chosen) > 1 and (output or log_file or checkpoint):
        raise OptschedError("-o, --log and --checkpoint go with a single --policy")
    if resume and checkpoint is None:
        raise OptschedError("--resume goes with --checkpoint DIR")
    for file in (output, log_file):
        if file is not None and not can_be_written(file):
            raise InputError(file, "", "cannot be written")
    out = console()
    out.print(header(instance))
    lines = io.StringIO()
    given = {"period_s": period, "forecast": forecast, "seed": seed, "every": every}
    kept = {"checkpoint": checkpoint, "resume": resume, "log": None if log_file is None else _teller(lines)}
    best = _bound(instance, bool(bound)) if bound or (bound is None and len(chosen) > 1) else None
    results: list[Result] = []
    stopped: KeyboardInterrupt | None = None
    with keeping():  # what has happened is written before a request to stop counts
        try:
            results.extend(_one(instance, name, settings=taken[name], bound=best, **given, **kept) for name in chosen)
        except KeyboardInterrupt as interrupted:
            stopped, at = interrupted, chosen[len(results)]
            results += [stopped.result] if isinstance(stopped, Interrupted) and stopped.result is not None else []
        unsaved = _unsaved(instance_file, results, output, log_file, lines.getvalue())
    if results:
        out.print(_table(instance, results, best))
    for result in results:
        if result.message:
            out.print(f"{result.method}: {result.message}", markup=False, soft_wrap=True)
    if stopped is not None:
        click.echo(f"interrupted in {at}{_left(stopped, output, checkpoint)}", err=True)
    for error in unsaved:
        raise error
    return 0 if stopped is None else INTERRUPTED


def _unsaved(file: str, results: list[Result], output: str | None, log: str | None, lines: str) -> list[OptschedError]:
    """Write before anything is printed, which may fail too; what kept a file from being written is told at the end."""
    found = []
    try:
        if output is not None and results:
            beside = os.path.relpath(file, Path(output).resolve().parent)
            reference = results[0].instance.model_copy(update={"file": beside})
            results[0].model_copy(update={"instance": reference}).save(output)
    except OptschedError as error:
        found.append(error)
    try:
        if log is not None and (results or lines):
            write_bytes(log, lines.encode())
    except OptschedError as error:
        found.append(error)
    return found


def _left(stopped: KeyboardInterrupt, output: str | None, checkpoint: str | None) -> str:
    """How far it came, what became of the result, and how to go on."""
    from optsched.rolling.loop import Interrupted

    said = ""
    if isinstance(stopped, Interrupted):
        said = f" after {stopped.decisions} decisions"
        if output is not None and stopped.result is None:
            said += f"; {output} is not written: what happened so far is no whole schedule yet"
    return said + (f"; go on with --checkpoint {checkpoint} --resume" if checkpoint else "")


def _settings(family: str, names: tuple[str, ...], settings: Settings) -> dict[str, Settings]:
    """What each policy takes: in a table, settings that some do not take are for the others."""
    from optsched.rolling.policy import Settings, policy

    taken, refused = {}, None
    for name in names:
        policy(family, name, Settings())
        try:
            policy(family, name, settings)
            taken[name] = settings
        except OptschedError as error:
            refused, taken[name] = error, Settings(budget_s=settings.budget_s)
    if refused is not None and settings not in taken.values():
        raise refused
    return taken


def _teller(lines: io.StringIO) -> Callable[[dict[str, Any]], None]:
    def keep(row: dict[str, Any]) -> None:
        lines.write(json.dumps(row) + "\n")

    return keep


def _bound(instance: Instance, wanted: bool) -> float | None:
    """The bound; None where there is none and nobody has asked for it."""
    from optsched.rooms import room

    with console(stderr=True).status("the bound of whoever knows everything"):
        try:
            value: float = room("decomposition", instance.problem).clairvoyant(instance)
        except OptschedError:
            if wanted:
                raise
            return None
    return value


def _one(instance: Instance, name: str, **given: Any) -> Result:
    from optsched.rolling.loop import replay

    with Live(Text(name), console=console(stderr=True), transient=True, refresh_per_second=8) as live:

        def show(row: dict[str, Any]) -> None:
            live.update(Text(f"{name}: {row['time_s']:,.0f} s, {row['waiting']} known, {row['left']} unfinished"))

        return replay(instance, name, progress=show, **given)


def _table(instance: Instance, results: list[Result], bound: float | None) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("policy")
    figures = [name for name in results[0].options["figures"] if not name.startswith("decision_s")]
    gaps = ["gap"] if bound is not None else []
    for column in [*results[0].components, f"total {unit(instance)}", *gaps, *figures, "s/decision", "p99"]:
        table.add_column(column, justify="right")
    for r in results:
        f = r.options["figures"]
        cells = [number(v) for v in [*r.components.values(), r.objective]]
        cells += [percent(r.gap)] if bound is not None else []
        cells += [f"{f[name]:.3f}" if name == "utilisation" else number(f[name]) for name in figures]
        table.add_row(r.options["policy"], *cells, f"{f['decision_s_median']:.3f}", f"{f['decision_s_p99']:.3f}")
    if bound is not None:
        empty = [""] * (len(results[0].components))
        table.add_row("clairvoyant bound", *empty, number(bound), *[""] * (len(figures) + 3), style="dim")
    return table
