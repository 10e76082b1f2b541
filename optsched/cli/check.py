"""`optsched check`: the referee's word on a result or a bare schedule."""

from __future__ import annotations

import click
from rich.markup import escape

from optsched.cli._show import console, number, percent, unit
from optsched.files import read_bytes
from optsched.instances import Instance, load
from optsched.instances.files import parse_object
from optsched.result import Result, load_result
from optsched.schedules import check, evaluate, parse

TRUSTED = {
    "duals": "proven by multipliers of a linear program with every rounding charged, which are not in the file: taken on trust",
    "integers": "proven by a search in integers, taken on trust",
    "path": "proven by shortest paths and branching with every rounding charged, taken on trust",
    "search": "proven by branch and bound in floating point, taken on trust: rows and integers held to {tolerance}, "
    "{overlooked} that it may have overlooked is counted against the bound",
    "sign": "no cost is negative, which proves it",
}


@click.command("check", short_help="Recheck a result independently.")
@click.argument("instance_file", metavar="INSTANCE")
@click.argument("result_file", metavar="RESULT")
def command(instance_file: str, result_file: str) -> int:
    """Recompute a result from its instance and schedule alone, and name every broken rule.

    RESULT is a result file, or a bare schedule such as {"starts": [...]}. Exit code 1 if anything is wrong: a rule, a figure,
    a bound on the wrong side, another instance, or a file that was edited.
    """
    instance = load(instance_file)
    raw = parse_object(read_bytes(result_file), result_file)
    out = console()
    if "format" in raw or "schedule" in raw:
        result = load_result(result_file)
        found = result.verify(instance)
        words = f"bound {number(result.bound)} as the method proved it, gap {percent(result.gap)}, {result.termination}"
        words += "" if result.digest else "; the file is not sealed, so an edited bound would not show"
        words += "" if found else _proof(instance, result)
        schedule = result.schedule
    else:
        schedule = parse(instance.problem, raw, result_file)
        found = check(instance, schedule)
        words = "a bare schedule, so no bound to check"
    for violation in found:
        out.print(f"[red]violated[/red] {escape(str(violation))}", soft_wrap=True)
    if found:
        out.print(f"{len(found)} violation{'s' if len(found) > 1 else ''}")
        return 1
    if schedule is None:
        out.print("nothing to check: no schedule")
        return 1
    judged = evaluate(instance, schedule)
    for name, value in judged.components.items():
        out.print(f"{name:>14}  {number(value)}")
    out.print(f"{'objective':>14}  {number(judged.objective)} {unit(instance)}")
    out.print(f"ok: every rule holds, objective and components are confirmed; {words}")
    return 0


def _proof(instance: Instance, result: Result) -> str:
    """What the file's own prices or multipliers prove, worked out anew, and what is taken on trust."""
    proof, words = result.proof, ""
    if result.shadow_prices is not None:
        from optsched.decomposition.listing import listing_of  # loads the models

        listing = listing_of(instance)
        proven = None if listing is None else listing.proves(result.shadow_prices)
        words = "; its prices fit nothing" if proven is None else f"; its shadow prices alone prove {number(proven)}"
    if proof is None or proof.kind == "prices":
        return words
    if proof.duals is not None and result.objective is not None:
        from optsched.phases import proves

        proven = proves(instance, proof, result.objective)
        return words + (
            "; its multipliers fit nothing" if proven is None else f"; its multipliers alone prove {number(proven)}"
        )
    return words + "; " + TRUSTED[proof.kind].format(overlooked=number(proof.overlooked), tolerance=f"{proof.tolerance:g}")
