"""Allocation under a limit: prices that take too long make way for a core, which begins from the best schedule there is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.decomposition.allocation import method
from optsched.decomposition.allocation.method import AllocationDecomposition, _Slots
from optsched.decomposition.allocation.slot_prices import SlotPrices
from optsched.instances.generators import wide_nodes
from optsched.models.allocation.core import SlotCore
from optsched.monitor import Monitor
from optsched.problems.allocation.slots import SlotProgram
from optsched.referee import evaluate
from optsched.schedules.allocation import AllocationSchedule
from optsched.solvers import linear_form
from optsched.starts import best_start
from optsched.stop import Clock, Stop
from tests.decomposition.test_time import Late

SLIGHT = 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_a_core_begins_from_a_schedule(seed: int) -> None:
    """The model calls it feasible, and worth what the referee says where the cheapest job of a node pays, or more."""
    instance = wide_nodes(5, seed=seed).model_copy(update={"first_ending": "cheapest"})
    schedule = optsched.solve(instance, "greedy").schedule
    assert isinstance(schedule, AllocationSchedule)
    program = SlotProgram.of(instance)
    way, cells = program.of_schedule(schedule)
    kept = np.zeros(len(program.job), dtype=bool)
    kept[way] = kept[program.waiting :] = True
    core = SlotCore(program, kept, list(dict.fromkeys(cells)))
    core.begin(way, cells)
    form = linear_form(core)
    point = form.start()
    assert point is not None
    assert form.violation(point) <= SLIGHT
    assert form.value(point) / form.scale >= evaluate(instance, schedule).objective * (1 - SLIGHT)


def test_prices_go_on_while_the_bound_rises(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = wide_nodes(4)
    clock: Any = Late()
    schedule = best_start(instance, None, None)
    assert isinstance(schedule, AllocationSchedule)
    run = _Slots(instance, schedule, Stop(seconds=100.0), Monitor(clock, 1))
    bound = 1000.0
    monkeypatch.setattr(run, "bound", lambda: bound)
    flat = run._early()
    for clock.now_s in (0.0, 20.0, 39.0):
        assert flat()
    clock.now_s = 41.0
    assert not flat()
    rising = run._early()
    for clock.now_s in (20.0, 30.0, 41.0, 52.0, 59.0):
        bound *= 1.02
        assert rising()
    clock.now_s, bound = 61.0, 2 * bound
    assert not rising()


def test_without_a_limit_no_clock_is_asked() -> None:
    instance = wide_nodes(4)
    schedule = best_start(instance, None, None)
    assert isinstance(schedule, AllocationSchedule)
    run = _Slots(instance, schedule, Stop(), Monitor(Clock(), 1))
    run.prices = SlotPrices(run.program)
    run.monitor.clock = None  # type: ignore[assignment]
    assert run._early()()
    run._search()
    assert run.schedule == schedule


def test_a_core_of_prices_cut_short_holds_the_best_schedule_and_begins_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = wide_nodes(6)
    schedule = best_start(instance, None, None)
    assert isinstance(schedule, AllocationSchedule)
    run = _Slots(instance, schedule, Stop(seconds=300.0), Monitor(Clock(), 1))
    run.prices = prices = SlotPrices(run.program)
    begun: list[Any] = []
    begin = SlotCore.begin

    def begins(core: SlotCore, way: Any, cells: Any) -> None:
        begun.append((way, cells))
        assert np.isin(way, np.concatenate([core.fixed, core.ways])).all()
        assert set(cells) <= set(core.cells)
        begin(core, way, cells)

    monkeypatch.setattr(SlotCore, "begin", begins)
    run._cores(prices)
    assert begun
    way, cells = run.program.of_schedule(schedule)
    assert (begun[0][0] == way).all()
    assert begun[0][1] == cells


@pytest.mark.parametrize("search", [0.3, 0.0])
def test_a_core_without_good_prices_is_no_worse_than_what_it_begins_from(
    search: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prices have no time at all: the local search, or the core alone, is far better than greedy."""
    for name, value in (("PRICE_SHARE", 0.0), ("MOVING_SHARE", 0.0), ("WHOLE", -1), ("EASY", -1), ("SEARCH_SHARE", search)):
        monkeypatch.setattr(method, name, value)
    monkeypatch.setattr(SlotPrices, "raise_further", lambda *_: None)
    instance = wide_nodes(12, seed=3)
    greedy, found = optsched.solve(instance, "greedy"), AllocationDecomposition()(instance, stop=Stop(seconds=300.0))
    assert found.verify(instance) == []
    assert found.objective is not None
    assert greedy.objective is not None
    assert found.objective < 0.999 * greedy.objective
    assert found.bound is not None
    assert -math.inf < found.bound <= found.objective
