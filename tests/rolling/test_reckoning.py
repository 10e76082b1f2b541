"""Slots where durations are estimates: what a snapshot tells of runs, what is reckoned with, and what comes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import optsched
from optsched.instances.deferrable import DeferrableInstance
from optsched.instances.events import Estimate, Events, laid_over
from optsched.instances.generators import masac, osdec
from optsched.instances.generators.events import draw_events
from optsched.instances.geo import GeoInstance
from optsched.instances.runs import Run
from optsched.problems.geo import time_indexed
from optsched.rolling.deferrable.policies import PRICING
from optsched.rolling.deferrable.simulator import DeferrableSimulator
from optsched.rolling.estimates import corrected, told_load
from optsched.rolling.geo.policies import PRICING as GEO
from optsched.rolling.geo.simulator import GeoSimulator
from optsched.rolling.law import Law
from optsched.rolling.policy import Settings
from optsched.rolling.priced import BidPricePolicy
from optsched.rolling.reckoning import (
    Experience,
    as_told,
    capacity_left,
    done_in_time,
    expected_load,
    likely_durations,
    survival_of,
)
from optsched.rolling.slots import SlotSimulator
from tests.oracle import tiny

HALF = Law(np.array([1.0, 2.0]), np.array([0.5, 0.5]), 0.0, 1.0)  # half of the jobs take what was told, half twice that


def runs(*told_took: tuple[int, int]) -> tuple[Run, ...]:
    """Of a core each, told to take so long, running for so long."""
    return tuple(Run(job=f"r{n}", units=1.0, told=told, took=took) for n, (told, took) in enumerate(told_took))


def few(**given: Any) -> DeferrableInstance:
    """One job on four cores and eight slots."""
    job = {"id": "a", "cores": 1.0, "duration": 2, "earliest": 0, "latest": 7, "submitted": 0}
    fields = {"name": "few", "slot_s": 60.0, "capacity": (4.0,) * 8, "delay_penalty": 0.0, "overload_penalty": 10.0}
    return DeferrableInstance.model_validate(fields | {"jobs": (job,)} | given)


def simulators(seed: int, days: float = 1.0) -> list[SlotSimulator[Any, Any, Any]]:
    """Of both families, where much goes wrong."""
    found: list[SlotSimulator[Any, Any, Any]] = []
    for made, simulator in (
        (masac(round(60 * days), days=days, load=0.5, scale=0.2, seed=seed), GeoSimulator),
        (osdec(jobs=20, seed=seed), DeferrableSimulator),
    ):
        span = made.horizon * made.slot_s
        events = draw_events(made, seed=seed, mtbf_s=span / 3, repair_s=span / 12, cancelled=0.15, estimates="noisy:1")
        found.append(simulator(laid_over(made, events, None), seed=seed))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_a_snapshot_tells_what_runs_and_what_has_ended(seed: int) -> None:
    """Who ran at the last decision, or began with it, runs, has ended once, or was stopped by an event."""
    for simulator in simulators(seed):
        truth, ended, shown = simulator.slotted, list[str](), set[str]()
        while (snapshot := simulator.snapshot()) is not None:
            assert type(snapshot).from_dict(snapshot.to_json()).running == snapshot.running
            going = {run.job: run for run in snapshot.running}
            over = [run.job for run in snapshot.ended]
            assert not going.keys() & set(over)
            cut = [run.job for run in snapshot.cut]
            cancelled = {truth.jobs[j].id for j in simulator.gone}
            assert shown - cancelled == (going.keys() | set(over) | set(cut)) - cancelled
            for run in (*snapshot.running, *snapshot.ended):
                job = simulator.index[run.job]
                assert run.told == simulator.expected[job]
                assert run.units == simulator.demand[job]
                place, begun = simulator.begun[job]
                assert (run.place, run.took) == (
                    truth.places[place],
                    min(simulator.now - begun, int(truth.columns.duration[job])),
                )
            assert all(run.took == truth.columns.duration[simulator.index[run.job]] for run in snapshot.ended)
            ended += over
            decided = optsched.solve(snapshot, "greedy").schedule
            simulator.apply(decided)
            shown = {truth.jobs[j].id for j in (*simulator.going, *simulator.over)} | {run.job for run in simulator.stopped}
        assert len(ended) == len(set(ended)) > 1


def test_nothing_is_told_of_runs_where_durations_are_known() -> None:
    """The capacity says it all."""
    simulator = DeferrableSimulator(osdec(jobs=20))
    while (snapshot := simulator.snapshot()) is not None:
        assert (snapshot.running, snapshot.ended) == ((), ())
        simulator.apply(optsched.solve(snapshot, "greedy").schedule)


def test_the_load_of_what_runs_by_hand() -> None:
    """Told 2 and after one slot: half of it is left in the third. Told 2 and after three: it ends. Told 1, took 3: told 4."""
    snapshot = few(running=runs((2, 1), (2, 3)))
    assert expected_load(snapshot, HALF)[0] == pytest.approx([2.0, 0.5, 0.5, 0, 0, 0, 0, 0])
    assert expected_load(few(running=runs((1, 3))), HALF)[0] == pytest.approx([1.0, 0, 0, 0, 0, 0, 0, 0])  # as it is corrected
    seven = few(running=(*runs((2, 1), (2, 1)), *runs((2, 1))))
    assert expected_load(seven, HALF)[0] == pytest.approx([3.0, 1.5, 1.5, 0, 0, 0, 0, 0])


def test_whoever_takes_longer_than_anybody_takes_twice_as_long() -> None:
    """Half of the jobs take longer than 1; the longest that is known of has run for 3."""
    law = Law(np.array([1.0]), np.array([0.5]), 0.0, 1.0).closed(3.0)
    assert (law.times.tolist(), law.share.tolist()) == ([1.0, 6.0], [0.5, 0.5])
    assert law.expected_begun == pytest.approx(3.5)
    assert law.closed(9.0) is law


def test_the_load_of_what_runs_run_by_run() -> None:
    """For every run the chance that it takes longer, given that it has taken so long."""
    rng = np.random.default_rng(0)
    law = Law(np.sort(np.exp(rng.standard_normal(30))), np.full(30, 1 / 30), 1.0, 0.7)
    told_took = list(zip(rng.integers(1, 9, 40).tolist(), rng.integers(0, 12, 40).tolist(), strict=True))
    expected = np.zeros(8)
    for told, took in told_took:
        fair = told * float(law.fair(np.log(np.array([float(told)])))[0])
        lasts = law.longer((took + np.arange(8)) / fair)
        expected += lasts / lasts[0] if lasts[0] > 1e-12 else np.arange(took, took + 8) < corrected(told, took)
    assert expected_load(few(running=runs(*told_took)), law)[0] == pytest.approx(expected)


def test_a_law_of_many_times_is_one_of_few() -> None:
    """The same mean, and nearly the same chances."""
    rng = np.random.default_rng(0)
    law = Law(np.sort(np.exp(rng.standard_normal(5000))), np.full(5000, 1 / 5000), 0.0, 1.0)
    fewer = law.coarse(200)
    assert len(fewer.times) <= 201
    assert fewer.expected_begun == pytest.approx(law.expected_begun)
    assert fewer.longer(np.linspace(0, 9, 50)) == pytest.approx(law.longer(np.linspace(0, 9, 50)), abs=0.006)


def test_the_capacity_that_is_left_by_hand() -> None:
    """Told to be there for a slot more; half of it for three. Where nothing is left as told, nobody's end makes room."""
    snapshot = few(running=runs((2, 1)), capacity=(3.0, *(4.0,) * 7))
    told = np.array([snapshot.capacity])
    assert told_load(snapshot.running, snapshot.places, 8)[0].tolist() == [1.0, *(0.0,) * 7]
    assert capacity_left(snapshot, HALF, told)[0] == pytest.approx([3.0, 3.5, 3.5, *(4.0,) * 5])
    sooner, long = Law(np.array([0.5]), np.ones(1), 0.0, 1.0), few(running=runs((8, 1)))
    shut = np.array([[0.0, 0, 0, 0, 3, 3, 3, 3]])  # draining until slot 4
    assert capacity_left(long, sooner, shut)[0] == pytest.approx([0, 0, 0, 0, 4, 4, 4, 3])
    crowd = few(running=runs(*[(5, 1)] * 6))  # on four cores: six of what is told, none left
    assert capacity_left(crowd, sooner, np.array([[0.0, 0, 0, 0, 4, 4, 4, 4]]))[0, :4].tolist() == [0.0] * 4


def test_what_jobs_take_and_whether_they_are_done_by_hand() -> None:
    """Told 2, it takes 3 in the mean; at 6 of 8 it is done if it takes 2, before in any case. A history tells the truth."""
    plain, _ = PRICING.options(few(jobs=(few().jobs[0].model_copy(update={"latest": 4}),)))
    assert likely_durations(plain, HALF, np.ones(1, dtype=bool)).tolist() == [3]
    doubted = Law(HALF.times, HALF.share, 1.0, 0.0)  # whatever is told, jobs take e slots or twice that
    assert likely_durations(plain, doubted, np.ones(1, dtype=bool)).tolist() == [4]
    assert likely_durations(plain, doubted, np.zeros(1, dtype=bool)).tolist() == [2]
    plain, _ = PRICING.options(few())
    assert plain.start.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert done_in_time(plain, plain, HALF, np.ones(1, dtype=bool)).tolist() == [1, 1, 1, 1, 1, 0.5, 0.5]
    assert done_in_time(plain, plain, HALF, np.zeros(1, dtype=bool)).tolist() == [1] * 7


@pytest.mark.parametrize("seed", range(20))
def test_every_option_that_is_told_is_reckoned_with(seed: int) -> None:
    """However long jobs are in the mean: also of those that begin later, far from their source, or on their way."""
    longer = Law(np.array([1.0, 3.0]), np.array([0.5, 0.5]), 0.0, 1.0)
    for pricing, snapshot in ((GEO, tiny.geo(seed)), (PRICING, tiny.deferrable(seed))):
        family: Any = pricing
        plain, _ = family.options(snapshot)
        lasts = likely_durations(plain, longer, np.ones(len(snapshot.jobs), dtype=bool))
        program, _ = family.options(family.expecting(snapshot, plain.capacity, lasts))
        assert (lasts >= plain.duration).all()
        assert np.array_equal(np.c_[program.job, program.place, program.start], np.c_[plain.job, plain.place, plain.start])


def test_what_does_not_fit_as_told_waits() -> None:
    """The referee of decisions knows what is told only: of a plan for what is reckoned with, that counts which fits."""
    for seed in range(30):
        snapshot: GeoInstance = tiny.geo(seed)
        told, _ = time_indexed(snapshot)
        shorter = tuple(job.model_copy(update={"duration": max(1, job.duration // 2)}) for job in snapshot.jobs)
        planned, _ = time_indexed(snapshot.model_copy(update={"jobs": shorter}))
        rng = np.random.default_rng(seed)
        chosen = np.array([rng.choice(np.flatnonzero(planned.job == j)) for j in np.unique(planned.job)], dtype=np.int64)
        found = as_told(told, planned, chosen)
        assert (told.load(found) <= told.capacity).all()
        assert len(set(told.job[found])) == len(found)
        wanted = {(planned.job[i], planned.place[i], planned.start[i]) for i in chosen}
        assert {(told.job[i], told.place[i], told.start[i]) for i in found} <= wanted


def test_nothing_is_reckoned_as_long_as_jobs_take_what_was_told() -> None:
    """And something as soon as one does not, or outlives it."""
    seen = Experience()
    exact = few(ended=runs((2, 2), (5, 5)), running=runs((3, 2)), cut=runs((4, 1)))
    seen.observe(exact)
    assert seen.law(exact) is None
    assert (seen.ended, seen.cut, seen.failures) == ([(2, 2), (5, 5)], [(4, 1)], 1)
    assert Experience().law(few(running=runs((3, 3)))) is not None
    assert Experience(cut=[(3, 7)]).law(few()) is not None
    seen.observe(few(ended=runs((2, 4))))
    law = seen.law(few())
    assert law is not None
    assert law.times.max() > 1.2


def test_estimates_that_hold_change_nothing() -> None:
    """The same decisions as where durations are known."""
    instance = osdec(jobs=10, horizon=48, seed=4)
    exact = laid_over(instance, Events(believed=tuple(Estimate(job=job.id, multiple=1.0) for job in instance.jobs)), None)
    known, told = (optsched.replay(i, "rolling", seed=1) for i in (instance, exact))
    assert known.schedule == told.schedule


@pytest.mark.parametrize("family", ["geo", "deferrable"])
def test_what_has_been_learnt_is_remembered(family: str) -> None:
    """Whoever goes on from a state as JSON decides as if nobody had stopped, at every decision."""
    simulator = simulators(3, days=0.5)[family == "deferrable"]
    pricing: Any = GEO if family == "geo" else PRICING
    policy, other = BidPricePolicy(pricing, Settings()), BidPricePolicy(pricing, Settings())
    policy.reset(1)
    told = 0
    while (snapshot := simulator.snapshot()) is not None:
        state = policy.state()
        decided = policy.decide(snapshot)
        other.reset(1)
        other.restore(state)
        assert other.decide(snapshot) == decided
        assert other.state() == policy.state()
        told = len(policy.experience.ended)
        simulator.apply(decided)
    assert told > 1


def test_what_a_failure_may_cost_by_hand() -> None:
    """A failure every two slots: a run of one lasts with exp(-1/2), and at the first of two starts it may begin once more.

    Whoever fails in geo earns nothing, and pays for power all the same.
    """
    job = few().jobs[0].model_copy(update={"duration": 1, "latest": 1})
    program, _ = PRICING.options(few(jobs=(job,)))
    whole = np.exp(-0.5)
    assert survival_of(program, 0.5) == pytest.approx([whole * (2 - np.exp(-0.5)), whole])
    assert survival_of(program, 0.0).tolist() == [1.0, 1.0]
    made = masac(1, days=1 / 24, seed=1)
    options, _ = GEO.options(made)
    assert (GEO.forfeit(made, options) > options.value).all()
    policy = BidPricePolicy(GEO, Settings())
    policy.experience = Experience(failures=10**6)
    assert (policy._program(made, options, None, [True]).value < 0).all()  # what never lasts is worth less than nothing
    assert PRICING.forfeit(few(), PRICING.options(few())[0]).tolist() == [2.0] * 7


@pytest.mark.parametrize("seed", range(4))
def test_every_failure_that_ends_a_run_is_counted(seed: int) -> None:
    """Once, whoever ran there; a job that is cancelled is none."""
    instance = masac(60, days=1, load=0.5, scale=0.2, seed=seed)
    for mtbf_s in (1e9, 4 * 3600.0):
        events = draw_events(instance, seed=seed, mtbf_s=mtbf_s, repair_s=600.0, cancelled=0.1)
        simulator = GeoSimulator(laid_over(instance, events, None), seed=seed)
        policy = BidPricePolicy(GEO, Settings())
        policy.reset(seed)
        while (snapshot := simulator.snapshot()) is not None:
            simulator.apply(policy.decide(snapshot))
        gone = {instance.jobs[j].id for j in simulator.gone}
        ends = {(start.site, slot) for start, slot in simulator.cut}
        sure = {(start.site, slot) for start, slot in simulator.cut if start.job not in gone}
        late = {end for end in ends if end[1] > simulator.truth.horizon - 2 * 60}  # nobody may have waited any more
        assert 0.8 * len(sure - late) <= policy.experience.failures <= len(ends)  # two between two decisions are one
        assert (mtbf_s < 1e9) == bool(policy.experience.failures)
