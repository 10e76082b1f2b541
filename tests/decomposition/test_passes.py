"""Prices by a pool of options: they bound what all options can earn, and are as good as those that look at all of them."""

from __future__ import annotations

import numpy as np
import pytest

import optsched
from optsched.decomposition import dual as duals
from optsched.decomposition import passes, search
from optsched.decomposition.dual import LagrangianSubproblem, bound_of, solve_dual
from optsched.decomposition.passes import dual_bound, solve_by_pool
from optsched.instances.generators import masac, osdec
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.registry import family_of
from tests.decomposition.test_dual import SEEDS, optimum, program

SOME = {
    "deferrable": lambda seed: osdec(2, 2, jobs=40, seed=seed),
    "geo": lambda seed: masac(jobs=30, days=0.25, scale=0.05, seed=seed),
}


def listed(family: str, seed: int) -> TimeIndexedProblem:
    view = family_of(SOME[family](seed)).time_indexed(SOME[family](seed))
    assert view is not None
    return view.problem


@pytest.fixture(params=["alone", "alike"])
def alike(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs each on its own, or those that are alike priced as one."""
    if request.param == "alike":
        monkeypatch.setattr(duals, "MANY", 0)


@pytest.mark.usefixtures("alike")
@pytest.mark.parametrize("family", SEEDS)
def test_no_optimum_beats_the_bound(family: str) -> None:
    for seed in range(6):
        options = program(family, seed)
        if not len(options):
            continue
        dual = solve_by_pool(options)
        assert dual.bound >= optimum(family, seed) - 1e-9, seed
        assert dual.bound == pytest.approx(bound_of(options, dual.prices), rel=1e-9), seed


@pytest.mark.usefixtures("alike")
@pytest.mark.parametrize("family", SOME)
@pytest.mark.parametrize("seed", [3])
def test_it_is_as_good_as_looking_at_all(family: str, seed: int) -> None:
    options = listed(family, seed)
    dual, whole = solve_by_pool(options), solve_dual(options, iterations=2000)
    assert dual.bound <= whole.bound + 1e-4 * abs(whole.bound)
    assert dual.latest.max() <= dual.iterations
    drawn = dual.drawn[dual.drawn >= 0]
    assert np.array_equal(options.job[drawn], np.flatnonzero(dual.drawn >= 0)), "everybody's option is one of its own"


def test_a_small_pool_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing joins in later passes."""
    monkeypatch.setattr(passes, "POOL", 0)
    monkeypatch.setattr(passes, "POOL_PER_JOB", 2)
    options = listed("geo", 5)
    assert solve_by_pool(options).bound <= solve_dual(options, iterations=2000).bound * (1 + 1e-3)


@pytest.mark.parametrize("family", SOME)
def test_a_part_is_worth_no_more_and_keeps_its_numbers(family: str) -> None:
    options, rng = listed(family, 6), np.random.default_rng(6)
    whole = LagrangianSubproblem(options)
    for _ in range(20):
        keep = rng.random(len(options)) < rng.random()
        prices = rng.uniform(0, 0.01, options.capacity.shape)
        value, chosen = whole.part(keep)(prices)
        assert value <= whole(prices)[0] + 1e-9 * abs(value)
        assert keep[chosen].all()
        np.testing.assert_array_equal(whole.part(keep).load(chosen), options.load(chosen))


@pytest.mark.parametrize("family", SEEDS)
@pytest.mark.parametrize("many", [0, 1, 50, 900])
def test_it_ends_when_asked_with_a_bound_that_holds(family: str, many: int) -> None:
    for seed in range(4):
        options = program(family, seed)
        if not len(options):
            continue
        asked, told = list[int](), list[float]()

        def over(asked: list[int] = asked) -> bool:
            asked.append(1)
            return len(asked) > many

        dual = solve_by_pool(options, over=over, watch=lambda dual, told=told: told.append(dual.bound))  # type: ignore[misc]
        assert told[-1] == dual.bound, "the last that was told"
        assert told == sorted(told, reverse=True)
        assert dual.bound >= optimum(family, seed) - 1e-9, seed
        assert (dual.prices <= (options.overload_price or np.inf)).all()
        assert dual.iterations <= many


@pytest.mark.parametrize("many", [50, 120, 230])
def test_whenever_it_ends_the_prices_found_are_looked_at(many: int) -> None:
    """A limit that fell into the thinned starts had left the bound of no prices at all: 28 % for the generator's defaults."""
    options, left = listed("geo", 3), iter(range(many))
    dual = solve_by_pool(options, over=lambda: next(left, None) is None)
    nothing = bound_of(options, np.zeros(options.capacity.shape))
    assert dual.bound < nothing - 0.5 * (nothing - solve_dual(options).bound)


def test_thinned_starts_end_early_and_the_pool_goes_on() -> None:
    options, told = listed("geo", 3), list[int]()
    left = iter(range(30))
    dual = solve_by_pool(options, watch=lambda dual: told.append(dual.iterations), early=lambda: next(left, None) is None)
    assert told[0] == 0
    assert 0 < told[1] <= 30, "after the thinned starts"
    assert dual.iterations > 30


def test_prices_to_begin_with_are_not_worse_in_the_end() -> None:
    options = listed("deferrable", 8)
    first = solve_by_pool(options)
    assert solve_by_pool(options, start=first.prices).bound <= first.bound + 1e-9


@pytest.mark.parametrize("family", SOME)
def test_the_search_and_the_bound_of_replays_use_it(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instance, options = SOME[family](9), listed(family, 9)
    assert dual_bound(options) == solve_dual(options).bound
    for module in (passes, search):
        monkeypatch.setattr(module, "MANY", 10)
    pooled = solve_by_pool(options)
    assert dual_bound(options) == family_of(instance).clairvoyant(instance) == pooled.bound
    result = optsched.solve(instance, method="decomposition", options={"iterations": 2})
    assert optsched.check(instance, result) == []
    assert result.bound is not None
    assert result.bound <= pooled.bound * (1 + 1e-9)
    assert result.objective is not None
    assert result.objective <= result.bound + 1e-9
