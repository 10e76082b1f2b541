"""`optsched pareto`: what one part of the objective costs in another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optsched.cli import _input, _known
from optsched.cli._durations import DURATION, GAP
from optsched.cli._frames import table_tried, write_table
from optsched.cli._lines import say, warn
from optsched.cli._live import live
from optsched.cli._picture import FORMATS, picture, save
from optsched.cli._show import console, number, percent, show_header
from optsched.cli._streams import aside
from optsched.cli._table import Column, show
from optsched.errors import InputError
from optsched.files import write_json
from optsched.interrupts import keeping

if TYPE_CHECKING:
    from optsched.analysis.pareto import Front
    from optsched.analysis.pareto.search import Progress

EPILOG = """\b
Examples:
  optsched pareto x.json
  optsched pareto geo.json --axes cost,carbon -o front.png
  optsched pareto vcc.json --points 20 --time-limit 5m -o front.json
  optsched pareto alloc.json --axes energy,tardiness --gap 1% -o front.csv
"""
TABLES = (".csv", ".parquet", ".json")


@click.command("pareto", no_args_is_help=True, epilog=EPILOG)
@click.argument("file", metavar="INSTANCE", type=_input.FILE)
@click.option(
    "--axes",
    metavar="A,B",
    help="Two terms of the objective, or sums of them joined by +; a name that is none lists them. [default: the family's own]",
)
@click.option("--points", type=click.IntRange(2), default=12, show_default=True, help="How many schedules at most.")
@click.option(
    "--time-limit", type=DURATION, metavar="TIME", default="60s", show_default=True, help="Of the whole front, e.g. 90s or 5m."
)
@click.option("--gap", type=GAP, help="Stop where no schedule beats the front by more than this share of its extent, e.g. 1%.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Same seed, same run.")
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="A picture (.png, .pdf, .svg), a table (.csv, .parquet), or all with the schedules (.json); may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the front as one JSON object, and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress and no header.")
def command(
    file: str,
    axes: str | None,
    points: int,
    time_limit: float,
    gap: float | None,
    seed: int,
    outputs: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> int:
    """Trade two parts of the objective: schedules none of which is better on both, and what is proven around them.

    Every value is the referee's on INSTANCE as it is. A bound says: no schedule that is as good on the other axis is better.
    Terms on neither axis do not count. Ctrl-C and SIGTERM keep the points so far (exit codes 130 and 143).
    """
    paths = _paths(outputs, file)
    instance = _input.instance(file)
    from optsched.analysis.pareto import pareto
    from optsched.analysis.pareto.axes import read_axes

    traded = read_axes(instance, axes)
    out = console()
    if not (quiet or as_json):
        show_header(out, instance)
    if not quiet:
        if note := _known.note(instance, file):
            warn(note)
        if traded.left_out:
            warn(f"note: {' and '.join(traded.left_out)} on neither axis: not counted here, though the objective does")
    with keeping():
        with aside(as_json), live("pareto", quiet) as tell:

            def told(progress: Progress) -> None:
                tell(f"{progress.seconds:7.1f} s   {progress.points} points   gap {percent(progress.gap)} of the extent")

            front = pareto(instance, axes, points=points, time_limit=time_limit, gap=gap, seed=seed, progress=told)
        for path in paths:
            _write(front, path)
        if as_json:
            click.echo(json.dumps(front.to_dict()))
            return 0
        _show(front)
        for path in paths:
            say(out, f"written to {path}")
    return 0


def _paths(outputs: tuple[str, ...], file: str) -> list[Path]:
    """Outputs that can be written.

    Raises
    ------
    OptschedError
        A name that ends in something else, is the input, or cannot be written.
    """
    found = []
    for output in outputs:
        if output.endswith(FORMATS):
            found.append(picture(output, inputs=[file]))
        elif output.endswith(TABLES):
            found.append(table_tried(output, [file]))
        else:
            raise InputError(output, "", f"a front goes to a file that ends in {', '.join((*FORMATS, *TABLES))}")
    return found


def _write(front: Front, path: Path) -> None:
    """Picture, table or JSON, by the name's ending."""
    if path.suffix in FORMATS:
        save(front.plot(), path)
    elif path.suffix == ".json":
        write_json(path, json.dumps(front.to_dict(), ensure_ascii=False) + "\n")
    else:
        write_table(front.to_frame(), path)


def _show(front: Front) -> None:
    """The table of points, and what is proven of all of them."""
    out, traded = console(), front.traded
    names = [word for axis in traded.axes for word in (axis.name, "bound")]
    columns = [Column("")] + [Column(name, right=True) for name in (*names, "gap", "objective")]
    rows = [
        [
            str(i),
            number(p.values[0]),
            number(p.bounds[0]),
            number(p.values[1]),
            number(p.bounds[1]),
            percent(p.gap),
            number(p.objective),
        ]
        for i, p in enumerate(front.points, 1)
    ]
    out.print()
    show(out, columns, rows)
    out.print()
    for axis in traded.axes:
        say(out, axis.label if axis.says.replace(" ", "") == axis.name else f"{axis.label}: {axis.says}")
    beaten = f"no schedule beats the front by more than {percent(front.gap)} of its extent on both axes at once"
    none = "none: no schedule beats the front" if front.complete else beaten
    say(out, f"gap    {'nothing bounds the front' if front.gap is None else none}")
    say(out, f"ended  {front.says} ({front.solves} programs, {front.seconds:.1f} s; {front.found_by})")
