"""Mates: shares that part everything, books that are kept, and nothing lost by one that dies."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.decomposition.crew import Crew, Leg, Member
from optsched.decomposition.dual import Dual, solve_dual
from optsched.decomposition.lns import windows
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.recreate import Recreate
from optsched.decomposition.search import Search
from optsched.decomposition.share import Share, deal, most
from optsched.heuristics.serial_sgs import serial_sgs
from optsched.instances.generators import masac, osdec, vcc
from optsched.mates import Mate
from optsched.monitor import Monitor, run_with_deadline
from optsched.problems.packing import NONE, Packing
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.registry import family_of
from optsched.stop import Clock, Stop

PATIENCE_S = 60.0  # on a busy machine


def priced(seed: int = 0) -> tuple[TimeIndexedProblem, Dual, Packing]:
    instance = masac(jobs=120, days=0.5, scale=0.1, seed=seed)
    view = family_of(instance).time_indexed(instance)
    assert view is not None
    dual = solve_dual(view.problem, iterations=150)
    pricing = Pricing(view.problem, dual)
    return view.problem, dual, Packing(view.problem, serial_sgs(view.problem, pricing.order(), pricing.reduced))


def wait_for(crew: Crew) -> None:
    until = time.monotonic() + PATIENCE_S
    while not crew.back:
        assert time.monotonic() < until, "nobody came back"
        time.sleep(0.01)


@pytest.mark.parametrize("hands", [1, 2, 5])
def test_shares_part_places_and_jobs(hands: int) -> None:
    program, _, packing = priced()
    shares = deal(packing, hands, np.random.default_rng(0))
    assert sorted(place for share in shares for place in share.places) == list(range(len(program.capacity)))
    assert (sum(share.jobs.astype(int) for share in shares) == 1).all()
    for share in shares:
        runs = share.jobs & (packing.option != NONE)
        assert set(program.place[packing.option[runs]].tolist()) <= set(share.places)


@pytest.mark.parametrize("hands", [2, 3])
def test_one_place_is_parted_in_time(hands: int) -> None:
    """Nobody's jobs may run in another's slots, so that nothing that one does is in the way of another."""
    instance = osdec(1, jobs=200, horizon=400, seed=1)
    view = family_of(instance).time_indexed(instance)
    assert view is not None
    program, pricing = view.problem, Pricing(view.problem, solve_dual(view.problem, iterations=150))
    packing = Packing(program, serial_sgs(program, pricing.order(), pricing.reduced))
    rng = np.random.default_rng(hands)
    assert most(program) >= hands
    for _ in range(10):
        shares = deal(packing, hands, rng)
        assert [share.places for share in shares] == [(0,)] * hands
        assert (sum(share.jobs.astype(int) for share in shares) <= 1).all()
        edges = [share.slots for share in shares]
        assert (edges[0][0], edges[-1][1]) == (0, program.capacity.shape[1])
        assert all(a[1] == b[0] for a, b in pairwise(edges))
        for share in shares:
            mine = share.jobs[program.job]
            assert (program.start[mine] >= share.slots[0]).all()
            assert (program.start + program.duration[program.job])[mine].max(initial=0) <= share.slots[1]
        recreate, before = Recreate(pricing, packing, rng), packing.option.copy()
        recreate.go_on(shares[0])
        for slot in recreate.slots(5):
            assert slot < shares[0].slots[1]
            recreate.turn(slot, 5.0)
        np.testing.assert_array_equal(packing.option[~shares[0].jobs], before[~shares[0].jobs])
    assert sum(share.jobs.sum() for share in shares) > 100


def test_parts_of_the_time_are_never_empty_and_most_jobs_are_somebodys() -> None:
    """All jobs in the first slot of a long horizon, one by one; and all in one window, which any cut goes through."""
    for duration, start in ((1, [0]), (5, [0, 1, 2, 3, 4])):
        job = np.repeat(np.arange(8), len(start))
        program = TimeIndexedProblem(
            job=job,
            place=np.zeros_like(job),
            start=np.tile(start, 8),
            value=np.ones(len(job)),
            demand=np.ones(8),
            duration=np.full(8, duration),
            capacity=np.full((1, 400), 3.0),
            overload_price=None,
            constant=0.0,
        )
        packing, pricing = Packing(program), Pricing(program, solve_dual(program, iterations=20))
        assert most(program) >= 4
        for hands in (2, 3, 4):
            shares = deal(packing, hands, np.random.default_rng(hands))
            assert len(shares) == hands
            assert all(first < last for first, last in (share.slots for share in shares))
            jobs = [int(share.jobs.sum()) for share in shares]
            assert sum(jobs) == 8
            for share in shares:
                recreate = Recreate(pricing, packing, np.random.default_rng(0))
                recreate.go_on(share)
                for slot in recreate.slots(3):
                    recreate.turn(slot, 0.1)


def test_short_horizons_are_not_parted() -> None:
    instance = osdec(1, jobs=40, seed=1)
    view = family_of(instance).time_indexed(instance)
    assert view is not None
    assert most(view.problem) == 1


@pytest.mark.parametrize("seed", range(3))
def test_ruins_and_windows_keep_to_their_share(seed: int) -> None:
    program, dual, packing = priced(seed)
    rng, pricing, monitor = np.random.default_rng(seed), Pricing(program, dual), Monitor(Clock(), -1)
    recreate = Recreate(pricing, packing, rng)
    for share in deal(packing, 2, rng):
        before = packing.option.copy()
        recreate.go_on(share)
        for slot in recreate.slots(20):
            recreate.turn(slot, 0.1)
            windows(pricing, rng, 15)(packing, slot, monitor, share)
            recreate.look()
        np.testing.assert_array_equal(packing.option[~share.jobs], before[~share.jobs])
        has = share.jobs & (packing.option != NONE)
        assert (packing.option != before).any()
        assert set(program.place[packing.option[has]].tolist()) <= set(share.places)
        assert packing.value == pytest.approx(program.objective(packing.chosen))
        assert packing.residual_capacity.min() >= 0


def test_what_mates_find_is_brought_together() -> None:
    program, dual, packing = priced()
    first = packing.value
    with Crew(2, program, dual, np.random.default_rng(0)) as crew:
        assert crew.back
        for _ in range(3):
            own = crew.send(packing, Leg(1e-3, 1e-6, 0.2, late=False))
            assert len(own.places) < len(program.capacity)
            before = packing.option.copy()
            wait_for(crew)
            crew.bring(packing)
            np.testing.assert_array_equal(packing.option[own.jobs], before[own.jobs])
            assert packing.value == program.objective(packing.chosen)
            assert (program.load(packing.chosen) <= program.capacity).all()
    assert first < packing.value <= dual.bound


@pytest.mark.parametrize("instance", [masac(jobs=120, days=0.5, scale=0.1), osdec(2, 2, jobs=150)], ids=["geo", "deferrable"])
def test_late_legs_have_windows(instance: Any) -> None:
    """A mate's share gets better by them, and the leg ends with whatever the window has by then."""
    view = family_of(instance).time_indexed(instance)
    assert view is not None
    program = view.problem
    dual = solve_dual(program, iterations=150)
    pricing = Pricing(program, dual)
    packing = Packing(program, serial_sgs(program, pricing.order(), pricing.reduced))
    member, share = Member(program, dual, 0), Share.whole(packing)
    half = replace(share, jobs=np.arange(len(program.demand)) % 2 == 0)
    solved = []
    choose = member.window._choose
    member.window._choose = lambda *words: solved.append(choose(*words))  # type: ignore[method-assign]
    for mine in (half, share):
        before = packing.option.copy()
        packing.option[mine.jobs] = member(packing.option.copy(), mine, Leg(1e-9, 1e-12, 1.5, late=True))
        packing.become(packing.option)
        np.testing.assert_array_equal(packing.option[~mine.jobs], before[~mine.jobs])
        assert packing.value >= program.objective(np.sort(before[before != NONE])) - 1e-6
        assert packing.value <= dual.bound
    assert solved
    size = member.window.jobs
    nobody = replace(share, jobs=np.zeros_like(share.jobs))
    member(packing.option.copy(), nobody, Leg(1e-9, 1e-12, 0.2, late=True))
    assert member.window.jobs == size


def test_a_mate_that_dies_loses_what_it_did() -> None:
    program, dual, packing = priced()
    with Crew(1, program, dual, np.random.default_rng(0)) as crew:
        crew.send(packing, Leg(1e-3, 1e-6, 60.0, late=False))
        before = packing.option.copy()
        process = crew.mates[0].process
        assert process is not None
        process.kill()
        wait_for(crew)
        crew.bring(packing)
        np.testing.assert_array_equal(packing.option, before)
        assert len(crew.send(packing, Leg(1e-3, 1e-6, 0.1, late=False)).places) == len(program.capacity)
        assert not crew.back


def test_under_a_clock_mates_search_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one nobody is asked, so that a seed gives the same digits."""
    monkeypatch.setattr("optsched.mates.WORTH_S", 0.1)
    program, dual, packing = priced()
    asked = {}
    for stop, threads in ((Stop(seconds=2), 2), (Stop(seconds=2), 1), (Stop(iterations=3), 2), (Stop(), 2)):
        search = Search(program, Monitor(Clock(), -1), stop, 0, threads)
        search.dual, search.best, search.value = dual, packing.chosen, packing.value
        asked[stop, threads] = search._mates()
        if stop.seconds is not None:
            pricing = Pricing(program, dual)
            run_with_deadline(partial(search._improve, pricing, pricing), search.monitor, stop.seconds)
            assert packing.value < search.value <= dual.bound
            assert search.value == program.objective(search.best)
            assert (program.load(search.best) <= program.capacity).all()
    assert list(asked.values()) == [1, 0, 0, 0]


def test_where_no_process_can_be_begun_one_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    program, dual, packing = priced()
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with Crew(2, program, dual, np.random.default_rng(0)) as crew:
        assert len(crew.send(packing, Leg(1e-3, 1e-6, 0.1, late=False)).places) == len(program.capacity)


@pytest.mark.parametrize("dies", [False, True])
def test_beams_beside_the_prices(monkeypatch: pytest.MonkeyPatch, dies: bool) -> None:
    """A mate's staircases count, and one that is gone leaves the beams to whoever had them."""
    monkeypatch.setattr("optsched.mates.WORTH_S", 0.1)
    begun: list[Mate] = []
    init, asked = Mate.__init__, list[object]()

    def kept(mate: Mate, *words: Any) -> None:
        init(mate, *words)
        begun.append(mate)

    def ask(mate: Mate, *words: object) -> None:
        asked.append(words)
        if dies:
            assert mate.process is not None
            mate.process.kill()
        plain(mate, *words)

    plain = Mate.ask
    monkeypatch.setattr(Mate, "__init__", kept)
    monkeypatch.setattr(Mate, "ask", ask)
    instance = vcc(days=2, jobs=150, load=1.1, seed=3)
    result = optsched.solve(instance, method="decomposition", stop=Stop(seconds=3), threads=2)
    assert optsched.check(instance, result) == []
    assert result.objective is not None
    assert result.bound is not None
    assert result.objective >= result.bound
    (mate,) = begun
    assert asked
    assert mate.process is not None
    assert mate.process.poll() is not None  # ended with the search
    assert mate.dead or not dies
