"""Capacity that is no multiple of what jobs ask for: what it adds to the dual value, and the bound that this proves."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import optsched
from optsched.decomposition.dual import bound_of, solve_dual
from optsched.problems.time_indexed import TimeIndexedProblem


def drawn(rng: np.random.Generator, price: float | None) -> TimeIndexedProblem:
    """Up to six jobs of one or two starts on three slots, with capacities off their grid by anything, or nearly nothing."""
    jobs, step = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    duration = rng.integers(1, 3, jobs)
    job, start = np.divmod(np.arange(2 * jobs), 2)
    off = rng.choice([0.0, 1e-13, -1e-13, 0.1, 0.5, 0.9], 3)
    return TimeIndexedProblem(
        job=job,
        place=np.zeros(2 * jobs, dtype=np.int64),
        start=start,
        value=rng.integers(1, 30, 2 * jobs).astype(float),
        demand=step * rng.integers(1, 4, jobs).astype(float),
        duration=duration,
        capacity=np.maximum(0.0, step * (rng.integers(0, 5, (1, 3)) + off)),
        overload_price=price,
        constant=0.0,
    )


def optimum(program: TimeIndexedProblem) -> float:
    best = 0.0
    for chosen in product(*([-1, 2 * job, 2 * job + 1] for job in range(len(program.demand)))):
        some = np.array([option for option in chosen if option >= 0], dtype=np.int64)
        if program.overload_price is not None or (program.load(some) <= program.capacity + 1e-9).all():
            best = max(best, program.objective(some))
    return best


@pytest.mark.parametrize("price", [None, 1.0, 7.0])
def test_bounds_hold_and_are_no_worse_than_without_steps(price: float | None) -> None:
    rng = np.random.default_rng(5)
    closer = 0
    for _ in range(60):
        program = drawn(rng, price)
        top = program.value.max() if price is None else price
        for prices in (
            rng.uniform(0, top, (1, 3)),
            np.zeros((1, 3)),
            np.full((1, 3), top),
            solve_dual(program, iterations=60).prices,
        ):
            bound = bound_of(program, prices)
            assert bound >= optimum(program)
            other = float((prices * program.capacity).sum())
            assert float(program.rent(prices).sum()) <= other + 1e-9
            closer += float(program.rent(prices).sum()) < other - 0.01
    assert closer > 20


@pytest.mark.parametrize("price", [None, 2.0])
def test_rent_is_the_most_that_any_load_of_whole_steps_earns(price: float | None) -> None:
    rng = np.random.default_rng(6)
    for _ in range(100):
        program = drawn(rng, price)
        prices = rng.uniform(0, 5.0 if price is None else price, (1, 3))
        loads = program.step * np.arange(12)[:, None]
        earned = prices * loads - (0.0 if price is None else price) * np.maximum(0.0, loads - program.capacity)
        if price is None:
            earned = np.where(loads <= program.capacity + 1e-9, earned, -np.inf)
        np.testing.assert_allclose(program.rent(prices)[0], earned.max(axis=0), atol=1e-9)
        supplied = prices * program.supply(prices)
        over = (0.0 if price is None else price) * np.maximum(0.0, program.supply(prices) - program.capacity)
        np.testing.assert_allclose(program.rent(prices), supplied - over, atol=1e-9)


def test_demands_that_are_no_whole_numbers_have_no_steps() -> None:
    program = drawn(np.random.default_rng(7), 1.0)
    other = replace(program, demand=program.demand + 0.25)
    assert (program.step > 0, other.step) == (True, 0.0)
    prices = np.full((1, 3), 0.5)
    np.testing.assert_array_equal(other.rent(prices), prices * other.capacity)


@pytest.mark.parametrize(
    ("capacity", "penalty", "cores", "jobs"), [(2.9999999999999996, 1e15, 1, 3), (99999.99999999999, 8e10, 10_000, 10)]
)
def test_capacity_next_to_a_step_where_overload_is_dear(
    capacity: float, penalty: float, cores: int, jobs: int, tmp_path: Path
) -> None:
    """Capacities are decimals to the referee: what is lacking there is not what is lacking in binary."""
    alike = {"cores": cores, "duration": 1, "earliest": 0, "latest": 0, "submitted": 0}
    kind = {"format": "optsched-instance/1", "problem": "deferrable", "name": "harsh", "slot_s": 300.0, "delay_penalty": 0.0}
    told = {"capacity": [capacity], "overload_penalty": penalty, "jobs": [{"id": f"j{i}", **alike} for i in range(jobs)]}
    (tmp_path / "x.json").write_text(json.dumps(kind | told))
    result = optsched.solve(optsched.load(tmp_path / "x.json"), "decomposition", time_limit=2)
    assert result.objective is not None
    assert result.bound is not None
    assert result.objective <= result.bound
