"""Prices of slots: by hand, against enumeration under any prices, against the linear relaxation, and beyond all models."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.decomposition.allocation import method
from optsched.decomposition.allocation.slot_prices import SlotPrices, priced, proven
from optsched.instances.generators import andreas
from optsched.models import choose
from optsched.models.allocation.aggregated import AggregatedCheapest
from optsched.monitor import Monitor
from optsched.problems.allocation.slots import SlotProgram
from optsched.reading import parse
from optsched.solvers import linear_form
from optsched.solvers.highs import relaxation
from optsched.stop import Clock
from tests.oracle import enumerate_exact, harsh, tiny
from tests.oracle.brute import plain
from tests.parts import parts

FAST, ALL, CHUNK = 25, 1500, 50


@pytest.fixture
def by_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every instance were too large for the whole reading."""
    monkeypatch.setattr(method, "EASY", -1)
    monkeypatch.setattr(method, "WHOLE", -1)


def crowd(jobs: int, nodes: int, **what: Any) -> Any:
    """Jobs alike of 100 s, due now, that run with one GPU of nodes with two, 36 EUR/h with one and 54 with both in use."""
    one = {"submit_s": 0, "due_s": 0, "weight_per_s": 1, "time_s": {"A": [100]}}
    return tiny.make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=10,
        postponement_penalty=what.pop("penalty", 2),
        gpu_types={"A": {"node_cost_per_h": [36.0, 54.0]}},
        nodes=[{"id": f"n{n}", "gpu_type": "A", "gpus": 2} for n in range(nodes)],
        jobs=[{"id": f"j{j}", **one} for j in range(jobs)],
        **what,
    )


def best_of(instance: Any) -> SlotPrices:
    found = SlotPrices(SlotProgram.of(instance))
    found.raise_all(1e4, Monitor(Clock(), 1), lambda: True)
    return found


@pytest.mark.parametrize(
    ("jobs", "nodes", "best"),
    [
        (1, 1, 100 + 1),  # 100 s late, 1 EUR of energy
        (2, 1, 200 + 1),  # energy is paid for the node's first only
        (4, 1, 200 + 1 + 2 * 2 * 110),  # two are postponed: 110 s late, twice
        (4, 2, 400 + 2),
        (3, 2, 300 + 2),
    ],
)
def test_by_hand(by_prices: None, jobs: int, nodes: int, best: float) -> None:
    result = optsched.solve(crowd(jobs, nodes), "decomposition")
    assert (result.objective, result.solution) == (pytest.approx(best), "optimal")
    assert result.proof is not None
    assert result.proof.formulation == "slots"


def test_prices_by_hand() -> None:
    """Four jobs on one node of two GPUs: a slot beside its first is worth what postponing costs beyond running, 120 EUR."""
    program = SlotProgram.of(crowd(4, 1))
    assert (program.kinds, program.wanted) == (1, 1)
    free, right = (priced(program, np.array(p)) for p in ([0.0, 0, 0], [120.0, 119, 0]))
    assert free.bound == pytest.approx(4 * 100)
    assert right.bound == pytest.approx(4 * 220 - 239)
    assert right.bound <= 4 * 220 - 239
    assert right.cells == [(0, 0, (2,))]


def test_nobody_needs_a_node_that_is_not_wanted() -> None:
    """Without jobs that are late nothing has to run; one of 50 GPUs' worth is none of the instance."""
    idle = crowd(3, 2, penalty=0, use_all_nodes=False)
    assert best_of(idle).best.bound == pytest.approx(0.0, abs=1e-9)
    assert proven(idle, (0.0, 0.0, 1.0)) is None
    assert proven(idle, (0.0, np.nan, 0.0)) is None
    assert proven(idle, (0.0,) * 4) is None


def test_prices_that_no_sum_holds_prove_nothing() -> None:
    """A file may hold any number; minus infinity is no bound that one could be held to."""
    for prices in ((0.0, 1e308, 1e308), (1.7e308, 0.0, 0.0), (0.0, 0.0, -1.7e308)):
        assert proven(crowd(4, 2), prices) is None


def checked(instance: Any, seed: int) -> None:
    best = enumerate_exact.best(plain(instance))
    assert best.value is not None
    allowed = Fraction(1, 10**9) * abs(best.value) + Fraction(1, 10**12) * best.largest + best.rounding + best.slack
    result = optsched.solve(instance, "decomposition")
    assert result.verify(instance) == [], seed
    assert result.objective is not None
    assert result.bound is not None
    assert Fraction(result.bound) <= best.value + allowed, seed
    assert Fraction(result.objective) >= best.value - allowed, seed
    program, rng = SlotProgram.of(instance), np.random.default_rng(seed)
    for size in (1e-3, 1.0, 1e3):
        prices = size * rng.normal(size=2 * program.kinds + 1)
        prices[-1] *= program.wanted is not None
        assert Fraction(priced(program, prices).bound) <= best.value + allowed, (seed, size)


def within_the_relaxation(instance: Any, seed: int) -> None:
    """The best prices prove what the linear relaxation of the reading by the cheapest job does."""
    form = linear_form(AggregatedCheapest(instance.model_copy(update={"first_ending": "cheapest"})))
    assert best_of(instance).best.bound == pytest.approx(relaxation(form)[0], rel=1e-6, abs=1e-9), seed


def test_fast(by_prices: None) -> None:
    for seed in range(FAST):
        checked(tiny.allocation(seed), seed)
        within_the_relaxation(tiny.allocation(seed), seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(0, ALL, CHUNK), in_ci=3))
def test_slow(by_prices: None, first: int) -> None:
    for seed in range(first, first + CHUNK):
        checked(tiny.allocation(seed), seed)
        within_the_relaxation(tiny.allocation(seed), seed)


def test_harsh_numbers(by_prices: None) -> None:
    for seed in range(40):
        checked(parse(json.dumps(harsh.harsh("allocation", seed)).encode(), "x"), seed)


def test_many_jobs_and_nodes() -> None:
    """More than the whole reading is solved for: prices of samples first, and next to nothing left."""
    result = optsched.solve(andreas(2, 800, jobs=13_000, seed=3, all_submitted=True), "decomposition")
    assert result.gap is not None
    assert result.gap < 1e-6
    assert result.options["relaxed"] == "slots, cheapest"


def wide(gpus: int, nodes: int, jobs: int, seed: int | None) -> Any:
    """Nodes of so many GPUs, of which jobs, alike where there is no seed, take any number."""
    rng = np.random.default_rng(seed)
    drawn = [(3600.0, 1.0, 0.0)] * jobs
    if seed is not None:
        drawn = [(rng.uniform(600, 7200), rng.uniform(0.2, 3), rng.uniform(0, 2000)) for _ in range(jobs)]
    return tiny.make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=300,
        postponement_penalty=100,
        use_all_nodes=False,
        gpu_types={"A": {"node_cost_per_h": [1.0 * g for g in range(1, gpus + 1)]}},
        nodes=[{"id": f"n{n}", "gpu_type": "A", "gpus": gpus} for n in range(nodes)],
        jobs=[
            {
                "id": f"j{j}",
                "submit_s": 0,
                "due_s": due,
                "weight_per_s": weight,
                "time_s": {"A": [work / g**0.8 for g in range(1, gpus + 1)]},
            }
            for j, (work, weight, due) in enumerate(drawn)
        ],
    )


@pytest.mark.parametrize(
    ("gpus", "nodes", "jobs", "seed"), [(24, 4, 60, None), pytest.param(48, 4, 40, 1, marks=pytest.mark.slow), (64, 4, 10, 2)]
)
def test_wide_nodes(by_prices: None, gpus: int, nodes: int, jobs: int, seed: int | None) -> None:
    """Patterns too many to be listed: a knapsack picks the dearest, and no price a GPU proves more than the best prices."""
    instance = wide(gpus, nodes, jobs, seed)
    result = optsched.solve(instance, "decomposition")
    assert result.verify(instance) == []
    assert result.bound is not None
    program, size = SlotProgram.of(instance), np.append(np.tile(np.arange(1.0, gpus + 1), 2), 0.0)
    assert result.bound >= max(priced(program, price * size).bound for price in np.geomspace(1, 1e5, 50)) * (1 - 1e-4)
    if gpus > 40:
        assert "packing patterns" in (AggregatedCheapest.refuses(instance) or "")


def test_named_nodes_that_would_fill_the_memory_are_refused() -> None:
    """10,000 nodes and 100,000 jobs would be six thousand million columns."""
    instance = andreas(2, 2000, jobs=4000, seed=1, all_submitted=True, first_ending="earliest")
    with pytest.raises(optsched.OptschedError, match="columns, at most 2000000 are built"):
        choose(instance, "linearized")


def test_the_file_is_worked_out_again(by_prices: None) -> None:
    instance = andreas(1, 5, seed=4, all_submitted=True)
    result = optsched.solve(instance, "decomposition")
    assert result.proof is not None
    assert result.proof.duals is not None
    again = proven(instance, result.proof.duals)
    assert again == pytest.approx(result.bound, rel=1e-12)
