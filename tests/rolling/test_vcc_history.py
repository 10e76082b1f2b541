"""What past days tell `rolling` of vcc: who comes when, how often a lump does, and nothing of the days to come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.instances.generators import vcc
from optsched.instances.vcc import VccInstance
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings
from optsched.rolling.vcc.account import Account
from optsched.rolling.vcc.lanes import DURATIONS
from optsched.rolling.vcc.past import BELIEVED, LUMPS, NOTHING, Past
from optsched.rolling.vcc.policies import Rolling
from optsched.rolling.vcc.simulator import VccSimulator
from optsched.rolling.vcc.surprises import DAYS


def past_days(horizon: int, ncu: dict[int, float], **fields: Any) -> VccInstance:
    """Jobs of an hour, one at most in each slot: NCU by slot."""
    listed = [{"id": f"j{t}", "submitted": t, "duration": 1, "ncu": one} for t, one in ncu.items()]
    flat = {"carbon_kg_per_kwh": [1.0] * horizon, "inflexible_ncu": [0.0] * horizon}
    return VccInstance.from_dict({"name": "past", "capacity_ncu": 10.0, "jobs": listed} | flat | fields)


def asked(hours: Any) -> list[float]:
    return [float(hour @ DURATIONS) for hour in hours]


def test_whole_days_by_hand() -> None:
    """Days of 4 and 9 NCU-hours, and an hour of a third, which is none; the second has a lump of 1.5 usual days."""
    past = Past.of(past_days(49, {1: 1.0, 5: 3.0, 25: 3.0, 30: 6.0, 48: 5.0}))
    assert [sum(day) for day in past.asked] == [4.0, 9.0]
    rates = dict(past.lumps)
    assert rates[1.0] == pytest.approx((BELIEVED / 14 + 1) / (BELIEVED + 2))
    for size, rate in LUMPS[0], LUMPS[2], LUMPS[3]:
        assert rates[size] == pytest.approx(BELIEVED * rate / (BELIEVED + 2))
    assert past.lumpy


def test_what_comes_every_night_is_no_lump() -> None:
    """Fourteen nights with most of the day's work; and where the usual day is empty nobody knows what a lump is."""
    nights = Past.of(past_days(14 * 24, {24 * day + t: ncu for day in range(14) for t, ncu in ((0, 6.0), (9, 4.0))}))
    assert dict(nights.lumps) == pytest.approx({size: BELIEVED * rate / (BELIEVED + 14) for size, rate in LUMPS})
    assert nights.lumpy is False
    assert Past.of(past_days(14 * 24, {24 * day: 6.0 for day in range(6)})).lumps == LUMPS


def test_who_has_waited_came_before() -> None:
    jobs = [
        {"id": "w", "submitted": 0, "duration": 5, "ncu": 2.0, "waited": 3},
        {"id": "j", "submitted": 0, "duration": 1, "ncu": 1.0},
    ]
    assert sum(map(sum, Past.of(past_days(24, {}, jobs=jobs)).asked)) == 1.0


def test_a_history_that_begins_at_noon_has_its_first_day_from_midnight_on() -> None:
    past = Past.of(past_days(40, {0: 8.0, 13: 2.0}, now=36))
    assert [day.index(2.0) for day in past.asked] == [1]
    assert sum(map(sum, past.asked)) == 2.0


def test_hours_before_end_at_the_same_time_of_the_day() -> None:
    past = Past.of(past_days(48, {t: 1.0 + t / 100 for t in range(48)}))
    assert asked(past.before(0))[-1] == pytest.approx(1.47)
    assert asked(past.before(24 * 5 + 3))[-1] == pytest.approx(1.26)
    assert asked(past.before(24 * 5 + 3))[0] == pytest.approx(1.0)
    assert len(past.before(24 * 5 + 3)) == 27


def test_six_days_are_remembered_and_the_rest_of_a_day_is_that_of_any() -> None:
    """Of eight days the last six; after their first hours they went on to ask for 3, 2, 2, 2, 2, 2, 2 and 2 NCU-hours."""
    days = {24 * day + t: 1.0 for day in range(8) for t in (0, 7, 9)} | {5: 1.0}
    policy = Rolling(Settings(history=past_days(8 * 24, days)))
    instance = past_days(48, {0: 2.0})
    policy.account.observe(instance)
    assert len(policy.account.hours(instance)) == DAYS * 24
    assert policy._coming(instance).tolist() == [3.0, *[2.0] * 7, 6.0]


def test_with_less_than_a_day_known_cap_1_decides() -> None:
    """One past day, whose hours until the present one are all that leads up to it."""
    past = vcc(days=1, jobs=60, load=0.3, seed=5)
    instance = vcc(days=3, jobs=180, load=0.3, seed=6).model_copy(update={"now": 1})
    policy, simulator = Rolling(Settings(history=past)), VccSimulator(instance)
    for _ in range(21):
        snapshot = simulator.snapshot()
        assert snapshot is not None
        decision = policy.decide(snapshot)
        assert decision.cap == (1.0,)
        simulator.apply(decision)


def test_less_than_a_day_tells_nothing() -> None:
    assert Past.of(past_days(23, {3: 1.0})) is NOTHING
    assert NOTHING.lumps == LUMPS
    assert tuple(NOTHING.before(7)) == ()


def test_the_first_night_is_followed_by_a_day_of_the_past() -> None:
    """In the first slot of a replay the day ahead is each of the past ones."""
    past = Past.of(past_days(48, {t: 1.0 + t / 100 for t in range(48)}))
    account, instance = Account(past=past), past_days(72, {0: 2.0})
    account.observe(instance)
    futures = account._futures(instance, 24)
    usual = futures.work[:2, 1:].sum(axis=2)
    assert usual[0] == pytest.approx([1.0 + t / 100 for t in range(25, 48)])
    assert usual[1] == pytest.approx([1.0 + t / 100 for t in range(1, 24)])


def test_a_history_pays() -> None:
    """A week of light load: without one the first day is cap 1's, and a lump is feared that never comes."""
    for seed in (3, 4):
        instance, past = (vcc(days=5, jobs=300, load=0.3, seed=each) for each in (seed, seed + 1000))
        cost = {
            "uncapped": replay(instance, "uncapped").objective,
            "rolling": replay(instance, "rolling").objective,
            "with": replay(instance, "rolling", settings=Settings(history=past)).objective,
        }
        assert cost["with"] < 0.98 * cost["rolling"] < 0.98 * cost["uncapped"]


def test_a_longer_history_than_the_replay_is_taken_and_kept(tmp_path: Path) -> None:
    """And a replay that is killed goes on with it as if it had not been."""
    instance, past = vcc(days=2, jobs=120, load=0.3, seed=1), vcc(days=6, jobs=360, load=0.3, seed=2)
    whole = replay(instance, "rolling", settings=Settings(history=past))

    def crash(row: dict[str, Any]) -> None:
        if row["time_s"] == 30 * 3600.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optsched.replay(instance, "rolling", history=past, checkpoint=tmp_path / "c", every=7, log=crash)
    resumed = optsched.replay(instance, "rolling", history=past, checkpoint=tmp_path / "c", every=7, resume=True)
    assert (resumed.schedule, resumed.objective) == (whole.schedule, whole.objective)
