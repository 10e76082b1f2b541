"""What a learned policy of deferrable sees, and what its scores start: no torch."""

from __future__ import annotations

import numpy as np
import pytest

from optsched import deferrable, replay
from optsched.heuristics.deferrable import dispatch, fifo
from optsched.instances.generators import osdec
from optsched.registry import family_of
from optsched.rl.deferrable.gains import gain
from optsched.rl.deferrable.past import BACK, ROW, Past
from optsched.rl.deferrable.split import LOADS, SEEDS, toy, workload
from optsched.rl.deferrable.state import JOB, MOST, WHOLE, Seen, features, start_by_score
from optsched.rolling.deferrable.guard import followed, worth
from optsched.rolling.deferrable.learning.teacher import Teacher, rest
from optsched.rolling.deferrable.play import Play
from optsched.rolling.forecast import forecast
from optsched.schedules.deferrable import DeferrableSchedule


def of(capacity: list[float], *jobs: tuple[float, int, int, int]) -> deferrable.Instance:
    """Jobs as (cores, duration, earliest, latest), known from slot 0 on."""
    m = deferrable.Model("by hand", slot_s=300, capacity=capacity, delay_penalty=2, overload_penalty=10)
    for cores, duration, earliest, latest in jobs:
        m.add_job(cores=cores, duration=duration, earliest=earliest, latest=latest, submitted=0)
    return m.instance()


def test_scores_start_what_fits_to_its_end_and_pass_over_what_does_not() -> None:
    seen = Seen.of(of([4, 4, 2, 4], (3, 3, 0, 1), (2, 2, 0, 1), (2, 3, 0, 1), (1, 1, 1, 2)))
    assert start_by_score(seen, np.array([9.0, 3, 2, 8])) == [1, 2]  # 0 does not fit slot 2, 3 is not open
    assert start_by_score(seen, np.array([9.0, 1, 2, 8])) == [2, 1]
    assert start_by_score(seen, np.array([9.0, -1, 2, 8]), least=0.0) == [2]
    assert start_by_score(Seen.of(of([4, 4], (4, 1, 0, 1), (1, 1, 0, 1))), np.array([1.0, 0.0])) == [0]  # nothing is left


def test_who_has_waited_until_it_earns_nothing_is_not_started() -> None:
    instance = of([4.0] * 9, (1, 2, 0, 8))
    worthless = instance.model_copy(update={"jobs": (instance.jobs[0].model_copy(update={"waited": 1}),)})
    assert start_by_score(Seen.of(instance), np.zeros(1)) == [0]
    assert start_by_score(Seen.of(worthless), np.zeros(1)) == []  # 2 core-slots less 2 a slot


def test_numbers_do_not_depend_on_the_unit_of_capacity() -> None:
    seen = Seen.of(osdec(jobs=40, horizon=36, seed=3))
    columns = (7 * seen.cores, seen.duration, seen.earliest, seen.latest, seen.waited)
    larger = Seen(*columns, left=7 * seen.left, delay_penalty=7 * seen.delay_penalty)
    (jobs, whole), (other, others) = features(seen), features(larger)
    work = 2  # log(1 + work) is the one that tells large data centres from small ones
    assert np.delete(jobs, work, axis=1) == pytest.approx(np.delete(other, work, axis=1))
    assert whole == pytest.approx(others)


@pytest.mark.parametrize("seed", range(4))
def test_numbers_are_finite_and_bounded(seed: int) -> None:
    play = Play(osdec(jobs=30, horizon=24, load=3, seed=seed))
    rng = np.random.default_rng(seed)
    while play.seen is not None:
        jobs, whole = features(play.seen)
        past = play.past.seen()
        assert jobs.shape == (len(play.seen.cores), JOB)
        assert whole.shape == (WHOLE,)
        assert past.shape == (BACK, ROW)
        for numbers in (jobs, whole, past):
            assert (np.abs(numbers) <= MOST).all()
        play.start(start_by_score(play.seen, rng.random(len(jobs))))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("forecasts", ["perfect", "noisy:0.5"])
def test_a_plays_return_is_the_referees_objective(seed: int, forecasts: str) -> None:
    instance = osdec(1 + seed % 3, 1 + seed % 2, jobs=60, horizon=48, load=1.5, seed=seed)
    play, earned = Play(instance, forecast(forecasts), seed), 0.0
    rng = np.random.default_rng(seed)
    while play.seen is not None:
        earned += play.start(start_by_score(play.seen, rng.normal(size=len(play.seen.cores))))
    found = family_of(instance).evaluate(instance, play.simulator.history())
    assert earned == pytest.approx(found.objective)
    if forecasts != "perfect" and seed == 0:
        assert found.components["overload"] > 0  # or the test would not know


def test_what_a_play_sees_is_what_the_snapshot_shows() -> None:
    play = Play(osdec(jobs=60, horizon=48, seed=1))
    while play.seen is not None:
        shown = play.simulator.snapshot()
        assert shown is not None
        other = Seen.of(shown)
        for name in ("cores", "duration", "earliest", "latest", "waited", "left"):
            assert (getattr(play.seen, name) == getattr(other, name)).all()
        play.start(start_by_score(play.seen, -play.seen.duration.astype(float)))


def test_scores_by_submission_are_fifo() -> None:
    instance = osdec(jobs=80, horizon=60, load=1.4, seed=2)
    play = Play(instance)
    order = {job.id: float(job.submitted) for job in instance.jobs}
    while play.seen is not None:
        waiting = [instance.jobs[j].id for j in play.simulator.waiting]
        play.start(start_by_score(play.seen, -np.array([order[name] for name in waiting])))
    result = replay(instance, "fifo")
    assert result.schedule is not None
    found = family_of(instance).evaluate(instance, play.simulator.history()).objective
    assert found == result.objective


def test_capacity_that_falls_short_of_what_was_believed_is_noticed() -> None:
    past, seen = Past(), Seen.of(of([4, 4, 4], (1, 2, 0, 1)))
    past.add(seen, [0])
    assert past.due == 3
    assert past.look(Seen.of(of([1, 4], (1, 1, 0, 1)))).tolist() == pytest.approx([0.25, 1, 0.5, 0.5])


def test_the_split_is_disjoint_and_no_seed_of_it_is_a_default() -> None:
    parts = list(SEEDS.values())
    assert all(not set(a) & set(b) for i, a in enumerate(parts) for b in parts[:i])
    assert min(min(part) for part in parts) > 10_000
    names = {part: {workload(part, k).sha256 for k in range(20)} for part in SEEDS}
    assert len(set.union(*names.values())) == 60
    assert all(LOADS[0] <= float(str(workload("test", k).meta["load"])) <= LOADS[1] for k in range(20))


def test_prices_want_the_job_that_is_worth_the_slot() -> None:
    # one core for two slots: a job of two slots now, or one of one slot now and another later, all worth the same a slot
    instance = of([1, 1], (1, 2, 0, 0), (1, 1, 0, 1))
    play, teacher = Play(instance), Teacher()
    assert play.seen is not None
    wanted = gain(play.seen, teacher.charge(play))
    assert wanted[0] >= 0
    assert gain(play.seen, np.array([5.0, 0.0])).tolist() == [-1.0, -1.0]  # 2 of work less 5; later pays 0 less 2 of delay
    assert gain(play.seen, np.zeros(2)).tolist() == [1.0, 1.0]


def test_a_later_start_may_be_worth_more() -> None:
    seen = Seen.of(of([10, 10, 10, 10], (10, 2, 0, 2), (10, 2, 0, 0)))
    # now 20 less 10; a slot later 20 less 2 of delay; the second job may not wait
    assert gain(seen, np.array([1.0, 0, 0, 0])).tolist() == pytest.approx([(10 - 18) / 20, 10 / 20])


def test_what_is_left_of_the_truth_has_the_same_optimum_as_the_truth_less_what_is_earned() -> None:
    from optsched import solve

    instance = toy("train", 5)
    play = Play(instance)
    best = solve(instance, "exact").objective
    assert best is not None
    earned = 0.0
    plan = {start.job: start.start for start in solve(instance, "exact").best.starts}
    for _ in range(6):
        assert play.seen is not None
        now = play.simulator.now
        waiting = [instance.jobs[j].id for j in play.simulator.waiting]
        earned += play.start([k for k, name in enumerate(waiting) if plan.get(name) == now])
    left = solve(rest(play), "exact").objective
    assert left is not None
    assert earned + left == pytest.approx(best)


def test_the_guards_plans_are_worth_what_the_referee_says() -> None:
    snapshot = osdec(jobs=40, horizon=36, load=1.5, seed=9)
    rule = dispatch(snapshot, fifo)
    now = DeferrableSchedule(starts=tuple(start for start in rule.starts if start.start == 0))
    for plan in (rule, followed(snapshot, now), followed(snapshot, DeferrableSchedule(starts=()))):
        assert not family_of(snapshot).check(snapshot, plan)
        assert worth(snapshot, plan) == pytest.approx(family_of(snapshot).evaluate(snapshot, plan).objective)
