"""The decomposition as a method: never on the wrong side of the optimum, reproducible, stopped at any moment."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.decomposition import search
from optsched.decomposition.method import proven
from optsched.decomposition.shadow_prices import proven_by
from optsched.errors import OptschedError
from optsched.instances import Instance
from optsched.instances.generators import masac, osdec
from optsched.problems.packing import Packing
from optsched.registry import family as family_named
from optsched.result import Result
from tests.oracle import tiny
from tests.parts import parts

FAMILIES = ("deferrable", "geo")
FAST, ALL, CHUNK = 15, 1000, 50


def gap_to_optimum(instance: Instance, where: Any) -> float:
    """Of the decomposition's schedule; its bound is checked on the way."""
    best = optsched.solve(instance).objective
    found = optsched.solve(instance, "decomposition", options={"iterations": 3})
    assert best is not None
    assert found.bound is not None
    assert found.objective is not None
    noise = 1e-9 * max(1.0, abs(best))
    assert found.bound >= best - noise, where
    assert found.objective <= best + noise, where
    assert found.verify(instance) == [], where
    return (best - found.objective) / max(abs(best), 1e-9)


@pytest.mark.parametrize("core", [search.CORE, 0], ids=["whole", "without the core"])
@pytest.mark.parametrize("family", FAMILIES)
def test_brackets_the_optimum(family: str, core: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "CORE", core)
    gaps = [gap_to_optimum(tiny.TINY[family](seed), (family, seed)) for seed in range(FAST)]
    assert median(gaps) <= 1e-9
    assert np.mean(gaps) <= (1e-9 if core else 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(0, ALL, CHUNK), in_ci=6))
@pytest.mark.parametrize("family", FAMILIES)
def test_brackets_the_optimum_of_a_thousand(family: str, first: int) -> None:
    gaps = [gap_to_optimum(tiny.TINY[family](seed), (family, seed)) for seed in range(first, first + CHUNK)]
    assert max(gaps) <= 1e-9, "the core closes what is that small"


def same(a: Result, b: Result) -> bool:
    return a.model_copy(update={"timings_s": b.timings_s, "incumbents": b.incumbents, "digest": b.digest}) == b


def middle(family: str) -> Instance:
    """Beyond the core, quick to search."""
    return osdec(2, 1, jobs=40, horizon=24, seed=1) if family == "deferrable" else masac(jobs=120, days=0.5, scale=0.2, seed=1)


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_and_iterations_same_result(family: str) -> None:
    instance = middle(family)
    one, two = (optsched.solve(instance, "decomposition", seed=3, options={"iterations": 4}) for _ in range(2))
    assert same(one, two)
    assert one.options["rounds"] == 4 or one.solution == "optimal"


@pytest.mark.parametrize("family", FAMILIES)
def test_certifies_beyond_what_enumeration_reaches(family: str) -> None:
    instance = middle(family)
    found = optsched.solve(instance, "decomposition", options={"iterations": 10})
    greedy = optsched.solve(instance, "greedy")
    assert found.verify(instance) == []
    assert found.gap is not None
    assert found.gap <= 0.03
    assert found.objective is not None
    assert greedy.objective is not None
    assert found.objective > greedy.objective


def too_large(family: str) -> Instance:
    """An instance that some seconds are too short for."""
    return osdec(2, 1, jobs=4000, horizon=288, window=100, seed=0) if family == "deferrable" else masac(jobs=600, seed=0)


@pytest.mark.timing
@pytest.mark.parametrize("family", FAMILIES)
def test_stops_in_time(family: str) -> None:
    big, began = too_large(family), time.perf_counter()
    optsched.solve(big, "decomposition", time_limit=1.0)
    assert time.perf_counter() - began < 2.0


@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.5])
@pytest.mark.parametrize("family", FAMILIES)
def test_stops_with_what_it_has(family: str, seconds: float) -> None:
    big = too_large(family)
    found = optsched.solve(big, "decomposition", time_limit=seconds)
    assert found.termination == "time_limit"
    assert found.verify(big) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_stops_at_the_gap(family: str) -> None:
    found = optsched.solve(middle(family), "decomposition", gap=0.1)
    assert found.gap is not None
    assert found.gap <= 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_goes_on_from_a_result(family: str) -> None:
    """Schedule and prices are taken over: one round is not worse than before, and the bound begins where it was."""
    instance = middle(family)
    first = optsched.solve(instance, "decomposition", options={"iterations": 6})
    again = optsched.solve(instance, "decomposition", start=first, options={"iterations": 1})
    assert first.objective is not None
    assert again.objective is not None
    assert again.objective >= first.objective - 1e-9
    assert first.shadow_prices is not None
    proven = proven_by(family_named(family).time_indexed(instance), first.shadow_prices)
    bounds = [bound for _, _, bound in again.incumbents if bound is not None]
    assert bounds[0] <= proven * (1 + 1e-9)


def test_a_start_that_breaks_a_rule_is_refused() -> None:
    instance = middle("deferrable")
    found = optsched.solve(instance, "decomposition", options={"iterations": 1})
    other = osdec(2, 1, jobs=40, horizon=24, seed=2)
    with pytest.raises(OptschedError, match="the start is not feasible"):
        optsched.solve(other, "decomposition", start=found)


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_to_decide(family: str) -> None:
    empty = middle(family).model_copy(update={"jobs": ()})
    found = optsched.solve(empty, "decomposition")
    assert found.solution == "optimal"
    assert found.verify(empty) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_prices_in_the_file_prove_the_bound(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "CORE", 0)
    instance = middle(family)
    found = optsched.solve(instance, "decomposition", options={"iterations": 1})
    assert found.shadow_prices is not None
    listing = family_named(instance.problem).time_indexed(instance)
    assert found.proof is not None
    assert found.bound is not None
    prices = proven_by(listing, found.shadow_prices)
    assert prices is not None
    assert proven(instance, found.shadow_prices, found.proof.covered) == pytest.approx(found.bound, rel=1e-12)
    assert prices > found.bound if found.proof.covered else prices == pytest.approx(found.bound, rel=1e-12)
    assert proven_by(listing, {place: row[1:] for place, row in found.shadow_prices.items()}) is None
    assert proven_by(listing, {place: [-1.0] * len(row) for place, row in found.shadow_prices.items()}) is None
    again = Result.model_validate_json(found.model_dump_json(exclude={"schedule"})[:-1] + ', "schedule": null}', strict=False)
    assert again.shadow_prices == found.shadow_prices


def test_a_result_without_prices_keeps_its_digest() -> None:
    found = optsched.solve(middle("deferrable"), "greedy")
    assert "shadow_prices" not in found.to_json()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_packing_keeps_its_books(family: str) -> None:
    """Values and loads after many insertions and removals are those of the choice."""
    program = family_named(family).time_indexed(middle(family)).problem
    packing, rng = Packing(program), np.random.default_rng(0)
    for _ in range(400):
        job = int(rng.integers(len(program.demand)))
        if packing.option[job] >= 0:
            packing.remove(job)
        else:
            packing.insert_best(job)
    assert packing.value == pytest.approx(program.objective(packing.chosen), rel=1e-9)
    np.testing.assert_allclose(packing.residual_capacity, program.capacity - program.load(packing.chosen), atol=1e-9)


def test_auto_says_what_it_chose_and_why() -> None:
    small, large = tiny.TINY["geo"](0), middle("geo")
    assert "auto chose exact" in (optsched.solve(small, "auto").message or "")
    assert "auto chose the decomposition: " in (optsched.solve(large, "auto", time_limit=3).message or "")


@pytest.mark.parametrize("seed", range(0, 300, 5))
def test_relaxed_firsts_bracket_the_optimum(seed: int) -> None:
    instance: Any = tiny.TINY["allocation"](seed)
    best, found = optsched.solve(instance), optsched.solve(instance, "decomposition")
    assert best.objective is not None
    assert found.objective is not None
    assert found.bound is not None
    noise = 1e-9 * max(1.0, abs(best.objective))
    assert found.bound <= best.objective + noise <= found.objective + 2 * noise
    assert found.verify(instance) == []


def sites_of(horizon: int, sites: list[dict[str, Any]], jobs: list[dict[str, Any]], **fields: float) -> Instance:
    """Where GPUs earn nothing and nothing moves."""
    signals = [{"carbon_g_per_kwh": [0.0] * horizon, "pue": 1.0, **site} for site in sites]
    still = {"submitted": 0, "gpus": 1, "duration": 1, "slack": 2, "data_gb": 0, "model_gb": 0}
    free = {"gpu_revenue_usd_per_h": 0, "carbon_price_usd_per_t": 0, "network_kwh_per_gb": 0, "links": []}
    named = [{"id": f"j{k}"} | still | job for k, job in enumerate(jobs)]
    return optsched.geo.Instance.from_dict(
        {"name": "harsh", "slot_s": 3600, "signal_slot_s": 3600, "horizon": horizon, "sites": signals, "jobs": named}
        | free
        | fields
    )


@pytest.mark.parametrize("price", [1.0, 1e12])
def test_where_no_job_can_run_nothing_is_optimal(price: float) -> None:
    """However large the sums that bound it."""
    sites = [{"id": "a", "gpus": 1_000_000, "price_usd_per_mwh": [price]}, {"id": "b", "gpus": 0, "price_usd_per_mwh": [price]}]
    instance = sites_of(1, sites, [{"source": "b", "gpus": 3}], gpu_power_kw=1e6, idle_power_ratio=1)
    for method in ("auto", "decomposition"):
        found = optsched.solve(instance, method, time_limit=20)
        assert found.best.starts == ()
        assert found.bound == found.objective


def test_slots_that_nobody_can_use_cost_no_digits() -> None:
    """Power that is paid for in two slots, 7e-12 USD by hand, beside two without GPUs in which it is dear beyond measure."""
    site = {"id": "a", "gpus": [0, 0, 1, 2], "price_usd_per_mwh": [1e9, 1e9 / 3, -1e-9, -3e-9]}
    instance = sites_of(4, [site], [{"source": "a", "submitted": 2}] * 3, gpu_power_kw=1, idle_power_ratio=0)
    for method in ("exact", "decomposition"):
        found = optsched.solve(instance, method, time_limit=20)
        assert found.objective == pytest.approx(7e-12, rel=1e-9)
        assert found.solution == "optimal"
