"""The campus contract (9) is kept to the digit, by the referee and by the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import optsched
from optsched.models.day_ahead import _under_contracts
from optsched.problems.day_ahead import with_usage
from optsched.referee import check
from optsched.schedules.day_ahead import flexible
from tests.schedules.test_day_ahead import cluster, plan


def under(contract_mw: float) -> Any:
    """One cluster of 11 kW when flat, 12 kW when all that may be shifted is."""
    return plan([cluster()], campuses=[{"id": "k", "contract_mw": contract_mw}])


@pytest.mark.parametrize(("contract_mw", "kept"), [(0.012, True), (0.01199, False), (0.0117, False), (0.0111, False)])
def test_the_referee_keeps_the_contract(contract_mw: float, kept: bool) -> None:
    schedule: Any = optsched.solve(under(1.0)).schedule
    assert schedule.curves[0].peak_mw == pytest.approx(0.012)
    rules = [v.rule for v in check(under(contract_mw), schedule)]
    assert rules == ([] if kept else ["peaks above the campus contract (9)"])


def test_the_program_keeps_the_contract() -> None:
    """11.5 kW are 1 + 2 * 5.75: 1.25 NCU in the clean hour, the rest in the dirty one."""
    instance = under(0.0115)
    result = optsched.solve(instance)
    assert flexible(instance, result.best)[0] == pytest.approx([0.75, 1.25])
    assert (result.objective, result.solution) == (pytest.approx(0.5 * 10.5 + 0.1 * 11.5), "optimal")


@pytest.mark.parametrize("lacks", [0.0, 4e-16, 1e-13])
@pytest.mark.parametrize("kw_per_ncu", [0.1, 0.3, 1 / 3, 0.7])
def test_a_contract_that_is_just_enough_costs_nothing_else(kw_per_ncu: float, lacks: float) -> None:
    """40 NCU that nobody can shift make the least peak, and leave the 20 that can be to the cleanest hours."""
    usage, peak = [10.0, 20.0, 30.0, 40.0], 40 * kw_per_ncu / 1000
    campuses = [{"id": "k", "contract_mw": peak * (1 - lacks)}]
    given = {"inflexible_ncu": usage, "inflexible_high_ncu": usage, "reservation_ratio": [1.0] * 4, "reserved_ncu_h": 120.0}
    given |= {"flexible_ncu_h": 20.0, "carbon_kg_per_kwh": [1.0, 2.0, 3.0, 0.5], "idle_kw": 0.0, "kw_per_ncu": kw_per_ncu}
    instance = plan([cluster(**given, capacity_ncu=200.0, usage_limit_ncu=200.0)], campuses=campuses)
    result = optsched.solve(instance)
    assert flexible(instance, result.best)[0] == pytest.approx([20.0, 0, 0, 0], abs=1e-6)
    assert (result.objective, result.solution) == (pytest.approx(kw_per_ncu * (30 + 40 + 90 + 20)), "optimal")


def test_a_solver_that_was_not_tight_costs_next_to_nothing() -> None:
    """Usage above the contract by a millionth is cut there, and stays where it was elsewhere."""
    instance = under(0.0115)
    use = flexible(instance, optsched.solve(instance).best) + np.array([[-1e-6, 1e-6]])
    assert check(instance, with_usage(instance, use)) != []
    kept = _under_contracts(instance, use)
    assert check(instance, with_usage(instance, kept)) == []
    assert kept == pytest.approx(use, abs=1.1e-6)


@pytest.mark.parametrize("backend", ["highs", "scip"])
def test_what_is_switched_off_is_no_trouble(backend: str) -> None:
    """No work and no idle power: its least peak is 0 kW, as far as halvings tell."""
    off = {"inflexible_ncu": [0.0, 0.0], "inflexible_high_ncu": [0.0, 0.0], "flexible_ncu_h": 0.0, "reserved_ncu_h": 0.0}
    instance = plan([cluster(), cluster(id="off", idle_kw=0.0, **off)])
    result = optsched.solve(instance, "exact", backend=backend)
    assert result.objective == pytest.approx(0.5 * 10 + 0.1 * 12)
