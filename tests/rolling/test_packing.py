"""Nodes that jobs need, against packing them in every way; what playouts make of it, and of lanes that come to the same."""

from __future__ import annotations

import numpy as np
import pytest

from optsched.instances.allocation import AllocationInstance, GpuType, Job, Node
from optsched.instances.base import Floats, Ints
from optsched.instances.generators import andreas
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.rolling.allocation.futures import Arrivals, Futures, futures
from optsched.rolling.allocation.packing import cost_of, fit_on, nodes_needed
from optsched.rolling.allocation.playout import Cluster, Playout, Present
from optsched.rolling.allocation.portfolio import RULES, Bidding


def least_nodes(sizes: list[int], most: int, used: tuple[int, ...] = ()) -> int:
    """By enumeration: the first job into every node that has room, or into a new one."""
    if not sizes:
        return len(used)
    first, rest = sizes[0], sizes[1:]
    ways = [(*used[:i], load + first, *used[i + 1 :]) for i, load in enumerate(used) if load + first <= most]
    return min(least_nodes(rest, most, way) for way in [*ways, (*used, first)])


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_as_few_nodes_as_can_be(most: int) -> None:
    rng = np.random.default_rng(most)
    for _ in range(60):
        sizes = rng.integers(1, most + 1, rng.integers(0, 7))
        counts = np.bincount(sizes, minlength=most + 1)[1:]
        assert nodes_needed(counts, most) == least_nodes(sizes.tolist(), most)


def test_no_more_nodes_than_are_needed() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        sizes = rng.integers(1, 9, rng.integers(0, 6))
        assert nodes_needed(np.bincount(sizes, minlength=9)[1:], 8) <= least_nodes(sizes.tolist(), 8)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8])
def test_nodes_are_enough_that_are_no_fewer_than_needed(most: int) -> None:
    counts = np.random.default_rng(most).integers(0, 9, (most, 2000))
    need = nodes_needed(counts, most)
    for nodes in range(need.max() + 1):
        np.testing.assert_array_equal(fit_on(nodes, counts, most), need <= nodes)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8])
def test_one_more_job_never_takes_fewer_nodes(most: int) -> None:
    """So that of a queue those have room who come first."""
    counts = np.random.default_rng(most).integers(0, 9, (most, 2000))
    for one in np.eye(most, dtype=int):
        assert (nodes_needed(counts + one[:, None], most) >= nodes_needed(counts, most)).all()


def test_what_nodes_cost() -> None:
    node = np.array([0.0, 5.0, 6.0, 7.0, 8.0])
    nodes, used = np.array([0, 1, 2, 2]), np.array([0, 3, 8, 3])
    assert cost_of(nodes, used, node).tolist() == [0.0, 7.0, 16.0, 11.0]


def test_a_job_of_a_whole_node_waits_for_one() -> None:
    """Two nodes of four GPUs, three jobs that want three: the third has no node, though two GPUs are free."""
    instance = alike(2, (1.0,) * 4, [(0.0, 1.0, 1.0, (None, None, 10.0, None))] * 3)
    cost = played(instance, RULES[:1])
    late = 9.0 + 9.0 + 19.0
    assert cost.tolist() == pytest.approx([late + 3 * 10.0 / 3600])


def test_lanes_that_go_on_as_one_cost_what_each_would(monkeypatch: pytest.MonkeyPatch) -> None:
    made = andreas(2, 3, jobs=14, rate="high", seed=0)
    instance = made.model_copy(update={"now_s": max(job.submit_s for job in made.jobs)})
    joined, join = list[int](), Playout._join

    def counted(self: Playout, later: Bidding) -> None:
        join(self, later)
        joined.append(len(self.lane))

    monkeypatch.setattr(Playout, "_join", counted)
    together = played(instance, RULES, later=RULES[3])
    monkeypatch.setattr(Playout, "_join", lambda self, later: None)
    assert together == pytest.approx(played(instance, RULES, later=RULES[3]), rel=1e-12)
    assert joined[0] < len(RULES)


def test_rules_go_by_what_is_told_and_pay_for_what_is() -> None:
    """One GPU, who is told to be shorter goes first: 10 and 15 s late where that takes ten times as long, else 5 and 6."""
    instance = alike(1, (0.0,), [(0.0, 0.0, 1.0, (1.0,)), (0.0, 0.0, 1.0, (5.0,))])
    cluster, known = alone(instance)
    ahead = known.taken(np.zeros(2, dtype=int)).surprising(np.array([[1.0, 1.0], [10.0, 1.0]]), np.ones((2, 2)))
    lanes = Playout(cluster, ahead, 0.0, waiting(instance), [Bidding(0.0, 1.0, 1.0)] * 2, np.arange(2))
    assert lanes.run(10) == pytest.approx([1.0 + 6.0, 10.0 + 15.0])


def test_a_node_that_is_free_costs_nothing_only_for_whom_it_can_run() -> None:
    """No time at no cost was no number, and so was all that such a job was thought to need."""
    dear = two_nodes({"A": (100.0,)})
    instance = dear.model_copy(update={"gpu_types": {**dear.gpu_types, "B": GpuType(node_cost_per_h=(0.0,))}})
    assert played(instance, RULES[:1]).tolist() == pytest.approx([100.0])
    cluster, ahead = alone(instance)
    lanes = Playout(cluster, ahead, 0.0, waiting(instance), RULES[:1], np.array([0]))
    assert lanes.energy.tolist() == [[100.0]]


def two_nodes(*times: dict[str, tuple[float | None, ...]]) -> AllocationInstance:
    """One at 1 EUR a second, one at 2; nobody is late."""
    jobs = (Job(id=f"j{i}", submit_s=0.0, due_s=1e6, weight_per_s=1.0, time_s=t) for i, t in enumerate(times))
    return AllocationInstance(
        name="two",
        currency="EUR",
        postponement_penalty=100.0,
        now_s=0.0,
        scheduling_interval_s=300.0,
        gpu_types={"A": GpuType(node_cost_per_h=(3600.0,)), "B": GpuType(node_cost_per_h=(7200.0,))},
        nodes=(Node(id="a", gpu_type="A", gpus=1), Node(id="b", gpu_type="B", gpus=1)),
        jobs=tuple(jobs),
    )


def alike(
    nodes: int, costs: tuple[float, ...], jobs: list[tuple[float, float, float, tuple[float | None, ...]]]
) -> AllocationInstance:
    """Nodes of one type, EUR an hour by GPUs in use; of jobs when they come and are due, EUR a second late, times by GPUs."""
    return AllocationInstance(
        name="alike",
        currency="EUR",
        postponement_penalty=100.0,
        now_s=0.0,
        scheduling_interval_s=300.0,
        gpu_types={"A": GpuType(node_cost_per_h=costs)},
        nodes=tuple(Node(id=f"n{i}", gpu_type="A", gpus=len(costs)) for i in range(nodes)),
        jobs=tuple(
            Job(id=f"j{i}", submit_s=submit, due_s=due, weight_per_s=weight, time_s={"A": times})
            for i, (submit, due, weight, times) in enumerate(jobs)
        ),
    )


def alone(instance: AllocationInstance) -> tuple[Cluster, Futures]:
    """Its nodes, and the future in which nobody comes."""
    cluster = Cluster.of(instance, urgency(instance, options(instance)).speed)
    nobody: tuple[Ints, Floats] = np.zeros((1, 0), dtype=int), np.zeros((1, 0))
    return cluster, futures(instance, cluster.kind, cluster.gpus, Arrivals(), nobody)


def waiting(instance: AllocationInstance) -> Present:
    """Nothing has begun."""
    jobs = len(instance.jobs)
    return Present(np.full(jobs, -1), np.zeros(jobs, dtype=bool), instance.migration_cost_s)


def seen(instance: AllocationInstance, who: list[int], lost_s: float, first: list[int]) -> list[float]:
    """What two lanes cost: the first job is known and begins so, one of the others comes after 500 s."""
    arrivals = Arrivals()
    for job in instance.jobs[1:]:
        arrivals.add(job)
    cluster = Cluster.of(instance, urgency(instance, options(instance)).speed)
    known, drawn = instance.model_copy(update={"jobs": instance.jobs[:1]}), np.arange(len(arrivals.jobs))[:, None]
    ahead = futures(known, cluster.kind, cluster.gpus, arrivals, (drawn, np.full(drawn.shape, 500.0)))
    lanes = Playout(cluster, ahead, 0.0, Present(np.array([-1]), np.array([False]), lost_s), RULES[:1] * 2, np.array(who))
    found = lanes.run(100, later=RULES[0], after=1, first=np.array(first)[:, None])
    assert found is not None
    return found.tolist()


def test_lanes_of_other_futures_stay_apart() -> None:
    """In both the first job has run for 500 s when a rule takes over; who has come then takes 100 s, or 300."""
    instance = two_nodes({"A": (1000.0,)}, {"A": (100.0,)}, {"A": (300.0,)})
    assert seen(instance, [0, 1], 0.0, [0, 0]) == pytest.approx([1100.0, 1300.0])


def test_lanes_whose_jobs_run_elsewhere_stay_apart() -> None:
    """The first job has run for 500 s when another one comes: from the dear node it moves, and 90 s are lost."""
    instance = two_nodes({"A": (1000.0,), "B": (1000.0,)}, {"B": (10.0,)})
    assert seen(instance, [0, 0], 90.0, [0, 1]) == pytest.approx([1020.0, 1610.0])


def played(instance: AllocationInstance, rules: tuple[Bidding, ...], later: Bidding | None = None) -> Floats:
    """What the known jobs cost by each rule."""
    cluster, ahead = alone(instance)
    samples = np.zeros(len(rules), dtype=int)
    found = Playout(cluster, ahead, instance.now_s, waiting(instance), rules, samples).run(100, later=later, after=3)
    assert found is not None
    return found
