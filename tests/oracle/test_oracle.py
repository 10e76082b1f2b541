"""The oracle itself: what it finds by bounds and corners is what plain enumeration, or a dual bound in fractions, says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.oracle import brute, day_ahead_lp, enumerate_exact, exact_referee, tiny
from tests.parts import parts

FAST, ALL, CHUNK = 12, 400, 40
CLOSE = Fraction(1, 10**8)


def every_schedule(family: str, seed: int) -> int:
    """Compare one instance; how many feasible schedules were looked at."""
    raw = brute.plain(tiny.TINY[family](seed))
    try:
        quick = enumerate_exact.best(raw)
    except exact_referee.Ambiguous:  # the contract leaves open which of two paths is taken
        return 0
    best, count = brute.best(raw)
    assert quick.value is not None
    assert abs(best - quick.value) <= quick.rounding, (family, seed)
    assert quick.rounding == 0 or family == "vcc"
    return count


def bracketed(seed: int) -> None:
    raw = brute.plain(tiny.day_ahead(seed))
    value, (bound, cost) = enumerate_exact.best(raw).value, day_ahead_lp.bracket(raw)
    assert value is not None
    allowed = CLOSE * max(1, abs(value))
    assert bound <= value, seed
    assert value - bound <= allowed, seed
    assert abs(cost - value) <= allowed, seed


@pytest.mark.parametrize("family", tiny.TINY)
def test_bounds_prune_no_optimum(family: str) -> None:
    assert sum(every_schedule(family, seed) for seed in range(FAST)) > 30


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(0, ALL, CHUNK), in_ci=1))
@pytest.mark.parametrize("family", tiny.TINY)
def test_bounds_prune_no_optimum_of_many(family: str, first: int) -> None:
    for seed in range(first, first + CHUNK):
        every_schedule(family, seed)


def test_corners_of_day_ahead_are_those_of_its_linear_program() -> None:
    for seed in range(120):
        bracketed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(120, 2000, 470), in_ci=1))
def test_corners_of_day_ahead_of_many(first: int) -> None:
    for seed in range(first, first + 470):
        bracketed(seed)


@pytest.mark.parametrize("family", tiny.TINY)
def test_few_tiny_instances_are_best_left_alone(family: str) -> None:
    """Seeds whose optimum is to do nothing teach little."""
    best = [enumerate_exact.best(brute.plain(tiny.TINY[family](seed))).schedule for seed in range(60)]
    assert sum(any(schedule.get(rows) for rows in ("assignments", "starts")) for schedule in best if schedule) > 25
