"""Legs: what several of them held is chosen from exactly, each cools, and none hangs on a clock where there is no limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from optsched.decomposition import search
from optsched.decomposition.crew import Crew, Leg
from optsched.decomposition.dual import solve_dual
from optsched.decomposition.legs import A_JOB, KEPT, LEGS, Legs
from optsched.decomposition.lns import windows
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.recreate import PLACES, Recreate
from optsched.decomposition.search import Search
from optsched.instances.generators import masac, osdec
from optsched.monitor import Monitor
from optsched.problems.packing import NONE
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.registry import family_of
from optsched.stop import Clock, Stop
from tests.decomposition.test_crew import priced, wait_for

HARD, PRICED = masac(jobs=60, days=0.5, scale=0.03, seed=3), osdec(2, 2, jobs=30, horizon=48, seed=3)


def program_of(instance: Any) -> TimeIndexedProblem:
    view = family_of(instance).time_indexed(instance)
    assert view is not None
    return view.problem


def pairs(count: int) -> TimeIndexedProblem:
    """Pairs of jobs that want the same slot, which has room for one: 2 are earned by the first, 1 by the second."""
    job = np.arange(2 * count)
    return TimeIndexedProblem(
        job=job,
        place=np.zeros_like(job),
        start=job // 2,
        value=np.where(job % 2, 1.0, 2.0),
        demand=np.ones(2 * count),
        duration=np.ones(2 * count, dtype=np.int64),
        capacity=np.ones((1, count)),
        overload_price=None,
        constant=0.0,
    )


def held(program: TimeIndexedProblem, *options: int) -> Any:
    found = np.zeros(len(program), dtype=bool)
    found[list(options)] = True
    return found


def test_the_best_of_what_legs_have_held() -> None:
    """One leg is right about the first pair, another about the second, none about the third."""
    program = pairs(3)
    made, legs = Search(program, Monitor(Clock(), -1), Stop(iterations=10), 0), Legs(6)
    legs.add(held(program, 0, 3, 5))
    made._merge(legs)
    assert made.value == 0.0  # of one alone there is nothing to choose
    legs.add(held(program, 1, 2, 5))
    made._merge(legs)
    assert made.value == 5.0
    assert made.best.tolist() == [0, 2, 5]


def test_what_is_best_so_far_is_among_it() -> None:
    program = pairs(2)
    made, legs = Search(program, Monitor(Clock(), -1), Stop(iterations=10), 0), Legs(4)
    made._offer(np.array([0]))
    for _ in range(2):
        legs.add(held(program, 1, 2))
    made._merge(legs)
    assert made.best.tolist() == [0, 2]


def test_only_the_last_legs_count_and_fewer_of_them_where_it_takes_too_long() -> None:
    program, legs = pairs(12), Legs(24)
    legs.turn_s = 1.0
    for k in range(12):
        legs.add(held(program, 2 * k))
    merged = legs.merged()
    assert merged is not None
    assert np.flatnonzero(merged).tolist() == [2 * k for k in range(12 - KEPT, 12)]
    for kept in (KEPT // 2, KEPT // 4):
        legs.took(legs.seconds)
        assert legs.kept == kept
    merged = legs.merged()
    assert merged is not None
    assert np.flatnonzero(merged).tolist() == [2 * k for k in range(12 - legs.kept, 12)]
    for _ in range(20):
        legs.took(legs.seconds)
    assert legs.kept == 2
    for _ in range(20):
        legs.took(0.0)
    assert legs.kept == KEPT


def test_there_must_be_time_for_several() -> None:
    legs = Legs(1000)
    assert legs.turns == pytest.approx(A_JOB * 1000 / 46, abs=1)
    assert legs.worth(10 * legs.turns)  # five, and one for every two hundred jobs
    assert not legs.worth(10 * legs.turns - 1)
    legs.turn_s = 0.01
    assert legs.turns_in(legs.seconds) == legs.turns
    assert PLACES < legs.turns_in(legs.seconds / 2) < legs.turns / 2  # the last one cools in time, too


@pytest.mark.parametrize("instance", [HARD, PRICED], ids=["geo", "deferrable"])
def test_each_leg_cools_and_windows_begin_with_the_best(instance: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a clock, by rounds. Legs begin hot, from the first, the best or no choice; all end cold."""
    heats: list[float] = []
    values: list[float] = []
    turn = Recreate.turn

    def seen(self: Recreate, slot: int, heat: float) -> None:
        if not heats or heat > heats[-1]:
            values.append(self.packing.value)
        heats.append(heat)
        turn(self, slot, heat)

    monkeypatch.setattr(Recreate, "turn", seen)
    made = Search(program_of(instance), Monitor(Clock(), -1), Stop(iterations=60), 0)
    monkeypatch.setattr(made, "_finish", lambda pricing, nodes: None)  # which would end it
    assert made(None, None) == "iteration_limit"
    hot, cold = made.loss * search.WARM, made.loss * search.COLD
    begins = [k for k, heat in enumerate(heats) if heat == pytest.approx(hot)]
    assert len(begins) >= LEGS
    legs = values[: len(begins)]
    assert len(set(legs[::3])) == len(set(legs[2::3])) == 1
    assert legs[2] == pytest.approx(made.program.constant)
    assert legs[2] < legs[0] <= legs[1] <= legs[4] <= made.value + 1e-9
    assert max(heats[k - 1] for k in begins[1:]) < 2 * cold
    assert heats[-PLACES:] == pytest.approx([cold] * PLACES)
    assert made.cooled


def test_large_programs_have_one_leg() -> None:
    instance = masac(jobs=400, days=0.5, scale=0.1, seed=0)
    made = Search(program_of(instance), Monitor(Clock(), -1), Stop(iterations=5), 0)
    made(None, None)
    assert made.rounds > 0
    assert not made.cooled


@pytest.mark.parametrize(("takes", "gains", "goes_on"), [(2.0, False, False), (2.0, True, True), (0.1, False, True)])
def test_one_long_leg_where_choosing_takes_all_of_its_time_for_nothing(
    takes: float, gains: bool, goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Set:
        now_s = 0.0

        def elapsed_s(self) -> float:
            return self.now_s

    program, clock = pairs(2), Set()
    watch: Any = clock
    made, legs = Search(program, Monitor(watch, -1), Stop(seconds=100.0), 0), Legs(4)
    made.window = windows(Pricing(program, solve_dual(program, iterations=5)), made.rng)
    legs.turn_s = 1.0 / legs.turns
    legs.add(held(program, 0))
    legs.add(held(program, 2))

    def choose(*given: Any) -> Any:
        clock.now_s += takes
        return Chosen(np.array([0, 2]) if gains else made.best)

    monkeypatch.setattr(made, "_chosen", choose)
    assert made._merge(legs) is goes_on


@pytest.mark.parametrize(("left", "cooled"), [(3.0, False), (1.0, True)])
def test_a_long_leg_must_have_time(left: float, cooled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else windows begin where legs have ended: what is left would end hot."""
    program, dual, packing = priced()
    made, legs = Search(program, Monitor(Clock(), -1), Stop(seconds=1e6), 0), Legs(len(program.demand))
    pricing = Pricing(program, dual)
    made._offer(packing.chosen)
    made.window = windows(pricing, made.rng)
    legs.turn_s = 1.0 / legs.turns
    monkeypatch.setattr(made, "_done", iter([0.0, 1.0]).__next__)
    monkeypatch.setattr(made, "_left", lambda share=1.0: left * legs.seconds)
    monkeypatch.setattr(made, "_merge", lambda legs: False)
    recreate = Recreate(pricing, packing, made.rng)
    made._in_legs(pricing, recreate, legs, Crew(0, program, dual, made.rng))
    assert made.cooled is cooled
    np.testing.assert_array_equal(packing.chosen, made.best)


@pytest.mark.parametrize("instance", [HARD, PRICED], ids=["geo", "deferrable"])
def test_the_same_seed_has_the_same_legs(instance: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Search, "_finish", lambda self, pricing, nodes: None)  # cores would end it
    program = program_of(instance)
    found = [Search(program, Monitor(Clock(), -1), Stop(iterations=60), 7) for _ in range(2)]
    for made in found:
        made(None, None)
        assert made.dual is not None
        assert made.cooled
        assert made.value <= made.dual.bound + 1e-6
    np.testing.assert_array_equal(found[0].best, found[1].best)


def test_mates_search_the_whole_and_are_merged() -> None:
    """What one of them found counts; who is forgotten changes nothing."""
    program, dual, packing = priced()
    made = Search(program, Monitor(Clock(), -1), Stop(iterations=10), 0)
    with Crew(2, program, dual, np.random.default_rng(0)) as crew:
        leg = Leg(0.1, 0.001, 0.3, late=False)
        crew.send_all(packing, leg)
        wait_for(crew)
        found = [mate.found.copy() for mate in crew.mates]
        heard = np.zeros(len(program), dtype=bool)
        made._hear(crew, heard)
        values = [program.objective(option[option != NONE]) for option in found]
        assert made.value == pytest.approx(max(values))
        assert made.value > packing.value
        for option in found:
            assert heard[option[option != NONE]].all()
        crew.send_all(packing, leg)
        crew.forget()
        wait_for(crew)
        before = packing.option.copy()
        crew.bring(packing)
        np.testing.assert_array_equal(packing.option, before)


def test_a_start_that_needs_a_moment_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds, where they are no more than two fifths of what is left; of a minute a tenth."""
    program = program_of(PRICED)
    for limit, given in ((2.0, 0.8), (10.0, 2.0), (100.0, 10.0)):
        asked: list[float | None] = []

        class Still:
            def elapsed_s(self) -> float:
                return 0.0

        clock: Any = Still()
        made = Search(program, Monitor(clock, -1), Stop(seconds=limit), 0)
        made.dual = solve_dual(program, iterations=100)
        monkeypatch.setattr(
            made,
            "_chosen",
            lambda used, gap, nodes, seconds, asked=asked, made=made: asked.append(seconds) or Chosen(made.best),
        )
        made._relaxed(Pricing(program, replace(made.dual)))
        assert asked == [pytest.approx(given)]


class Chosen:
    def __init__(self, chosen: Any) -> None:
        self.chosen = chosen
