"""What the future is thought to ask for, of more jobs than are looked at."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from optsched import geo
from optsched.decomposition.dual import Dual, solve_dual
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.instances.generators import osdec
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rolling import priced
from optsched.rolling.arrivals import Arrivals
from optsched.rolling.deferrable.policies import PRICING
from optsched.rolling.geo.policies import PRICING as GEO
from optsched.rolling.loop import Interrupted, replay
from optsched.rolling.policy import Settings
from tests.oracle import brute, tiny


@pytest.mark.parametrize("every", [2, 3])
def test_a_thinned_future_asks_for_as_much(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    past, coming = osdec(seed=1), osdec(seed=2)
    snapshot = coming.model_copy(update={"jobs": tuple(job for job in coming.jobs if job.submitted == 0)})
    asked: list[float] = []
    looked_at: list[int] = []
    solved = priced.solve_dual

    def weigh(program: TimeIndexedProblem, **options: Any) -> Dual:
        jobs = np.unique(program.job)
        asked.append(float((program.demand * program.duration)[jobs].sum()))
        looked_at.append(len(jobs))
        return solved(program, **options)

    monkeypatch.setattr(priced, "solve_dual", weigh)
    whole = priced.BidPricePolicy(PRICING, Settings(history=past))
    whole.decide(snapshot)
    fewer = replace(PRICING, with_history=replace(PRICING.with_history, most_drawn=looked_at[0] // every + 1))
    thinned = priced.BidPricePolicy(fewer, Settings(history=past))
    thinned.decide(snapshot)
    assert looked_at[1] < 1.3 * looked_at[0] / every
    assert asked[1] == pytest.approx(asked[0], rel=0.15)
    assert whole.prices is not None
    assert thinned.prices is not None
    assert thinned.prices.mean() == pytest.approx(whole.prices.mean(), rel=0.15)


def test_a_day_like_the_past_one_is_at_its_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten jobs an hour on both, also while the first hours are all that has been seen."""
    levels: list[float] = []
    usual = Arrivals.level

    def told(self: Any, *given: Any) -> float:
        levels.append(usual(self, *given))
        return levels[-1]

    monkeypatch.setattr(Arrivals, "level", told)
    fields = {"slot_s": 3600.0, "capacity": [20.0] * 24, "delay_penalty": 0.1, "overload_penalty": 10.0}

    def day(name: str) -> Any:
        jobs = [
            {"id": f"{name}{t}.{n}", "cores": 1.0, "duration": 1, "earliest": t, "latest": t + 2, "submitted": t}
            for t in range(24)
            for n in range(10)
        ]
        return DeferrableInstance.from_dict({"name": name, "jobs": jobs} | fields)

    replay(day("a"), "rolling", settings=Settings(history=day("b")))
    assert len(levels) > 20
    assert levels == pytest.approx([1.0] * len(levels))


def test_fewer_of_late_ask_for_less_and_far_ones_for_nearly_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """At half the level a future job stands for half at once, and for 1 - 0.5 / e of itself after twelve hours."""
    coming, asked = osdec(seed=2), []
    snapshot = coming.model_copy(update={"jobs": tuple(job for job in coming.jobs if job.submitted == 0)})
    solved = priced.solve_dual

    def weigh(program: TimeIndexedProblem, **options: Any) -> Dual:
        asked.append(program.demand)
        return solved(program, **options)

    monkeypatch.setattr(priced, "solve_dual", weigh)
    for level in (1.0, 0.5):
        monkeypatch.setattr(Arrivals, "level", lambda *_, level=level: level)
        priced.BidPricePolicy(PRICING, Settings(history=osdec(seed=1))).decide(snapshot)
    share, known = asked[1] / asked[0], len(snapshot.jobs)
    assert (share[:known] == 1.0).all()
    assert share[known:].min() == pytest.approx(0.5, abs=0.02)
    assert share[known:].max() == pytest.approx(1 - 0.5 / np.e, abs=0.02)


@pytest.mark.parametrize("family", ["deferrable", "geo"])
def test_who_knows_everybody_does_as_well_as_can_be(family: str) -> None:
    """Jobs that are all there at once, and nobody else to come: prices must not turn away who has no rival."""
    for seed in range(40):
        drawn = getattr(tiny, family)(seed)
        instance = drawn.model_copy(update={"jobs": tuple(job.model_copy(update={"submitted": 0}) for job in drawn.jobs)})
        found, best = replay(instance, "rolling").objective, brute.optimum(instance)
        assert found >= best - priced.GAP * abs(best) - 1e-12, seed


@pytest.mark.parametrize(("past", "taken"), [(None, True), (osdec(seed=1, jobs=5), False)])
def test_a_history_makes_prices_surer(past: DeferrableInstance | None, taken: bool) -> None:
    """One core for one slot is worth 1: at a price of 1.5 worth it while half of that counts, and not when 0.9 of it does."""
    job = Job(id="a", cores=1, duration=1, earliest=0, latest=0, submitted=0)
    snapshot = DeferrableInstance(
        name="one", slot_s=300, capacity=(1.0, 1.0), delay_penalty=1.0, overload_penalty=10.0, jobs=(job,)
    )
    pricing = replace(PRICING, without_history=priced.PriceUse(0.5), with_history=priced.PriceUse(0.9))
    policy = priced.BidPricePolicy(pricing, Settings(history=past))
    policy.prices, policy.expected = np.full((1, 2), 1.5), True
    assert bool(policy.decide(snapshot).starts) is taken


@pytest.mark.parametrize(("expected", "cheaper", "start"), [(True, 0.9, 0), (False, 0.9, 1), (True, 0.1, 1)])
def test_who_waits_for_cents_may_find_no_room(expected: bool, cheaper: float, start: int) -> None:
    """An hour later energy costs 0.9 of it, which is worth waiting for where nobody comes; at a tenth it is in any case."""
    model = geo.Model("wait", horizon=2, slot_s=3600, gpu_revenue_usd_per_h=1, gpu_power_kw=1)
    site = model.add_site(gpus=4, price_usd_per_mwh=[500, 500 * cheaper], carbon_g_per_kwh=[0, 0])
    model.add_job(site, gpus=2, duration=1, slack=1, submitted=0)
    policy = priced.BidPricePolicy(GEO, Settings())
    policy.prices, policy.expected = np.zeros((1, 2)), expected
    decided = policy.decide(model.instance())
    assert [each.start for each in decided.starts] == [start]


def test_variation_by_hand() -> None:
    """One core for two slots and three for one: loads of 4 and 1, variances of 10 and 1; the third job is known."""
    program = TimeIndexedProblem(
        job=np.array([0, 1, 1, 2]),
        place=np.zeros(4, dtype=np.int64),
        start=np.array([0, 0, 1, 0]),
        value=np.ones(4),
        demand=np.array([1.0, 3.0, 9.0]),
        duration=np.array([2, 1, 1]),
        capacity=np.ones((1, 3)),
        overload_price=None,
        constant=0.0,
    )
    drawn = np.array([True, True, False])
    alone = (math.sqrt(10) + 1) / 5
    assert priced._variation(program, drawn, np.ones(3)) == pytest.approx(alone)
    assert priced._variation(program, drawn, np.full(3, 0.25)) == pytest.approx(
        2 * alone
    )  # of four futures: a quarter of the jobs each
    assert priced._variation(program, np.zeros(3, dtype=bool), np.ones(3)) is None


def test_a_history_of_few_jobs_is_doubted() -> None:
    """And who goes on from a memory doubts it as much."""
    snapshot = osdec(seed=2)
    few = snapshot.model_copy(update={"jobs": snapshot.jobs[:20]})
    shares = []
    for past in (few, snapshot):
        policy = priced.BidPricePolicy(PRICING, Settings(history=past))
        policy.decide(snapshot.model_copy(update={"jobs": snapshot.jobs[:1]}))
        shares.append(policy.discount)
        again = priced.BidPricePolicy(PRICING, Settings(history=past))
        again.restore(policy.state())
        assert again.discount == policy.discount
    assert 0 < shares[0] < 0.8 * shares[1] < 0.8


def test_whoever_comes_too_late_leaves_known_jobs_their_room() -> None:
    """Four slots are left, three known jobs want all of them, and jobs of the history last ten times as long."""
    jobs = tuple(Job(id=f"j{n}", cores=1, duration=4, earliest=0, latest=0, submitted=0) for n in range(3))
    now = DeferrableInstance(name="short", slot_s=300, capacity=(1.0,) * 4, delay_penalty=1.0, overload_penalty=10.0, jobs=jobs)
    long = tuple(Job(id=f"l{n}", cores=1, duration=40, earliest=n, latest=n, submitted=n) for n in range(200))
    past = now.model_copy(update={"name": "long", "capacity": (1.0,) * 300, "jobs": long})
    policy = priced.BidPricePolicy(PRICING, Settings(history=past))
    assert len(policy.decide(now).starts) == 1
    assert not policy.expected
    assert policy.discount == PRICING.without_history.share


def test_a_history_of_nobody_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = osdec(seed=3)
    past = snapshot.model_copy(update={"jobs": ()})
    monkeypatch.setattr(priced, "EXACT", 100)
    for known in (snapshot.jobs[:1], snapshot.jobs[:50]):  # few options, and more than are planned exactly
        policy = priced.BidPricePolicy(PRICING, Settings(history=past))
        policy.decide(snapshot.model_copy(update={"jobs": known}))
        assert policy.discount == PRICING.without_history.share


@pytest.mark.parametrize(("replan_s", "iterations"), [(None, 20), (300.0, 20), (1800.0, 30), (3600.0, 60), (7200.0, 60)])
def test_who_asks_less_often_iterates_as_much(replan_s: float | None, iterations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    solved = priced.solve_dual

    def count(program: TimeIndexedProblem, **options: Any) -> Dual:
        asked.append(options["iterations"])
        if len(asked) == 2:
            raise KeyboardInterrupt
        return solved(program, **options)

    monkeypatch.setattr(priced, "solve_dual", count)
    instance = osdec(seed=2, jobs=30, horizon=60)
    policy = priced.BidPricePolicy(PRICING, Settings(history=osdec(seed=1, jobs=30, horizon=60), replan_s=replan_s))
    with pytest.raises(Interrupted):
        replay(instance, policy)
    assert asked == [200, iterations]


def test_a_memory_of_before_is_read() -> None:
    """States that do not say whether somebody was expected paid their prices."""
    policy = priced.BidPricePolicy(PRICING, Settings())
    policy.decide(tiny.deferrable(1))
    state = {name: value for name, value in policy.state().items() if name not in ("expected", "discount")}
    policy.restore(state)
    assert policy.expected
    informed = priced.BidPricePolicy(PRICING, Settings(history=osdec(seed=1)))
    informed.restore(state)
    assert informed.discount == PRICING.without_history.share  # what counted then


@pytest.mark.parametrize("late", [1, 3, 5])
def test_fewer_futures_ask_for_as_much_all_day(late: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few jobs stand for all, no part of the day has more than its share (the work of ten draws, by half of it)."""
    past, coming = osdec(seed=1), osdec(seed=2)
    snapshot = coming.model_copy(update={"jobs": tuple(job for job in coming.jobs if job.submitted == 0)})
    half, asked = coming.horizon // 2, dict[int, Any]()

    def weigh(program: TimeIndexedProblem, **options: Any) -> Dual:
        first = np.flatnonzero(np.diff(program.job, prepend=-1))
        work = (program.demand * program.duration)[program.job[first]]
        early = program.start[first] < half
        asked[count] += (work[early].sum(), work[~early].sum())
        return solve_dual(program, iterations=1)

    monkeypatch.setattr(priced, "solve_dual", weigh)
    for count in (0, late):
        asked[count] = np.zeros(2)
        for seed in range(10):
            policy = priced.BidPricePolicy(PRICING, Settings(history=past))
            policy.reset(seed)
            policy.late = count
            policy.decide(snapshot)
    assert asked[late] == pytest.approx(asked[0], rel=0.2)


def test_who_was_late_looks_at_fewer_futures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter as many jobs each time, also after a checkpoint; the same prices about as often as before."""
    past, coming = osdec(seed=1), osdec(seed=2)
    snapshot = coming.model_copy(update={"jobs": tuple(job for job in coming.jobs if job.submitted == 0)})
    looked_at: list[int] = []
    solved = priced.solve_dual

    def count(program: TimeIndexedProblem, **options: Any) -> Dual:
        looked_at.append(len(np.unique(program.job)))
        return solved(program, **options)

    monkeypatch.setattr(priced, "solve_dual", count)
    policy = priced.BidPricePolicy(PRICING, Settings(history=past))
    for _ in range(4):
        again = priced.BidPricePolicy(PRICING, Settings(history=past))
        again.restore(policy.state())
        again.decide(snapshot)
        policy.hurry()
    assert looked_at[0] > 2 * looked_at[2] > 2 * looked_at[3]
    assert looked_at[3] < len(snapshot.jobs) + 2 * priced.FEWEST_DRAWN
    policy.reset(0)
    assert policy.late == 0
