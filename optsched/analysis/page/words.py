"""A certificate in a sentence: what is proven, and by whom."""

from __future__ import annotations

from optsched.report import number, percent
from optsched.result import Result

REFEREE = "The objective was recomputed from the schedule by the referee, which knows nothing of the method."
PROOFS = {
    "prices": "shadow prices of capacity, with every rounding charged; optsched check works it out again from the result file",
    "covers": "prices of capacity and of covers, with every rounding charged; optsched check works it out again from the file",
    "duals": "multipliers of a linear program's rows, rounded safely; optsched check works it out again if the file keeps them",
    "integers": "a search in exact integer arithmetic, with the rounding of costs charged",
    "path": "shortest paths over staircases and branching on days, with every rounding charged",
    "search": "branch and bound in floating point, whose known errors are counted against the bound",
    "sign": "the signs of the costs: none of this family is negative",
}


def certificate(result: Result, unit: str, sense: str) -> str:
    """What is proven of a result by whom, and what is taken on trust.

    Parameters
    ----------
    result
        Whose objective the referee has confirmed.
    unit
        Of the objective.
    sense
        ``"minimize"`` or ``"maximize"``.
    """
    if result.schedule is None:
        return f"There is no schedule: {result.method} ended {result.termination}. {_bound(result, unit, sense)}".strip()
    kind = {
        "proxy": "It is a proxy: what the decision is expected to cost, not what happened.",
        "realised": "It is what really happened in the replay.",
    }
    said = [REFEREE, kind.get(result.objective_kind or "", ""), _bound(result, unit, sense)]
    return " ".join(part for part in said if part)


def _bound(result: Result, unit: str, sense: str) -> str:
    if result.bound is None:
        return f"No bound: {result.method} has proven none, so how far this is from the optimum is not known."
    side = "cost less than" if sense == "minimize" else "earn more than"
    claim = f"No schedule can {side} {number(result.bound)} {unit}".rstrip()
    if result.solution == "optimal":
        claim += ", so this one is optimal"
    elif result.gap is not None:
        claim += f", so the optimum is at most {percent(result.gap)} away"
    if result.proof is None:
        return f"{claim}; the bound was given to the run or found beside it, and the file does not say how it was proven."
    trust = f"; rows and integers held to {result.proof.tolerance:g} are taken on trust" if result.proof.tolerance else ""
    return f"{claim}: proven by {PROOFS[result.proof.kind]}{trust}."
