"""`optsched check`: the referee's word on a result or a bare schedule."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._lines import say
from optsched.cli._show import console, number, percent
from optsched.errors import InputError, OptschedError

if TYPE_CHECKING:
    from optsched.instances import Instance
    from optsched.result import Result
    from optsched.schedules.base import Evaluation, Schedule, Violation

TRUSTED = {
    "duals": "proven by multipliers of a linear program with every rounding charged, which are not in the file: taken on trust",
    "integers": "proven by a search in integers, taken on trust",
    "path": "proven by shortest paths and branching with every rounding charged, taken on trust",
    "search": "proven by branch and bound in floating point, taken on trust: rows and integers held to {tolerance}, "
    "{overlooked} that it may have overlooked is counted against the bound",
    "sign": "no cost is negative, which proves it",
}


EPILOG = """\b
Examples:
  optsched check x.json x.result.json
  optsched check x.json my-schedule.json --bound x.result.json
  optsched solve x.json --json | optsched check x.json - --json
"""


@click.command("check", no_args_is_help=True, epilog=EPILOG)
@click.argument("instance_file", metavar="INSTANCE", type=_input.FILE)
@click.argument("result_file", metavar="RESULT", type=_input.FILE)
@click.option(
    "--bound",
    metavar="RESULT|NUMBER",
    help="Show the gap to this bound, or to that of another result of the same instance, where it is the better one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print figures, gap and violations as one JSON object.")
def command(instance_file: str, result_file: str, bound: str | None, as_json: bool) -> int:
    """Recompute a result from its instance and schedule alone, and name every broken rule.

    RESULT is a result file, or a bare schedule such as {"starts": [...]}; one of the two files may be -, standard input. Exit
    code 1 if anything is wrong: a rule, a figure, a bound on the wrong side, another instance, or a file that was edited.
    """
    from optsched.result import beats, relative_gap
    from optsched.schedules.base import Violation

    _input.once(instance_file, result_file, bound)
    instance = _input.instance(instance_file)
    instance, schedule, known, found, words = _input.read(result_file, lambda file: _judged(instance, file))
    given = None if bound is None or schedule is None else _bound(instance, schedule, bound)
    best = _better(instance, known, given)
    judged = None
    if not found and schedule is not None:
        from optsched.referee import evaluate

        judged = evaluate(instance, schedule)
        if beats(instance, judged.objective, best):
            detail = f"objective {judged.objective:.9g}, bound {best:.9g}"
            found = [Violation("objective beyond its bound", detail=detail)]
    gap = None if judged is None else relative_gap(judged.objective, best)
    if as_json:
        report = {
            "instance": instance.name,
            "problem": instance.problem,
            "ok": not found and judged is not None,
            "violations": [str(violation) for violation in found],
            "objective": None if judged is None else judged.objective,
            "components": {} if judged is None else dict(judged.components),
            "unit": instance.unit,
            "bound": best,
            "gap": gap,
        }
        click.echo(json.dumps(report))
        return 0 if report["ok"] else 1
    return _told(instance, judged, found, words or _bare(given, bound), given, gap)


def _told(
    instance: Instance, judged: Evaluation | None, found: list[Violation], words: str, given: float | None, gap: float | None
) -> int:
    """Print what the referee says; the exit code."""
    out = console()
    for violation in found:
        say(out, f"violated {violation}", "red")
    if found:
        out.print(f"{len(found)} violation{'s' if len(found) > 1 else ''}")
        return 1
    if judged is None:
        out.print("nothing to check: no schedule")
        return 1
    for name, value in judged.components.items():
        say(out, f"{name:>14}  {number(value)}")
    say(out, f"{'objective':>14}  {number(judged.objective)} {instance.unit}".rstrip())
    if given is not None:
        say(out, f"{'bound':>14}  {number(given)} as given")
        say(out, f"{'gap':>14}  {percent(gap)} to the better bound")
    say(out, f"ok: every rule holds, objective and components are confirmed; {words}")
    return 0


def _judged(instance: Instance, file: str) -> tuple[Instance, Schedule | None, float | None, list[Violation], str]:
    """Schedule, bound and violations of a result or a bare schedule, and a few words on the bound of a result.

    The instance that is judged on is that of the result: with the events of its replay.
    """
    from optsched.referee import check, read

    result = _input.result_or_schedule(file)
    if isinstance(result, dict):
        schedule = read(instance, result, file)
        return instance, schedule, None, check(instance, schedule), ""
    found = result.verify(instance)
    instance = instance if found else result.instance.restored(instance)
    gap = f"bound {number(result.bound)} as the method proved it, gap {percent(result.gap)}"
    words = f"{'no bound was proven' if result.bound is None else gap}, {result.termination}"
    words += "" if result.digest else "; the file is not sealed, so an edited bound would not show"
    proven = None if found else _proven(instance, result)
    found += [] if found else _beyond(instance, result, proven)
    return instance, result.schedule, result.bound, found, words + _proof(result, proven)


def _bare(given: float | None, bound: str | None) -> str:
    """What a bare schedule is held against."""
    if given is None or bound is None:
        return "this is a schedule without a result, so no bound was checked (--bound gives one)"
    taken = "is taken on trust" if _number(bound) is not None else f"is that of {_input.shown(bound)}, which passes the referee"
    return f"this is a schedule without a result, held against the bound given, which {taken}"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _bound(instance: Instance, schedule: Schedule, given: str) -> float:
    """The number, or the bound of a result that is sound and about what the schedule is judged by."""
    from optsched.judging import bound_of

    number_given = _number(given)
    if number_given is not None:
        if not isfinite(number_given):
            raise OptschedError(f"--bound takes a result file or a finite number, got {given!r}")
        return number_given
    other = _input.result(given)
    try:
        proven, _ = bound_of(instance, schedule.objective_kind, other)
    except OptschedError as error:
        raise InputError(_input.shown(given), "", str(error)) from None
    if proven is None:
        raise InputError(_input.shown(given), "bound", f"is null: {other.method} proved none")
    return proven


def _better(instance: Instance, *bounds: float | None) -> float | None:
    """The bound that says most."""
    known = [bound for bound in bounds if bound is not None]
    return (max if instance.sense == "minimize" else min)(known, default=None)


def _proven(instance: Instance, result: Result) -> float | None:
    """What the file's own prices or multipliers prove, worked out anew; None where it has none that fit."""
    proof = result.proof
    if proof is not None and proof.kind == "duals" and proof.duals is not None and result.objective is not None:
        if result.objective_kind == "realised":
            return None  # models and relaxations are of the proxy
        from optsched.phases import proves

        return proves(instance, proof, result.objective)
    covered = None if proof is None or proof.kind == "duals" else proof.covered
    if result.shadow_prices is None and covered is None:
        return None
    from optsched.decomposition.method import proven

    return proven(instance, result.shadow_prices, covered)


def _beyond(instance: Instance, result: Result, proven: float | None) -> list[Violation]:
    """A bound that says more than the prices or multipliers that it is said to come from."""
    from optsched.schedules.base import PROVEN, Violation

    proof, bound = result.proof, result.bound
    has: dict[str, object] = {"prices": result.shadow_prices}
    if proof is not None:
        has |= {"duals": proof.duals, "covers": proof.covered}
    if (
        proof is not None
        and proof.kind == "sign"
        and not (instance.nonnegative and instance.sense == "minimize" and bound == 0)
    ):
        return [Violation("proof that fits nothing", detail="that no cost is negative proves 0, where costs are minimised")]
    for kind in ("prices", "covers"):
        if proof is not None and proof.kind == kind and bound is not None and has[kind] is None:
            return [Violation("proof that is not there", detail=f"the bound is said to come from {kind}, and there are none")]
    if proof is None or bound is None or has.get(proof.kind) is None:
        return []
    if proven is None or not isfinite(proven):
        return [Violation("proof that fits nothing", detail=f"the {proof.kind} are not of this instance")]
    more = bound - proven if instance.sense == "minimize" else proven - bound
    if more <= 2 * PROVEN * max(abs(bound), abs(proven)):
        return []
    return [Violation("bound that its proof does not reach", detail=f"bound {bound:.9g}, its {proof.kind} prove {proven:.9g}")]


def _proof(result: Result, proven: float | None) -> str:
    """How the bound was proven, and what is taken on trust."""
    proof = result.proof
    used = "" if proof is None else "covers" if proof.covered is not None and proof.kind != "duals" else proof.kind
    what = {"duals": "multipliers", "covers": "prices of capacity and covers"}.get(used, "capacity prices")
    words = "" if proven is None else f"; recomputed from the {what} in the file, the bound is {number(proven)}"
    if proof is None or proof.kind in ("prices", "covers") or (proof.kind == "duals" and proven is not None):
        return words
    return words + "; " + TRUSTED[proof.kind].format(overlooked=number(proof.overlooked), tolerance=f"{proof.tolerance:g}")
