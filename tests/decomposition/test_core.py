"""The exact core by hand: never worse than what it starts from, better where it can be, and its bound holds."""

from __future__ import annotations

import numpy as np
import pytest

from optsched.decomposition.restricted_mip import relax, solve_restricted_mip
from optsched.monitor import Monitor
from optsched.stop import Clock
from tests.decomposition.test_dual import one_slot


@pytest.mark.parametrize("start", [[], [0], [1], [2]])
def test_the_best_of_three(start: list[int]) -> None:
    """Jobs worth 3, 2 and 1 ask for one unit; the empty choice is worth -5."""
    found = solve_restricted_mip(one_slot(None), np.array(start, dtype=np.int64), 0.0, 100)
    assert found.chosen.tolist() == [0]
    assert found.bound == pytest.approx(-2)


def test_overload_that_pays() -> None:
    """At 1.5 a unit of overload the second job pays too, the third does not."""
    found = solve_restricted_mip(one_slot(1.5), np.zeros(0, dtype=np.int64), 0.0, 100)
    assert found.chosen.tolist() == [0, 1]
    assert found.bound == pytest.approx(-5 + 3 + 2 - 1.5)


def test_the_relaxation() -> None:
    assert relax(one_slot(None), Monitor(Clock(), -1)).tolist() == pytest.approx([1, 0, 0])
