"""`optsched prices`: where and when capacity is worth buying."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._lines import say
from optsched.cli._picture import picture, save
from optsched.cli._show import console, number, percent
from optsched.cli._table import Column, show
from optsched.errors import InputError, OptschedError

if TYPE_CHECKING:
    from optsched.analysis.prices import Prices
    from optsched.instances import Instance
    from optsched.result import Result

EPILOG = """\b
Examples:
  optsched solve x.json --method decomposition -o x.result.json
  optsched prices x.result.json
  optsched prices x.result.json --hours 6 --top 20 -o prices.png
"""
WORTH = ("whole horizon", "mean, per hour", "dearest slot, per hour", "at hour", "hours with a price")


@click.command("prices", no_args_is_help=True, epilog=EPILOG)
@click.argument("result_file", metavar="RESULT", type=_input.FILE)
@click.option("-o", "--output", metavar="out.png", help="Draw the prices over time too: .png, .pdf or .svg.")
@click.option(
    "--hours", type=float, default=1.0, show_default=True, help="Length of the stretches of time in the second table."
)
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="How many stretches to show.")
@click.option(
    "--instance",
    "instance_file",
    metavar="FILE",
    type=_input.FILE,
    help="The instance. [default: the file that the result names]",
)
@click.option("--json", "as_json", is_flag=True, help="Print both tables as one JSON object.")
def command(result_file: str, output: str | None, hours: float, top: int, instance_file: str | None, as_json: bool) -> None:
    """Tell what one more GPU or core would add to the objective, by place and time.

    RESULT comes from a method that prices capacity (`decomposition`, `auto` on large instances). A price is marginal: it holds
    for the first unit, and for a capacity where none is 0 the next one pays nothing.
    """
    path = None if output is None else picture(output, inputs=[result_file, instance_file])
    _input.once(result_file, instance_file)
    from optsched.analysis.prices import by_place, draw, stretches
    from optsched.cli._instance import instance_of

    result = _input.result(result_file)
    instance = instance_of(result, result_file, instance_file)
    prices, slot_s = _prices(instance, result, result_file), _slot_s(instance)
    slots = round(hours * 3600 / slot_s) if math.isfinite(hours) else 0
    if slots < 1:
        raise OptschedError(f"--hours must be at least a slot of {slot_s:g} s, got {hours:g}")
    best = stretches(prices, slots)[:top]
    if path is not None:
        now_s = getattr(instance, "now_s", 0.0)
        figure = draw(prices, instance, slot_s, now_s=now_s, objective=result.objective, bound=result.bound)
        save(figure, path)
    if as_json:
        places = [asdict(worth) for worth in by_place(prices)]
        told = {"instance": instance.name, "unit": instance.unit, "slot_s": slot_s, "places": places}
        click.echo(json.dumps(told | {"stretches": [asdict(stretch) for stretch in best]}))
        return
    out, an_hour = console(), 3600 / slot_s
    say(out, f"{instance.name}  {instance.unit} that one more unit of capacity adds to the objective\n")
    rows = []
    for worth in by_place(prices):
        at = "-" if worth.dearest is None else f"{worth.dearest / an_hour:.1f}"
        most, mean = number(worth.most * an_hour), number(worth.mean * an_hour)
        rows.append([worth.place, number(worth.total), mean, most, at, percent(worth.share)])
    show(out, [Column("place"), *(Column(name, right=True) for name in WORTH)], rows)
    if best:
        out.print()
        times = [f"{s.first / an_hour:.1f} to {(s.last + 1) / an_hour:.1f}" for s in best]
        rows = [[s.place, time, number(s.value)] for s, time in zip(best, times, strict=True)]
        show(out, [Column("place"), Column("hours"), Column("one more unit adds", right=True)], rows)
    if path is not None:
        say(out, f"\ndrawn to {path}")


def _prices(instance: Instance, result: Result, result_file: str) -> Prices:
    """The prices of a result.

    Raises
    ------
    InputError
        It has none, or of other places and slots; says what has them.
    """
    from optsched.registry import family_of

    file, family = _input.shown(result_file), family_of(instance)
    pricing = next((name for name, made in family.bounding().items() if getattr(made, "prices_capacity", False)), None)
    if pricing is None:
        instead = "solve it again with one unit of capacity more, and compare the two objectives"
        raise InputError(file, "", f"is of {instance.problem}, whose capacity no method prices: {instead}")
    if not result.shadow_prices:
        remedy = f"`optsched solve INSTANCE --method {pricing} -o RESULT` does"
        raise InputError(file, "", f"has no prices of capacity: {result.method} works none out; {remedy}")
    view = family.time_indexed(instance)
    if view is None:
        return result.shadow_prices
    from optsched.decomposition.shadow_prices import as_array

    if as_array(view, result.shadow_prices) is None:
        raise InputError(file, "shadow_prices", "are of other places and slots than the instance has")
    return result.shadow_prices


def _slot_s(instance: Instance) -> float:
    """Seconds of a slot."""
    found = getattr(instance, "slot_s", None)
    if not isinstance(found, int | float):
        raise OptschedError(f"instances of {instance.problem} have no slot_s: nothing says how long a slot is")
    return float(found)
