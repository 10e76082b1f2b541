"""vcc by hand: what the queue does under a cap, what it costs, and what the referee refuses."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.referee import check, evaluate
from optsched.rolling.vcc.queue import queue
from optsched.schedules.vcc import Start, VccSchedule, simulate_queue
from tests.oracle import brute, tiny


def centre(jobs: list[tuple[int, int, float]], **changes: Any) -> Any:
    """10 NCU over 4 slots of an hour; jobs of (submitted, duration, NCU)."""
    fields: dict[str, Any] = {
        "capacity_ncu": 10.0,
        "carbon_kg_per_kwh": [0.5, 0.1, 0.2, 0.4],
        "inflexible_ncu": [2.0, 2.0, 2.0, 2.0],
        "idle_kw": 1.0,
        "kw_per_ncu": 0.5,
        "jobs": [{"id": f"j{i}", "submitted": s, "duration": d, "ncu": n} for i, (s, d, n) in enumerate(jobs)],
    }
    return tiny.make("vcc", **(fields | changes))


def starts(schedule: Any) -> dict[str, int]:
    return {s.job: s.start for s in schedule.starts}


def test_first_in_first_out_and_no_overtaking() -> None:
    """5 of 6 NCU are taken by j0; j1 (2) does not fit under 0.6, and j2 (1), which would, waits behind it."""
    instance = centre([(0, 2, 5.0), (0, 1, 2.0), (0, 1, 1.0)])
    assert starts(simulate_queue(instance, (0.6, 0.6, 0.6, 0.6))) == {"j0": 0, "j1": 2, "j2": 2}
    assert starts(simulate_queue(instance, (1.0, 0.0, 0.0, 0.0))) == {"j0": 0, "j1": 0, "j2": 0}


def test_the_whole_load_keeps_within_the_capacity() -> None:
    """8 NCU are left beside the inflexible 2, whatever the cap."""
    instance = centre([(0, 1, 6.0), (0, 1, 3.0)])
    assert starts(simulate_queue(instance, (1.0,) * 4)) == {"j0": 0, "j1": 1}


def test_running_jobs_keep_running_under_a_lower_cap() -> None:
    instance = centre([(0, 3, 4.0), (1, 1, 1.0)])
    schedule = simulate_queue(instance, (1.0, 0.0, 0.0, 1.0))
    assert starts(schedule) == {"j0": 0, "j1": 3}
    assert queue(instance).load == 0


def test_evicted_jobs_go_to_the_head_with_what_is_left() -> None:
    """j1, the last started, goes when the cap falls to 0.4; it runs on in slot 3 and lacks a slot at the end."""
    instance = centre([(0, 3, 4.0), (0, 4, 2.0), (1, 1, 1.0)], preempt=True)
    schedule = simulate_queue(instance, (1.0, 0.4, 0.4, 1.0))
    pieces = [(s.job, s.start, s.until) for s in schedule.starts]
    assert pieces == [("j0", 0, None), ("j1", 0, 1), ("j1", 3, None), ("j2", 3, None)]
    assert check(instance, schedule) == []
    unfinished = evaluate(
        centre([(0, 3, 4.0), (0, 4, 2.0), (1, 1, 1.0)], preempt=True, unfinished_penalty_per_ncu_h=1.0), schedule
    )
    assert unfinished.components["unfinished"] == pytest.approx(2 * 2)


def test_costs_by_hand() -> None:
    """j0 runs in 1 and 2, j1 never; a day of 4 hours asks for 0.5 * (2 * 3 + 1 * 4) = 5 NCU-hours and gets 0 + 3 + 1 + 0."""
    prices = {"delay_penalty_per_ncu_h": 2.0, "daily_penalty_per_ncu_h": 3.0, "unfinished_penalty_per_ncu_h": 5.0}
    instance = centre([(0, 2, 3.0), (0, 1, 4.0)], delay_limit_slots=0, daily_fraction=0.5, **prices)
    schedule = VccSchedule(cap=(0.0, 0.3, 0.1, 0.0), starts=(Start(job="j0", start=1),))
    assert check(instance, schedule) == []
    costs = evaluate(instance, schedule).components
    power = [1 + 0.5 * load for load in (2, 5, 5, 2)]
    assert costs["carbon"] == pytest.approx(np.dot(power, [0.5, 0.1, 0.2, 0.4]))
    assert costs["delay"] == pytest.approx(2.0 * 3 * 1)
    assert costs["daily"] == pytest.approx(3.0 * (5 - 4))
    assert costs["unfinished"] == pytest.approx(5.0 * 4)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"cap": (0.5, 0.5, 0.5)}, "a cap for every slot"),
        ({"cap": (0.5, 1.5, 0.5, 0.5)}, "cap is no fraction"),
        ({"starts": ()}, "start that the queue does not make"),
        ({"starts": (Start(job="j0", start=1),)}, "start that the queue does not make"),
        ({"starts": (Start(job="j0", start=0), Start(job="j0", start=0))}, "job decided more than once"),
        ({"starts": (Start(job="jx", start=0),)}, "unknown job"),
    ],
)
def test_the_referee_refuses(changes: dict[str, Any], rule: str) -> None:
    instance = centre([(0, 1, 3.0)])
    schedule = VccSchedule(cap=(0.5,) * 4, starts=(Start(job="j0", start=0),))
    assert check(instance, schedule) == []
    assert [v.rule for v in check(instance, schedule.model_copy(update=changes))] == [rule]


@pytest.mark.parametrize("preempt", [False, True])
def test_the_fast_queue_is_the_referees(preempt: bool) -> None:
    """Two independent queues: prefix sums against one job after the other; costs slot by slot against the whole."""
    for seed in range(400):
        instance: Any = tiny.vcc(seed).model_copy(update={"preempt": preempt})
        cap = (np.random.default_rng(seed).integers(0, 9, instance.horizon) / 8).tolist()
        fast = queue(instance)
        costs = np.sum([fast.step(a) for a in cap], axis=0)
        schedule = VccSchedule(cap=tuple(cap), starts=tuple(fast.pieces()))
        assert check(instance, schedule) == [], seed
        assert costs == pytest.approx(list(evaluate(instance, schedule).components.values()), abs=1e-9), seed


def test_every_cap_on_a_grid_is_no_better() -> None:
    """Brute force over caps themselves, where there are few enough: the optimum is that of the staircases."""
    tried = 0
    for seed in range(40):
        instance: Any = tiny.vcc(seed)
        if instance.horizon > 4 or len(instance.jobs) > 3:
            continue
        best = optsched.solve(instance).objective
        grid = np.linspace(0, 1, 6).tolist()
        for cap in product(grid, repeat=instance.horizon):
            assert evaluate(instance, simulate_queue(instance, cap)).objective >= best - 1e-9  # type: ignore[operator]
        assert brute.optimum(instance) == pytest.approx(best, rel=1e-6, abs=1e-9)
        tried += 1
    assert tried >= 8
