"""The campus contract (9) is kept to the digit, by the referee and by the program."""

from __future__ import annotations

from typing import Any

import pytest

import optsched
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
