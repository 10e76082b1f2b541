"""Instances on which a certificate was false once (tests/repro/), and what is true of them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.errors import InputError, OptschedError
from optsched.reading import parse
from optsched.referee import check, evaluate
from optsched.referee import parse as parse_schedule
from optsched.solvers import BACKENDS
from tests.oracle import enumerate_exact
from tests.oracle.tiny import make

HERE = Path(__file__).parent / "repro"


@pytest.mark.parametrize("formulation", ["state", "cover"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_penalty_of_a_trillion_closes_no_gap(backend: str, formulation: str) -> None:
    """HiGHS called 519.1 optimal, CP-SAT 527.8; SCIP knew a schedule of 531.3."""
    instance = optsched.load(HERE / "hard.json")
    result = optsched.solve(instance, backend=backend, formulation=formulation, time_limit=1)
    assert result.solution == "feasible"
    assert result.bound is None or result.bound > 531.3  # none where the machine is too busy for a first one
    assert result.verify(instance) == []


@pytest.mark.parametrize("formulation", ["aggregated", "linearized"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_long_time_drowns_no_cost(backend: str, formulation: str) -> None:
    """A time of 1e10 s: 148.03 was shown with itself as its bound."""
    instance = optsched.load(HERE / "noise-alloc.json")
    result = optsched.solve(instance, backend=backend, formulation=formulation, time_limit=20)
    assert result.bound is not None
    assert result.bound <= 5.7015414726 * (1 + 1e-9)
    if backend != "pdlp":
        assert result.solution == "optimal"
        assert result.objective == pytest.approx(5.7015414726, rel=1e-8)


@pytest.mark.parametrize("name", ["v", "v2", "vcc-wrong-optimal-82"])
@pytest.mark.parametrize("method", ["exact", "decomposition"])
def test_a_near_fit_is_no_fit(name: str, method: str) -> None:
    """The head is too large by 5e-6 of the capacity: any cap leaves it waiting, so that nothing has to be charged."""
    instance = optsched.load(HERE / f"{name}.json")
    result = optsched.solve(instance, method, time_limit=20)
    assert result.objective == 0.0
    assert result.solution == "optimal"
    assert result.verify(instance) == []


def test_the_minlp_at_times_of_a_million_and_six_times_ten_to_the_ten() -> None:
    instance = optsched.load(HERE / "printed-wrong.json")
    best = optsched.solve(instance)
    assert best.solution == "optimal"
    assert best.objective == pytest.approx(252_724_176.9, rel=1e-8)
    printed = optsched.solve(instance, formulation="printed", time_limit=60)
    assert printed.bound is None or printed.bound <= best.objective * (1 + 1e-9)
    assert printed.solution == "feasible" or printed.objective == pytest.approx(best.objective, rel=1e-9)


def test_a_stated_peak_is_held_against_the_power() -> None:
    """At a million NCU the tolerance once was a megawatt."""
    hours = 24
    cluster: dict[str, Any] = {
        "id": "k",
        "campus": "c",
        "inflexible_ncu": [5e6] * hours,
        "inflexible_high_ncu": [5e6] * hours,
        "flexible_ncu_h": 1e6 * hours,
        "reserved_ncu_h": 6e6 * hours,
        "reservation_ratio": [1.0] * hours,
        "carbon_kg_per_kwh": [0.3] * hours,
        "idle_kw": 0.0,
        "kw_per_ncu": 0.001,
        "capacity_ncu": 1e7,
        "usage_limit_ncu": 1e7,
    }
    instance = make(
        "day_ahead", carbon_price=0.04, peak_price=10000.0, campuses=[{"id": "c", "contract_mw": 6.0}], clusters=[cluster]
    )
    result = optsched.solve(instance)
    assert result.solution == "optimal"
    assert result.proof is not None
    assert result.proof.kind == "duals"
    claimed = parse_schedule("day_ahead", {"curves": [{"cluster": "k", "delta": [0.0] * hours, "peak_mw": 5.01}]}, "s")
    assert [v.rule for v in check(instance, claimed)] == ["power above the stated peak"]
    assert evaluate(instance, claimed).objective >= result.bound * (1 - 1e-9)


def test_sixteen_digits_of_a_contract() -> None:
    """Deviations of 1e-8 that do not add up, and a contract exceeded by a billionth, are not let pass."""
    cluster = {
        "id": "k",
        "campus": "c",
        "inflexible_ncu": [1.0, 1.0],
        "inflexible_high_ncu": [1.0, 1.0],
        "flexible_ncu_h": 2.0,
        "reserved_ncu_h": 4.0,
        "reservation_ratio": [1.0, 1.0],
        "carbon_kg_per_kwh": [0.1, 0.2],
        "idle_kw": 0.0,
        "kw_per_ncu": 1.0,
        "capacity_ncu": 4.0,
        "usage_limit_ncu": 4.0,
    }
    instance = make("day_ahead", campuses=[{"id": "c", "contract_mw": 0.002}], clusters=[cluster])
    for delta, peak, rule in (
        ([1e-8, 0.0], 0.0021, "deviations that do not add up to zero (7)"),
        ([0.0, 0.0], 0.002 * (1 + 1e-9), "peaks above the campus contract (9)"),
    ):
        claimed = parse_schedule("day_ahead", {"curves": [{"cluster": "k", "delta": delta, "peak_mw": peak}]}, "s")
        assert rule in [v.rule for v in check(instance, claimed)]


@pytest.mark.parametrize("small", [1e-6, 1e-9])
@pytest.mark.parametrize("backend", ["highs", "scip"])
def test_tiny_cores_have_a_result(backend: str, small: float) -> None:
    """Rows of 1e-9 cores were below every tolerance: a CertificateError instead of a schedule."""
    rng = np.random.default_rng(3)
    jobs = [
        {"id": f"j{j}", "cores": float(c) * small, "duration": 2, "earliest": 0, "latest": 2, "submitted": 0}
        for j, c in enumerate(np.round(rng.uniform(0.3, 2.0, 4), 3))
    ]
    fields = {"slot_s": 300, "delay_penalty": 0.1 * small, "overload_penalty": 5.0}
    whole = make("deferrable", capacity=[2.0 * small] * 4, jobs=jobs, **fields)
    result = optsched.solve(whole, backend=backend)
    assert result.solution == "optimal"
    grown = [job | {"cores": job["cores"] / small} for job in jobs]
    reference = optsched.solve(make("deferrable", capacity=[2.0] * 4, jobs=grown, **(fields | {"delay_penalty": 0.1})))
    assert result.objective == pytest.approx(reference.objective * small, rel=1e-9)


def test_an_option_beyond_32_bits_is_one_line() -> None:
    with pytest.raises(OptschedError, match="mip_max_nodes"):
        optsched.solve(optsched.load(HERE / "v2.json"), options={"mip_max_nodes": 5368709120})


def test_a_job_of_a_ten_millionth_of_the_capacity_runs() -> None:
    raw = json.loads((HERE / "v2.json").read_text()) | {"unfinished_penalty_per_ncu_h": 1.0}
    raw["jobs"] = [{"id": "a", "submitted": 0, "duration": 1, "ncu": 1e-9 * raw["capacity_ncu"]}]
    instance = parse(json.dumps(raw).encode(), "small.json")
    result = optsched.solve(instance)
    assert result.schedule is not None
    assert [start.start for start in result.schedule.starts] == [0]


def test_what_is_smaller_than_anything_is_refused_in_a_line() -> None:
    raw = json.loads((HERE / "v2.json").read_text())
    raw["jobs"][0]["ncu"] = 1e-200
    with pytest.raises(InputError, match=r"jobs\[0\].ncu: is 1e-200"):
        parse(json.dumps(raw).encode(), "small.json")


def test_histories_may_end_past_a_trillion_seconds() -> None:
    """A job that ends past 1e12 s was a traceback of the schedule's own validation."""
    kinds = {"A": {"node_cost_per_h": [1.0]}}
    job = {"id": "j", "submit_s": 0, "due_s": 0, "weight_per_s": 1e-9, "time_s": {"A": [9e11]}}
    instance = make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=300,
        postponement_penalty=1,
        gpu_types=kinds,
        nodes=[{"id": "n", "gpu_type": "A", "gpus": 1}],
        jobs=[job, job | {"id": "k"}],
    )
    result = optsched.replay(instance, "fifo")
    assert result.schedule is not None
    assert max(run.end_s for run in result.schedule.runs) == pytest.approx(1.8e12)
    assert result.verify(instance) == []


def confirmed(name: str, **how: Any) -> optsched.Result:
    """Of a reproduction, what a method says of it: on the right side of the exact optimum."""
    raw = json.loads((HERE / f"{name}.json").read_text())
    best = enumerate_exact.best(raw)
    assert best.value is not None
    instance: Any = optsched.load(HERE / f"{name}.json")
    result = optsched.solve(instance, **how)
    sign = 1 if instance.sense == "minimize" else -1
    allowed = Fraction(1, 10**9) * abs(best.value) + Fraction(1, 10**12) * best.largest + best.rounding
    assert result.bound is not None
    assert sign * (Fraction(result.bound) - best.value) <= allowed
    assert sign * (best.value - Fraction(result.objective or 0.0)) <= allowed + best.slack
    if result.solution == "optimal":
        assert abs(Fraction(result.objective or 0.0) - best.value) <= allowed
    return result


@pytest.mark.parametrize("method", ["decomposition", "auto", "exact"])
def test_prices_summed_over_slots_are_charged(method: str) -> None:
    """A slot with room for a billionth prices an NCU at 1e19, and later slots lose their digits: the bound was 604 off."""
    confirmed("vcc-summed-prices", method=method)


@pytest.mark.parametrize("name", ["geo-idle-cancels", "geo-idle-cancels-2"])
@pytest.mark.parametrize("method", ["decomposition", "auto", "exact"])
def test_prices_of_either_sign_cancel_exactly(name: str, method: str) -> None:
    """The idle system costs nothing: 5e-21 by the referee, or 3e-18 by the model, was better than the optimum."""
    assert confirmed(name, method=method).objective == 0.0


@pytest.mark.parametrize("backend", ["highs", "scip"])
def test_what_presolve_says_is_asked_again(backend: str) -> None:
    """HiGHS's presolve took a cap that is 1e-8 below one for one, and was off by 8e-8."""
    confirmed("vcc-presolve", backend=backend)
