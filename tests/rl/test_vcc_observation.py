"""What the agents of vcc see and decide: by hand, without units, and the same in training as in a replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from optsched.instances.generators import vcc
from optsched.instances.vcc import Job, VccInstance
from optsched.rl.vcc.action import cap_of, to_action, to_share
from optsched.rl.vcc.carbon import FEATURES, Regression
from optsched.rl.vcc.carbon import LEADS as LEADS_FORETOLD
from optsched.rl.vcc.observation import LEADS, MOST_ASKED, OUTLOOK, SIZE, WAITED, Past, days_asked, observe
from optsched.rl.vcc.split import TEST, TRAIN, VALIDATION, Part, apart
from optsched.rolling.forecast import forecast
from optsched.rolling.vcc.batch import Batch, case, cheapest
from optsched.rolling.vcc.months import drawn, every, synthetic
from optsched.rolling.vcc.simulator import VccSimulator
from optsched.schedules.vcc import VccSchedule

SLOTS = 72


def small(count: int = 2, slots: int = 30, **fields: object) -> VccInstance:
    """Jobs of 2 NCU that run for an hour, all there at once; carbon halves after an hour."""
    jobs = tuple(Job(id=f"j{i}", submitted=0, duration=1, ncu=2.0) for i in range(count))
    carbon = (0.4, *(0.2,) * (slots - 1))
    return VccInstance(
        name="x", capacity_ncu=10.0, carbon_kg_per_kwh=carbon, inflexible_ncu=(0.0,) * slots, jobs=jobs, **fields
    )  # type: ignore[arg-type]


def test_the_gains_by_hand() -> None:
    """An hour at 0.4 now or at 0.2 later: half of the present carbon is saved, whichever hour is waited for."""
    instance = small()
    past = Past().seen(instance)
    seen = observe(instance, past)
    mean = (0.4 + 0.4 + 23 * 0.2) / 25  # the slot that has been seen, and the day to come
    assert seen.shape == (SIZE,)
    assert seen[0] == pytest.approx(0.4 / mean - 1)
    assert seen[OUTLOOK : OUTLOOK + len(LEADS)] == pytest.approx(0.2 / mean)


def test_what_is_asked_for_in_the_worst_day_is_where_it_is_looked_for() -> None:
    """A day's capacity is 240 NCU-hours, 60 jobs ask for 120."""
    instance = small(count=60)
    assert observe(instance, Past().seen(instance))[MOST_ASKED] == pytest.approx(0.5)


def test_no_units() -> None:
    """Twice the machines, the jobs and the inflexible load, and three times the carbon and the penalties, look the same."""
    one = vcc(days=2, jobs=100, load=0.3, seed=5)
    other = one.model_copy(
        update={
            "capacity_ncu": 2 * one.capacity_ncu,
            "inflexible_ncu": tuple(2 * x for x in one.inflexible_ncu),
            "carbon_kg_per_kwh": tuple(3 * x for x in one.carbon_kg_per_kwh),
            "jobs": tuple(job.model_copy(update={"ncu": 2 * job.ncu}) for job in one.jobs),
            **{f"{name}_penalty_per_ncu_h": 3.0 for name in ("delay", "daily", "unfinished")},
        }
    )
    seen = []
    for instance in (one, other):
        batch, rng = Batch([case(instance)]), np.random.default_rng(3)
        rows, over = [], False
        while not over:
            rows.append(batch.seen()[0])
            _, over = batch.step(rng.random(1))
        seen.append(np.array(rows))
    assert seen[0] == pytest.approx(seen[1], abs=1e-5)


def test_what_days_have_asked_by_hand() -> None:
    last, most = days_asked(np.array([1.0, 0.0, 5.0, 0.0, 0.0, 2.0]), 2)
    assert last.tolist() == [1.0, 1.0, 5.0, 5.0, 0.0, 2.0]
    assert most.tolist() == [1.0, 1.0, 5.0, 5.0, 5.0, 5.0]


@pytest.mark.parametrize(("share", "started"), [(0.0, 0), (0.3, 0), (0.34, 1), (0.7, 2), (0.99, 2), (1.0, 3)])
def test_a_share_starts_what_is_within_it(share: float, started: int) -> None:
    """Three jobs of 2 NCU; and a cap of all is 1."""
    instance = small(count=3)
    cap = cap_of(share, instance)
    simulator = VccSimulator(instance)
    simulator.apply(VccSchedule(cap=(cap,), starts=()))
    assert len(simulator.history().starts[:started]) == started
    assert [start.start for start in simulator.history().starts[:started]] == [0] * started
    assert simulator.queue.waiting == 3 - started
    assert cap == (1.0 if started == 3 else pytest.approx(0.2 * (started + 1)))


def test_actions_and_shares() -> None:
    shares, quiet = np.array([0.0, 0.25, 0.9, 1.0]), np.zeros((5, SIZE))
    assert to_share(to_action(shares), quiet[:4]) == pytest.approx(shares)
    actions = np.array([-1.0, -0.8, 0.0, 0.5, 1.0])
    assert to_share(actions, quiet).tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]
    for place, much in ((MOST_ASKED, 0.6), (WAITED, 0.4)):
        seen = quiet.copy()
        seen[:, place] = much
        assert to_share(actions, seen).tolist() == [1.0] * 5


@pytest.mark.parametrize("foretells", [False, True])
def test_many_at_once_are_the_replays_queues(foretells: bool) -> None:
    """The same starts in every slot, the same cost, and the same numbers seen as from the snapshots of a replay."""
    weights = np.random.default_rng(5).normal(0.0, 0.05, (FEATURES, LEADS_FORETOLD)) if foretells else None
    carbon = None if weights is None else Regression(np.ones(FEATURES), weights)
    instances = [vcc(days=3, jobs=300 + 50 * s, load=load, seed=s) for s, load in ((1, 0.05), (2, 0.4), (3, 0.9))]
    batch = Batch([case(instance, carbon=carbon) for instance in instances])
    shares = np.clip(np.random.default_rng(0).random((SLOTS, 3)) * 1.4 - 0.2, 0.0, 1.0)
    simulators = [VccSimulator(instance, forecast=forecast("fitted")) for instance in instances]
    pasts, cost = [Past()] * 3, np.zeros(3)
    for t in range(SLOTS):
        rows = batch.seen()
        for i, simulator in enumerate(simulators):
            snapshot = simulator.snapshot()
            assert snapshot is not None
            pasts[i] = pasts[i].seen(snapshot)
            believed = snapshot if carbon is None else carbon.believed(snapshot, pasts[i])
            assert rows[i] == pytest.approx(observe(believed, pasts[i]), abs=1e-6)
            cost[i] += sum(simulator.queue.step(cap_of(shares[t, i], snapshot)))
        batch.step(shares[t])
        assert [simulator.queue.waiting for simulator in simulators] == (
            (batch.come - batch.started).tolist() if t < 71 else [simulator.queue.waiting for simulator in simulators]
        )
    fixed = np.array([held.fixed for held in batch.cases])
    assert batch.cost + fixed == pytest.approx(cost)


def test_rewards_add_up_to_what_is_saved() -> None:
    """Whatever is done, returns differ by what the costs do."""
    cases = [case(instance) for instance in synthetic(4, np.random.default_rng(2), days=2)]
    found = []
    for seed in (None, 0, 1):
        batch, total, over = Batch(cases), np.zeros(4), False
        rng = np.random.default_rng(seed)
        while not over:
            reward, over = batch.step(np.ones(4) if seed is None else rng.random(4) ** 0.2)
            total += reward * batch.scale
        found.append((total, batch.cost))
    (none, rule), *others = found
    for total, cost in others:
        assert total - none == pytest.approx(rule - cost)


def test_what_knows_everything_saves() -> None:
    instance = vcc(days=3, jobs=200, load=0.1, seed=4)
    assert (np.diff(cheapest(instance)) >= 0).all()
    costs = []
    for planned in (False, True):
        batch, over = Batch([case(instance, planned=True)]), False
        while not over:
            _, over = batch.step(batch.planned() if planned else np.ones(1))
        costs.append(batch.cost[0])
    assert costs[1] < costs[0]


def test_the_split_is_disjoint() -> None:
    parts = (TRAIN, VALIDATION, TEST)

    def days(part: Part) -> set[int]:
        return set(range(part.days[0], part.days[1] + 1))

    for i, one in enumerate(parts):
        for other in parts[i + 1 :]:
            assert not set(one.months) & set(other.months)
            assert not days(one) & days(other)
            assert not set(one.scales) & set(other.scales)
    assert not any(apart(scale) for part in (VALIDATION, TEST) for scale in part.scales)
    assert [list(part.starts(7)) for part in parts] == [list(range(8)), [14], [21]]


@pytest.mark.slow
def test_the_weeks_are_of_their_part(traces: Path) -> None:
    for instance in drawn(TRAIN, 2, np.random.default_rng(0), traces):
        day = int(instance.name.split("-")[1][1:])
        assert day in TRAIN.starts(7)
        assert instance.name.split("-x")[1].split("-", 1)[1].rsplit("-", 1)[0] in TRAIN.months
        assert instance.horizon == 168
    for mixed in drawn(TRAIN, 2, np.random.default_rng(1), traces, mixed=True):
        days = [int(day) for day in mixed.name.split("-x")[0].split("-")[2:]]
        assert VccInstance.model_validate(mixed.model_dump()).horizon == 168  # what is copied is not validated
        assert len(days) == 7
        assert set(days) <= set(range(TRAIN.days[1] + 1))
        case(mixed, "fitted")
    found = every(VALIDATION, (0,), traces)
    assert len(found) == len(VALIDATION.months) * len(VALIDATION.scales)
    assert {instance.name.split("-")[1] for instance in found} == {"d14"}
