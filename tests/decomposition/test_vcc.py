"""The decomposition of vcc: the path is the cheapest, the bound holds, the window loses nothing, a month is certified."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import optsched
from optsched import solvers
from optsched.decomposition.bundle import Bundle, on_simplex
from optsched.decomposition.vcc.beam import Beam, Settings
from optsched.decomposition.vcc.corridor import corridors
from optsched.decomposition.vcc.fits import Window, reachable
from optsched.decomposition.vcc.fluid import by_the_job
from optsched.decomposition.vcc.memory import MemoryRelaxation
from optsched.decomposition.vcc.paths import Paths, _least
from optsched.decomposition.vcc.relaxation import Prices, StaircaseRelaxation
from optsched.errors import OptschedError
from optsched.instances.generators import vcc
from optsched.instances.readers import read_google2019
from optsched.instances.vcc import Job, VccInstance
from optsched.models.vcc.fluid import Fluid
from optsched.monitor import Monitor
from optsched.problems.vcc import Staircase, round_down_to_feasible
from optsched.referee import evaluate
from optsched.rolling.vcc.queue import queue
from optsched.solvers import SolverResult, SolverSettings
from tests.oracle import brute, tiny


def staircases(instance: Any, window: Any = None) -> Iterator[Staircase]:
    """All of them, one job at a time."""
    low = np.zeros(instance.horizon, dtype=int) if window is None else window.low
    high = instance.arrived if window is None else window.high

    def climb(seq: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        t = len(seq)
        if t == instance.horizon:
            yield seq
            return
        for k in range(max(seq[-1] if seq else 0, int(low[t])), int(high[t]) + 1):
            yield from climb((*seq, k))

    return (Staircase(instance, np.array(seq)) for seq in climb(()))


def real(stairs: Staircase) -> bool:
    return bool((round_down_to_feasible(stairs.instance, stairs.started.astype(float)).started == stairs.started).all())


def test_the_path_is_the_cheapest() -> None:
    """Against all staircases, under random prices of load, starts, heads, empty queues and days."""
    for seed in range(150):
        instance: Any = tiny.vcc(seed)
        rng, slots = np.random.default_rng(seed), instance.horizon
        paths = Paths(instance)
        load, start, head, empty = (
            rng.random(slots),
            rng.random(slots) * rng.integers(0, 2),
            -rng.random(slots),
            rng.random(slots),
        )
        daily = rng.random((len(instance.asked), int(rng.integers(1, instance.day_slots + 2))))
        best = np.inf
        for stairs in staircases(instance):
            begins = np.diff(stairs.started, prepend=0) > 0
            if (begins & ~paths.open).any():
                continue
            late = np.maximum(0, stairs.start - paths.due[: len(stairs.start)]) @ instance.columns.ncu[: len(stairs.start)]
            cost = stairs.load @ (paths.price + load) + start @ begins + head @ stairs.head + empty @ stairs.empty
            count = np.bincount(instance.day, stairs.empty, minlength=len(daily)).astype(int)
            days = daily[np.arange(len(daily)), np.minimum(count, daily.shape[1] - 1)].sum()
            best = min(best, float(cost) + paths.late_price * float(late) + float(days))
        assert paths.cheapest(load, start, head, empty, daily).value == pytest.approx(best, abs=1e-9), seed


def solved(seeds: int) -> Iterator[tuple[Any, float, Window, np.random.Generator]]:
    """Tiny instances with a little more than their optimum, the window below that, and random numbers."""
    for seed in range(seeds):
        instance: Any = tiny.vcc(seed)
        best = brute.optimum(instance)
        above = best + 1e-6 * max(1.0, abs(best))
        yield instance, above, Paths(instance).window_below(above), np.random.default_rng(seed)


def test_the_least_of_every_run() -> None:
    """From edges that never fall, of runs of one state and of hundreds, in one layer and in several."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        width = int(rng.integers(1, 400))
        values = rng.integers(0, 50, (int(rng.integers(1, 4)), width)).astype(float)
        values[rng.random(values.shape) < 0.2] = np.inf
        longest = int(rng.integers(1, 2 * width + 1))
        edge = np.maximum.accumulate(np.maximum(0, np.arange(width) - rng.integers(0, longest, width)))
        wanted = np.stack([values[:, a : k + 1].min(axis=1) for k, a in enumerate(edge.tolist())], axis=1)
        assert (_least(values, edge) == wanted).all()
        assert (_least(values[0], edge) == wanted[0]).all()
        assert (_least(values, None) == np.minimum.accumulate(values, axis=1)).all()


def test_a_path_costs_its_value() -> None:
    """Where hundreds of jobs may start in a slot: the staircase that is told is the one that was priced."""
    instance: Any = vcc(days=3, jobs=600, load=0.9, seed=5)
    rng, slots = np.random.default_rng(1), instance.horizon
    paths = Paths(instance, fits=True)
    for charged in (0.0, 0.5):
        load, start = 0.01 * rng.random(slots), charged * rng.random(slots)
        head, empty = -0.01 * rng.random(slots), rng.random(slots)
        daily = rng.random((len(instance.asked), 6))
        path = paths.cheapest(load, start, head, empty, daily)
        stairs = Staircase(instance, path.started)
        begins = np.diff(stairs.started, prepend=0) > 0
        late = np.maximum(0, stairs.start - paths.due[: len(stairs.start)]) @ instance.columns.ncu[: len(stairs.start)]
        cost = stairs.load @ (paths.price + load) + start @ begins + head @ stairs.head + empty @ stairs.empty
        cost += paths.late_price * float(late) + daily[np.arange(len(daily)), np.minimum(path.empties, 5)].sum()
        assert path.value == pytest.approx(float(cost), rel=1e-9)
        empties = np.bincount(instance.day, stairs.empty, minlength=len(daily)).astype(int)
        assert (np.minimum(empties, 5) == np.minimum(path.empties, 5)).all()


def test_bounds_hold_and_windows_lose_nothing() -> None:
    for instance, above, window, rng in solved(120):
        least = min(s.cost() for s in staircases(instance, window) if real(s))
        assert least == pytest.approx(above, rel=2e-6, abs=2e-6), instance.name
        for relaxed in (StaircaseRelaxation(instance), StaircaseRelaxation(instance, window)):
            for scale in (0.0, 0.1, 1.0):
                daily = rng.random(relaxed.days) * instance.daily_penalty_per_ncu_h
                found = relaxed(Prices(scale * rng.random(instance.horizon), daily), relaxed.whole)
                assert found.bound <= above, instance.name


def brackets(seeds: range) -> list[float]:
    gaps = []
    for seed in seeds:
        instance: Any = tiny.vcc(seed)
        best = brute.optimum(instance)
        result = optsched.solve(instance, "decomposition")
        noise = 1e-6 * max(1.0, abs(best))
        assert result.verify(instance) == [], seed
        assert result.bound <= best + noise, seed  # type: ignore[operator]
        assert result.objective >= best - noise, seed  # type: ignore[operator]
        gaps.append((result.objective - best) / max(abs(best), 1e-9))  # type: ignore[operator]
    return gaps


def test_brackets_the_optimum() -> None:
    assert np.median(brackets(range(40))) <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_brackets_the_optimum_of_five_hundred(first: int) -> None:
    gaps = brackets(range(first, first + 50))
    assert np.median(gaps) <= 1e-6
    assert np.mean(np.array(gaps) <= 1e-6) >= 0.85


def test_the_fluid_is_a_relaxation() -> None:
    """Its bound is never above the optimum, nor above what a fluid of single jobs may prove."""
    tight = 0
    for seed in range(120):
        instance: Any = tiny.vcc(seed)
        best = brute.optimum(instance)
        result = optsched.solve(instance, "fluid")
        noise = 1e-6 * max(1.0, abs(best))
        assert result.bound <= best + noise, seed  # type: ignore[operator]
        assert result.objective >= best - noise, seed  # type: ignore[operator]
        assert result.verify(instance) == []
        tight += result.bound >= best - noise  # type: ignore[operator]
    assert tight >= 30


@pytest.mark.parametrize(("capacity", "price"), [(1.0, 0.9), (2.0, 0.9), (3.0, 0.0)])
def test_prices_by_hand(capacity: float, price: float) -> None:
    """Three NCU for an hour at 0.1 now, 1 later: one more place now saves 0.9, a fourth nothing."""
    jobs = tuple(Job(id=name, submitted=0, duration=1, ncu=1.0) for name in "abc")
    instance = VccInstance(
        name="x",
        capacity_ncu=capacity,
        carbon_kg_per_kwh=(0.1, 1.0, 1.0),
        inflexible_ncu=(0.0,) * 3,
        unfinished_penalty_per_ncu_h=5.0,
        jobs=jobs,
    )
    (row,) = (optsched.solve(instance, "fluid").shadow_prices or {}).values()
    assert row == pytest.approx((price, 0.0, 0.0), abs=1e-9)


def test_prices_are_what_a_little_more_room_is_worth() -> None:
    """By finite differences of the relaxation: a thousandth of an NCU less of inflexible load in every slot."""
    crowded = vcc(days=2, jobs=120, load=0.9, seed=6101)
    step = 1e-3
    roomier = crowded.model_copy(update={"inflexible_ncu": tuple(load - step for load in crowded.inflexible_ncu)})
    first, second = (optsched.solve(instance, "fluid") for instance in (crowded, roomier))
    assert first.bound is not None
    assert second.bound is not None
    saved = first.bound - second.bound - step * sum(crowded.carbon_kg_per_kwh)  # what the load itself took
    (row,) = (first.shadow_prices or {}).values()
    assert sum(row) > 0.1
    assert saved / step == pytest.approx(sum(row), rel=0.02)


def test_the_fluid_misses_what_cannot_be_done() -> None:
    """A job of three hours, two of which are left: the third is missed, at 5 the NCU-hour, however it is begun."""
    jobs = (Job(id="a", submitted=1, duration=3, ncu=2.0),)
    instance = VccInstance(
        name="x",
        capacity_ncu=4.0,
        carbon_kg_per_kwh=(0.1, 0.1, 0.1),
        inflexible_ncu=(0.0,) * 3,
        unfinished_penalty_per_ncu_h=5.0,
        jobs=jobs,
    )
    result = optsched.solve(instance, "fluid")
    assert (result.components["unfinished"], result.bound) == pytest.approx((10.0, result.objective))


@pytest.mark.parametrize(("upper", "left"), [(0.15, 0.15), (0.05, 0.0)])
def test_the_fluid_counts_jobs(upper: float, left: float) -> None:
    """Of a class of 1 and 9 NCU a tenth may be late, and no less."""
    jobs = (Job(id="a", submitted=0, duration=1, ncu=1.0), Job(id="b", submitted=0, duration=1, ncu=9.0))
    instance = VccInstance(
        name="x",
        capacity_ncu=10.0,
        carbon_kg_per_kwh=(0.1,) * 3,
        inflexible_ncu=(0.0,) * 3,
        unfinished_penalty_per_ncu_h=5.0,
        delay_limit_slots=1,
        delay_penalty_per_ncu_h=1.0,
        jobs=jobs,
    )
    model = Fluid(instance)
    form = solvers.linear_form(model)
    late = np.array([column is model.pyomo.delays[0, 2] for column in form.columns])
    form = by_the_job(model, replace(form, upper=np.where(late, upper, form.upper)))
    assert (form.upper[late], form.cost[late] > 0) == (left, left > 0)


@pytest.mark.parametrize("inflexible", [1e9 - 1e-3, 1e9 - 10.0, 1e9 - 1e4])
def test_the_fluid_takes_a_data_centre_that_is_nearly_full(inflexible: float) -> None:
    """A cap's row had a coefficient of the capacity over what is left, which HiGHS refuses from 1e15 on."""
    instance = VccInstance(
        name="x",
        capacity_ncu=1e9,
        carbon_kg_per_kwh=(0.1, 0.2, 0.1),
        inflexible_ncu=(inflexible, 0.0, inflexible),
        unfinished_penalty_per_ncu_h=5.0,
        jobs=(Job(id="a", submitted=0, duration=1, ncu=1e6), Job(id="b", submitted=1, duration=1, ncu=2e8)),
    )
    fluid, exact = optsched.solve(instance, "fluid"), optsched.solve(instance, "exact")
    assert exact.solution == "optimal"
    assert fluid.bound is not None
    assert fluid.bound <= exact.objective


def test_the_fluid_does_not_call_infeasible_what_has_a_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solved once more as it is; if that helps nothing, there is no bound."""
    from optsched.solvers.highs import Highs

    asked: list[object] = []

    def lost(self: Highs, model: Any, form: Any, task: SolverSettings, monitor: Monitor) -> SolverResult:
        asked.append(task.options.get("presolve"))
        return SolverResult("infeasible")

    monkeypatch.setattr(Highs, "solve", lost)
    result = optsched.solve(vcc(days=1, jobs=20, load=0.3), "fluid")
    assert asked == [None, "off"]
    assert (result.termination, result.bound, result.solution) == ("error", None, "feasible")


def test_the_fluids_solver_is_told_when_time_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has what building the model has left, and is asked to stop; else the process would wait for it at its end."""
    told: list[tuple[float | None, str | None]] = []

    class Endless:
        def solve(self, model: object, form: object, how: SolverSettings, monitor: Monitor) -> SolverResult:
            stopped = threading.Event()
            monitor.when_stopped(stopped.set)
            stopped.wait(20)
            told.append((how.seconds, monitor.stopping))
            return SolverResult("time_limit")

    monkeypatch.setattr(solvers, "backend", lambda name: Endless())
    result = optsched.solve(vcc(days=2, jobs=20, load=0.03), "fluid", time_limit=3.0)
    for thread in threading.enumerate():
        if thread.name == "optsched-solver":
            thread.join(20)
    assert result.bound is None
    ((seconds, why),) = told
    assert seconds is not None
    assert seconds < 3.0
    assert why == "time_limit"


def test_the_fluid_says_when_it_is_too_large() -> None:
    with pytest.raises(OptschedError, match="classes by slot"):
        optsched.solve(vcc(days=14, jobs=4000, load=0.1), "fluid")


def test_staircases_cost_what_the_referee_says() -> None:
    for seed in range(60):
        instance = vcc(days=2, jobs=160, load=1.2, seed=seed)
        wanted = np.sort(np.random.default_rng(seed).random(instance.horizon)) * 160
        stairs = round_down_to_feasible(instance, wanted)
        assert optsched.check(instance, stairs.schedule()) == []
        assert stairs.cost() == pytest.approx(evaluate(instance, stairs.schedule()).objective, rel=1e-9)


def test_evictions_are_refused() -> None:
    with pytest.raises(OptschedError, match="preempt"):
        optsched.solve(vcc(days=1, jobs=60, load=0.1, preempt=True), "decomposition")


@pytest.mark.timing
def test_a_month_is_certified_within_a_hundredth(traces: Path) -> None:
    """28 days, 37,763 flexible jobs, 60 s: a gap under 1 %."""
    instance = read_google2019(traces / "google2019")
    assert len(instance.jobs) == 37_763
    result = optsched.solve(instance, "decomposition", time_limit=60)
    assert result.gap is not None
    assert result.gap < 0.01
    assert result.timings_s.total < 62


@pytest.mark.parametrize("penalty", [1e6, 1e9, 1e12])
def test_huge_delay_penalties_cost_no_digits(penalty: float) -> None:
    """Sums of hopeless lateness would swallow the rest: bounds beyond a schedule, and windows without their own optimum."""
    changes = {"unfinished_penalty_per_ncu_h": 0.0, "delay_limit_slots": 3, "delay_penalty_per_ncu_h": penalty}
    for seed in range(12):
        instance = vcc(days=2, jobs=20, load=0.03, seed=seed).model_copy(update=changes)
        result = optsched.solve(instance, "decomposition", options={"iterations": 12})
        assert result.verify(instance) == []


def test_a_long_replay_does_not_drift() -> None:
    """Seven jobs of a seventh fill the data centre every three slots, for ever."""
    slots = 9000
    jobs = [{"id": f"{s}-{j}", "submitted": s, "duration": 3, "ncu": 1 / 7} for s in range(0, slots, 3) for j in range(7)]
    instance: Any = tiny.make("vcc", capacity_ncu=1.0, carbon_kg_per_kwh=[0.5] * slots, inflexible_ncu=[0.0] * slots, jobs=jobs)
    fast = queue(instance)
    while not fast.ended:
        fast.step(1.0)
    assert fast.waiting == 0
    assert round_down_to_feasible(instance, instance.arrived.astype(float)).started[-1] == len(jobs)


@pytest.mark.parametrize("capacity", [1.0, 0.04, 4e-7])
def test_exact_at_any_capacity(capacity: float) -> None:
    """The head fits exactly, so that a cap of 1 would let it in."""
    half = 0.5 * capacity
    instance: Any = tiny.make(
        "vcc",
        capacity_ncu=capacity,
        carbon_kg_per_kwh=[0.5, 0.1],
        inflexible_ncu=[half, half],
        daily_penalty_per_ncu_h=2.0,
        daily_fraction=1.0,
        jobs=[{"id": "a", "submitted": 0, "duration": 8, "ncu": half}],
    )
    assert optsched.solve(instance).objective == pytest.approx(brute.optimum(instance), rel=1e-6)


def test_no_schedule_is_ahead_of_starting_all_that_fits() -> None:
    for seed in range(300):
        instance: Any = tiny.vcc(seed)
        all_of_it = Window(np.zeros(instance.horizon, dtype=np.int64), instance.arrived)
        window = reachable(instance, all_of_it)
        assert (window.high == round_down_to_feasible(instance, instance.arrived.astype(float)).started).all(), seed
        assert all((s.started <= window.high).all() for s in staircases(instance) if real(s)), seed


def test_steps_without_room_are_left_out_and_no_others() -> None:
    """Of the schedules nothing is lost, under random prices; of the other staircases some, so that the bound rises."""
    better = 0
    for seed in range(300):
        instance: Any = tiny.vcc(seed)
        rng, slots = np.random.default_rng(seed), instance.horizon
        load, start = 0.3 * rng.standard_normal(slots), rng.random(slots) * rng.integers(0, 2)
        head, empty = -rng.random(slots), rng.random(slots)
        daily = rng.random((len(instance.asked), int(rng.integers(1, instance.day_slots + 2))))
        plain, fits = Paths(instance), Paths(instance, fits=True)
        best = np.inf
        for stairs in filter(real, staircases(instance)):
            begins = np.diff(stairs.started, prepend=0) > 0
            late = np.maximum(0, stairs.start - plain.due[: len(stairs.start)]) @ instance.columns.ncu[: len(stairs.start)]
            cost = stairs.load @ (plain.price + load) + start @ begins + head @ stairs.head + empty @ stairs.empty
            count = np.bincount(instance.day, stairs.empty, minlength=len(daily)).astype(int)
            days = daily[np.arange(len(daily)), np.minimum(count, daily.shape[1] - 1)].sum()
            best = min(best, float(cost) + plain.late_price * float(late) + float(days))
        values = [paths.cheapest(load, start, head, empty, daily).value for paths in (plain, fits)]
        assert values[0] <= values[1] + 1e-9, seed
        assert values[1] <= best + 1e-9, seed
        better += values[1] > values[0] + 1e-6
    assert better >= 30


@pytest.mark.slow
def test_bounds_that_remember_the_last_slots_hold() -> None:
    """Under random prices, spare ones too, and what remembers more proves no less, and one or two slots more now and then."""
    higher = np.zeros(3)
    for instance, above, window, rng in solved(150):
        for relaxed in (StaircaseRelaxation(instance, fits=True), StaircaseRelaxation(instance, window, fits=True)):
            remembered = [MemoryRelaxation(relaxed, slots) for slots in (1, 2, 3)]
            for scale in (0.0, 0.1, 1.0):
                price = rng.random(relaxed.days) * instance.daily_penalty_per_ncu_h
                spare = rng.random(instance.horizon) * instance.daily_penalty_per_ncu_h * rng.integers(0, 2)
                prices = Prices(scale * rng.random(instance.horizon), price, spare)
                bounds = [relaxed(prices, relaxed.whole).bound]
                bounds += [memory(prices, relaxed.whole).bound for memory in remembered if memory.small]
                assert max(bounds) <= above, instance.name
                margin = 1e-6 * max(1.0, abs(above))
                assert all(more >= less - margin for less, more in pairwise(bounds[1:])), instance.name
                higher[: len(bounds) - 1] += np.diff(bounds) > margin
    assert (higher[:2] >= 3).all(), higher


def test_loads_exceed_their_room_by_no_more_than_is_said() -> None:
    """Of histories that fit, by how long ago something last started; and some of them by just so much."""
    reached = 0
    for seed in range(30):
        instance = vcc(days=2, jobs=160, load=1.1, seed=seed)
        rng, relaxed = np.random.default_rng(seed), StaircaseRelaxation(instance, fits=True)
        slots = np.arange(instance.horizon)
        for _ in range(10):
            wanted = np.where(rng.random(len(slots)) < 0.5, instance.arrived, 0.0)
            stairs = round_down_to_feasible(instance, wanted)
            last = np.maximum.accumulate(np.where(np.diff(stairs.started, prepend=0) > 0, slots, -99))
            for remembered in (0, 1, 2):
                most = relaxed.excesses(remembered)[np.minimum(slots - last, remembered + 1), slots]
                assert (stairs.load <= relaxed.room + most + 1e-9).all(), instance.name
                reached += int((stairs.load > relaxed.room + np.maximum(0.5 * most, 1e-9)).sum())
    assert reached >= 5


def test_corridors_hold_the_staircase() -> None:
    instance = vcc(days=2, jobs=160, load=0.9, seed=1)
    relaxed = StaircaseRelaxation(instance, fits=True)
    stairs = round_down_to_feasible(instance, instance.arrived.astype(float))
    for corridor in islice(corridors(instance), 200):
        window = corridor.window(stairs, relaxed.paths.window)
        assert (window.low <= stairs.started).all()
        assert (stairs.started <= window.high).all()
        assert (np.diff(window.low) >= 0).all()
        assert (np.diff(window.high) >= 0).all()


def test_slopes_are_supergradients() -> None:
    """No bound is above the plane through another one, of each relaxation."""
    for seed in range(4):
        instance = vcc(days=2, jobs=160, load=0.9, seed=seed)
        relaxed = StaircaseRelaxation(instance, fits=True)
        rng, slots = np.random.default_rng(seed), instance.horizon
        for priced in (relaxed, MemoryRelaxation(relaxed, 1), MemoryRelaxation(relaxed, 2)):
            points = []
            for _ in range(5):
                prices = Prices(0.2 * rng.random(slots), 0.1 * rng.random(relaxed.days), 0.1 * rng.random(slots))
                points.append((prices, priced(prices, relaxed.whole)))
            for a, here in points:
                near = Prices(a.load * (1 + 1e-6), a.daily, a.spare)
                beside = priced(near, relaxed.whole)
                if (beside.path.started == here.path.started).all():  # the plane through it is the function itself
                    assert beside.bound - here.bound == pytest.approx(here.overload @ (near.load - a.load), abs=1e-9)
                for b, there in points:
                    assert a.spare is not None
                    assert b.spare is not None
                    plane = here.bound + here.overload @ (b.load - a.load) + here.lack @ (b.daily - a.daily)
                    assert there.bound <= plane + here.beyond @ (b.spare - a.spare) + 1e-6


def test_a_bundle_finds_the_highest_point() -> None:
    """Of a concave function between limits: the least of planes, and a linear program's optimum."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        slopes, offsets = rng.standard_normal((12, 4)), rng.standard_normal(12)
        form = [[*(-row), 1.0] for row in slopes.tolist() for row in [np.array(row)]]
        exact = linprog([0.0] * 4 + [-1.0], A_ub=form, b_ub=offsets, bounds=[(0, 2)] * 4 + [(None, None)])

        def least(x: Any, planes: Any = (slopes, offsets)) -> tuple[float, Any]:
            values = planes[1] + planes[0] @ x
            at = int(values.argmin())
            return float(values[at]), planes[0][at]

        point = np.ones(4)
        bundle = Bundle(point, (np.zeros(4), np.full(4, 2.0)), *least(point), 1.0)
        for _ in range(200):
            point = bundle.propose()
            if bundle.promised < 1e-7:
                break
            bundle.learn(point, *least(point))
        assert bundle.best == pytest.approx(-exact.fun, abs=1e-4), seed


def test_a_beam_starts_only_what_fits() -> None:
    for seed in range(20):
        instance = vcc(days=2, jobs=160, load=1.1, seed=seed)
        relaxed = StaircaseRelaxation(instance, fits=True)
        started = Beam(relaxed, np.full(instance.horizon, 0.05))(Settings(50, 3, np.full(relaxed.days, 0.9)))
        assert started is not None
        stairs = round_down_to_feasible(instance, started.astype(float))
        assert (stairs.started == started).all()
        assert optsched.check(instance, stairs.schedule()) == []


@pytest.mark.slow
def test_crowded_days_are_certified_within_a_few_hundredths() -> None:
    """Where the capacity binds: 7 to 14 % before steps without room were left out."""
    result = optsched.solve(vcc(days=4, jobs=570, load=0.9, seed=11), "decomposition", options={"iterations": 60})
    assert result.gap is not None
    assert result.gap < 0.05


def test_rounds_reproduce() -> None:
    """Beams and neighbours ask no clock."""
    instance = vcc(days=2, jobs=250, load=0.9, seed=12)
    one, two = (optsched.solve(instance, "decomposition", options={"iterations": 20}) for _ in range(2))
    assert (one.objective, one.bound) == (two.objective, two.bound)


def test_the_nearest_weights() -> None:
    """Also where one is so large that it swallows the 1 (found on a harsh instance whose planes were all flat)."""
    assert on_simplex(np.array([0.5, 0.5])).tolist() == [0.5, 0.5]
    assert on_simplex(np.array([2.0, 1.5, -3.0])).tolist() == [0.75, 0.25, 0.0]
    assert on_simplex(np.array([1e30, 0.0])).tolist() == [1.0, 0.0]
    assert on_simplex(np.array([-1e30, -1e30])).tolist() == [0.5, 0.5]


def test_many_jobs_that_start_at_once_are_counted() -> None:
    """34,000 in one slot: what the path that remembers the last slot proves, no schedule undercuts."""
    rows = [{"id": f"j{i}", "submitted": 0 if i < 34_000 else 1, "duration": 1, "ncu": 1.0} for i in range(34_010)]
    like = vcc(days=1, jobs=20, load=0.1, seed=0)
    jobs = tuple(like.jobs[0].model_copy(update=row) for row in rows)
    carbon = (2.0, 1.0, *(5.0,) * (like.horizon - 2))  # the second slot is the one to start the others in
    sizes = {"capacity_ncu": 40_000.0, "inflexible_ncu": (0.0,) * like.horizon}
    instance = like.model_copy(update={"jobs": jobs, "carbon_kg_per_kwh": carbon, **sizes})
    window = Window(np.full(like.horizon, 34_000), instance.arrived)
    relaxed = StaircaseRelaxation(instance, window, fits=True)
    memory = MemoryRelaxation(relaxed, 1)
    assert memory.small
    prices = Prices(np.zeros(like.horizon), np.zeros(relaxed.days))
    cost = optsched.solve(instance, "uncapped").objective
    assert cost is not None
    assert memory(prices, relaxed.whole).bound <= cost * (1 + 1e-9)
    assert all((numbers >= 0).all() for numbers in memory.beside)  # they were 16 bits wide
