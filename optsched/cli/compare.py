"""`optsched compare`: methods and policies on the same instances, beside the best proven bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._durations import DURATION
from optsched.cli._frames import records, table_file, write_table
from optsched.cli._instance import naming
from optsched.cli._lines import say, warn
from optsched.cli._live import live
from optsched.cli._output import JSON, RESULT, tried
from optsched.cli._output import folder as made
from optsched.cli._picture import picture, save
from optsched.cli._show import console
from optsched.cli._streams import aside
from optsched.errors import OptschedError
from optsched.interrupts import INTERRUPTED, asked
from optsched.quantities import read_seeds

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from optsched.result import Result

EPILOG = """\b
Examples:
  optsched example deferrable-small -o x.json
  optsched compare x.json --methods exact,greedy,fifo --policies fifo,rolling
  for s in 0 1 2 3 4; do
    optsched generate osdec --jobs 40 --seed $s -o case$s.json; done
  optsched compare case*.json --methods auto,greedy --time-limit 10s
      --policies fifo,rolling,osdec -o table.csv --profile profile.png
  optsched compare case*.json --methods mymodule:heuristic,auto --seeds 0-4
"""
FEW = 24  # rows that are shown one by one


@click.command("compare", epilog=EPILOG, no_args_is_help=True)
@click.argument("files", nargs=-1, required=True, metavar="INSTANCE...", type=_input.FILE)
@click.option(
    "--methods", metavar="A,B", help="Names of `optsched methods`, or module:object. [default: auto, without --policies]"
)
@click.option("--policies", metavar="A,B", help="Names that `optsched replay` takes.")
@click.option("--seeds", default="0", show_default=True, metavar="0-9", help="Of methods, policies and noise: 0-9, or 1,5,7.")
@click.option(
    "--forecast", "forecasts", multiple=True, default=("perfect",), show_default=True, help="Of policies; may be repeated."
)
@click.option("--time-limit", type=DURATION, metavar="TIME", default="60s", show_default=True, help="Of each run of a method.")
@click.option("--budget", type=DURATION, metavar="TIME", help="Of each decision of a policy.")
@click.option("--no-guard", is_flag=True, help="Show what has been learned bare.")
@click.option(
    "--on-failure",
    type=click.Choice(["fallback", "raise"]),
    default="fallback",
    show_default=True,
    help="Say in its row that something failed, and go on, or end.",
)
@click.option("-o", "--output", metavar="FILE", help="The table, a row a run: .csv, .parquet, .md or .json.")
@click.option("--profile", "profile_file", metavar="FILE", help="Draw performance profiles (Dolan and Moré): .png, .pdf, .svg.")
@click.option("--trace", "trace_file", metavar="FILE", help="Draw gaps against time: .png, .pdf or .svg.")
@click.option("--results", "folder", metavar="DIR", help="Keep every result there, for `optsched check`, `plot` and `report`.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON, and nothing else.")
def command(
    files: tuple[str, ...],
    methods: str | None,
    policies: str | None,
    seeds: str,
    forecasts: tuple[str, ...],
    time_limit: float,
    budget: float | None,
    no_guard: bool,
    on_failure: str,
    output: str | None,
    profile_file: str | None,
    trace_file: str | None,
    folder: str | None,
    as_json: bool,
) -> int:
    """Run methods offline and policies online on the same instances, each against the best bound that any of them proves.

    The mean, its 95 % interval (a paired bootstrap over instances), the worst and the mean rank tell them apart; what failed or
    has no bound is said and in no mean. Where `rolling` is among the policies, a second table says where the gap comes from:
    the solver, not knowing what comes, forecasts, the policy.
    Ctrl-C ends it with the table so far.
    """
    from optsched.analysis.across import compare_all
    from optsched.analysis.gaps import Interrupted

    files = tuple(dict.fromkeys(files))
    _input.once(*files)
    chosen, drawn = _names(methods), read_seeds(seeds)
    players = _names(policies)
    if not chosen and not players:
        chosen = ["auto"]
    target = None if output is None else table_file(output, files)
    pictures = [None if name is None else picture(name, files) for name in (profile_file, trace_file)]
    instances = [_input.instance(file) for file in files]
    kept: list[tuple[str, Result]] = []
    place = None if folder is None else made(folder)
    stopped = False
    total = len(instances) * len(drawn) * (len(chosen) + len(players) * len(forecasts))
    by_name = {instance.sha256: file for file, instance in zip(files, instances, strict=True)}
    with live("compare", as_json) as tell:

        def keep(result: Result) -> None:
            kept.append((by_name[result.instance.sha256], result))
            tell(f"{len(kept)} of {total} runs, {result.instance.name}: {result.method}")

        how = {"time_limit": time_limit, "budget_s": budget, "guard": not no_guard, "on_failure": on_failure, "keep": keep}
        try:
            with aside(as_json):
                table = compare_all(instances, chosen, players, seeds=drawn, forecasts=forecasts, **how)
        except Interrupted as interrupted:
            table, stopped = interrupted.table, True
    if target is not None and len(table):
        write_table(table, target)
    if place is not None:
        _save(kept, place)
    if as_json:
        click.echo(records(table))
    elif len(table):
        _show(table)
        for path in (target, place):
            if path is not None:
                say(console(), f"written to {path}")
    _draw(table, [result for _, result in kept], pictures)
    if stopped or asked():
        warn(f"interrupted after {len(table)} of {total} runs")
        return INTERRUPTED
    return 0 if len(table) and table["objective"].notna().all() else 1


def _names(text: str | None) -> list[str]:
    """Of a list with commas."""
    names = [] if text is None else list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    if text is not None and not names:
        raise OptschedError(f"a list of names with commas between them was expected, got {text!r}")
    return names


def _save(kept: list[tuple[str, Result]], place: Path) -> None:
    """Every result under a name of its instance, who made it, and how often that was."""
    count: dict[str, int] = {}
    for file, result in kept:
        how = result.options.get("forecast", "perfect")
        stem = f"{result.instance.name}.{result.method}.seed{result.seed}" + (f".{how}" if how != "perfect" else "")
        stem = "".join(letter if letter.isalnum() or letter in "._@+ " else "-" for letter in stem)
        count[stem] = count.get(stem, 0) + 1
        name = stem if count[stem] == 1 else f"{stem}.{count[stem]}"
        path = tried(place / f"{name}.result.json", ends=JSON, replaces=RESULT)
        naming(result, file, path).save(path)


def _show(table: pd.DataFrame) -> None:
    from optsched.cli._summary import show_loss, show_rows, show_summary

    out = console()
    if len(table) <= FEW:
        show_rows(out, table)
    if table["instance"].nunique() > 1 or table["seed"].nunique() > 1:
        if len(table) <= FEW:
            out.print()
        show_summary(out, table)
    show_loss(out, table)


def _draw(table: pd.DataFrame, results: list[Result], pictures: list[Path | None]) -> None:
    """What was asked for; a picture of nothing is told."""
    from optsched.analysis.profiles import draw_gaps_over_time, draw_profile

    made: tuple[Callable[[], Figure], ...] = (partial(draw_profile, table), partial(draw_gaps_over_time, table, results))
    for path, drawn in zip(pictures, made, strict=True):
        if path is None:
            continue
        try:
            save(drawn(), path)
            say(console(), f"drawn to {path}")
        except OptschedError as error:
            warn(f"{path} is not drawn: {error}")
