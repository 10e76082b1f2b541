"""What a snapshot shows, by hand: who has come, what is left of jobs and of capacity, and from when on."""

from __future__ import annotations

from typing import Any

import pytest

from optsched.rolling.loop import replay
from tests.oracle import tiny
from tests.rolling.test_slots import Watches, two_sites


def seen(instance: Any) -> list[Any]:
    """All snapshots of a replay under the greedy."""
    watcher = Watches(instance.problem)
    replay(instance, watcher)
    return watcher.snapshots


def two_jobs(later_s: float) -> Any:
    """A node of one GPU; a job of 100 s, and one that is submitted later."""
    times = {"time_s": {"A": [100.0]}, "due_s": 0, "weight_per_s": 1}
    return tiny.make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=10,
        postponement_penalty=1,
        gpu_types={"A": {"node_cost_per_h": [36.0, 72.0]}},
        nodes=[{"id": "n", "gpu_type": "A", "gpus": 2}],
        jobs=[{"id": "a", "submit_s": 0, **times}, {"id": "b", "submit_s": later_s, **times}],
    )


@pytest.mark.parametrize("later_s", [0.5, 1.0, 30.0, 99.0])
def test_allocation_shows_a_job_when_it_is_submitted(later_s: float) -> None:
    """Not a moment before; and what is left of the one that runs."""
    first, second, *_ = seen(two_jobs(later_s))
    assert (first.now_s, [job.id for job in first.jobs]) == (0, ["a"])
    assert (second.now_s, [job.id for job in second.jobs]) == (later_s, ["a", "b"])
    assert [job.time_s["A"][0] for job in second.jobs] == [pytest.approx(100 - later_s), 100]


def batch(jobs: list[dict[str, Any]], capacity: list[float]) -> Any:
    full = [{"id": f"j{i}", "earliest": 0, "latest": 9, "submitted": 0, **job} for i, job in enumerate(jobs)]
    return tiny.make("deferrable", slot_s=3600, capacity=capacity, delay_penalty=0.0, overload_penalty=10.0, jobs=full)


def test_deferrable_shows_the_capacity_that_is_left() -> None:
    """j0 takes three of five cores in slots 0 to 2; j1 is shown in slot 1, beside what is left."""
    jobs = [{"cores": 3.0, "duration": 3}, {"cores": 3.0, "duration": 1, "submitted": 1, "earliest": 1}]
    shown = seen(batch(jobs, [5.0, 5.0, 6.0, 5.0, 5.0]))
    capacity = [(s.now, s.capacity_cores.tolist(), [job.id for job in s.jobs]) for s in shown]
    assert capacity[0] == (0, [5, 5, 6, 5, 5], ["j0"])
    assert capacity[1] == (1, [2, 3, 5, 5], ["j1"])
    assert all(now > 0 or names == ["j0"] for now, _, names in capacity)


def test_geo_shows_the_gpus_that_are_left() -> None:
    """x runs at a in slots 0 to 3; y comes in slot 1."""
    shown = seen(two_sites())
    rows = [(s.now, s.capacity[0].tolist(), [job.id for job in s.jobs]) for s in shown]
    assert rows[0] == (0, [1] * 10, ["x"])
    assert rows[1] == (1, [0] * 3 + [1] * 6, ["y"])
    assert shown[1].jobs[0].slack == 4
