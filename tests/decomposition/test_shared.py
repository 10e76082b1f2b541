"""What nobody can undercut where jobs share GPUs: by hand, against histories enumerated, and under any prices."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from optsched.decomposition.allocation import clairvoyant
from optsched.decomposition.allocation.alone import lonely_bound
from optsched.decomposition.allocation.shared import raised, shared_bound
from optsched.decomposition.allocation.spread import SpreadRelaxation
from optsched.instances.generators import andreas
from optsched.referee import evaluate
from optsched.rolling.loop import replay
from optsched.schedules.allocation import AllocationHistory, Run
from optsched.schedules.allocation.history import check
from tests.oracle import tiny
from tests.parts import parts


def cluster(**what: Any) -> Any:
    """GPU types, nodes and jobs as told."""
    return tiny.make("allocation", currency="EUR", now_s=0, scheduling_interval_s=10, postponement_penalty=1, **what)


def crowd(jobs: int, gpus: int = 1, due_s: float = 100, weight: float = 1.0, submit_s: float = 0.0) -> Any:
    """Jobs alike of 100 s, 36 EUR/h, on one node."""
    return cluster(
        gpu_types={"A": {"node_cost_per_h": [36.0 * (n + 1) for n in range(gpus)]}},
        nodes=[{"id": "n", "gpu_type": "A", "gpus": gpus}],
        jobs=[
            {"id": f"j{j}", "submit_s": submit_s * j, "due_s": due_s, "weight_per_s": weight, "time_s": {"A": [100]}}
            for j in range(jobs)
        ],
    )


@pytest.mark.parametrize(
    ("jobs", "gpus", "due_s", "best"),
    [
        (1, 1, 100, 1.0),
        (2, 1, 100, 2 + 100),  # one ends in time, one 100 s late
        (3, 1, 100, 3 + 100 + 200),
        (3, 1, 200, 3 + 100),
        (2, 2, 100, 2.0),
        (4, 2, 100, 4 + 200),
        (2, 1, 0, 2 + 100 + 200),  # both late
    ],
)
def test_jobs_alike_by_hand(jobs: int, gpus: int, due_s: float, best: float) -> None:
    """In slots that end where a job does the bound is the optimum; in others it is not above it."""
    instance = crowd(jobs, gpus, due_s)
    edges = np.append(-1e-3, np.arange(25.0, 426.0, 25.0))
    proven, prices = raised(SpreadRelaxation(instance, edges), 60)
    assert proven == pytest.approx(best, rel=2e-3)
    assert proven <= best
    assert (prices >= 0).all()
    assert shared_bound(instance) <= best
    assert clairvoyant(instance) >= lonely_bound(instance)


def test_who_comes_later_ends_later() -> None:
    """The second comes at 60 s and ends at 200 s: 140 - 100 = 40 s after the due date that both have at 160 s."""
    instance = crowd(2, due_s=160, submit_s=60)
    edges = np.append(-1e-3, np.arange(20.0, 421.0, 20.0))
    assert raised(SpreadRelaxation(instance, edges), 60)[0] == pytest.approx(2 + 40, rel=2e-3)


def histories(instance: Any) -> list[AllocationHistory]:
    """Without preemption: every order of the jobs, everywhere, each as early as its place allows."""
    found = []
    ways = []
    for job in instance.jobs:
        listed = [
            (node.id, g, time)
            for node in instance.nodes
            for g, time in enumerate(job.time_s.get(node.gpu_type, ())[: node.gpus], start=1)
            if time is not None
        ]
        ways.append(listed)
    gpus = {node.id: node.gpus for node in instance.nodes}
    for chosen in product(*ways):
        for order in permutations(range(len(chosen))):
            runs: list[Run] = []
            for j in order:
                node, g, time = chosen[j]
                begins = [instance.jobs[j].submit_s, *(run.end_s for run in runs if run.node == node)]
                for start in sorted(b for b in begins if b >= instance.jobs[j].submit_s):
                    events = [start, *(run.start_s for run in runs if start < run.start_s < start + time)]
                    used = [sum(r.gpus for r in runs if r.node == node and r.start_s <= t < r.end_s) for t in events]
                    if max(used) + g <= gpus[node]:
                        runs.append(Run(job=instance.jobs[j].id, node=node, gpus=g, start_s=start, end_s=start + time))
                        break
            found.append(AllocationHistory(runs=tuple(runs)))
    return found


def bounds_hold(seeds: range) -> int:
    """How often sharing proves more than being alone."""
    more = 0
    for seed in seeds:
        instance: Any = tiny.allocation(seed)
        if seed % 3:
            instance = instance.model_copy(update={"nodes": instance.nodes[:1]})  # crowded
        jobs = tuple(job for job in instance.jobs if lonely_way(instance, job))[:3]
        if not jobs:
            continue
        instance = instance.model_copy(update={"jobs": jobs})
        best = min(evaluate(instance, history).objective for history in histories(instance))
        rng = np.random.default_rng(seed)
        for slots in (8, 24):
            shared = shared_bound(instance, slots, 20)
            assert shared <= best * (1 + 1e-9) + 1e-9, seed
        more += shared > lonely_bound(instance) * 1.01
        relaxed = SpreadRelaxation(instance, np.append(-1e-3, np.cumsum(rng.uniform(5, 50, 12))))
        for scale in (0.0, 0.01, 1.0):
            prices = scale * rng.random(relaxed.room.shape)
            assert relaxed(prices).least.sum() - (prices * relaxed.room).sum() <= best * (1 + 1e-9) + 1e-9, seed
    return more


def lonely_way(instance: Any, job: Any) -> bool:
    """Whether it can run somewhere."""
    return any(t is not None for n in instance.nodes for t in job.time_s.get(n.gpu_type, ())[: n.gpus])


def test_no_history_undercuts_it() -> None:
    assert bounds_hold(range(90)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(0, 2000, 250), in_ci=1))
def test_no_history_of_two_thousand_undercuts_it(first: int) -> None:
    assert bounds_hold(range(first, first + 250)) >= 5


def harsh(seed: int) -> Any:
    """Times, weights and costs of any size, or nothing; jobs that are late when they come, or cannot run."""
    rng = np.random.default_rng([7, seed])
    time, weight, cost = 10 ** rng.uniform(-3, 6), 10 ** rng.uniform(-6, 8), 10 ** rng.uniform(-5, 6)
    weight, cost = weight * rng.integers(2), cost * rng.integers(2)
    kinds = ["A", "B"][: rng.integers(1, 3)]

    def times() -> list[float | None]:
        drawn = time * 10 ** rng.uniform(-2, 2, rng.integers(1, 4))
        return [float(drawn[0]), *(None if rng.random() < 0.2 else t for t in drawn[1:].tolist())]

    return cluster(
        gpu_types={kind: {"node_cost_per_h": np.cumsum(cost * rng.random(3)).tolist()} for kind in kinds},
        nodes=[{"id": f"n{i}", "gpu_type": str(rng.choice(kinds)), "gpus": int(rng.integers(1, 4))} for i in range(2)],
        jobs=[
            {
                "id": f"j{j}",
                "submit_s": float(time * rng.uniform(0, 3) * rng.integers(2)),
                "due_s": float(time * rng.uniform(-2, 6)),
                "weight_per_s": float(weight * rng.choice([0.0, 1.0, rng.random()])),
                "time_s": {kind: times() for kind in kinds[: rng.integers(1, 3)]},
            }
            for j in range(rng.integers(1, 4))
        ],
    )


@pytest.mark.filterwarnings("error")
def test_it_holds_for_numbers_of_any_size() -> None:
    for seed in range(70):
        instance = harsh(seed)
        bound = clairvoyant(instance)
        assert np.isfinite(bound), seed
        if all(lonely_way(instance, job) for job in instance.jobs):
            best = min(evaluate(instance, history).objective for history in histories(instance))
            assert bound <= best * (1 + 1e-9) + 1e-12, seed


def stamped(submit_s: float, due_s: float, weight: float, time_s: float) -> Any:
    """A job that is due just when it can end, on a node of 1 EUR/h."""
    return cluster(
        gpu_types={"A": {"node_cost_per_h": [1.0]}},
        nodes=[{"id": "n", "gpu_type": "A", "gpus": 1}],
        jobs=[{"id": "j", "submit_s": submit_s, "due_s": due_s, "weight_per_s": weight, "time_s": {"A": [time_s]}}],
    )


def test_times_of_day_in_seconds_since_1970() -> None:
    """Floating point numbers are 2.4e-7 s apart there: no replay is below for that."""
    for k in range(60):
        instance = stamped(1.7e9 + 0.1 * k, 1.7e9 + 0.1 * k + 6.3, 1.0, 12.6)
        assert clairvoyant(instance) <= replay(instance, "fifo").objective * (1 + 1e-9), k  # type: ignore[operator]


def test_what_the_referee_forgives_is_allowed_for() -> None:
    """A millionth of the work left undone saves a second of 1e6 at a weight of 1e6."""
    instance = stamped(0.0, 1e6 - 0.9, 1e6, 1e6)
    history = AllocationHistory(runs=(Run(job="j", node="n", gpus=1, start_s=0.0, end_s=1e6 - 0.9),))
    assert check(instance, history) == []
    assert clairvoyant(instance) <= evaluate(instance, history).objective


def test_running_twice_is_added_up() -> None:
    """Many runs of a millionth of a second each, all at once, are no history."""
    instance = crowd(1, gpus=4, due_s=0)
    instance = instance.model_copy(
        update={"nodes": tuple(instance.nodes[0].model_copy(update={"id": f"n{i}"}) for i in range(4))}
    )
    runs = [Run(job="j0", node=f"n{i}", gpus=1, start_s=0.0, end_s=0.9e-6) for i in range(4)]
    found = check(instance, AllocationHistory(runs=(*runs, Run(job="j0", node="n0", gpus=1, start_s=1e-6, end_s=100.0))))
    assert "runs twice at a time" in {violation.rule for violation in found}


def test_the_work_found_costs_what_is_proven() -> None:
    """Least cost under prices is attained: own cost and GPU time paid for, and all work is done within the slots."""
    instance = andreas(2, 4, rate="high", seed=2)
    relaxed = SpreadRelaxation(instance, np.linspace(-1.0, 60_000.0, 40))
    rng = np.random.default_rng(0)
    for _ in range(5):
        prices = 0.05 * rng.random(relaxed.room.shape) * (rng.random(relaxed.room.shape) < 0.5)
        found = relaxed(prices)
        paid = found.cost + found.usage @ prices.ravel()
        assert paid == pytest.approx(found.least, rel=1e-4)
        assert (paid >= found.least * (1 - 1e-9)).all()


@pytest.mark.parametrize(
    ("rate", "policy"), [("high", "priced"), ("mixed", "fifo"), pytest.param("mixed", "rolling", marks=pytest.mark.slow)]
)
def test_replays_stay_above_it(policy: str, rate: Any) -> None:
    """Of a crowded cluster, where it proves far more than that jobs are alone."""
    instance = andreas(1, 2, rate=rate, seed=5)
    result = replay(instance, policy, seed=0)
    assert check(instance, result.schedule) == []  # type: ignore[arg-type]
    assert result.objective >= shared_bound(instance)  # type: ignore[operator]


def test_it_sees_a_rush() -> None:
    """Where a burst comes it proves ten times what jobs alone cost."""
    instance = andreas(1, 10, rate="high", seed=5)
    assert shared_bound(instance) > 10 * lonely_bound(instance)
