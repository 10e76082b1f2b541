"""The referee of allocation by hand: what fits on a node, which jobs may run, and how many nodes must be in use."""

from __future__ import annotations

import pytest

from optsched.referee import check
from tests.schedules.test_errata_allocation import cluster, on

JOBS = [{"id": j, "time_s": {"A": [30, 20, 15]}} for j in "abc"]
THREE = {"gpu_types": {"A": {"node_cost_per_h": [36, 72, 108]}, "B": {"node_cost_per_h": [36]}}}


@pytest.mark.parametrize(
    ("rows", "rules"),
    [
        ([("a", "n0", 1), ("b", "n0", 1)], []),
        ([("a", "n0", 2)], []),
        ([("a", "n0", 1), ("b", "n0", 2)], ["GPUs above the node's"]),  # one too many
        ([("a", "n0", 1), ("b", "n0", 1), ("c", "n0", 1)], ["GPUs above the node's"]),
        ([("a", "n0", 1), ("a", "n0", 1)], ["job decided more than once"]),
        ([("x", "n0", 1)], ["unknown job"]),
        ([("a", "x", 1)], ["unknown node", "too few nodes in use"]),
        ([], ["too few nodes in use"]),
    ],
)
def test_a_node_of_two(rows: list[tuple[str, str, int]], rules: list[str]) -> None:
    assert [v.rule for v in check(cluster(JOBS, **THREE), on(*rows))] == rules


def test_by_how_much() -> None:
    (over,) = check(cluster(JOBS, **THREE), on(("a", "n0", 2), ("b", "n0", 2)))
    assert (over.place, over.amount) == ("n0", 2)


@pytest.mark.parametrize(("used", "missing"), [(0, 2), (1, 1), (2, 0)])
def test_as_many_nodes_as_can_be(used: int, missing: int) -> None:
    """Two nodes, three jobs: two must be in use, unless that is not asked for."""
    rows = [("a", "n0", 1), ("b", "n1", 1)][:used]
    found = check(cluster(JOBS, count=2, **THREE), on(*rows))
    assert [(v.rule, v.amount) for v in found] == ([("too few nodes in use", missing)] if missing else [])
    assert check(cluster(JOBS, count=2, use_all_nodes=False, **THREE), on(*rows)) == []
