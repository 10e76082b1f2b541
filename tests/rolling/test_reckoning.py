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
from optsched.rolling.estimates import told_load
from optsched.rolling.geo.policies import PRICING as GEO
from optsched.rolling.geo.simulator import GeoSimulator
from optsched.rolling.law import Law
from optsched.rolling.policy import Settings
from optsched.rolling.priced import BidPricePolicy
from optsched.rolling.reckoning import Durations, as_told, capacity_left, expected_load, reckoned, surviving
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
            stopped = {start.job for start, _ in simulator.cut}
            assert shown - going.keys() - set(over) <= stopped
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
            shown = {truth.jobs[j].id for j in simulator.going} | {truth.jobs[j].id for j in simulator.over}
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
    doubted = Law(np.array([1.0]), np.array([0.5]), 0.0, 1.0)  # half of them take longer than anybody has seen
    assert expected_load(few(running=runs((2, 1))), doubted)[0] == pytest.approx([1.0, 0, 0, 0, 0, 0, 0, 0])
    assert expected_load(few(running=runs((2, 2))), doubted)[0] == pytest.approx([1.0, 1.0, 0, 0, 0, 0, 0, 0])


def test_the_capacity_that_is_left_by_hand() -> None:
    """Told to be there for a slot more; half of it for three. Where nothing may start, nobody's end helps."""
    snapshot = few(running=runs((2, 1)), capacity=(3.0, *(4.0,) * 7))
    told = np.array([snapshot.capacity])
    assert told_load(snapshot.running, snapshot.places, 8)[0].tolist() == [1.0, *(0.0,) * 7]
    assert capacity_left(snapshot, HALF, told)[0] == pytest.approx([3.0, 3.5, 3.5, *(4.0,) * 5])
    long = few(running=runs((8, 1)))
    assert capacity_left(long, Law(np.array([0.5]), np.ones(1), 0.0, 1.0), np.zeros((1, 8))).tolist() == [[0.0] * 8]
    half = capacity_left(long, Law(np.array([0.5]), np.ones(1), 0.0, 1.0), np.full((1, 8), 3.0))
    assert half[0] == pytest.approx([3, 3, 3, 4, 4, 4, 4, 3])


def test_options_are_worth_what_they_earn_in_the_mean() -> None:
    """Told 2, it takes 3 in the mean; what may not be done by the end earns half of that. A history tells the truth."""
    snapshot, left = few(), np.full((1, 8), 4.0)
    program = reckoned(PRICING, snapshot, HALF, left, snapshot.jobs, np.ones(1, dtype=bool))
    assert program.duration.tolist() == [3]
    assert program.value.tolist() == [3.0, 3.0, 3.0, 3.0, 3.0, 1.5]
    doubted = Law(HALF.times, HALF.share, 1.0, 0.0)  # whatever is told, jobs take e slots or twice that
    known = reckoned(PRICING, snapshot, doubted, left, snapshot.jobs, np.zeros(1, dtype=bool))
    assert (known.duration.tolist(), known.value.tolist()) == ([2], [2.0] * 7)


def test_a_long_job_that_may_be_shorter_is_not_lost() -> None:
    """Told 7 of 8 slots, it would take 11 in the mean: it may begin at once."""
    job = few().jobs[0].model_copy(update={"duration": 7})
    program = reckoned(PRICING, few(jobs=(job,)), HALF, np.full((1, 8), 4.0), (job,), np.ones(1, dtype=bool))
    assert (program.start.tolist(), program.value.tolist()) == ([0], [4.0])


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
    exact = few(ended=runs((2, 2), (5, 5)), running=runs((3, 2)))
    durations = Durations()
    assert durations.law(exact) is None
    assert durations.ended == [(2, 2), (5, 5)]
    assert Durations().law(few(running=runs((3, 3)))) is not None
    law = durations.law(few(ended=runs((2, 4))))
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
    """Half of a replay, a state as JSON, and the other half: as if nobody had stopped."""
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
        told = len(policy.durations.ended)
        simulator.apply(decided)
    assert told > 1


def test_runs_that_may_be_ended_by_hand() -> None:
    """An end every two slots: a run of one slot lasts with exp(-1/2); at the first of two starts it may begin once more."""
    job = few().jobs[0].model_copy(update={"duration": 1, "latest": 1})
    program = surviving(0.5, PRICING.options(few(jobs=(job,)))[0])
    whole = np.exp(-0.5)
    assert program.start.tolist() == [0, 1]
    assert program.value == pytest.approx([whole * (2 - np.exp(-0.5)), whole])


def test_whoever_waits_again_has_been_ended() -> None:
    """Who has not begun, and who comes, has not; several that one failure ends have been ended once."""
    instance = masac(60, days=1, load=0.5, scale=0.2, seed=2)
    for mtbf_s, least, most in ((1e9, 0, 0), (4 * 3600.0, 2, 60)):
        events = draw_events(instance, seed=2, mtbf_s=mtbf_s, repair_s=600.0, cancelled=0.0)
        simulator = GeoSimulator(laid_over(instance, events, None), seed=2)
        policy = BidPricePolicy(GEO, Settings())
        policy.reset(2)
        while (snapshot := simulator.snapshot()) is not None:
            simulator.apply(policy.decide(snapshot))
        moments = {slot for _, slot in simulator.cut}
        assert least <= policy.endings.count <= len(moments) <= most
        assert (policy.endings.count > 0) == (len(moments) > 0)
