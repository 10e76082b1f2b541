"""Who is in the way of a job that the prices want elsewhere, by hand and on random packings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from optsched.decomposition.dual import Dual
from optsched.decomposition.ejection import in_the_way
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.recreate import Recreate
from optsched.problems.packing import Packing
from optsched.problems.time_indexed import TimeIndexedProblem

NOBODY = np.zeros(0, dtype=np.int64)

# a long job (0) that is left out; short ones of one slot each (1 to 4); one (5) beside it, where nothing is lacking
HAND = TimeIndexedProblem(
    job=np.array([0, 1, 2, 3, 4, 5]),
    place=np.zeros(6, dtype=np.int64),
    start=np.array([0, 0, 1, 2, 3, 4]),
    value=np.array([100.0, 1.0, 2.0, 3.0, 4.0, 1.0]),
    demand=np.ones(6),
    duration=np.array([4, 1, 1, 1, 1, 1]),
    capacity=np.array([[1.0, 1.0, 1.0, 2.0, 1.0]]),
    overload_price=None,
    constant=0.0,
)


def asked(program: TimeIndexedProblem, most: float) -> list[int] | None:
    """Who leaves for job 0, at no prices."""
    pricing = Pricing(program, Dual(np.zeros(program.capacity.shape), 111.0, 1, np.zeros(6, dtype=np.int64), NOBODY))
    packing = Packing(program, np.arange(1, 6))
    runs, begin = packing.option >= 0, np.append(0, program.start[1:])
    found = in_the_way(pricing, packing, 0, runs, begin, begin + program.duration, most, np.random.default_rng(0))
    return None if found is None else sorted(found.tolist())


def test_only_who_is_in_the_way_leaves() -> None:
    """In slot 3 there is room, job 5 runs afterwards."""
    assert asked(HAND, 20.0) == [1, 2, 3]


def test_whoever_loses_least_leaves() -> None:
    """Of two in slot 0, of which one may stay."""
    other = replace(HAND, start=np.array([0, 0, 1, 2, 0, 4]), capacity=np.array([[2.0, 1.0, 1.0, 1.0, 1.0]]))
    assert asked(other, 20.0) == [1, 2, 3]


def test_not_if_it_costs_too_much() -> None:
    assert asked(HAND, 2.0) is None


def test_overload_may_be_cheaper_than_anybody() -> None:
    assert asked(replace(HAND, overload_price=0.1), 20.0) == []
    assert asked(replace(HAND, overload_price=100.0), 20.0) == [1, 2, 3]


def test_who_may_not_leave_stays() -> None:
    program = replace(HAND, capacity=np.array([[0.0, 1.0, 1.0, 2.0, 1.0]]), job=HAND.job, start=np.array([0, 4, 1, 2, 3, 4]))
    assert asked(program, 20.0) is None  # nobody is in slot 0, where nothing fits


@pytest.mark.parametrize("seed", range(20))
def test_the_job_has_its_start_and_the_prices_are_followed(seed: int) -> None:
    """From the short jobs to the long one, which is worth more than all of them; never a packing that lacks capacity."""
    pricing = Pricing(HAND, Dual(np.zeros(HAND.capacity.shape), 111.0, 1, np.zeros(6, dtype=np.int64), NOBODY))
    packing = Packing(HAND, np.arange(1, 6))
    recreate = Recreate(pricing, packing, np.random.default_rng(seed))
    recreate.eject(1, 0.0)
    assert packing.chosen.tolist() == [0, 4, 5]
    assert packing.value == HAND.objective(packing.chosen) == 105.0
    assert packing.residual_capacity.min() >= 0
    recreate.eject(5, 0.0)
    assert packing.value == 105.0
