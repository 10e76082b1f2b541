"""Sites of thousands to millions of GPUs with jobs of one: tolerances hide whole jobs, and no bound may be below them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from random import Random
from typing import Any

import pytest

import optsched
from optsched import geo
from optsched.decomposition.restricted_mip import solve_restricted_mip
from optsched.instances.geo import GeoInstance
from optsched.models import choose
from optsched.monitor import Monitor
from optsched.problems.geo import time_indexed
from optsched.solvers import SolverResult, SolverSettings, linear_form
from optsched.solvers.highs import Highs
from optsched.stop import Clock


def crowded(seed: int, gpus: int, slots: tuple[int, ...], jobs: tuple[int, ...]) -> GeoInstance:
    """One site, and jobs that take all of it, half, a third, or next to nothing."""
    rng = Random(seed)
    horizon = rng.choice(slots)
    model = geo.Model("huge", horizon=horizon, slot_s=3600, gpu_revenue_usd_per_h=1, gpu_power_kw=0.3)
    prices = [rng.random() * 10 for _ in range(horizon)]
    site = model.add_site(gpus=gpus, price_usd_per_mwh=prices, carbon_g_per_kwh=[0] * horizon)
    for _ in range(rng.choice(jobs)):
        size = rng.choice([gpus, gpus // 2, gpus // 3, 1, 2, gpus - 1, gpus // 2 + 1])
        length, slack, submitted = rng.randint(1, max(1, horizon // 2)), rng.randint(0, horizon), rng.randint(0, horizon - 1)
        model.add_job(site, gpus=size, duration=length, slack=slack, submitted=submitted)
    return model.instance()


@pytest.mark.parametrize("gpus", [10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("seed", [0, 2, 3, 22])
def test_no_better_schedule_is_cut_off(seed: int, gpus: int) -> None:
    """HiGHS cut optima off in five of these, when levels were called integers, and where presolve has seen them."""
    instance = crowded(seed, gpus, (4, 8, 12), (5, 10, 20))
    best = optsched.solve(instance, backend="cp-sat", formulation="cover")
    assert best.termination == "optimal"
    for found in (
        optsched.solve(instance, formulation="state"),
        optsched.solve(instance, "decomposition", options={"iterations": 3}),
    ):
        assert found.bound is None or found.bound >= best.objective * (1 - 1e-9)
        assert found.objective <= best.objective


@pytest.mark.parametrize("seed", [21, 27, 39])
def test_what_does_not_fit_is_left_out(seed: int) -> None:
    """A tolerance of the whole site is hundreds of GPUs: neither vertices nor a choice of HiGHS can be taken as they are."""
    rng = Random(seed)
    slots, gpus = rng.choice([4, 12, 24]), 10 ** rng.choice([5, 6, 7, 8])
    instance = crowded(seed, gpus, (slots,), (20, 60))
    found = optsched.solve(instance, "decomposition", options={"iterations": 3})
    assert optsched.check(instance, found) == []
    program = time_indexed(instance)[0]
    chosen = solve_restricted_mip(program, program.find([]), 0.0, 20).chosen
    assert (program.load(chosen) <= program.capacity).all()


@pytest.mark.parametrize(("gpus", "hidden"), [(100_000, False), (10_000_000, True)])
def test_what_is_nothing_beside_the_largest_counts_against_the_bound(gpus: int, hidden: bool) -> None:
    """Of ten million GPUs HiGHS overlooked one, 1e-8 of the objective."""
    model = geo.Model("huge", horizon=2, slot_s=3600, gpu_revenue_usd_per_h=1, gpu_power_kw=0.0)
    site = model.add_site(gpus=gpus, price_usd_per_mwh=[0, 0], carbon_g_per_kwh=[0, 0])
    for size in (gpus - 1, 2, 1):
        model.add_job(site, gpus=size, duration=1, slack=1, submitted=0)
    form = linear_form(choose(model.instance(), "cover").of(model.instance()))
    missed = form.overlooked / form.scale
    assert (missed >= 1 + 2) if hidden else (missed < 0.01)


@pytest.mark.parametrize(
    ("second", "bound", "ended"),
    [
        (SolverResult("optimal", objective=-7.0, bound=-7.0), -7.0, "optimal"),
        (SolverResult("optimal", objective=-5.0, bound=-9.0), -9.0, "gap_limit"),
        (SolverResult("time_limit", objective=-5.0, bound=-11.0), -11.0, "time_limit"),
        (SolverResult("time_limit"), None, "time_limit"),
    ],
)
def test_beside_wide_levels_two_runs_must_agree(
    second: SolverResult, bound: float | None, ended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With presolve and without it HiGHS has called optima what were none, hardly the same ones."""
    model = geo.Model("wide", horizon=3, slot_s=3600, gpu_revenue_usd_per_h=1, gpu_power_kw=0.0)
    site = model.add_site(gpus=5000, price_usd_per_mwh=[0] * 3, carbon_g_per_kwh=[0] * 3)
    for size in (4000, 3000):
        model.add_job(site, gpus=size, duration=1, slack=2, submitted=0)
    formulation = choose(model.instance(), "state")
    form = linear_form(formulation.of(model.instance()))
    runs = iter([SolverResult("optimal", objective=-5.0, bound=-5.0), second])
    presolved: list[object] = []

    def run(self: Highs, form: object, task: SolverSettings, monitor: Monitor, bounds: bool) -> SolverResult:
        presolved.append(task.options.get("presolve"))
        assert not bounds
        return next(runs)

    monkeypatch.setattr(Highs, "_run", run)
    found = Highs().solve(formulation.of(model.instance()).pyomo, form, SolverSettings(), Monitor(Clock(), -1))
    assert (found.bound, found.termination) == (bound, ended)
    assert presolved == [None, "off"]


def test_who_was_refuted_is_asked_no_more(monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    """The next bound of a solver whose last one a schedule has refuted is no proof either."""
    instance, asked = optsched.load(examples / "deferrable-small.json"), list[int]()
    best = optsched.solve(instance, "exact")
    solve = Highs.solve

    def wrong(self: Highs, model: Any, form: Any, task: SolverSettings, monitor: Monitor) -> SolverResult:
        asked.append(1)
        found = solve(self, model, form, task, monitor)
        return dataclasses.replace(found, bound=0.5 * (found.bound or 0.0))

    monkeypatch.setattr(Monitor, "bounded", lambda self, bound: Monitor.raised(self, bound / self.scale))
    monkeypatch.setattr(Highs, "solve", wrong)
    found = optsched.solve(instance, "exact", start=optsched.solve(instance, "greedy"))
    assert found.bound is None or found.bound >= best.objective * (1 - 1e-9)
    assert len(asked) == 1
