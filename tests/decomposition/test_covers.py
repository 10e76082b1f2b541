"""Lifted covers: no choice that fits violates one, what they prove is above every optimum, and a file holds the proof."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import optsched
from optsched import geo
from optsched.decomposition.covered import with_covers
from optsched.decomposition.covers import Covers, cover, lift, suit, together, violated
from optsched.decomposition.dual import bound_with, solve_dual
from optsched.decomposition.method import proven
from optsched.instances.geo import GeoInstance
from optsched.monitor import Monitor
from optsched.problems.geo import time_indexed
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Clock, Spare
from tests.cli.test_cli import run
from tests.parts import parts


def gangs(seed: int, jobs: int = 8, sites: int = 2, gpus: int = 8, horizon: int = 8) -> GeoInstance:
    """Sites of few GPUs, and jobs of one to all of them."""
    rng = Random(seed)
    model = geo.Model(f"gangs-{seed}", horizon=horizon, slot_s=3600, gpu_revenue_usd_per_h=1, gpu_power_kw=0.3)
    own = [
        model.add_site(
            gpus=gpus, price_usd_per_mwh=[rng.choice([0, 50, 400]) for _ in range(horizon)], carbon_g_per_kwh=[0] * horizon
        )
        for _ in range(sites)
    ]
    for _ in range(jobs):
        length = rng.randint(1, horizon // 2)
        model.add_job(
            rng.choice(own),
            gpus=rng.randint(1, gpus),
            duration=length,
            slack=rng.randint(0, horizon // 2),
            submitted=rng.randint(0, horizon - length),
        )
    return model.instance()


def optimum(program: TimeIndexedProblem) -> float:
    """By looking at every choice."""
    own = [[-1, *np.flatnonzero(program.job == job).tolist()] for job in range(len(program.demand))]
    best = program.constant
    for choice in itertools.product(*own):
        chosen = np.array([option for option in choice if option >= 0], dtype=np.int64)
        if program.overload_price is not None or (program.load(chosen) <= program.capacity).all():
            best = max(best, program.objective(chosen))
    return best


@pytest.mark.parametrize("chunk", range(4))
def test_no_choice_that_fits_counts_more_than_the_limit(chunk: int) -> None:
    """Against every subset, covers that are minimal and others."""
    rng, tight = Random(chunk), 0
    for _ in range(600):
        room, size = rng.randint(2, 20), rng.randint(2, 8)
        weights = np.array([rng.randint(1, room) for _ in range(size)], dtype=float)
        members = [k for k in range(size) if rng.random() < 0.6]
        if len(members) < 2 or weights[members].sum() <= room:
            assert len(members) < 2 or lift(np.sort(weights[members])[::-1], room, np.unique(weights)) is None
            continue
        lifted = lift(np.sort(weights[members])[::-1], room, np.unique(weights))
        assert lifted is not None
        count = lifted[0][np.searchsorted(np.unique(weights), weights)]
        count[[k for k in members if weights[k] <= lifted[1]]] = 1.0
        most = max(
            float(count @ inside)
            for inside in map(np.array, itertools.product([0, 1], repeat=size))
            if weights @ inside <= room
        )
        assert most <= len(members) - 1
        tight += most == len(members) - 1
    assert tight > 100


def test_two_that_exclude_each_other_are_worth_one() -> None:
    """Two jobs of five GPUs on a site of eight: prices prove eight GPU-hours, a cover five; one of three runs beside either."""
    model = geo.Model("halves", horizon=1, slot_s=3600, gpu_revenue_usd_per_h=1, gpu_power_kw=0)
    site = model.add_site(gpus=8, price_usd_per_mwh=[0], carbon_g_per_kwh=[0])
    for gpus in (5, 5, 3):
        model.add_job(site, gpus=gpus, duration=1, slack=0, submitted=0)
    whole = time_indexed(model.instance())[0]
    assert cover(whole, 0, 0, np.array([0, 2])) is None
    made = cover(whole, 0, 0, np.array([0, 1]))
    assert made is not None
    assert (made.limit.tolist(), made.count.tolist()) == ([1.0], [[0.0, 1.0]])
    program = whole.where(whole.job < 2)
    found = violated(program, np.array([0.8, 0.8]), 5, Spare())
    assert found is not None
    assert found.jobs.tolist() == [0, 1]
    dual = solve_dual(program, iterations=200)
    assert dual.bound == pytest.approx(8, rel=1e-3)
    covered = with_covers(program, dual, None, Monitor(Clock(), -1), Spare())
    assert covered is not None
    assert covered[0].bound == pytest.approx(optimum(program)) == pytest.approx(5)


@pytest.mark.parametrize("seed", range(30))
def test_covers_prove_no_less_than_the_optimum_and_no_more_than_prices(seed: int) -> None:
    program = time_indexed(gangs(seed, jobs=5, horizon=6))[0]
    best, dual = optimum(program), solve_dual(program, iterations=300)
    covered = with_covers(program, dual, None, Monitor(Clock(), -1), Spare())
    assert dual.bound >= best - 1e-9
    if covered is not None:
        found, share = covered
        assert found.covers is not None
        assert best - 1e-9 <= found.bound <= dual.bound
        assert bound_with(program, found.prices, found.covers) == found.bound
        assert ((share >= 0) & (share <= 1)).all()


@pytest.mark.parametrize("seed", range(6))
def test_any_prices_of_any_covers_prove_a_bound(seed: int) -> None:
    """What pays for covers is what rows of them say, and no bound is below the optimum, however odd the prices."""
    rng, program = np.random.default_rng(seed), time_indexed(gangs(seed + 50, jobs=5, horizon=6))[0]
    made = []
    for _ in range(40):
        place, slot = int(rng.integers(2)), int(rng.integers(6))
        made.append(cover(program, place, slot, np.sort(rng.choice(5, int(rng.integers(2, 5)), replace=False))))
    covers = together([each for each in made if each is not None])
    covers = replace(covers, price=rng.exponential(0.3, len(covers)))
    begins, options, counts = covers.rows(program)
    paid = np.zeros(len(program))
    for number, price in enumerate(covers.price):
        span = slice(begins[number], begins[number + 1])
        paid[options[span]] += price * counts[span]
    assert covers.paid(program) == pytest.approx(paid, abs=1e-12)
    prices = rng.exponential(0.1, program.capacity.shape)
    assert bound_with(program, prices, covers) >= optimum(program) - 1e-9
    some = covers.where(np.arange(len(covers)) % 2 == 0)
    assert isinstance(some, Covers)
    assert bound_with(program, prices, some) >= optimum(program) - 1e-9


def softened(seed: int) -> TimeIndexedProblem:
    """Capacities that may be exceeded for something, some of them no whole numbers."""
    rng, program = np.random.default_rng(seed), time_indexed(gangs(seed + 200, jobs=5, horizon=6, gpus=int(4 + seed % 5)))[0]
    capacity = program.capacity - rng.choice([0.0, 0.3, 1.0], program.capacity.shape)
    return replace(program, capacity=capacity, overload_price=float(rng.choice([0.05, 0.3, 0.9, 3.0])))


@pytest.mark.parametrize("seed", range(24))
def test_overload_pays_for_what_covers_let_in(seed: int) -> None:
    """Any prices of any covers prove a bound, and the best ones are no worse than those of capacity."""
    rng, program = np.random.default_rng(seed), softened(seed)
    best, dual = optimum(program), solve_dual(program, iterations=300)
    made = []
    for _ in range(30):
        jobs = np.sort(rng.choice(5, int(rng.integers(2, 5)), replace=False))
        made.append(cover(program, int(rng.integers(2)), int(rng.integers(6)), jobs))
    some = [each for each in made if each is not None]
    if some:
        covers = replace(together(some), price=rng.exponential(0.5, len(some)))
        assert bound_with(program, rng.exponential(0.1, program.capacity.shape), covers) >= best - 1e-9
        assert bound_with(program, np.zeros(program.capacity.shape), covers) >= best - 1e-9
    covered = with_covers(program, dual, None, Monitor(Clock(), -1), Spare())
    if covered is not None:
        assert best - 1e-9 <= covered[0].bound <= dual.bound


def test_a_step_of_overload_by_hand() -> None:
    """Two of five on eight: with one unit more five and four fit, a whole and a half; with two more both do."""
    program = replace(time_indexed(gangs(0))[0], demand=np.array([5.0, 5.0, 4.0, 1.0]), overload_price=2.0)
    program = replace(program, job=np.arange(4), place=np.zeros(4, np.int64), start=np.zeros(4, np.int64), value=np.ones(4))
    program = replace(program, duration=np.ones(4, np.int64), capacity=np.full((1, 1), 8.0))
    made = cover(program, 0, 0, np.array([0, 1]))
    assert made is not None
    assert made.count.tolist() == [[0.0, 0.5, 1.0]]
    assert made.slopes(program).tolist() == [pytest.approx(0.5)]
    assert made.slopes(replace(program, overload_price=None)).tolist() == [0.0]
    # at ten a unit it earns 10, lets in 5 a step for 2, seven steps at most, and the job of one pays nothing for it
    dear = replace(made, price=np.array([10.0]))
    assert bound_with(program, np.zeros((1, 1)), dear) == pytest.approx(program.constant + 10 + 7 * (5 - 2) + 1)
    assert bound_with(program, np.zeros((1, 1)), replace(made, price=np.array([2.0]))) == pytest.approx(
        program.constant + 2 + 1
    )


def test_the_decomposition_proves_by_covers_and_check_works_it_out_again(tmp_path: Path) -> None:
    instance = gangs(3, jobs=60, sites=3, horizon=48)
    instance.save(tmp_path / "x.json")
    result = optsched.solve(instance, "decomposition", options={"iterations": 3})
    assert result.proof is not None
    assert result.proof.kind == "covers"
    assert result.proof.covered is not None
    prices = proven(instance, result.shadow_prices)
    assert prices is not None
    assert result.bound is not None
    assert result.bound < prices * (1 - 1e-3)
    result.save(tmp_path / "r.json")
    done = run("check", "x.json", "r.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "recomputed from the prices of capacity and covers in the file" in done.stdout
    told = result.proof.covered
    cheaper = told.model_copy(update={"covers": tuple(c.model_copy(update={"price": 0.5 * c.price}) for c in told.covers)})
    elsewhere = told.model_copy(update={"covers": tuple(c.model_copy(update={"jobs": ("nobody",)}) for c in told.covers)})
    for wrong, said in ((cheaper, "bound that its proof does not reach"), (elsewhere, "proof that fits nothing")):
        proof = result.proof.model_copy(update={"covered": wrong})
        result.model_copy(update={"proof": proof}).sealed().save(tmp_path / "w.json")
        done = run("check", "x.json", "w.json", cwd=tmp_path)
        assert done.returncode == 1
        assert said in done.stdout + done.stderr


def test_covers_are_left_where_they_would_take_too_much() -> None:
    """Capacities of a million steps that may be exceeded, prices by too many demands; and where there is no time."""
    program, soft = time_indexed(gangs(1))[0], softened(1)
    assert suit(program)
    assert suit(soft)
    assert not suit(replace(soft, capacity=1e6 * soft.capacity))
    assert suit(replace(program, capacity=1e6 * program.capacity))
    assert not suit(replace(program, demand=program.demand + 0.5))
    many = replace(program, demand=np.arange(1.0, 2002.0), capacity=np.ones((10, 1000)))
    assert not suit(many)
    dual = solve_dual(program, iterations=300)
    assert with_covers(program, dual, None, Monitor(Clock(), -1), Spare(Clock(), 1e-6)) is None


def test_covers_bring_no_scipy() -> None:
    """It would be a second of a limit."""
    words = "import sys; from tests.decomposition.test_covers import gangs; import optsched; "
    words += "r = optsched.solve(gangs(3, jobs=60, sites=3, horizon=48), 'decomposition', options={'iterations': 1}); "
    words += "assert r.proof.covered is not None; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    assert done.stdout == "False\n", done.stderr


def test_without_a_name_for_every_job_prices_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family of somebody else's may have other jobs than ours."""
    monkeypatch.setattr("optsched.decomposition.method._ids", lambda instance: ())
    result = optsched.solve(gangs(3, jobs=60, sites=3, horizon=48), "decomposition", options={"iterations": 1})
    assert result.proof is not None
    assert result.proof.covered is None


@pytest.mark.slow
@pytest.mark.parametrize("chunk", parts(range(20), in_ci=1))
def test_covers_of_many(chunk: int) -> None:
    for seed in range(chunk * 50 + 100, chunk * 50 + 150):
        test_covers_prove_no_less_than_the_optimum_and_no_more_than_prices(seed)
        test_overload_pays_for_what_covers_let_in(seed)
