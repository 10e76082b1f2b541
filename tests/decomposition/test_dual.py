"""Bounds that hold: no exact optimum beats the dual, no replay beats whoever knows everything."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.decomposition.allocation import clairvoyant
from optsched.decomposition.allocation.alone import lonely_bound
from optsched.decomposition.dual import LagrangianSubproblem, bound_of, max_useful_price, solve_dual
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.registry import family as family_named
from optsched.rolling.loop import replay
from optsched.rolling.policy import policies
from optsched.schedules.allocation import AllocationHistory, Run, check, evaluate
from tests.oracle import brute, tiny

SEEDS = {"deferrable": range(100), "geo": range(50)}


@cache
def optimum(family: str, seed: int) -> float:
    """By enumeration where that is fast, else by the exact method."""
    instance = tiny.TINY[family](seed)
    found = brute.optimum(instance) if family == "deferrable" else optsched.solve(instance).objective
    assert found is not None
    return found


def program(family: str, seed: int) -> TimeIndexedProblem:
    """The instance as a time-indexed problem."""
    view = family_named(family).time_indexed(tiny.TINY[family](seed))
    assert view is not None
    return view.problem


@pytest.mark.parametrize("family", SEEDS)
def test_no_optimum_beats_the_dual(family: str) -> None:
    """Whatever the prices, the dual bounds; and they stay within what overload costs."""
    for seed in SEEDS[family]:
        options = program(family, seed)
        dual = solve_dual(options)
        assert dual.bound >= optimum(family, seed) - 1e-9, seed
        assert dual.prices.shape == options.capacity.shape
        top = np.inf if options.overload_price is None else options.overload_price
        assert (dual.prices >= 0).all(), seed
        assert (dual.prices <= top).all(), seed


@pytest.mark.parametrize("family", SEEDS)
def test_random_prices_bound_too(family: str) -> None:
    """Any prices between nothing and the overload price prove something: the bound is not a matter of convergence."""
    for seed in range(60):
        options = program(family, seed)
        top = 1.0 if options.overload_price is None else options.overload_price
        prices = np.random.default_rng(seed).uniform(0, top, options.capacity.shape)
        assert LagrangianSubproblem(options)(prices)[0] >= optimum(family, seed) - 1e-9, seed


@pytest.mark.parametrize("family", SEEDS)
def test_more_iterations_are_not_worse(family: str) -> None:
    for seed in range(40):
        options = program(family, seed)
        bounds = [solve_dual(options, iterations=n).bound for n in (0, 1, 10, 100, 400)]
        scale = 1 + abs(bounds[-1]) + abs(options.constant)
        assert all(later <= earlier + 1e-8 * scale for earlier, later in pairwise(bounds)), seed


@pytest.mark.parametrize("family", SEEDS)
def test_the_clairvoyant_bound_is_above_the_optimum(family: str) -> None:
    for seed in range(60):
        assert family_named(family).clairvoyant(tiny.TINY[family](seed)) >= optimum(family, seed) - 1e-9, seed


def one_slot(overload_price: float | None) -> TimeIndexedProblem:
    """Three jobs worth 3, 2 and 1 ask for the one unit of the one slot."""
    zeros = np.zeros(3, dtype=np.int64)
    return TimeIndexedProblem(
        job=np.arange(3),
        place=zeros,
        start=zeros,
        value=np.array([3.0, 2.0, 1.0]),
        demand=np.ones(3),
        duration=np.ones(3, dtype=np.int64),
        capacity=np.ones((1, 1)),
        overload_price=overload_price,
        constant=-5.0,
    )


@pytest.mark.parametrize(
    ("overload_price", "best"),
    [(None, -2.0), (10.0, -2.0), (1.5, -1.5), (0.0, 1.0)],  # at 1.5 the second job pays half a unit to come too
)
def test_the_dual_by_hand(overload_price: float | None, best: float) -> None:
    """The LP optimum, reached from no prices; the price of the slot lies between the values it separates."""
    found = solve_dual(one_slot(overload_price), iterations=2000)
    assert found.bound == pytest.approx(best, rel=1e-2)
    assert found.bound >= best


def test_good_prices_need_no_iteration() -> None:
    assert solve_dual(one_slot(None), iterations=0, start=np.array([[2.5]])).bound == pytest.approx(-2.0, abs=1e-6)


def test_prices_to_begin_with_are_cut_to_the_overload_price() -> None:
    """Above it they would prove too little: nobody pays more than the penalty."""
    found = solve_dual(one_slot(1.5), iterations=0, start=np.array([[99.0]]))
    assert found.prices.tolist() == [[1.5]]
    assert found.bound == pytest.approx(-1.5, abs=1e-6)


@cache
def history(seed: int) -> tuple[Any, float]:
    """An instance whose every job can run somewhere, and the bound of whoever knows all."""
    instance = tiny.allocation(seed).model_copy(update={"use_all_nodes": True})
    bound = clairvoyant(instance)
    assert bound is not None
    return instance, bound


@pytest.mark.parametrize("policy", policies("allocation"))
@pytest.mark.parametrize("seed", [8, pytest.param(0, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_no_replay_of_allocation_undercuts_the_clairvoyant(seed: int, policy: str) -> None:
    instance, bound = history(seed)
    result = replay(instance, policy, seed=seed)
    assert result.objective is not None
    assert bound <= result.objective * (1 + 1e-9) + 1e-9


def slow_or_fast(due_s: float, weight: float, shared: bool = False) -> Any:
    """A job that takes 100 s for 1 EUR at A and 50 s for 5 EUR at B; `shared`: A has a second GPU, at half the cost."""
    costs = {"A": [36.0, 54.0] if shared else [36.0], "B": [360.0]}
    return tiny.make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=10,
        postponement_penalty=1,
        gpu_types={kind: {"node_cost_per_h": cost} for kind, cost in costs.items()},
        nodes=[{"id": f"n{kind}", "gpu_type": kind, "gpus": len(cost)} for kind, cost in costs.items()],
        jobs=[{"id": "j", "submit_s": 0, "due_s": due_s, "weight_per_s": weight, "time_s": {"A": [100], "B": [50]}}],
    )


@pytest.mark.parametrize(
    ("due_s", "weight", "bound"),
    [
        (100, 1, 1.0),  # the slow one is in time
        (75, 1, 3.0),  # half of each ends at the due date
        (60, 1, 4.2),  # a fifth of the slow, four of the fast
        (75, 0.01, 1.25),  # being 25 s late is cheaper
        (40, 1, 15.0),  # 10 s late even so
    ],
)
def test_a_job_alone_by_hand(due_s: float, weight: float, bound: float) -> None:
    instance = slow_or_fast(due_s, weight)
    assert bound * (1 - 1e-5) <= lonely_bound(instance) <= bound  # the referee forgives a millionth
    assert lonely_bound(instance) <= clairvoyant(instance) <= bound


def test_the_mixed_bound_is_reached() -> None:
    """50 s at A, 25 s at B: the referee's figure is the bound, so it is not too low."""
    instance = slow_or_fast(75, 1)
    rows = [("nA", 0.0, 50.0), ("nB", 50.0, 75.0)]
    history = AllocationHistory(runs=tuple(Run(job="j", node=n, gpus=1, start_s=s, end_s=e) for n, s, e in rows))
    assert check(instance, history) == []
    assert evaluate(instance, history).objective == pytest.approx(clairvoyant(instance), rel=1e-5)


def test_a_node_may_be_shared() -> None:
    """With company on the second GPU, 54 EUR/h are halved: 27 EUR/h for 100 s."""
    assert clairvoyant(slow_or_fast(100, 1, shared=True)) == pytest.approx(0.75, rel=1e-5)


def test_a_huge_price_costs_no_digits() -> None:
    """Prefix sums of prices would lose what lies behind a huge one: prices are cut where no job would pay them."""
    program = TimeIndexedProblem(
        job=np.arange(4),
        place=np.zeros(4, dtype=np.int64),
        start=np.array([1, 1, 6, 6]),
        value=np.full(4, 7.0),
        demand=np.ones(4),
        duration=np.full(4, 5),
        capacity=np.array([[0.0] + [1.0] * 11]),
        overload_price=None,
        constant=0.0,
    )
    assert max_useful_price(program) == 7.0
    start = np.array([[1e16] + [1.01] * 11])
    assert solve_dual(program, start=start, iterations=1).bound >= 14.0
    assert solve_dual(program).bound == pytest.approx(14.0, rel=1e-2)


@pytest.mark.parametrize("dear", [794.11, 700.3])
@pytest.mark.parametrize("cores", [1e6, 1e8, 1e9])
def test_large_demands_that_are_worth_little_are_not_overcharged(cores: float, dear: float) -> None:
    """What an option pays is a difference of sums of prices: dear slots before it had cost a bound its digits."""
    slots = 100_000
    program = TimeIndexedProblem(
        job=np.array([0]),
        place=np.array([0]),
        start=np.array([slots - 1]),
        value=np.array([500.0]),
        demand=np.array([cores]),
        duration=np.array([1]),
        capacity=np.append(np.zeros(slots - 1), cores)[None, :],
        overload_price=None,
        constant=0.0,
    )
    for less in (0.0, 1e-7, 1e-5):
        prices = np.full((1, slots), dear)
        prices[0, -1] = 500.0 / cores * (1 - less)
        bound = bound_of(program, prices)
        digits = slots * float(np.finfo(np.longdouble).eps) + 4 * float(np.finfo(float).eps)
        assert 500.0 <= bound <= 500.0 + 8 * digits * dear * slots * cores, "and by no more than the sums' last digits"


def test_many_small_prices_behind_dear_slots_are_not_rounded_each() -> None:
    """A thousand prices of seven tenths of what float64 tells apart there: each would have become one, 465 for 500."""
    dear, slots, cores = 700.3, 1000, 1e9
    cheap = 0.7 * float(np.spacing(dear * slots))
    program = TimeIndexedProblem(
        job=np.array([0]),
        place=np.array([0]),
        start=np.array([slots]),
        value=np.array([500.0]),
        demand=np.array([cores]),
        duration=np.array([slots]),
        capacity=np.repeat([0.0, cores], slots)[None, :],
        overload_price=None,
        constant=0.0,
    )
    assert bound_of(program, np.repeat([dear, cheap], slots)[None, :]) >= 500.0
