"""Each erratum of ANDREAS: an instance so small that print and reading can be told apart by hand."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory

import optsched
from optsched.models import formulations
from optsched.schedules.allocation import AllocationSchedule, Assignment, evaluate
from tests.oracle.tiny import make

FORMULATIONS = list(formulations("allocation"))


def cluster(jobs: list[dict[str, Any]], count: int = 1, gpus: int = 2, **changes: Any) -> Any:
    """`count` nodes of type A; a node costs 36 EUR/h with one GPU in use and 72 with two: 0.01 and 0.02 EUR/s."""
    fields: dict[str, Any] = {
        "currency": "EUR",
        "now_s": 0,
        "scheduling_interval_s": 10,
        "postponement_penalty": 2,
        "gpu_types": {"A": {"node_cost_per_h": [36, 72]}, "B": {"node_cost_per_h": [36, 72]}},
        "nodes": [{"id": f"n{i}", "gpu_type": "A", "gpus": gpus} for i in range(count)],
    }
    full = [{"submit_s": 0, "weight_per_s": 1, "due_s": 1000, **job} for job in jobs]
    return make("allocation", **(fields | changes), jobs=full)


def on(*assignments: tuple[str, str, int]) -> AllocationSchedule:
    return AllocationSchedule(assignments=tuple(Assignment(job=j, node=n, gpus=g) for j, n, g in assignments))


def minlp(instance: Any, row: str | None = None, printed: Any = None) -> float | None:
    """The optimum of the MINLP, with one of its rows as the paper prints it; None where that is infeasible."""
    model = formulations("allocation")["printed"].of(instance)
    m = model.pyomo
    if row is not None:
        mine = getattr(m, row)
        mine.deactivate()
        index = list(mine) if mine.is_indexed() else [()]
        m.as_printed = pyo.ConstraintList()
        for i in index:
            m.as_printed.add(printed(m, *(i if isinstance(i, tuple) else (i,))))
    solver = SolverFactory("scip_direct")
    done = solver.solve(
        m,
        solver_options={"misc/allowstrongdualreds": False},
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
    )
    found: float | None = done.incumbent_objective
    return found


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_1_first_ending_or_cheapest(formulation: str) -> None:
    """Short runs 20 s with 2 GPUs (0.4 EUR), long 30 s with 1 (0.3 EUR): first by time is short, by cost long."""
    jobs = [
        {"id": "short", "time_s": {"A": [None, 20]}, "due_s": 0},
        {"id": "long", "time_s": {"A": [30]}, "due_s": 0},
    ]
    values = {}
    for reading in ("earliest", "cheapest"):
        instance = cluster(jobs, gpus=3, first_ending=reading, gpu_types={"A": {"node_cost_per_h": [36, 72, 108]}})
        both = on(("short", "n0", 2), ("long", "n0", 1))
        values[reading] = evaluate(instance, both).components["energy"]
        result = optsched.solve(instance, formulation=formulation)
        assert result.objective == pytest.approx(20 + 30 + values[reading])
    assert values == {"earliest": pytest.approx(0.4), "cheapest": pytest.approx(0.3)}


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_1_ties_go_to_the_cheaper(formulation: str) -> None:
    jobs = [
        {"id": "a", "time_s": {"A": [None, 20]}, "due_s": 0},
        {"id": "b", "time_s": {"A": [20]}, "due_s": 0},
    ]
    instance = cluster(jobs, gpus=3, gpu_types={"A": {"node_cost_per_h": [36, 72, 108]}})
    assert optsched.solve(instance, formulation=formulation).components["energy"] == pytest.approx(0.2)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_2_now_is_added(formulation: str) -> None:
    """At 100 s a job of 30 s that is due at 120 s is 10 s late; (4i) as printed compares 30 with 120: not late."""
    instance = cluster([{"id": "a", "time_s": {"A": [30]}, "due_s": 120}], now_s=100)
    result = optsched.solve(instance, "exact", formulation=formulation)
    assert result.components["tardiness"] == pytest.approx(10)
    assert minlp(instance) == pytest.approx(result.objective) == pytest.approx(10.3)
    printed = minlp(instance, "c4i", lambda m, j: sum(30 * m.x[i] for i in m.x if i[0] == j) <= 120 + m.tau[j])
    assert printed == pytest.approx(0.3)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_3_an_executed_overdue_job_is_not_postponed(formulation: str) -> None:
    """Due 5 s before now: (4j) as printed leaves 0 <= d + tau_hat, that is rho * w * 5 for a job that runs."""
    instance = cluster([{"id": "a", "time_s": {"A": [30]}, "due_s": -5}])
    result = optsched.solve(instance, "exact", formulation=formulation)
    assert result.components["postponement"] == 0
    assert minlp(instance) == pytest.approx(result.objective) == pytest.approx(35 + 0.3)
    printed = minlp(instance, "c4j", lambda m, j: (0 + 10 + 30) * (1 - m.z[j, 0]) <= -5 + m.tau_hat[j])
    assert printed == pytest.approx(35 + 0.3 + 2 * 5)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_4_as_many_nodes_as_can_be(formulation: str) -> None:
    """Two nodes, two jobs, but no job runs on B: (4n) as printed wants min(2, 2) = 2 nodes and is infeasible."""
    nodes = [{"id": "a0", "gpu_type": "A", "gpus": 1}, {"id": "b0", "gpu_type": "B", "gpus": 1}]
    jobs = [{"id": "a", "time_s": {"A": [30]}}, {"id": "b", "time_s": {"A": [40]}}]
    instance = cluster(jobs, nodes=nodes)
    assert instance.nodes_to_use == 1
    result = optsched.solve(instance, "exact", formulation=formulation)
    assert result.solution == "optimal"
    assert len(result.schedule.assignments) == 1
    assert minlp(instance) == pytest.approx(result.objective)
    both = min(len(nodes), len(jobs))
    assert minlp(instance, "c4n", lambda m: sum(m.w[n] for n in m.w) == both) is None


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_4_without_it_the_proxy_is_lazy(formulation: str) -> None:
    """Slack and energy: nothing runs unless nodes must be in use; and two jobs may share a node."""
    jobs = [{"id": "a", "time_s": {"A": [30]}}, {"id": "b", "time_s": {"A": [40]}}]
    lazy = optsched.solve(cluster(jobs, count=2, use_all_nodes=False), formulation=formulation)
    assert (lazy.objective, lazy.schedule.assignments) == (0, ())
    forced = optsched.solve(cluster(jobs, count=2), formulation=formulation)
    assert forced.objective == pytest.approx(0.3 + 0.4)
    pressed = [{**job, "due_s": 0} for job in jobs]
    shared = optsched.solve(cluster(pressed, count=2, use_all_nodes=False), formulation=formulation)
    assert shared.objective == pytest.approx(30 + 40 + 0.3)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_5_and_6_the_jobs_own_gpus_and_costs_per_hour(formulation: str) -> None:
    """Two one-GPU jobs on one node: the proxy charges the first at 36 EUR/h, not at the node's 72; 20 s are 20/3600 h."""
    jobs = [{"id": "a", "time_s": {"A": [20]}, "due_s": 0}, {"id": "b", "time_s": {"A": [30]}, "due_s": 0}]
    result = optsched.solve(cluster(jobs), formulation=formulation)
    assert result.components["energy"] == pytest.approx(20 * 36 / 3600)
    assert result.components["energy"] != pytest.approx(20 * 72 / 3600)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_postponed_by_hand(formulation: str) -> None:
    """One GPU, two jobs: running a costs 30 late seconds + 0.3; b waits: 2 * (0 + 10 + 40 - 20) = 60."""
    jobs = [
        {"id": "a", "time_s": {"A": [30]}, "due_s": 0, "weight_per_s": 9},
        {"id": "b", "time_s": {"A": [40, 15]}, "due_s": 20},
    ]
    result = optsched.solve(cluster(jobs, gpus=1), formulation=formulation)
    assert result.components == {
        "tardiness": pytest.approx(270),
        "postponement": pytest.approx(60),
        "energy": pytest.approx(0.3),
    }


@pytest.mark.parametrize(("constraint", "redundant"), [("c4a", True), ("c4c", True), ("c4e", False)])
def test_6_what_is_redundant(constraint: str, redundant: bool) -> None:
    """(4a) follows from (4c)-(4e), (4c) from (4a). (4e) does not: without it z = 1 with no x hides a waiting job for free."""
    instance = cluster([{"id": j, "time_s": {"A": [30]}, "due_s": 0} for j in "abc"], gpus=1)
    model = formulations("allocation")["printed"].of(instance)
    getattr(model.pyomo, constraint).deactivate()
    fewer = SolverFactory("scip_direct").solve(model.pyomo, solver_options={"misc/allowstrongdualreds": False})
    whole = optsched.solve(instance, formulation="printed").objective
    assert (fewer.incumbent_objective == pytest.approx(whole)) == redundant
    assert redundant or fewer.incumbent_objective < whole - 100


def test_7_the_minlp_keeps_its_printed_constraints() -> None:
    model = formulations("allocation")["printed"].of(cluster([{"id": "a", "time_s": {"A": [30]}}]))
    printed = {f"c4{letter}" for letter in "abcdefghijklmn"}
    assert printed <= set(model.pyomo.component_map())
    assert not model.linear
