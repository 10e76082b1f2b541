"""Ruins and windows: starts that are flush, books that are kept, and nothing that is lost when it is cold."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from optsched.decomposition.dual import solve_dual
from optsched.decomposition.lns import Flush, Strips, windows
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.recreate import Recreate
from optsched.decomposition.share import Share
from optsched.decomposition.stretches import Stretches
from optsched.heuristics.serial_sgs import serial_sgs
from optsched.instances.generators import masac, osdec
from optsched.monitor import Monitor
from optsched.problems.packing import NONE, Packing
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.registry import family_of
from optsched.stop import Clock

PROGRAMS = {
    "geo": lambda seed: family_of(masac()).time_indexed(masac(jobs=60, days=0.5, scale=0.03, seed=seed)),
    "deferrable": lambda seed: family_of(osdec()).time_indexed(osdec(1, jobs=40, seed=seed)),
}


def priced(family: str, seed: int) -> tuple[TimeIndexedProblem, Pricing, Packing]:
    view = PROGRAMS[family](seed)
    assert view is not None
    program = view.problem
    pricing = Pricing(program, solve_dual(program, iterations=150))
    return program, pricing, Packing(program, serial_sgs(program, pricing.order(), pricing.reduced))


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("by_value", [False, True])
@pytest.mark.parametrize("family", PROGRAMS)
def test_the_best_start_is_found_stretch_by_stretch(family: str, by_value: bool, flush: bool) -> None:
    """As of all options at once, on packings that are full, half full and empty; flush: none fits one slot before, or after."""
    program, pricing, packing = priced(family, 1)
    stretches = Stretches(program, None if by_value else pricing.reduced)
    rng = np.random.default_rng(0)
    found = 0
    for leaves in (0.0, 0.3, 1.0):
        for job in np.flatnonzero((packing.option != NONE) & (rng.random(len(packing.option)) < leaves)).tolist():
            packing.remove(job)
        for job in np.flatnonzero(packing.option == NONE).tolist():
            some, net = packing.options(job), packing.net(job)
            score = net if by_value else pricing.reduced[some]
            may = net > 0
            if flush:
                starts = list(zip(program.place[some].tolist(), program.start[some].tolist(), strict=True))
                fits = {start for start, yes in zip(starts, may, strict=True) if yes}
                may = np.array([(p, s) in fits and not {(p, s - 1), (p, s + 1)} <= fits for p, s in starts], dtype=bool)
            inserted = stretches.insert_best(packing, job, [True] * len(program.capacity), flush)
            assert inserted == may.any()
            if inserted:
                found += 1
                option = int(packing.option[job]) - some.start
                assert may[option]
                assert score[option] == score[may].max()
                packing.remove(job)
    assert found > 20


@pytest.mark.parametrize("family", PROGRAMS)
@pytest.mark.parametrize("seed", range(3))
def test_ruins_keep_the_books(family: str, seed: int) -> None:
    """Hot or cold: values, loads, and where everybody is; when it is cold nothing gets worse, and no bound is beaten."""
    program, pricing, packing = priced(family, seed)
    recreate = Recreate(pricing, packing, np.random.default_rng(seed))
    bound = solve_dual(program, iterations=150).bound
    for heat in (0.3, 0.0):
        for slot in range(0, program.capacity.shape[1], 9):
            before = packing.value
            recreate.around(slot, 5, heat)
            recreate.eject(2, heat)
            assert heat or packing.value >= before - 1e-9 * abs(before)
        assert packing.value == pytest.approx(program.objective(packing.chosen), rel=1e-9)
        np.testing.assert_allclose(packing.residual_capacity, program.capacity - program.load(packing.chosen), atol=1e-9)
        assert packing.value <= bound
        noted = (
            recreate.place.copy(),
            np.where(recreate.place < 0, 0, recreate.begin),
            recreate.end.copy(),
            recreate.regret.copy(),
        )
        recreate.look()
        for had, is_now in zip(noted, (recreate.place, recreate.begin, recreate.end, recreate.regret), strict=True):
            np.testing.assert_allclose(had, is_now)


@pytest.mark.parametrize("family", PROGRAMS)
def test_windows_lose_nothing(family: str) -> None:
    program, pricing, packing = priced(family, 7)
    rng, monitor, first = np.random.default_rng(0), Monitor(Clock(), -1), packing.value
    for slot in range(0, program.capacity.shape[1], 30):
        before = packing.value
        windows(pricing, rng, 15)(packing, slot, monitor, Share.whole(packing))
        assert packing.value >= before
    assert packing.value > first
    assert packing.value == pytest.approx(program.objective(packing.chosen), rel=1e-9)
    assert program.capacity.min() >= 0
    if program.overload_price is None:
        assert packing.residual_capacity.min() >= 0


def test_every_start_that_fits_is_in_a_run() -> None:
    """And no other, wherever a job is too wide: of each job, place and window against the loads themselves."""
    program, _, packing = priced("geo", 3)
    rng, seen = np.random.default_rng(0), 0
    for job, option in enumerate(packing.option.tolist()):
        if option != NONE:
            packing.remove(job)
        duration, demand = int(program.duration[job]), program.demand[job]
        for place in range(len(program.capacity)):
            first = int(rng.integers(0, program.capacity.shape[1] - duration + 1))
            last = int(rng.integers(first + duration, program.capacity.shape[1] + 1))
            room = packing.residual_capacity[place]
            fits = [(room[start : start + duration] >= demand).all() for start in range(first, last - duration + 1)]
            runs = packing.fits(job, place, first, last)
            assert [any(low <= at <= high for low, high in runs) for at in range(len(fits))] == fits
            assert all(high + 1 < low for (_, high), (low, _) in pairwise(runs))
            seen += any(fits) and not all(fits)
        if option != NONE:
            packing.insert(option, 0.0)
    assert seen > 30


@pytest.mark.parametrize("seed", range(3))
def test_strips_keep_to_their_share_and_to_their_time(seed: int) -> None:
    """Who reaches beyond the strip, or is not of the share, stays; what is chosen is better or as it was."""
    program, pricing, packing = priced("deferrable", seed)
    rng, monitor = np.random.default_rng(seed), Monitor(Clock(), -1)
    mine = rng.random(len(program.demand)) < 0.7
    share = replace(Share.whole(packing), jobs=mine)
    strips = Strips(pricing, rng, 12)
    moved = False
    for slot in range(4, program.capacity.shape[1], 8):
        before, value = packing.option.copy(), packing.value
        rows, has = strips.options(packing, slot, share)
        assert set(has.tolist()) <= set(rows.tolist())
        assert mine[program.job[rows]].all()
        far = np.maximum(slot - program.start[rows], program.start[rows] + program.duration[program.job[rows]] - slot)
        others = (before != NONE) & ~np.isin(before, has)
        reach = np.maximum(
            slot - program.start[before[others]], program.start[before[others]] + program.duration[others] - slot
        )
        if len(far) and mine[others].any():
            assert far.max() <= reach[mine[others]].min(), "whoever of the share reaches less far is in the strip"
        strips(packing, slot, monitor, share)
        changed = np.flatnonzero(packing.option != before)
        assert set(changed.tolist()) <= set(program.job[rows].tolist())
        assert packing.value >= value
        moved |= bool(len(changed))
    assert moved
    assert packing.value == pytest.approx(program.objective(packing.chosen), rel=1e-9)


def test_windows_grow_where_they_bring_nothing() -> None:
    """Not where there is nothing to choose from."""
    _, pricing, packing = priced("deferrable", 1)
    strips, share, monitor = Strips(pricing, np.random.default_rng(0), 3), Share.whole(packing), Monitor(Clock(), -1)
    for _ in range(3 * Strips.patience):
        strips(packing, 10, monitor, replace(share, jobs=np.zeros(40, dtype=bool)))
    assert strips.jobs == 3
    sizes = []
    for _ in range(300):
        sizes.append(strips.jobs)
        strips(packing, 10, monitor, share)
    assert sorted(set(sizes)) == [3, 6, 12, 24, 40]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(("family", "kind"), [("geo", Flush), ("deferrable", Strips)])
def test_the_kind_of_windows_follows_the_capacity(family: str, kind: type) -> None:
    _, pricing, _ = priced(family, 0)
    assert type(windows(pricing, np.random.default_rng(0))) is kind
