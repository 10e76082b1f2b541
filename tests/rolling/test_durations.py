"""What a policy learns of estimates: how long jobs have run is what the simulator knows; their law is that of the sample."""

from __future__ import annotations

import numpy as np
import pytest

from optsched.heuristics.allocation.dispatch import dispatch, due_date, submission
from optsched.instances.allocation import AllocationInstance
from optsched.instances.events import laid_over
from optsched.instances.generators import andreas
from optsched.instances.generators.events import draw_events
from optsched.rolling.allocation.durations import size
from optsched.rolling.allocation.holding import going_on
from optsched.rolling.allocation.match_running import match_running_nodes
from optsched.rolling.allocation.outlook import Outlook
from optsched.rolling.allocation.simulator import AllocationSimulator
from optsched.rolling.law import Law, survival
from optsched.schedules.allocation import AllocationSchedule, Assignment


def test_the_law_of_a_sample_by_hand() -> None:
    """Of four jobs one ends at 1, one is seen until 2, two end at 3: a quarter, and half of what is left each."""
    times, share = survival(np.array([1.0, 3.0]), np.array([1.0, 2.0]), np.array([2.0]))
    assert times.tolist() == [1.0, 3.0]
    assert share == pytest.approx([0.25, 0.75])
    times, share = survival(np.array([1.0, 3.0]), np.ones(2), np.array([5.0, 5.0]))
    assert share == pytest.approx([0.25, 0.25])  # half of them take longer than anybody has seen


@pytest.mark.parametrize("cost_s", [0.0, 40.0])
@pytest.mark.parametrize("seed", range(12))
def test_what_has_run_is_what_the_simulator_knows(seed: int, cost_s: float) -> None:
    """Under failures, estimates wrong by multiples, and a rule that moves jobs about."""
    made = andreas(1 + seed % 2, 3, jobs=15, rate="high", seed=seed).model_copy(update={"migration_cost_s": cost_s})
    events = draw_events(made, seed=seed, mtbf_s=20_000.0, repair_s=2_000.0, cancelled=0.0, estimates="noisy:1.5")
    simulator = AllocationSimulator(laid_over(made, events, None), seed=seed)
    learnt, held, begun, exact = Outlook(0), dict[str, Assignment](), set[str](), 0
    while (snapshot := simulator.snapshot()) is not None:
        known = {job.id for job in snapshot.known_jobs}
        before, ran, old = len(learnt.durations.ended), learnt.durations.running, known & learnt.came.keys()
        held, away = going_on(held, snapshot)
        learnt.observe(snapshot, away)
        took = {job: (1.0 - simulator.left[job]) / simulator.believed[job] for job in learnt.came}
        passed = {job: learnt.durations.passed.get(job, 0.0) for job in known}
        assert passed == pytest.approx({job: took[job] for job in known}, rel=1e-4, abs=1e-6)
        over = [job for job, run in ran.items() if old and run.seen and job not in known and job not in away]
        for job, (_, multiple) in zip(over, learnt.durations.ended[before:], strict=True):
            assert multiple >= took[job] * (1 - 1e-4)  # nobody decides, nobody sees when it ended
            exact += multiple == pytest.approx(took[job], rel=1e-4)
        rule = dispatch(snapshot, due_date if len(known) % 2 else submission)
        rule = match_running_nodes(snapshot, rule, {job: (a.node, a.gpus) for job, a in held.items()})
        decided = {a.job: a for a in rule.assignments}
        learnt.decided(snapshot, decided, begun)
        held, begun = decided | away, begun | decided.keys()
        simulator.apply(rule)
    assert exact > 8


def taught(instance: AllocationInstance, ended: list[tuple[float, float]], passed: dict[str, float]) -> Outlook:
    """Who knows that of an instance's jobs."""
    outlook = Outlook(0)
    outlook.observe(instance)
    outlook.durations.ended, outlook.durations.passed = ended, passed
    return outlook


def test_who_asks_for_ten_times_as_much_is_reckoned_with_what_such_jobs_take() -> None:
    """All that has been told of is taken for a tenth of it: by the rules now, and in futures, where that is no surprise."""
    instance = andreas(1, 3, jobs=6).model_copy(update={"now_s": 1e6})
    outlook = taught(instance, [(float(size), 0.1) for size in np.linspace(7, 10, 998)], {})
    reckoned, _, ahead = outlook.ahead(instance, 50)
    before, now = instance.columns.time_s, reckoned.columns.time_s
    assert now / before == pytest.approx(np.where(np.isnan(before), np.nan, 0.1018), rel=0.01, nan_ok=True)
    assert np.median(ahead.told) == pytest.approx(1.018, rel=0.01)
    assert (np.isclose(ahead.told, 1.018, rtol=0.01) | np.isclose(ahead.told, 0.1018, rtol=0.01)).all()  # or as told after all


def test_who_has_run_for_longer_than_most_takes_as_long_as_the_longest() -> None:
    """Half of the jobs end at half of what is told, half at four times that; this one has outlived it and is told 2."""
    instance = andreas(1, 3, jobs=2).model_copy(update={"now_s": 1e6})
    outlook = taught(instance, [(8.0, 0.5), (8.0, 4.0)] * 500, {instance.jobs[0].id: 1.2})
    left = {kind: tuple(t and 0.8 * t for t in times) for kind, times in instance.jobs[0].time_s.items()}
    later = instance.model_copy(update={"jobs": (instance.jobs[0].model_copy(update={"time_s": left}), instance.jobs[1])})
    reckoned, _, ahead = outlook.ahead(later, 50)
    before, now = instance.columns.time_s, reckoned.columns.time_s
    assert np.nanmin(now[0] / before[0]) == pytest.approx(4.0 - 1.2, rel=0.01)
    assert np.nanmin(now[1] / before[1]) == pytest.approx(2.25, rel=0.01)
    assert ahead.told[:, 0] == pytest.approx(np.ones(50))
    assert set(np.round(2.25 / ahead.told[:, 1], 1)) == {0.5, 4.0}
    assert set(np.round(2.25 / ahead.told[:, 2:].ravel(), 1)) == {
        0.5,
        1.0,
        4.0,
    }  # who is to come likewise, or as told after all


@pytest.mark.parametrize("until", [4.0, 1.0])
@pytest.mark.parametrize(("sigma", "tau"), [(0.5, 1.0), (1.0, 0.5)])
def test_who_has_not_ended_says_how_far_to_believe_what_is_told(sigma: float, tau: float, until: float) -> None:
    """Long jobs that have ended early are those that were shorter than told: they alone make what is told look worthless."""
    rng, slopes, naive = np.random.default_rng(0), [], []
    for _ in range(20):
        takes = np.exp(tau * rng.standard_normal(100))
        told, began = takes * np.exp(sigma * rng.standard_normal(100)), until * rng.random(100)
        ended = began + takes <= until
        sizes, took, going = np.log(told[ended]), (takes / told)[ended], ~ended
        passed = (until - began[going]) / told[going]
        slopes.append(Law.learned(sizes, took, np.log(told[going]), passed).slope)
        naive.append(Law.learned(sizes, took, np.log(told[going]), np.zeros(going.sum())).slope)
    share = tau**2 / (tau**2 + sigma**2)  # of the variance of what is told
    assert np.mean(slopes) == pytest.approx(share, abs=0.08)
    assert np.mean(slopes) > np.mean(naive) + (0.05 if until == 1.0 else 0.01)


def test_jobs_that_are_told_anything_are_taken_for_alike() -> None:
    """Where all take the same whatever is told of them, what is told is hardly believed."""
    instance = andreas(1, 3, jobs=6).model_copy(update={"now_s": 1e6})
    sizes = np.linspace(2, 14, 400)
    outlook = taught(instance, [(float(size), float(np.exp(8.0 - size))) for size in sizes], {})
    known = outlook.durations.known(instance, outlook.came)
    assert known is not None
    law = known.law
    assert law.slope < 0.02
    told = np.array([size(job) for job in instance.jobs])
    assert np.ptp(np.log(law.fair(told)) + told) < 0.02 * np.ptp(told) + 1e-9


def test_nothing_changes_as_long_as_jobs_take_what_is_told() -> None:
    """Not even the random numbers."""
    instance = andreas(1, 3, jobs=6).model_copy(update={"now_s": 1e6})
    outlook, other = taught(instance, [(8.0, 1.0 + 1e-7)] * 5, {}), taught(instance, [], {})
    (same, _, ahead), (_, _, expected) = outlook.ahead(instance, 4), other.ahead(instance, 4)
    assert same is instance
    assert (ahead.told == 1.0).all()
    np.testing.assert_array_equal(ahead.submit_s, expected.submit_s)
    np.testing.assert_array_equal(ahead.time_s, expected.time_s)


def test_a_history_holds_the_truth() -> None:
    """What has been learnt of estimates is nothing to jobs of past days."""
    instance = andreas(1, 3, jobs=6).model_copy(update={"now_s": 1e6})
    outlook = Outlook(0, andreas(1, 3, jobs=200, seed=1).jobs)
    outlook.observe(instance)
    outlook.durations.ended = [(float(size), 0.1) for size in np.linspace(7, 10, 998)]
    _, _, ahead = outlook.ahead(instance, 50)
    assert np.mean(ahead.told[:, 6:] == 1.0) > 0.9


def test_who_is_nearly_done_has_not_lost_its_work() -> None:
    """Somebody comes five thousandths of a second before the end of a thousand seconds: what is told holds."""
    made = andreas(1, 3, jobs=2)
    outlook = Outlook(0)
    first = made.jobs[0].model_copy(update={"submit_s": 0.0})
    kind, times = next((kind, times) for kind, times in first.time_s.items() if times[0])
    whole = times[0]
    assert whole is not None
    second = made.jobs[1].model_copy(update={"submit_s": whole * (1 - 5e-6)})
    simulator = AllocationSimulator(made.model_copy(update={"jobs": (first, second), "now_s": 0.0}))
    node = next(node.id for node in made.nodes if node.gpu_type == kind)
    decided = {first.id: Assignment(job=first.id, node=node, gpus=1)}
    snapshot = simulator.snapshot()
    assert snapshot is not None
    outlook.observe(snapshot)
    outlook.decided(snapshot, decided, ())
    simulator.apply(AllocationSchedule(assignments=tuple(decided.values())))
    snapshot = simulator.snapshot()
    assert snapshot is not None
    outlook.observe(snapshot)
    assert outlook.durations.passed[first.id] == pytest.approx(1 - 5e-6, abs=1e-7)
    assert not outlook.durations.surprise
