"""Nodes that jobs need, against packing them in every way; what playouts make of it."""

from __future__ import annotations

import numpy as np
import pytest

from optsched.instances.allocation import AllocationInstance, GpuType, Job, Node
from optsched.instances.base import Ints
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.rolling.allocation.futures import Arrivals, futures
from optsched.rolling.allocation.packing import cost_of, nodes_needed
from optsched.rolling.allocation.playout import Cluster, Playout, Present
from optsched.rolling.allocation.portfolio import RULES


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


def test_what_nodes_cost() -> None:
    node = np.array([0.0, 5.0, 6.0, 7.0, 8.0])
    nodes, used = np.array([0, 1, 2, 2]), np.array([0, 3, 8, 3])
    assert cost_of(nodes, used, node).tolist() == [0.0, 7.0, 16.0, 11.0]


def test_a_job_of_a_whole_node_waits_for_one() -> None:
    """Two nodes of four GPUs, three jobs that want three: the third has no node, though two GPUs are free."""
    nodes = tuple(Node(id=f"n{i}", gpu_type="A", gpus=4) for i in range(2))
    jobs = tuple(
        Job(id=f"j{i}", submit_s=0.0, due_s=1.0, weight_per_s=1.0, time_s={"A": (None, None, 10.0, None)}) for i in range(3)
    )
    instance = AllocationInstance(
        name="thirds",
        currency="EUR",
        postponement_penalty=100.0,
        now_s=0.0,
        scheduling_interval_s=300.0,
        gpu_types={"A": GpuType(node_cost_per_h=(1.0, 1.0, 1.0, 1.0))},
        nodes=nodes,
        jobs=jobs,
    )
    cost = played(instance)
    late = 9.0 + 9.0 + 19.0
    assert cost == pytest.approx(late + 3 * 10.0 / 3600)


def played(instance: AllocationInstance) -> float:
    """The known jobs by the first rule."""
    cluster = Cluster.of(instance, urgency(instance, options(instance)).speed)
    nobody: tuple[Ints, np.ndarray] = np.zeros((1, 0), dtype=int), np.zeros((1, 0))
    ahead = futures(instance, cluster.kind, cluster.gpus, Arrivals(), nobody)
    present = Present(np.full(len(instance.jobs), -1), np.zeros(len(instance.jobs), dtype=bool), 0.0)
    found = Playout(cluster, ahead, instance.now_s, present, RULES[:1], np.zeros(1, dtype=int)).run(100)
    assert found is not None
    return float(found[0])
