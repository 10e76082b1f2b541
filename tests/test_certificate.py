"""A solver that lies gets no false certificate, a model that is wrong none at all, and a bound that is beaten shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.errors import CertificateError
from optsched.models import deferrable as written
from optsched.models import formulations
from optsched.result import Proof
from optsched.solvers import BACKENDS, SolverResult
from tests.oracle import tiny


def two_jobs(delay_penalty: float = 0.0) -> Any:
    """Each takes the one core of one of two slots: 2 core-slots."""
    job = {"cores": 1.0, "duration": 1, "earliest": 0, "latest": 1, "submitted": 0}
    jobs = [{"id": name, **job} for name in "ab"]
    return tiny.make(
        "deferrable", slot_s=300, capacity=[1.0, 1.0], delay_penalty=delay_penalty, overload_penalty=10.0, jobs=jobs
    )


class Liar:
    """HiGHS, but for what it says in the end."""

    def __init__(self, lie: Any) -> None:
        self.honest, self.lie = BACKENDS["highs"], lie

    def __getattr__(self, name: str) -> Any:
        return getattr(self.honest, name)

    def solve(self, *given: Any) -> SolverResult:
        told: SolverResult = self.lie(self.honest.solve(*given))
        return told


def half_more(outcome: SolverResult) -> SolverResult:
    """The objective and its bound are half better than they are, in the sense of a minimisation."""
    assert outcome.objective is not None
    better = outcome.objective - 0.5 * abs(outcome.objective)
    return replace(outcome, objective=better, bound=better)


def bound_below(outcome: SolverResult) -> SolverResult:
    """A bound that the schedule beats by half."""
    assert outcome.bound is not None
    return replace(outcome, bound=outcome.bound + 0.5 * abs(outcome.bound))


LIES = {
    "infeasible": lambda outcome: SolverResult("infeasible"),
    "everything at once": lambda outcome: replace(outcome, x=np.ones_like(outcome.x)),
    "worth more": half_more,
    "a bound below": bound_below,
}


def test_the_truth_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """So what follows is refused for the lie."""
    monkeypatch.setitem(BACKENDS, "highs", Liar(lambda outcome: outcome))
    result = optsched.solve(two_jobs(), "exact", backend="highs")
    assert (result.objective, result.bound, result.solution) == (pytest.approx(2), pytest.approx(2), "optimal")


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_certifies_nothing_false(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, or what is left of the result is true."""
    monkeypatch.setitem(BACKENDS, "highs", Liar(LIES[lie]))
    try:
        result = optsched.solve(two_jobs(), "exact", backend="highs")
    except CertificateError:
        return
    assert result.verify(two_jobs()) == []
    assert result.objective is not None
    assert result.objective <= 2 + 1e-9
    assert result.bound is None or result.bound >= 2 - 1e-9
    assert result.solution != "optimal" or result.bound == pytest.approx(2)


@pytest.mark.parametrize("formulation", formulations("deferrable"))
def test_a_model_that_lets_pass_what_the_referee_does_not_is_refused(formulation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It decodes its solution into jobs that are started twice."""
    kind = formulations("deferrable")[formulation]
    decode, calls = kind.decode, []

    def twice(model: Any) -> Any:
        calls.append(model)
        schedule = decode(model)
        return schedule if len(calls) == 1 else schedule.model_copy(update={"starts": schedule.starts * 2})

    monkeypatch.setattr(kind, "decode", twice)
    with pytest.raises(CertificateError):
        optsched.solve(two_jobs(), "exact", formulation=formulation)
    assert len(calls) > 1


def test_a_point_that_is_not_tight_is_no_matter_of_tolerances(monkeypatch: pytest.MonkeyPatch) -> None:
    """An incumbent may hold more overload than its jobs cause: it fits, and the referee finds it better than it says."""
    monkeypatch.setitem(
        BACKENDS, "highs", Liar(lambda found: replace(found, objective=found.objective + 0.1 * abs(found.objective)))
    )
    result = optsched.solve(two_jobs(), "exact", backend="highs")
    assert (result.objective, result.message) == (pytest.approx(2), None)
    monkeypatch.setitem(BACKENDS, "highs", Liar(half_more))
    assert "its tolerances do not carry these numbers" in (optsched.solve(two_jobs(), "exact", backend="highs").message or "")


def test_an_optimum_without_a_bound_has_that_of_the_relaxation() -> None:
    """HiGHS presolves this to a point and minus infinity: a second job of 0.33333 exceeds the capacity by 7e-11."""
    job, third = {"duration": 1, "earliest": 1, "latest": 1, "submitted": 0}, 0.33333
    jobs = [{"id": "a", **job, "cores": third, "duration": 2, "earliest": 2, "latest": 4}]
    jobs += [{"id": name, **job, "cores": third} for name in "bcd"]
    capacity = [0.0, 0.6666599333340001, 0.6666633266663666]
    tight = tiny.make("deferrable", slot_s=3600, capacity=capacity, delay_penalty=0.3, overload_penalty=1e9, jobs=jobs)
    result = optsched.solve(tight, "exact", formulation="cover", backend="highs")
    assert result.objective == pytest.approx(third)
    assert result.bound == pytest.approx(capacity[1])
    assert result.message == "highs says optimal of what it has no bound for"


@pytest.mark.parametrize(
    ("far", "why"), [(1e-8, "what is left is less than its tolerances tell"), (0.2, "with a gap that nobody asked for")]
)
def test_an_end_without_a_proof_is_told(far: float, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objectives are on no steps, which would round bounds to the truth."""

    def loose(found: SolverResult) -> SolverResult:
        assert found.bound is not None
        assert found.objective is not None
        return replace(found, bound=found.bound - far * abs(found.objective), termination="gap_limit")

    monkeypatch.setitem(BACKENDS, "highs", Liar(loose))
    result = optsched.solve(two_jobs(delay_penalty=0.1234567891), "exact", backend="highs")
    assert (result.solution, result.message) == ("feasible", f"highs ended, {why}")


@pytest.mark.parametrize("factor", [1.5, 0.75])
@pytest.mark.parametrize("formulation", formulations("deferrable"))
def test_a_model_with_another_objective_is_refused(formulation: str, factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = written.time_indexed

    def dearer(instance: Any) -> Any:
        made = honest(instance)
        return replace(made, value=factor * made.value)

    monkeypatch.setattr(written, "time_indexed", dearer)
    with pytest.raises(CertificateError):
        optsched.solve(two_jobs(), "exact", formulation=formulation)


@pytest.mark.parametrize("family", ["deferrable", "day_ahead"])
def test_an_objective_beyond_its_bound_shows(family: str, examples: Any) -> None:
    """To be maximised or minimised: nothing else is wrong with the figures, but the bound is on the wrong side."""
    name = {"deferrable": "deferrable-small", "day_ahead": "day-ahead"}[family]
    instance = optsched.load(examples / f"{name}.json")
    found = optsched.solve(instance, "greedy")
    assert found.objective is not None
    away = 0.1 * abs(found.objective) * (-1 if instance.sense == "maximize" else 1)
    for side, rules in ((away, ["objective beyond its bound"]), (-away, [])):
        claims = {"bound": found.objective + side, "gap": 0.1, "termination": "gap_limit", "digest": None}
        assert [v.rule for v in found.model_copy(update=claims).verify(instance)] == rules


def test_zero_is_a_bound_only_where_no_cost_is_negative() -> None:
    """A plug-in's family may minimise below zero: a bound of -11 stays what it is there."""
    from optsched.certificate import settled
    from optsched.schedules.base import Evaluation

    judged, proof = Evaluation({"cost": 0.0}, 0.0), Proof(kind="integers")

    class Below(type(tiny.allocation(0))):  # type: ignore[misc]
        nonnegative = False

    ours = tiny.allocation(0)
    theirs = Below.model_construct(**dict(ours))
    assert settled(theirs, judged, -11.0, proof) == (-11.0, proof)
    assert settled(ours, judged, -11.0, proof) == (0.0, Proof(kind="sign"))


def test_prices_that_prove_a_bound_are_in_the_file(tmp_path: Any, examples: Any) -> None:
    """A schedule certified by somebody's prices carries them; without them `check` does not believe the bound."""
    instance = optsched.load(examples / "geo-small.json")
    found = optsched.solve(instance, "decomposition")
    assert found.proof is not None
    made = optsched.certify(instance, optsched.solve(instance, "greedy").best, bound=found)
    assert made.shadow_prices == found.shadow_prices
    from click.testing import CliRunner

    from optsched.cli import cli

    forged = made.model_copy(update={"shadow_prices": None, "proof": Proof(kind="prices")}).sealed()
    for name, result, code in (("honest", made, 0), ("forged", forged, 1)):
        result.save(tmp_path / f"{name}.json")
        told = CliRunner().invoke(
            cli, ["check", str(examples / "geo-small.json"), str(tmp_path / f"{name}.json")], standalone_mode=False
        )
        assert told.return_value == code, told.output
    assert "proof that is not there" in told.output


@pytest.mark.parametrize("what", ["prices that no sum holds", "a proof of the proxy beside a history"])
def test_multipliers_that_prove_nothing_here(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Prices of slots come with the file: `check` believes a bound no further than they go, and only of what they are about."""
    from click.testing import CliRunner

    from optsched.cli import cli
    from optsched.instances.generators import wide_nodes

    # as if there were more ways than are solved without prices
    monkeypatch.setattr("optsched.decomposition.allocation.method.EASY", -1)
    instance = wide_nodes(8, 40, seed=2)
    instance.save(tmp_path / "x.json")
    forged = optsched.solve(instance, "greedy")
    proof = Proof(kind="duals", formulation="slots", duals=(1.7e308, *[0.0] * 64))
    if what != "prices that no sum holds":
        found = optsched.solve(instance, "decomposition", gap=0.1)
        assert found.proof is not None
        assert (found.proof.formulation, found.proof.kind) == ("slots", "duals")
        forged, proof = optsched.replay(instance, "fifo"), found.proof
    claims = {"bound": forged.objective, "gap": 0.0, "proof": proof, "termination": "optimal", "solution": "optimal"}
    forged.model_copy(update=claims).sealed().save(tmp_path / "forged.json")
    told = CliRunner().invoke(cli, ["check", str(tmp_path / "x.json"), str(tmp_path / "forged.json")], standalone_mode=False)
    assert told.return_value == 1, told.output
    assert "proof that fits nothing" in told.output
