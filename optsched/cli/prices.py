"""`optsched prices`: where and when capacity is worth buying."""

from __future__ import annotations

import math
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from optsched.analysis.prices import by_place, draw, stretches
from optsched.cli._instance import instance_of
from optsched.cli._picture import picture, save
from optsched.cli._show import console, number, percent, unit
from optsched.errors import InputError, OptschedError
from optsched.result import load_result

EPILOG = """\b
Examples:
  optsched solve x.json --method decomposition -o x.result.json
  optsched prices x.result.json
  optsched prices x.result.json --hours 6 --top 20 -o prices.png
"""


@click.command("prices", short_help="Where and when one more unit of capacity pays.", epilog=EPILOG)
@click.argument("result_file", metavar="RESULT")
@click.option("-o", "--output", metavar="out.png", help="Draw the prices over time too: .png, .pdf or .svg.")
@click.option(
    "--hours", type=float, default=1.0, show_default=True, help="Length of the stretches of time in the second table."
)
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="How many stretches to show.")
@click.option("--instance", "instance_file", metavar="FILE", help="The instance. [default: the file that the result names]")
def command(result_file: str, output: str | None, hours: float, top: int, instance_file: str | None) -> None:
    """Tell what one more GPU or core would add to the objective, by place and time.

    RESULT comes from a method that prices capacity (`decomposition`, `auto` on large instances). A price is marginal: it holds
    for the first unit, and for a capacity where none is 0 the next one pays nothing.
    """
    path = None if output is None else picture(output)
    result = load_result(result_file)
    if not result.shadow_prices:
        raise InputError(
            result_file,
            "shadow_prices",
            f"are missing: {result.method} of {result.problem} has none; decomposition of geo and deferrable has",
        )
    instance: Any = instance_of(result, result_file, instance_file)
    from optsched.decomposition.listing import listing_of  # loads the models

    listing = listing_of(instance)
    if listing is None or listing.read(result.shadow_prices) is None:
        raise InputError(result_file, "shadow_prices", "are not of the instance's places and slots")
    slots = round(hours * 3600 / instance.slot_s) if math.isfinite(hours) else 0
    if slots < 1:
        raise OptschedError(f"--hours must be at least a slot of {instance.slot_s:g} s, got {hours:g}")
    out, money = console(), unit(instance)
    out.print(f"[bold]{escape(instance.name)}[/bold]  {money} that one more unit of capacity adds to the objective\n")
    table = Table("place", box=None, pad_edge=False)
    for column in ("whole horizon", "mean an hour", "most an hour", "at hour", "hours with a price"):
        table.add_column(column, justify="right")
    an_hour = 3600 / instance.slot_s
    for worth in by_place(result.shadow_prices):
        at = "-" if worth.dearest is None else f"{worth.dearest / an_hour:.1f}"
        most, mean = number(worth.most * an_hour), number(worth.mean * an_hour)
        table.add_row(escape(worth.place), number(worth.total), mean, most, at, percent(worth.share))
    out.print(table)
    best = stretches(result.shadow_prices, slots)[:top]
    if best:
        out.print()
        table = Table("place", "hours", box=None, pad_edge=False)
        table.add_column("one more unit adds", justify="right")
        for stretch in best:
            times = f"{stretch.first / an_hour:.1f} to {(stretch.last + 1) / an_hour:.1f}"
            table.add_row(escape(stretch.place), times, number(stretch.value))
        out.print(table)
    if path is not None:
        save(draw(result.shadow_prices, instance.slot_s, instance.unit, instance.name), path)
        out.print(f"\ndrawn to {path}", markup=False, soft_wrap=True)
