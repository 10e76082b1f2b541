"""What the future is thought to ask for, of more jobs than are looked at."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from optsched import geo
from optsched.decomposition.dual import Dual
from optsched.heuristics.serial_sgs import filled
from optsched.instances.base import Floats, Ints
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.instances.generators import osdec
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rolling import priced, reckoning, sampled
from optsched.rolling.arrivals import Arrivals
from optsched.rolling.deferrable.policies import PRICING
from optsched.rolling.geo.policies import PRICING as GEO
from optsched.rolling.loop import Interrupted, replay
from optsched.rolling.policy import Settings
from tests.oracle import brute, tiny

Looked = tuple[TimeIndexedProblem, Ints, int]


def first_look(
    monkeypatch: pytest.MonkeyPatch, late: int = 0, wait: int = 0, **use: Any
) -> tuple[priced.BidPricePolicy[Any, Any, Any], Looked]:
    """A policy after its first decision on a day like the one before, and what it priced: program, futures, how many.

    So many of the first jobs `wait`, or those that are there at the beginning.
    """
    past, coming = osdec(seed=1), osdec(seed=2)
    there = tuple(job for job in coming.jobs if job.submitted == 0)
    waiting = tuple(job.model_copy(update=PRICING.resubmit(job, 0)) for job in coming.jobs[:wait])
    snapshot = coming.model_copy(update={"jobs": waiting or there})
    looked: list[Looked] = []

    def look(program: TimeIndexedProblem, future: Ints, futures: int, *rest: Any) -> Floats:
        looked.append((program, future, futures))
        return sampled.mean_prices(program, future, futures, *rest)

    monkeypatch.setattr(priced, "mean_prices", look)
    pricing = replace(PRICING, with_history=replace(PRICING.with_history, **use), without_history=priced.PriceUse(share=0.0))
    policy = priced.BidPricePolicy(pricing, Settings(history=past))
    policy.late = late
    policy.decide(snapshot)
    return policy, looked[0]


def asked(program: TimeIndexedProblem, future: Ints, futures: int) -> float:
    """By one future."""
    return float((program.demand * program.duration)[future >= 0].sum()) / futures


@pytest.mark.parametrize("wait", [20, 150])
def test_fewer_futures_before_thinner_ones(wait: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The known jobs are looked at with each."""
    whole, (program, future, futures) = first_look(monkeypatch, wait=wait)
    known, each = int((future < 0).sum()), int((future == 0).sum())
    assert known == wait
    fewer, look = first_look(monkeypatch, wait=wait, most_drawn=7 * (known + each + 30))
    assert (futures, look[2]) == (20, 7)
    assert np.bincount(look[1][look[1] >= 0]).tolist() == [each] * 7
    assert asked(*look) == pytest.approx(asked(program, future, futures), rel=0.05)
    assert whole.prices is not None
    assert fewer.prices is not None
    assert fewer.prices.mean() == pytest.approx(whole.prices.mean(), rel=0.15)


@pytest.mark.parametrize("every", [2, 3])
def test_a_thinned_future_asks_for_as_much(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by what its load varies, which says how far its prices count."""
    whole, look = first_look(monkeypatch)
    known, each = int((look[1] < 0).sum()), int((look[1] == 0).sum())
    monkeypatch.setattr(priced, "ENOUGH_EACH", each // every)
    thinned, less = first_look(monkeypatch, most_drawn=20 * (known + each // every))
    assert less[2] == 20
    assert (less[1] >= 0).sum() < 1.2 * (look[1] >= 0).sum() / every
    assert asked(*less) == pytest.approx(asked(*look), rel=0.15)
    assert thinned.discount == pytest.approx(whole.discount, rel=0.1)


@pytest.mark.parametrize("late", [1, 2, 3, 8])
def test_who_was_late_prices_fewer_futures_however_few_they_hold(late: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, (_, future, futures) = first_look(monkeypatch, late=late)
    assert futures * (future < 0).sum() + (future >= 0).sum() <= max(10_000 / 4**late, 100 + (future < 0).sum())


def test_levels_are_gamma_distributed_about_their_mean() -> None:
    found = sampled.levels(2.0, 0.5, 40_000, np.random.default_rng(0))
    assert found.mean() == pytest.approx(2.0)
    assert found.std() == pytest.approx(1.0, rel=0.03)
    assert ((found / 2.0 - 1.0) ** 3).mean() == pytest.approx(2 * 0.5**4, rel=0.15)  # skewness is twice the spread
    assert sampled.levels(3.0, 0.2, 1, np.random.default_rng(0)) == pytest.approx([3.0])


def test_every_future_has_levels_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two draws a future, one for jobs that come at once and one for those that come much later."""
    monkeypatch.setattr(Arrivals, "level", lambda *_: (0.5, 0.4))
    monkeypatch.setattr(priced, "LASTS_S", 600.0)
    drawn, look = list[Floats](), sampled.levels

    def draw(mean: float, spread: float, *rest: Any) -> Floats:
        assert (mean, spread) == ((1.0, 0.2) if drawn else (0.5, 0.4))
        drawn.append(look(mean, spread, *rest))
        return drawn[-1]

    monkeypatch.setattr(priced, "levels", draw)
    _, (program, future, _) = first_look(monkeypatch)
    cores = {job.cores for job in osdec(seed=1).jobs}
    far = np.bincount(program.job, weights=program.start, minlength=len(future)) > 0
    last = np.array([np.flatnonzero((future == k) & far)[-1] for k in range(20)])  # in order of when they come
    assert {round(float(d / z), 6) for d, z in zip(program.demand[last], drawn[1], strict=True)} <= {round(c, 6) for c in cores}


@pytest.mark.parametrize("slots", [1, 4])
def test_a_day_like_the_past_one_is_at_its_level(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty jobs an hour on both, in so many slots, also while the first hours are all that has been seen."""
    levels: list[float] = []
    usual = Arrivals.level

    def told(self: Any, *given: Any) -> tuple[float, float]:
        level, spread = usual(self, *given)
        levels.append(level)
        return level, spread

    monkeypatch.setattr(Arrivals, "level", told)
    fields = {"slot_s": 3600.0 / slots, "capacity": [80.0 / slots] * 24 * slots, "delay_penalty": 0.1, "overload_penalty": 10.0}

    def day(name: str) -> Any:
        jobs = [
            {"id": f"{name}{t}.{n}", "cores": 1.0, "duration": 1, "earliest": t, "latest": t + 2, "submitted": t}
            for t in range(24 * slots)
            for n in range(40 // slots)
        ]
        return DeferrableInstance.from_dict({"name": name, "jobs": jobs} | fields)

    replay(day("a"), "rolling", settings=Settings(history=day("b")))
    assert len(levels) > 20
    assert levels == pytest.approx([1.0] * len(levels))


def test_fewer_of_late_ask_for_less_and_far_ones_for_nearly_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """At half the level a future job stands for half at once, and for 1 - 0.5 / e of itself after twelve hours."""
    coming, asked = osdec(seed=2), []
    snapshot = coming.model_copy(update={"jobs": tuple(job for job in coming.jobs if job.submitted == 0)})
    solved = sampled.mean_prices

    def weigh(program: TimeIndexedProblem, *rest: Any) -> Floats:
        asked.append(program.demand)
        return solved(program, *rest)

    monkeypatch.setattr(priced, "mean_prices", weigh)
    monkeypatch.setattr(priced, "SPREAD", 1e-6)
    for level in (1.0, 0.5):
        monkeypatch.setattr(Arrivals, "level", lambda *_, level=level: (level, 1e-6))
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


def waiting(now: int, *jobs: Job) -> DeferrableInstance:
    """One core for three slots, in which those jobs wait."""
    return DeferrableInstance(
        name="few", slot_s=300, now=now, capacity=(1.0,) * (3 - now), delay_penalty=0.1, overload_penalty=10.0, jobs=jobs
    )


@pytest.mark.parametrize("restored", [False, True])
def test_no_room_is_kept_for_who_can_no_longer_come(restored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only one that is expected comes in the next slot; prices are made anew a quarter of an hour later at the soonest."""
    other = Job(id="future", cores=1, duration=1, earliest=1, latest=1, submitted=1)
    futures = iter((sampled.Futures([other], [False], [0], 1, 1), sampled.Futures[Job]([], [], [], 1, 1)))
    monkeypatch.setattr(priced.BidPricePolicy, "_futures", lambda *_: next(futures))
    policy = priced.BidPricePolicy(PRICING, Settings())
    policy.decide(waiting(0))
    assert policy.expected
    if restored:
        state = policy.state()
        policy = priced.BidPricePolicy(PRICING, Settings())
        policy.restore(state)
    policy.decide(waiting(1))
    assert not policy.expected
    policy.decide(waiting(2))  # and nobody looks again


@pytest.mark.parametrize(("expected", "blind", "starts"), [(False, False, 1), (True, False, 0), (False, True, 0)])
def test_what_is_left_is_for_who_cannot_pay(expected: bool, blind: bool, starts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless others may come; of more options than are planned exactly, at a price above what any is worth."""
    monkeypatch.setattr(priced, "EXACT", 0)
    policy = priced.BidPricePolicy(PRICING, Settings())
    policy.prices, policy.expected, policy.blind = np.full((1, 3), 5.0), expected, blind
    jobs = [Job(id=name, cores=1, duration=1, earliest=0, latest=0, submitted=0) for name in "ab"]
    assert len(policy.decide(waiting(0, *jobs)).starts) == starts


def test_what_is_left_is_for_who_cannot_pay_where_estimates_err(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs on four free GPUs at prices above all worth, after a run that took half as long again as it was told to."""
    monkeypatch.setattr(priced, "EXACT", 0)
    model = geo.Model("left", horizon=6, slot_s=3600, gpu_revenue_usd_per_h=1, gpu_power_kw=1)
    site = model.add_site(gpus=4, price_usd_per_mwh=[1] * 6, carbon_g_per_kwh=[0] * 6)
    for _ in range(2):
        model.add_job(site, gpus=1, duration=2, slack=1, submitted=0)
    policy = priced.BidPricePolicy(GEO, Settings())
    policy.prices, policy.blind = np.full((1, 6), 5.0), False
    policy.experience, policy.reckoned = reckoning.Experience(ended=[(2, 3)]), (True, False)
    assert len(policy.decide(model.instance()).starts) == 2


def test_a_choice_is_filled_with_the_densest() -> None:
    program = TimeIndexedProblem(
        job=np.arange(4),
        place=np.zeros(4, dtype=np.int64),
        start=np.zeros(4, dtype=np.int64),
        value=np.array([1.0, 2.0, 3.0, -1.0]),
        demand=np.ones(4),
        duration=np.ones(4, dtype=np.int64),
        capacity=np.full((1, 1), 2.0),
        overload_price=None,
        constant=0.0,
    )
    assert filled(program, np.array([0])).tolist() == [0, 2]
    assert filled(replace(program, capacity=np.full((1, 1), 9.0)), np.array([0])).tolist() == [0, 1, 2]


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


def test_every_future_has_its_prices() -> None:
    """Four jobs want two cores, which cost 2 then; where a future holds nobody, the known job is alone, and they cost nothing.

    Of the mean of four such futures not a core would lack.
    """
    program = TimeIndexedProblem(
        job=np.arange(4),
        place=np.zeros(4, dtype=np.int64),
        start=np.zeros(4, dtype=np.int64),
        value=np.array([1.0, 3.0, 3.0, 2.0]),
        demand=np.ones(4),
        duration=np.ones(4, dtype=np.int64),
        capacity=np.full((1, 1), 2.0),
        overload_price=None,
        constant=0.0,
    )
    future = np.array([-1, 0, 0, 0])
    alone = sampled.mean_prices(program, future, 1, 200, None)
    assert 2 < alone[0, 0] < 3.1
    for futures in (2, 4):
        assert sampled.mean_prices(program, future, futures, 200, None) == pytest.approx(alone / futures, rel=0.1)
    assert sampled.mean_prices(program, np.full(4, -1), 3, 200, None)[0, 0] > 1.9  # all are known


@pytest.mark.parametrize(
    ("change", "share"),
    [
        ({}, np.exp(-0.5)),
        ({"reckoned": (True, False)}, 0.0),
        ({"expected": False}, 0.0),
        ({"_futures": lambda *_: sampled.Futures([], [], [], 6, 1)}, 0.0),
    ],
)
def test_prices_of_before_count_on(change: dict[str, Any], share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour later, if nothing else has changed: neither what is known of durations, nor whether anybody is expected."""
    two_hours = osdec(seed=2, horizon=24)
    found = iter((1.0, 3.0))
    monkeypatch.setattr(priced, "mean_prices", lambda program, *_: np.full_like(program.capacity, next(found)))
    policy = priced.BidPricePolicy(replace(PRICING, averaged_s=7200.0), Settings(history=osdec(seed=1)))
    policy.decide(two_hours)
    for name, value in change.items():
        setattr(policy, name, value)
    policy.decide(two_hours.model_copy(update={"now": 12, "capacity": two_hours.capacity[12:], "jobs": ()}))
    assert policy.prices == pytest.approx(np.full((1, 12), share + 3.0 * (1.0 - share)))


@pytest.mark.parametrize(
    ("slot_s", "first", "hours"), [(300, 0, 3), (300, 2, 3), (300, 3, 2), (900, 0, 3), (1800, 0, 2), (3600, 0, 2)]
)
def test_a_first_hour_of_which_more_than_a_quarter_was_missed_tells_nothing(slot_s: float, first: int, hours: int) -> None:
    """Who waits in the very first slot may have come at any time; three hours after midnight, two of which are whole."""
    policy = priced.BidPricePolicy(PRICING, Settings())
    policy._open(slot_s, round(86400 / slot_s))
    policy.first = first
    assert len(policy._own(round(10800 / slot_s), priced.MISSED)) == hours
    assert len(policy._own(round(10800 / slot_s), 0.0)) == 2


@pytest.mark.parametrize(
    ("slot_s", "first", "learnt"), [(300, 0, 72), (300, 20, 96), (7200, 0, 7), (21600, 0, 5), (86400, 0, 2)]
)
def test_hours_that_have_been_seen_are_as_good_as_a_history(slot_s: float, first: int, learnt: int) -> None:
    """Six hours, or of longer slots six, or a day of them; also after a checkpoint, and between two times of pricing."""

    def at(now: int) -> DeferrableInstance:
        rest = (1.0,) * (288 - now)
        return DeferrableInstance(
            name="idle", slot_s=slot_s, now=now, capacity=rest, delay_penalty=1.0, overload_penalty=10.0, jobs=()
        )

    def remembered(policy: priced.BidPricePolicy[Any, Any, Any]) -> priced.PriceUse:
        again = priced.BidPricePolicy(PRICING, Settings())
        again.restore(policy.state())
        return again.use

    hour = max(1, round(3600 / slot_s))
    policy = priced.BidPricePolicy(PRICING, Settings())
    for now, use in (
        (first, PRICING.without_history),
        (learnt - hour, PRICING.without_history),
        (learnt, PRICING.with_history),
        (learnt + 1, PRICING.with_history),
    ):
        policy.decide(at(now))
        assert policy.use is remembered(policy) is use
    policy.reset(0)
    assert policy.use is PRICING.without_history
    assert priced.BidPricePolicy(PRICING, Settings(history=at(0))).use is PRICING.with_history


def idle(now: int, slots: int) -> DeferrableInstance:
    """Nobody comes."""
    return DeferrableInstance(
        name="idle", slot_s=300, now=now, capacity=(1.0,) * slots, delay_penalty=1.0, overload_penalty=10.0, jobs=()
    )


@pytest.mark.parametrize("now", [0, 96])
def test_a_history_as_long_as_what_is_replayed_is_enough(now: int) -> None:
    """Three hours of each, also from eight in the morning on."""
    policy = priced.BidPricePolicy(PRICING, Settings(history=idle(0, 36)))
    policy.decide(idle(now, 36))
    assert policy.use is PRICING.with_history


@pytest.mark.parametrize(("minutes", "learnt"), [(30, 6), (180, 3), (355, 1), (360, 0)])
def test_a_history_counts_by_its_whole_hours(minutes: int, learnt: int) -> None:
    """Half an hour of it is nothing; of six hours the rest is learnt here."""
    policy = priced.BidPricePolicy(PRICING, Settings(history=idle(0, minutes // 5)))
    for hour in range(7):
        policy.decide(idle(12 * hour, 288 - 12 * hour))
        assert policy.use is (PRICING.with_history if hour >= learnt else PRICING.without_history)


@pytest.mark.parametrize(("pricing", "last"), [(PRICING, 3), (GEO, None)])
def test_who_may_come_where_no_other_day_tells(
    pricing: priced.BidPricing[Any, Any, Any], last: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, drawn = list[int | None](), Arrivals.future

    def future(self: Arrivals[Any], known: list[range], first: int, end: int, like_last: int | None, rng: Any) -> Any:
        told.append(like_last)
        return drawn(self, known, first, end, like_last, rng)

    monkeypatch.setattr(Arrivals, "future", future)
    policy = priced.BidPricePolicy(pricing, Settings())
    policy.decide((tiny.deferrable if pricing is PRICING else tiny.geo)(1))
    assert set(told) == {last}


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
    assert sampled.variation(program, drawn, np.ones(3)) == pytest.approx(alone)
    assert sampled.variation(program, drawn, np.full(3, 0.25)) == pytest.approx(
        2 * alone
    )  # of four futures: a quarter of the jobs each
    assert sampled.variation(program, np.zeros(3, dtype=bool), np.ones(3)) is None


def test_a_history_of_few_jobs_is_doubted() -> None:
    """But not below what counts without one; and who goes on from a memory doubts it as much."""
    snapshot = osdec(seed=2, jobs=1200)
    few = snapshot.model_copy(update={"jobs": snapshot.jobs[:20]})
    shares = []
    for past in (few, snapshot):
        policy = priced.BidPricePolicy(PRICING, Settings(history=past))
        policy.decide(snapshot.model_copy(update={"jobs": snapshot.jobs[:1]}))
        shares.append(policy.discount)
        again = priced.BidPricePolicy(PRICING, Settings(history=past))
        again.restore(policy.state())
        assert again.discount == policy.discount
    assert 0 < PRICING.without_history.share == shares[0] < 0.8 * shares[1] < 0.8


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
    solved = sampled.solve_dual

    def count(program: TimeIndexedProblem, **options: Any) -> Dual:
        asked.append(options["iterations"])
        if policy.prices is not None:
            raise KeyboardInterrupt
        return solved(program, **options)

    monkeypatch.setattr(sampled, "solve_dual", count)
    instance = osdec(seed=2, jobs=30, horizon=60)
    policy = priced.BidPricePolicy(PRICING, Settings(history=osdec(seed=1, jobs=30, horizon=60), replan_s=replan_s))
    with pytest.raises(Interrupted):
        replay(instance, policy)
    assert asked[0] == 200
    assert len(asked) > 3
    assert set(asked[1:-1]) == {20}  # other futures go on from the first
    assert asked[-1] == iterations


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


@pytest.mark.parametrize(("late", "fewest", "draws"), [(1, 100, 10), (3, 100, 10), (5, 20, 40)])
def test_fewer_futures_ask_for_as_much_all_day(late: int, fewest: int, draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few jobs stand for all, no part of the day has more than its share (the work of some draws, by half of it)."""
    monkeypatch.setattr(priced, "FEWEST_DRAWN", fewest)
    past, coming = osdec(seed=1), osdec(seed=2)
    snapshot = coming.model_copy(update={"jobs": tuple(job for job in coming.jobs if job.submitted == 0)})
    half, asked = coming.horizon // 2, dict[int, Any]()

    def weigh(program: TimeIndexedProblem, future: Ints, futures: int, *_: Any) -> Floats:
        first = np.flatnonzero(np.diff(program.job, prepend=-1))
        work = np.where(future >= 0, program.demand * program.duration / futures, 0.0)[program.job[first]]
        early = program.start[first] < half
        asked[count] += (work[early].sum(), work[~early].sum())
        return np.zeros_like(program.capacity)

    monkeypatch.setattr(priced, "mean_prices", weigh)
    for count in (0, late):
        asked[count] = np.zeros(2)
        for seed in range(draws):
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
    solved = sampled.mean_prices

    def count(program: TimeIndexedProblem, *rest: Any) -> Floats:
        looked_at.append(len(np.unique(program.job)))
        return solved(program, *rest)

    monkeypatch.setattr(priced, "mean_prices", count)
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
