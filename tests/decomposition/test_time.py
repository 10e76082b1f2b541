"""Who may have how much of a time limit: no exact part takes it all, and ruins begin warm however late they begin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from optsched.decomposition import lns, search
from optsched.decomposition.dual import solve_dual
from optsched.decomposition.lns import FEWEST, windows
from optsched.decomposition.moving import Moving
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.restricted_mip import Optimum
from optsched.decomposition.search import CORE_SHARE, MIP_SHARE, WINDOW_SHARE, Search
from optsched.decomposition.share import Share
from optsched.heuristics.serial_sgs import serial_sgs
from optsched.instances.generators import osdec
from optsched.monitor import Monitor
from optsched.problems.packing import Packing
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.registry import family_of
from optsched.stop import Clock, Stop


def crowded(seed: int = 0) -> TimeIndexedProblem:
    """A root of HiGHS's takes ten seconds of such jobs, where there are 600 of them."""
    view = family_of(instance := osdec(2, 2, jobs=80, horizon=72, seed=seed)).time_indexed(instance)
    assert view is not None
    return view.problem


class Asked:
    """In the solver's place: what it is given, and nothing better."""

    def __init__(self) -> None:
        self.seconds: list[float | None] = []

    def __call__(self, program: Any, start: Any, *words: Any, seconds: float | None = None, **more: Any) -> Optimum:
        self.seconds.append(seconds if len(words) < 5 else words[4])
        return Optimum(start, None)


class Ticking:
    """A clock that goes on by as much whenever it is asked."""

    now_s = 0.0

    def elapsed_s(self) -> float:
        self.now_s += 0.05
        return self.now_s


class Late:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def elapsed_s(self) -> float:
        return self.now_s


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Asked]:
    """Of the exact cores, and of windows."""
    found = {"cores": Asked(), "windows": Asked()}
    monkeypatch.setattr(search, "solve_restricted_mip", found["cores"])
    monkeypatch.setattr(lns, "solve_restricted_mip", found["windows"])
    return found


def test_no_exact_part_takes_all_of_the_time(asked: dict[str, Asked]) -> None:
    limit, clock = 12.0, cast("Any", Ticking())
    Search(crowded(), Monitor(clock, -1), Stop(seconds=limit, iterations=300), 0, threads=1)(None, None)
    cores, of_windows = asked["cores"].seconds, asked["windows"].seconds
    assert len(cores) > 1
    assert all(given is not None and 0 <= given <= max(MIP_SHARE, CORE_SHARE) * limit for given in cores)
    assert set(of_windows) == {WINDOW_SHARE * limit}


def test_without_a_clock_nothing_depends_on_one(asked: dict[str, Asked]) -> None:
    Search(crowded(), Monitor(Clock(), -1), Stop(iterations=30), 0)(None, None)
    assert asked["cores"].seconds
    assert asked["windows"].seconds
    assert {*asked["cores"].seconds, *asked["windows"].seconds} == {None}


def test_a_window_that_takes_too_long_is_half_as_large_from_then_on(asked: dict[str, Asked]) -> None:
    program = crowded()
    pricing = Pricing(program, solve_dual(program, iterations=100))
    packing = Packing(program, serial_sgs(program, pricing.order(), pricing.reduced))
    window, monitor = windows(pricing, np.random.default_rng(0), 40), Monitor(Clock(), -1)
    sizes = []
    for _ in range(3):
        window(packing, 36, monitor, Share.whole(packing), 0.0)
        sizes.append(window.jobs)
    assert sizes == [17, FEWEST, FEWEST]  # of 40, 35 could be chosen from there
    window(packing, 36, monitor, Share.whole(packing), 1e9)
    assert window.jobs == FEWEST


def test_ruins_begin_warm_however_late_they_begin(asked: dict[str, Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    """The cores have taken forty seconds of sixty."""
    clock: Any = Late()
    heats: list[float] = []

    def slow(*given: Any, **more: Any) -> Optimum:
        clock.now_s = 40.0
        return asked["cores"](*given, **more)

    monkeypatch.setattr(search, "solve_restricted_mip", slow)
    monkeypatch.setattr(search.Recreate, "turn", lambda self, slot, heat: heats.append(heat))
    made = Search(crowded(), Monitor(clock, -1), Stop(seconds=60.0, iterations=1), 0, threads=1)
    made(None, None)
    assert heats[0] == pytest.approx(made.loss * search.WARM)
    clock.now_s = 60.0
    assert made._heat() == pytest.approx(made.loss * search.COLD)


def test_a_gap_that_is_the_bounds_makes_no_heat(asked: dict[str, Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    """What there is would be lost: ruins would take nearly any choice for better."""
    monkeypatch.setattr(search, "LARGE", 1e-3)
    made = Search(crowded(), Monitor(Clock(), -1), Stop(iterations=1), 0)
    values: list[float] = []
    improve = made._improve

    def begins(pricing: Pricing, tight: Pricing) -> str:
        values.append(made.value / len(made.best))
        return improve(pricing, tight)

    monkeypatch.setattr(made, "_improve", begins)
    made(None, None)
    assert made.loss == pytest.approx(1e-3 * values[0])


def test_a_bound_moves_until_it_hardly_does() -> None:
    clock: Any = Late()
    moving = Moving(clock, 100.0)
    assert moving(50.0)  # nobody knows what it was
    for clock.now_s, bound, moves in (
        (5, 50.0, True),
        (10, 49.9, False),
        (12, 48.0, True),
        (20, 47.9, True),
        (30, 47.8, False),
    ):
        assert moving(bound) is moves


@pytest.mark.parametrize(("factor", "until"), [(0.9, 50.0), (1.0, 15.0)])
def test_prices_have_more_time_while_the_bound_moves(factor: float, until: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock: Any = Late()
    made = Search(crowded(), Monitor(clock, -1), Stop(seconds=100.0), 0)
    first = solve_dual(made.program, iterations=5)

    def falling(program: Any, iterations: int, start: Any, watch: Any) -> Any:
        dual = first
        while not watch(dual):
            clock.now_s += 0.5
            dual = replace(dual, bound=dual.bound * factor if dual.bound > 1.0 else 1e12, iterations=1)
        return dual

    monkeypatch.setattr(search, "solve_dual", falling)
    made._price(None)
    assert clock.now_s == pytest.approx(until, abs=1.0)


def test_a_later_core_that_proves_less_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have had less time."""
    told = iter([2000.0, 1000.0, 1500.0])
    monkeypatch.setattr(search, "solve_restricted_mip", lambda _, start, *given, **more: Optimum(start, next(told)))
    made = Search(crowded(), Monitor(Clock(), -1), Stop(seconds=100.0), 0)
    made.dual = made._price(None)
    pricing = Pricing(made.program, made.dual)
    for core in (2000.0, 1000.0, 1000.0):
        made._finish(pricing, 1)
        assert made.core == core


@pytest.mark.parametrize(("takes", "asked"), [(19.0, 3), (21.0, 1)])
def test_a_core_that_took_all_of_its_time_waits_until_fewer_options_are_left(
    takes: float, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 s a fifth is its time; what is left at the second and third try is no less."""
    clock: Any = Late()
    made = Search(crowded(), Monitor(clock, -1), Stop(seconds=100.0), 0)
    made.dual = made._price(None)
    sizes: list[int] = []

    def solved(program: TimeIndexedProblem, start: Any, *given: Any, **more: Any) -> Optimum:
        sizes.append(len(program))
        clock.now_s += takes if len(sizes) == 1 else 0.0
        return Optimum(start, None)

    monkeypatch.setattr(search, "solve_restricted_mip", solved)
    pricing = Pricing(made.program, made.dual)
    for _ in range(3):
        made._finish(pricing, 1)
    assert len(sizes) == asked
    made.most_open = sizes[0]  # few enough
    made._finish(pricing, 1)
    assert len(sizes) == asked + 1
