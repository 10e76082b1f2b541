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
from optsched.schedules.base import PROVEN, Violation

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
        proven = None if found else _proven(instance, result)
        found += [] if found else _beyond(instance, result, proven)
        words += _proof(result, proven)
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


def _proven(instance: Instance, result: Result) -> float | None:
    """What the file's own prices or multipliers prove, worked out anew; None where it has none that fit."""
    proof = result.proof
    if proof is not None and proof.kind == "duals" and proof.duals is not None and result.objective is not None:
        from optsched.phases import proves

        return proves(instance, proof, result.objective)
    if result.shadow_prices is None:
        return None
    from optsched.decomposition.listing import listing_of  # loads the models

    listing = listing_of(instance)
    return None if listing is None else listing.proves(result.shadow_prices)


def _beyond(instance: Instance, result: Result, proven: float | None) -> list[Violation]:
    """A bound that says more than the prices or multipliers that it is said to come from."""
    proof, bound = result.proof, result.bound
    has = {"prices": result.shadow_prices, "duals": None if proof is None else proof.duals}
    if proof is not None and proof.kind == "sign" and (instance.sense != "minimize" or bound != 0):
        return [Violation("proof that fits nothing", detail="that no cost is negative proves 0, where costs are minimised")]
    if proof is None or bound is None or has.get(proof.kind) is None:
        return []
    if proven is None:
        return [Violation("proof that fits nothing", detail=f"the {proof.kind} are not of this instance")]
    more = bound - proven if instance.sense == "minimize" else proven - bound
    if more <= 2 * PROVEN * max(abs(bound), abs(proven)):
        return []
    return [Violation("bound that its proof does not reach", detail=f"bound {bound:.9g}, its {proof.kind} prove {proven:.9g}")]


def _proof(result: Result, proven: float | None) -> str:
    """How the bound was proven, and what is taken on trust."""
    proof = result.proof
    words = "" if proven is None else f"; its {'multipliers' if proof and proof.kind == 'duals' else 'shadow prices'} alone "
    words += "" if proven is None else f"prove {number(proven)}"
    if proof is None or proof.kind == "prices" or (proof.kind == "duals" and proven is not None):
        return words
    return words + "; " + TRUSTED[proof.kind].format(overlooked=number(proof.overlooked), tolerance=f"{proof.tolerance:g}")
