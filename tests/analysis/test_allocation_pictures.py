"""Pictures of allocation: snapshots and replays, of few nodes and of many."""

from __future__ import annotations

from pathlib import Path

import pytest

import optsched
from optsched.analysis import allocation
from optsched.analysis.allocation_levels import gpus_of, stretches
from optsched.instances.allocation import AllocationInstance, GpuType, Job, Node
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule, Assignment, Run
from tests.analysis.test_pictures import bars, draw, legend, stairs, title


@pytest.fixture
def armida(examples: Path) -> AllocationInstance:
    instance = optsched.load(examples / "armida.json")
    assert isinstance(instance, AllocationInstance)
    return instance


@pytest.fixture
def snapshot(examples: Path) -> AllocationInstance:
    instance = optsched.load(examples / "armida-snapshot.json")
    assert isinstance(instance, AllocationInstance)
    return instance


def wide(nodes: int, late: int) -> tuple[AllocationInstance, AllocationSchedule]:
    """Nodes with two GPUs, each with a job of an hour on one; the first `late` jobs are due after half an hour."""
    jobs = tuple(
        Job(id=f"J{n}", submit_s=0, due_s=1800 if n < late else 9000, weight_per_s=n + 1, time_s={"V100": (3600.0, 2000.0)})
        for n in range(nodes)
    )
    instance = AllocationInstance(
        name="wide",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=300,
        postponement_penalty=1,
        gpu_types={"V100": GpuType(node_cost_per_h=(1.0, 2.0))},
        nodes=tuple(Node(id=f"n{n}", gpu_type="V100", gpus=2) for n in range(nodes)),
        jobs=jobs,
    )
    placed = tuple(Assignment(job=f"J{n}", node=f"n{n}", gpus=1) for n in range(nodes))
    return instance, AllocationSchedule(assignments=placed)


def test_a_bar_a_job_hatched_after_its_due_date(snapshot: AllocationInstance) -> None:
    placed = (("J6", "armida-05"), ("J8", "armida-06"), ("J7", "armida-06"), ("J9", "armida-07"))
    schedule = AllocationSchedule(assignments=tuple(Assignment(job=job, node=node, gpus=1) for job, node in placed))
    figure = draw(allocation.draw(snapshot, schedule))
    jobs = {job.id: job for job in snapshot.jobs}
    kinds = {node.id: node.gpu_type for node in snapshot.nodes}
    hours, late = [], []
    for a in schedule.assignments:
        time = (jobs[a.job].time_s[kinds[a.node]][a.gpus - 1] or 0.0) / 3600
        due = (jobs[a.job].due_s - snapshot.now_s) / 3600
        hours.append((0.0, time))
        late += [(max(0.0, due), time)] if time > due else []
    drawn = [bar[:2] for bar in bars(figure, "jobs")]
    assert sorted(drawn) == [pytest.approx(pair) for pair in sorted(hours)]
    assert (len(late), len(hours)) == (3, 4)
    assert sorted(bar[:2] for bar in bars(figure, "late")) == [pytest.approx(pair) for pair in sorted(late)]
    (hatched,) = (c for c in figure.axes[0].collections if c.get_gid() == "late")
    assert hatched.get_hatch()
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()][1] == "armida-06 (2 x V100)"
    assert "4 jobs running, 4 postponed (J10, J1, J2, J3)" in title(figure)


def test_of_many_nodes_those_with_most_tardiness_and_all_gpus() -> None:
    instance, schedule = wide(nodes=1000, late=100)
    figure = draw(allocation.draw(instance, schedule))
    above, below = figure.axes
    used, edges, late = stairs(above, "before due date")
    assert edges.tolist() == [0, 30, 60]  # minutes
    assert used.tolist() == [1000, 1000]
    assert late.tolist() == [0, 100]
    assert above.get_ylim()[1] > 2000  # of 2,000 GPUs
    shown = [label.get_text().split()[0] for label in below.get_yticklabels()]
    assert shown == [f"n{n}" for n in range(99, 67, -1)]
    assert len(bars(figure, "jobs")) == 32
    assert "the 32 of 1000 nodes with the most tardiness" in title(figure)
    assert {"after due date", "before due date", "all GPUs"} <= legend(figure)
    assert figure.get_size_inches()[1] < 20
    assert "that stand first" in title(allocation.draw(*wide(nodes=100, late=0)))


def test_a_replay_draws_every_run(armida: AllocationInstance) -> None:
    history = optsched.replay(armida, "fifo").schedule
    assert isinstance(history, AllocationHistory)
    figure = draw(allocation.draw(armida, history))
    nodes, jobs, cost = figure.axes
    # FIFO's runs of two GPUs are in one piece here, so each run is a bar among the nodes and one among the jobs
    both = bars(figure, "runs")
    expected = sorted((run.start_s / 3600, run.end_s / 3600) for run in history.runs)
    assert len(both) == 2 * len(history.runs)
    assert sorted(bar[:2] for bar in both)[::2] == [pytest.approx(pair) for pair in expected]
    late = {job.id for job in armida.jobs for run in history.runs if run.job == job.id and run.end_s > job.due_s}
    assert len(late) == 2
    assert len(bars(figure, "late")) == 2 * len(late)
    assert [label.get_text() for label in jobs.get_yticklabels()] == [job.id for job in armida.jobs]
    assert nodes.get_ylabel() == "GPUs by node"
    assert cost.get_ylabel() == "energy cost\nEUR/h"
    assert cost.get_xlabel() == "hours"
    assert {"run of a job", "after its due date", "submitted", "due (if within the axis)"} <= legend(figure)
    assert "8 of 8 jobs run, 2 late" in title(figure)
    assert "(realised)" in title(figure)


def test_a_replay_of_many_nodes_and_jobs_counts_them() -> None:
    instance, _ = wide(nodes=100, late=10)
    runs = [Run(job=f"J{n}", node=f"n{n}", gpus=1, start_s=0, end_s=3600) for n in range(100)]
    waited = Run(job="J0", node="n0", gpus=1, start_s=900, end_s=4500)
    figure = draw(allocation.draw(instance, AllocationHistory(runs=(waited, *runs[1:]))))
    gpus, jobs, _ = figure.axes
    used, _, late = stairs(gpus, "before due date")
    assert (used.max(), late.max()) == (100, 10)
    running, edges, _ = stairs(jobs, "jobs running")
    there, _, _ = stairs(jobs, "jobs waiting")
    assert edges.tolist() == [0, 15, 60, 75]
    assert running.tolist() == [99, 100, 1]
    assert there.tolist() == [100, 100, 1]


def test_lanes_keep_a_job_where_it_was() -> None:
    runs = [("a", 1, 0, 5), ("b", 1, 0, 9), ("c", 1, 0, 5), ("d", 2, 5, 9), ("b", 1, 9, 12)]
    placed = gpus_of([Run(job=j, node="n", gpus=g, start_s=s, end_s=e) for j, g, s, e in runs], gpus=3)
    assert [lanes for _, lanes in placed] == [[0], [1], [2], [0, 2], [1]]
    assert stretches([0, 2]) == [(0, 1), (2, 1)]
    assert stretches([1, 2, 3]) == [(1, 3)]
