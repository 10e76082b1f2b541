"""The exact core by hand: never worse than what it starts from, better where it can be, and its bound holds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import optsched
from optsched.decomposition.restricted_mip import Optimum, relax, solve_restricted_mip
from optsched.decomposition.search import CORE, EASY, Search
from optsched.instances.generators import osdec
from optsched.monitor import Monitor
from optsched.problems.deferrable import time_indexed
from optsched.stop import Clock, Stop
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


@pytest.mark.parametrize("price", [1e6, 1e9, 1e10, 1e12])
@pytest.mark.parametrize("method", ["auto", "exact", "decomposition"])
def test_a_dear_slot_costs_the_others_no_digits(method: str, price: float) -> None:
    """Beside slots of 10^15 USD a job earns its two cents in a cheap one: bounds had been below that."""
    model = optsched.geo.Model("dear", horizon=4, slot_s=3600, gpu_revenue_usd_per_h=0.02, gpu_power_kw=1000.0)
    site = model.add_site(gpus=1, price_usd_per_mwh=[price, price / 3, 0, 0], carbon_g_per_kwh=[0] * 4)
    model.add_job(site, gpus=1, duration=1, slack=3)
    found = optsched.solve(model.instance(), method)
    assert (found.solution, found.objective, found.bound) == ("optimal", 0.02, 0.02)


def test_without_a_clock_a_core_that_was_too_hard_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its root alone may take half a minute; one of few options is tried with ever more nodes."""
    program = time_indexed(osdec(jobs=60, seed=5))
    tried: list[int] = []
    searched = Search(program, Monitor(Clock(), -1), Stop(iterations=60), 0)
    assert searched.most_open == CORE // 2
    asked = searched._chosen

    def unsolved(among: np.ndarray, gap: float, nodes: int, seconds: float | None) -> object:
        if nodes % 20 == 0 and gap == 0.0:
            tried.append(int(among.sum()))
            return Optimum(searched.best, None)
        return asked(among, gap, nodes, seconds)

    monkeypatch.setattr(searched, "_chosen", unsolved)
    searched(None, None)
    hard = [count for count in tried if count > EASY]
    assert hard
    assert all(later <= 0.7 * earlier for earlier, later in pairwise(hard))
