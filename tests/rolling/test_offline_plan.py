"""The plan of whoever knows everything: a history that the referee accepts, never below the floor, and worth having."""

from __future__ import annotations

import pytest

import optsched
from optsched.allocation import Model
from optsched.analysis.across import compare_all
from optsched.analysis.loss import loss
from optsched.decomposition.allocation import clairvoyant
from optsched.decomposition.allocation.alone import lonely_bound
from optsched.errors import OptschedError
from optsched.instances.allocation import AllocationInstance
from optsched.instances.events import Events
from optsched.instances.generators import andreas
from optsched.referee import evaluate
from optsched.rolling.allocation.offline import offline_plan
from optsched.rolling.allocation.offline.method import OfflinePlan
from optsched.rolling.allocation.offline.search import PlanSearch
from optsched.rolling.loop import replay
from optsched.rolling.policy import policies
from optsched.schedules.allocation.history import check
from optsched.stop import Stop


def waiting_pays() -> AllocationInstance:
    """One GPU; a long job of little weight is there first, a short one of much comes at 10 s and is due when it could end."""
    model = Model("wait", scheduling_interval_s=10, postponement_penalty=1, migration_cost_s=50)
    kind = model.add_gpu_type("V100", node_cost_per_h=[3.6])
    model.add_node(kind, gpus=1)
    model.add_job(time_s={kind: [100]}, due_s=1000, weight_per_s=0.01, id="long")
    model.add_job(time_s={kind: [20]}, submit_s=10, due_s=30, weight_per_s=1.0, id="short")
    return model.instance()


def test_hand_computed() -> None:
    """Energy is 0.001 a second: 120 s, and 50 more for whoever interrupts the long one, which is there first."""
    instance = waiting_pays()
    cost = evaluate(instance, offline_plan(instance, generations=3)).objective
    assert clairvoyant(instance) <= cost * (1 + 1e-9)
    assert cost == pytest.approx(0.17)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("case", [1, 2])
def test_is_a_history_above_the_floor(case: int, seed: int) -> None:
    instance = andreas(case, 3, jobs=12, rate="high", seed=seed)  # type: ignore[arg-type]
    if seed == 2:
        instance = instance.model_copy(update={"migration_cost_s": 300.0})
    plan = offline_plan(instance, generations=6)
    assert check(instance, plan) == []
    assert evaluate(instance, plan).objective >= clairvoyant(instance) * (1 - 1e-9)
    assert plan == offline_plan(instance, generations=6)


def test_knowing_is_worth_something() -> None:
    instance = andreas(1, 4, jobs=30, rate="high", seed=5)
    online = replay(instance, "priced").objective
    assert online is not None
    assert evaluate(instance, offline_plan(instance, generations=10)).objective < 0.95 * online


def test_refuses_what_it_cannot_foresee() -> None:
    instance = andreas(1, 2, jobs=4, seed=0).model_copy(update={"events": Events()})
    with pytest.raises(OptschedError, match="without events"):
        offline_plan(instance)


def test_no_jobs_no_runs() -> None:
    assert offline_plan(andreas(1, 2, jobs=4, seed=0).model_copy(update={"jobs": ()})).runs == ()


def test_as_a_method_it_has_a_certificate() -> None:
    """The same history as the function's, realised, above a bound that holds for every policy; a start is no part of it."""
    instance = andreas(2, 3, jobs=12, rate="high", seed=1)
    found = optsched.solve(instance, method="offline-plan", options={"generations": 6}, seed=3)
    assert found.schedule == offline_plan(instance, generations=6, seed=3)
    assert found.objective_kind == "realised"
    assert found.termination == "completed"
    assert found.bound == clairvoyant(instance)
    assert found.objective is not None
    assert found.objective >= found.bound
    assert optsched.compare(instance, policies="fifo", bound=found)["bound"].tolist() == [found.bound]
    few = OfflinePlan(generations=6)(instance, stop=Stop(iterations=2), seed=3)
    assert few.termination == "iteration_limit"
    assert few.schedule == offline_plan(instance, generations=2, seed=3)
    from_there = OfflinePlan(generations=0)(instance, start=found, seed=3)
    assert from_there.objective == pytest.approx(found.objective)
    soon = OfflinePlan(generations=10**6)(instance, stop=Stop(seconds=1.0))
    assert soon.termination == "time_limit"
    assert soon.schedule is not None


def test_a_gap_ends_it() -> None:
    """As soon as the plan is that close to the floor; told as every method tells it."""
    instance = andreas(2, 3, jobs=12, rate="mixed", seed=1)
    found = OfflinePlan(generations=10**6)(instance, stop=Stop(gap=0.9))
    assert found.termination == "gap_limit"
    assert found.gap is not None
    assert found.gap <= 0.9


def test_its_parts_end_where_time_is_out() -> None:
    """What is cut off counts for nothing; the search goes on as if it had not been tried."""
    instance = andreas(1, 3, jobs=12, rate="high", seed=4)
    search, whole = PlanSearch(instance, seed=1), PlanSearch(instance, seed=1)
    calls = iter([True, True, False])
    assert not search.advance(lambda: next(calls))
    assert search.history(lambda: False) is None
    assert search.history(most=1) is not None
    assert search.advance()
    assert whole.advance()
    assert search.history() == whole.history()
    assert clairvoyant(instance, lambda: False) == lonely_bound(instance) <= clairvoyant(instance)


def test_a_start_of_another_kind_is_told() -> None:
    instance = andreas(1, 2, jobs=4, all_submitted=True, seed=0)
    with pytest.raises(OptschedError, match=r"AllocationSchedule \(of assignments\), .* AllocationHistory \(of runs\)"):
        optsched.solve(instance, method="offline-plan", start=optsched.solve(instance, method="greedy"))


def test_it_is_the_offline_end_of_a_loss() -> None:
    """What a policy loses splits into what it did not know and what it did not decide well."""
    instance = andreas(1, 3, jobs=12, rate="high", seed=4)
    table = compare_all([instance], ["offline-plan"], ["rolling", "fifo"])
    steps = loss(table).set_index("step")["mean"]
    total = table.set_index("name")["gap"]
    assert steps["solver"] == pytest.approx(total["offline-plan"])
    assert steps["solver"] + steps["online"] + steps["policy"] == pytest.approx(total["fifo"])


def test_nobody_carries_it_out_online() -> None:
    """A policy sees what is there; a plan of all that will come is none."""
    assert "rolling:offline-plan" not in policies("allocation")
    for name in ("rolling:offline-plan", "offline-plan"):
        with pytest.raises(OptschedError, match="offline-plan plans with jobs that nobody knows of yet"):
            replay(waiting_pays(), name)
