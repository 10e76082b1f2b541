"""Very large programs by shards: the same bound and digits whoever works, and never on the wrong side of an optimum."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.decomposition import dual as duals
from optsched.decomposition import method, shards
from optsched.decomposition.alike import Alike
from optsched.decomposition.dual import Drawn, bound_of, solve_dual
from optsched.decomposition.pooled import priced_pool
from optsched.decomposition.shards import Listed, Shards, listed, merged, proven_at
from optsched.monitor import Monitor
from optsched.registry import family_of
from optsched.result import Result
from optsched.stop import Clock, Stop
from optsched.workers import workers
from tests.decomposition.test_dual import optimum
from tests.oracle import tiny
from tests.parts import parts

FAMILIES = ("deferrable", "geo")


def some(family: str, seed: int = 0, jobs: int = 40) -> Any:
    return optsched.generate({"deferrable": "osdec", "geo": "masac"}[family], jobs=jobs, seed=seed)


def sharded(instance: Any, workers: int = 1) -> Shards:
    empty = family_of(instance).empty(instance)
    assert empty is not None
    options = family_of(instance).exact_size(instance)
    assert options is not None
    return Shards(instance, options.count, empty, ThreadPoolExecutor(workers), workers)


@pytest.fixture
def by_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is very large, and a shard has a hundred options."""
    monkeypatch.setattr(method, "LISTED", 0)
    monkeypatch.setattr(shards, "OPTIONS", 100)
    monkeypatch.setattr(duals, "MANY", 0)


@pytest.mark.usefixtures("by_shards")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_pass_is_the_dual(family: str) -> None:
    instance = some(family)
    program = listed(instance).problem
    rng = np.random.default_rng(1)
    for _ in range(5):
        prices = rng.random(program.capacity.shape) * (0.01 if family == "geo" else 2.0)
        made = sharded(instance)
        found = made(prices, lambda: False)
        assert found is not None
        assert len(made.bounds) > 2
        assert found.bound == pytest.approx(bound_of(program, prices), rel=1e-9)
        priced = duals.LagrangianSubproblem(program)(prices)[1]
        kept = set(zip(*(column.tolist() for column in found.kept[:3]), strict=True))
        best = {(program.job[i], program.place[i], program.start[i]) for i in priced}
        assert best <= kept, "what is best under the prices is kept"
        wide = made(prices, lambda: False, 30)
        assert wide is not None
        assert wide.bound == found.bound
        more = set(zip(*(column.tolist() for column in wide.kept[:3]), strict=True))
        assert kept <= more
        assert len(kept) < len(more) <= len(kept) + 30 * len(program.demand)
        assert np.array_equal(found.demand, program.demand)


@pytest.mark.usefixtures("by_shards")
@pytest.mark.parametrize("family", FAMILIES)
def test_thinned_shards_are_every_so_many_th_start(family: str) -> None:
    instance = some(family)
    program = listed(instance).problem
    whole = sharded(instance).thinned(1, lambda: False)
    assert whole is not None
    for name in ("job", "place", "start", "value", "demand", "duration", "capacity"):
        assert np.array_equal(getattr(whole, name), getattr(program, name)), name
    thin = sharded(instance).thinned(3, lambda: False)
    assert thin is not None
    rows = list(zip(program.job.tolist(), program.place.tolist(), program.start.tolist(), strict=True))
    wanted = [i for pair in dict.fromkeys(row[:2] for row in rows) for i in _of(rows, pair)[::3]]
    for name in ("job", "place", "start", "value"):
        assert np.array_equal(getattr(thin, name), getattr(program, name)[wanted]), name
    assert np.array_equal(thin.demand, program.demand)
    assert sharded(instance).thinned(3, lambda: True) is None


def _of(rows: list[tuple[int, int, int]], pair: tuple[int, ...]) -> list[int]:
    """Which rows are of a job and a place."""
    return [i for i, row in enumerate(rows) if row[:2] == pair]


@pytest.mark.usefixtures("by_shards")
@pytest.mark.parametrize("family", FAMILIES)
def test_digits_do_not_depend_on_who_works(family: str) -> None:
    instance = some(family, seed=1)
    prices = np.full(listed(instance).problem.capacity.shape, 0.003)
    alone, three = (sharded(instance, workers)(prices, lambda: False) for workers in (1, 3))
    assert alone is not None
    assert three is not None
    assert alone.bound == three.bound
    assert all(np.array_equal(a, b) for a, b in zip(alone.kept, three.kept, strict=True))
    results = [optsched.solve(instance, "decomposition", options={"iterations": 3, "threads": n}) for n in (1, 3)]
    assert (results[0].objective, results[0].bound) == (results[1].objective, results[1].bound)
    assert results[0].schedule == results[1].schedule


@pytest.mark.usefixtures("by_shards")
@pytest.mark.parametrize("family", FAMILIES)
def test_bounds_and_schedules_are_on_the_right_sides(family: str) -> None:
    """Tiny instances against the optimum; the certificate is worked out again from the prices, by shards too."""
    for seed in range(10):
        instance = tiny.TINY[family](seed)
        result = optsched.solve(instance, "decomposition", options={"iterations": 2})
        assert result.bound is not None
        assert result.bound >= optimum(family, seed) - 1e-9, seed
        assert result.objective <= optimum(family, seed) + 1e-9, seed
        assert optsched.check(instance, result) == []
        assert method.proven(instance, result.shadow_prices or {}) == pytest.approx(result.bound, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("by_shards")
@pytest.mark.parametrize("first", parts(range(0, 1000, 100), in_ci=1))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_thousand_by_shards(family: str, first: int) -> None:
    for seed in range(first, first + 100):
        instance = tiny.TINY[family](seed)
        result = optsched.solve(instance, "decomposition", options={"iterations": 1})
        assert result.bound is not None
        assert result.objective - 1e-9 <= optimum(family, seed) <= result.bound + 1e-9, seed


@pytest.mark.usefixtures("by_shards")
@pytest.mark.parametrize("passes", [0, 1])
def test_without_time_for_a_pass_the_greedy_is_what_there_is(monkeypatch: pytest.MonkeyPatch, passes: int) -> None:
    """No thinned starts, and no pass or one: no bound, or that of no prices; the schedule stays."""
    instance, called = some("geo", seed=3), list[int]()
    price = Shards.__call__
    monkeypatch.setattr(Shards, "thinned", lambda self, step, over: None)

    def counted(self: Shards, *given: Any) -> Any:
        called.append(1)
        return price(self, *given) if len(called) <= passes else None

    monkeypatch.setattr(Shards, "__call__", counted)
    result = optsched.solve(instance, "decomposition", options={"iterations": 1})
    greedy = optsched.solve(instance, "greedy")
    assert result.objective >= greedy.objective - 1e-9
    assert (result.bound is None) == (passes == 0)


@pytest.mark.usefixtures("by_shards")
def test_shares_are_of_the_time_that_greedy_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Greedy took 20 of 60 s: a fifth of the time was over before the first thinned start, and the bound that of no prices."""
    asked: list[tuple[float, bool]] = []
    now = [20.0]

    def thinned(self: Shards, step: int, over: Any) -> None:
        for now[0] in (20.0, 27.0, 29.0):
            asked.append((now[0], over()))

    monkeypatch.setattr(Shards, "thinned", thinned)
    monkeypatch.setattr(Shards, "__call__", lambda self, *given: None)
    clock = Clock()
    monkeypatch.setattr(clock, "elapsed_s", lambda: now[0])
    made = sharded(some("geo", seed=3))
    assert priced_pool(made, 1000, Monitor(clock, -1), Stop(seconds=60)) is None
    assert asked == [(20.0, False), (27.0, False), (29.0, True)]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_chosen_needs_no_list_of_all(family: str) -> None:
    """One option a job, drawn; with departures as they are of the whole list, also of jobs that are on their way."""
    rng = np.random.default_rng(7)
    for seed in range(4):
        instance = some(family, seed)
        if family == "geo" and seed % 2:
            away = {j: instance.sites[(j + 1) % len(instance.sites)].id for j in range(0, len(instance.jobs), 3)}
            moved = [
                job.model_copy(update={"bound_for": away[j], "arrives": job.submitted + 2}) if j in away else job
                for j, job in enumerate(instance.jobs)
            ]
            instance = instance.model_copy(update={"jobs": tuple(moved)})
        view = listed(instance)
        rows = np.unique(view.problem.job[rng.permutation(len(view.problem))[:30]])
        mine = [int(rng.choice(np.flatnonzero(view.problem.job == job))) for job in rows.tolist()]
        picked = np.array(sorted(mine))
        columns = np.column_stack([view.problem.job[picked], view.problem.place[picked], view.problem.start[picked]])
        assert family_of(instance).chosen(instance, columns.tolist()) == view.schedule(picked)


def test_ten_million_options_are_listed_as_a_whole_only_where_jobs_have_few() -> None:
    """1,800 jobs with 28 million had 41 % in 5 GB after a minute; Azure's 517,000 machines have 18 million, mostly alike."""
    few = some("geo", jobs=40)
    many = few.model_copy(update={"jobs": few.jobs * 1000})
    assert not method._is_very_large(few, method.WIDE)
    assert method._is_very_large(few, method.WIDE + 1)
    assert not method._is_very_large(many, method.WIDE + 1)
    assert method._is_very_large(many, method.LISTED + 1)


@pytest.mark.usefixtures("by_shards")
def test_prices_of_a_start_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of thinned starts; the first pass proves what the start has."""
    instance = some("geo", seed=3)
    good = optsched.solve(instance, "decomposition", options={"iterations": 3})
    monkeypatch.setattr(Shards, "thinned", lambda self, step, over: pytest.fail("thinned"))
    proven: list[float] = []
    price = Shards.__call__

    def first(self: Shards, *given: Any) -> Any:
        found = price(self, *given) if not proven else None
        proven.append(0.0 if found is None else found.bound)
        return found

    monkeypatch.setattr(Shards, "__call__", first)
    again = optsched.solve(instance, "decomposition", options={"iterations": 1}, start=good)
    assert proven[0] == pytest.approx(good.bound, rel=1e-9)
    assert again.bound == pytest.approx(good.bound, rel=1e-9)


@pytest.mark.usefixtures("by_shards")
def test_a_start_is_kept_and_never_lost() -> None:
    instance = some("geo", seed=3)
    good = optsched.solve(instance, "decomposition", time_limit=2)
    again = optsched.solve(instance, "decomposition", options={"iterations": 1}, start=good)
    assert again.objective >= good.objective - 1e-9


def test_prices_that_do_not_fit_prove_nothing() -> None:
    instance = some("geo")
    assert proven_at(instance, 1000, {"nowhere": (1.0,)}) is None


def test_options_are_merged_once() -> None:
    one = Listed(*(np.array(c) for c in ([0, 0, 2], [0, 1, 0], [3, 3, 4], [1.0, 2.0, 3.0])))
    both = merged(one, Listed(*(np.array(c) for c in ([0, 1], [1, 0], [3, 9], [2.0, 5.0]))))
    assert both.job.tolist() == [0, 0, 1, 2]
    assert both.value.tolist() == [1.0, 2.0, 5.0, 3.0]


# jobs that are alike --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_alike_jobs_are_priced_as_one(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other job twice: the same prices, bound and options as when each is priced by itself."""
    instance = some(family, seed=2)
    twins = [job.model_copy(update={"id": f"{job.id} again"}) for job in instance.jobs[::2]]
    instance = instance.model_copy(update={"jobs": (*instance.jobs, *twins)})
    program = listed(instance).problem
    alike = Alike.of(program)
    assert alike.count.sum() == len(np.unique(program.job))
    assert len(alike.count) < alike.count.sum()
    plain = solve_dual(program, iterations=60)
    monkeypatch.setattr(duals, "MANY", 0)
    found = solve_dual(program, iterations=60)
    assert found.bound == pytest.approx(plain.bound, rel=1e-12)
    assert np.allclose(found.prices, plain.prices, atol=1e-12)
    assert np.array_equal(found.latest, plain.latest)
    assert np.array_equal(found.drawn, plain.drawn)
    has = found.drawn >= 0
    assert np.array_equal(program.job[found.drawn[has]], np.flatnonzero(has))


def test_jobs_that_differ_in_a_single_value_are_not_alike() -> None:
    program = listed(some("geo", seed=4, jobs=6)).problem
    twice = replace(
        program,
        job=np.concatenate([program.job, program.job + 6]),
        place=np.tile(program.place, 2),
        start=np.tile(program.start, 2),
        value=np.concatenate([program.value, program.value]),
        demand=np.tile(program.demand, 2),
        duration=np.tile(program.duration, 2),
    )
    kinds = len(Alike.of(twice).count)
    value = twice.value.copy()
    middle = len(program) + len(program) // 2
    value[middle] += 1e-9
    assert len(Alike.of(replace(twice, value=value)).count) == kinds + 1


def test_what_is_drawn_follows_the_volume() -> None:
    """Whatever is mixed with whatever share, as many jobs are drawn as the running mean says."""
    jobs = 1000
    program = listed(some("deferrable", jobs=2)).problem
    program = replace(
        program,
        job=np.arange(jobs),
        place=np.zeros(jobs, dtype=np.int64),
        start=np.zeros(jobs, dtype=np.int64),
        value=np.ones(jobs),
        demand=np.ones(jobs),
        duration=np.ones(jobs, dtype=np.int64),
    )
    drawn, rng = Drawn(program, np.arange(jobs)), np.random.default_rng(0)
    mean = np.zeros(jobs)
    for number in range(300):
        chosen, share = np.flatnonzero(rng.random(jobs) < rng.random()), rng.uniform(0.02, 0.1)
        drawn.mix(chosen, number, share if number else 1.0)
        mean += (share if number else 1.0) * (np.isin(np.arange(jobs), chosen) - mean)
    assert (drawn.option >= 0).sum() == pytest.approx(mean.sum(), abs=0.06 * jobs)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real Dask cluster of two workers, one of which is killed on the way."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(method, "LISTED", 0)
    monkeypatch.setattr(shards, "OPTIONS", 300)
    instance = some("geo", seed=1, jobs=120)

    def solved(**options: Any) -> Result:
        return optsched.solve(instance, "decomposition", options={"iterations": 1} | options)

    alone = solved(threads=1)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        crew = workers(None, cluster.scheduler_address)
        pids = list(crew.client.run(os.getpid).values())  # type: ignore[attr-defined]
        crew.close()
        called = Shards.__call__

        def told(self: Shards, *words: Any) -> Any:
            if pids:
                threading.Timer(0.3, os.kill, (pids.pop(), signal.SIGKILL)).start()
                pids.clear()
            return called(self, *words)

        monkeypatch.setattr(Shards, "__call__", told)
        there = solved(scheduler=cluster.scheduler_address)
    assert not pids
    assert (there.objective, there.bound, there.schedule) == (alone.objective, alone.bound, alone.schedule)


def test_a_volume_goes_on_with_other_options() -> None:
    """Its load and what it has drawn, as far as the option is there; everybody else is at the best one."""
    program = listed(some("geo", seed=4)).problem
    volume = duals.Volume(duals.LagrangianSubproblem(program), np.arange(len(program.demand)))
    for _ in range(80):
        volume.step()
    volume.drawn.option = np.searchsorted(program.job, np.arange(len(program.demand)), side="right") - 1  # nobody's best
    keep = np.random.default_rng(0).random(len(program)) < 0.5
    fewer = program.where(keep)
    other = volume.onto(duals.LagrangianSubproblem(fewer), volume.center)
    assert np.array_equal(other.load, volume.load)
    rows = np.flatnonzero(keep)
    for job, option in enumerate(volume.drawn.option.tolist()):
        if option >= 0 and keep[option]:
            assert rows[other.drawn.option[job]] == option
        elif other.drawn.option[job] >= 0:
            assert fewer.job[other.drawn.option[job]] == job
