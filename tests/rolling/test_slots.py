"""Replays of geo and deferrable by hand, and what must hold of every policy: feasible, below the bounds, without foresight."""

from __future__ import annotations

import re
import signal
from functools import cache
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.instances.base import Instance
from optsched.instances.generators import andreas
from optsched.referee import check, evaluate
from optsched.registry import family as family_named
from optsched.rolling.loop import replay
from optsched.rolling.policy import policies
from optsched.rolling.slots import whole_slots
from optsched.schedules.geo import GeoSchedule, Start
from tests.oracle import tiny

BEHIND = [("deferrable", name) for name in policies("deferrable")] + [("geo", name) for name in policies("geo")]


def two_sites(**changes: Any) -> Any:
    """A GPU at a and at b; x holds a's in slots 0..3. y may start there in 4 or 5, or go to b: 2 slots there, 1 back.

    A GPU-slot earns 1 USD, a GB on the way costs 0.25.
    """
    fields: dict[str, Any] = {
        "slot_s": 60,
        "horizon": 10,
        "signal_slot_s": 600,
        "gpu_revenue_usd_per_h": 60,
        "gpu_power_kw": 1,
        "idle_power_ratio": 0,
        "carbon_price_usd_per_t": 0,
        "network_kwh_per_gb": 0,
        "sites": [{"id": s, "gpus": 1, "pue": 1, "price_usd_per_mwh": [0.0], "carbon_g_per_kwh": [0.0]} for s in "ab"],
        "links": [
            {"from": s, "to": t, "throughput_gb_per_s": 1 / 60, "cost_usd_per_gb": 0.25} for s, t in (("a", "b"), ("b", "a"))
        ],
        "jobs": [
            {"id": "x", "source": "a", "submitted": 0, "gpus": 1, "duration": 4, "slack": 0, "data_gb": 0.0, "model_gb": 0.0},
            {"id": "y", "source": "a", "submitted": 1, "gpus": 1, "duration": 2, "slack": 4, "data_gb": 1.0, "model_gb": 1.0},
        ],
    }
    return tiny.make("geo", **(fields | changes))


class Watches:
    """The greedy, and all that it has been shown."""

    def __init__(self, family: str) -> None:
        self.greedy = family_named(family).heuristics()["greedy"]

    def reset(self, seed: int) -> None:
        self.shown: list[tuple[float, dict[str, Any]]] = []
        self.snapshots: list[Any] = []

    def decide(self, snapshot: Any) -> Any:
        more = {
            name: getattr(snapshot, name).tolist() for name in ("price", "carbon", "capacity_cores") if hasattr(snapshot, name)
        }
        self.shown.append((snapshot.now_s, snapshot.model_dump() | {"by slot": more}))
        self.snapshots.append(snapshot)
        return self.greedy(snapshot, 0)


class Sends(Watches):
    """Sends y to b at once, and forgets it there."""

    def decide(self, snapshot: Any) -> Any:
        here = {job.id: job for job in snapshot.jobs}
        starts = [Start(job="x", site="a", start=0, departure=None)] if "x" in here else []
        if "y" in here and here["y"].bound_for is None:
            starts.append(Start(job="y", site="b", start=2, departure=0))
        return GeoSchedule(starts=tuple(starts))


def test_a_job_in_transit_arrives_and_starts() -> None:
    """price-greedy sends y off in slot 1; it arrives in slot 3: 4 + 2 USD less 0.5 there and 0.25 back."""
    rows: list[dict[str, Any]] = []
    result = replay(two_sites(), "price-greedy", log=rows.append)
    assert {(s.job, s.site, s.start, s.departure) for s in result.best.starts} == {("x", "a", 0, None), ("y", "b", 3, 1)}
    assert result.components == pytest.approx({"profit": 6, "idle": 0, "carbon": 0, "migration": 0.5, "retrieval": 0.25})
    assert result.objective == pytest.approx(5.25)
    (arrival,) = (row for row in rows if row["time_s"] == 180)
    assert "arrived" in arrival["event"]
    assert result.options["figures"]["migrations"] == 1


def test_waiting_at_home_pays_no_transfer() -> None:
    result = replay(two_sites(), "local-fcfs")
    assert {(s.job, s.site, s.start) for s in result.best.starts} == {("x", "a", 0), ("y", "a", 4)}
    assert result.objective == pytest.approx(6)


def test_a_job_that_left_in_vain_is_charged() -> None:
    """y goes and never runs: 4 USD less the 0.5 of its way, no result to bring back."""
    result = replay(two_sites(), Sends("geo"))
    assert [lost.model_dump() for lost in result.best.lost] == [{"job": "y", "site": "b", "departure": 1}]
    assert result.objective == pytest.approx(3.5)
    assert result.options["figures"] | {"jobs_run": 1, "lost_in_transit": 1, "fallbacks": 0} == result.options["figures"]
    assert check(two_sites(), result.best) == []


@pytest.mark.parametrize("now", [0, 1, 2])
def test_prices_inside_a_signal_slot(now: int) -> None:
    """Signals of 3 slots, the truth itself `now` slots into one: a snapshot shows the prices that its slots will have."""
    for seed in range(12):
        made: Any = tiny.geo(seed)
        signals = {"price_usd_per_mwh": tuple(map(float, range(9))), "carbon_g_per_kwh": tuple(map(float, range(9)))}
        sites = tuple(site.model_copy(update=signals) for site in made.sites)
        truth = made.model_copy(update={"sites": sites, "now": now, "signal_slot_s": 180.0})
        watcher = Watches("geo")
        replay(truth, watcher)
        for snapshot in watcher.snapshots:
            assert (snapshot.price == truth.price[:, snapshot.now - now :]).all()
            assert (snapshot.carbon == truth.carbon[:, snapshot.now - now :]).all()


def test_prices_by_hand() -> None:
    """Submitted in slots 2 and 4; the price goes from 10 to 20 in slot 3."""
    job = {"source": "a", "gpus": 1, "duration": 1, "slack": 0, "data_gb": 0.0, "model_gb": 0.0}
    site = {"id": "a", "gpus": 1, "pue": 1, "price_usd_per_mwh": [10.0, 20.0], "carbon_g_per_kwh": [0.0, 0.0]}
    jobs = [{"id": f"j{s}", "submitted": s, **job} for s in (2, 4)]
    watcher = Watches("geo")
    replay(two_sites(sites=[site], links=[], jobs=jobs, horizon=6, signal_slot_s=180), watcher)
    assert [s.price.tolist() for s in watcher.snapshots] == [[[10, 20, 20, 20]], [[20, 20]]]


def late(penalty: float = 0.5, **job: Any) -> Any:
    """2 cores for 2 slots from slot 0 on, but there is room from slot 2 on only."""
    fields = {"id": "j", "cores": 2.0, "duration": 2, "earliest": 0, "latest": 4, "submitted": 0, **job}
    capacity = [1.0, 1.0, 4.0, 4.0, 4.0, 4.0]
    return tiny.make(
        "deferrable", slot_s=300, capacity=capacity, delay_penalty=penalty, overload_penalty=10, jobs=[fields], meta={"k": 1}
    )


def test_delay_waited_counts_in_a_snapshot() -> None:
    """Two slots late when it starts: 4 core-slots less 2 * 0.5, in the last snapshot as in the end."""
    watcher = Watches("deferrable")
    result = replay(late(), watcher)
    assert result.objective == pytest.approx(3)
    assert all(
        s.jobs[0].waited == s.now and s.jobs[0].earliest == 0 and s.jobs[0].latest == 4 - s.now for s in watcher.snapshots
    )
    best = [evaluate(s, watcher.greedy(s, 0)).objective for s in watcher.snapshots]
    assert best == pytest.approx([3] * len(best))


@pytest.mark.parametrize("policy", policies("deferrable"))
def test_nobody_starts_what_has_lost_its_worth(policy: str) -> None:
    """At 2 core-slots a slot of delay the job earns nothing from slot 2 on."""
    result = replay(late(2.0), policy)
    assert result.objective == pytest.approx(0)


def test_a_replay_of_a_snapshot_keeps_what_was_waited() -> None:
    watcher = Watches("deferrable")
    replay(late(waited=3), watcher)
    assert [s.jobs[0].waited for s in watcher.snapshots] == [3 + s.now for s in watcher.snapshots]


def test_a_replay_of_a_snapshot_keeps_who_is_on_its_way() -> None:
    """y is bound for b, where it arrives in slot 3; x, submitted in slot 2, brings a snapshot where that is one slot off."""
    jobs = [job.model_dump() for job in two_sites().jobs]
    jobs[0] |= {"submitted": 2}
    jobs[1] |= {"submitted": 0, "slack": 5, "bound_for": "b", "arrives": 3}
    watcher = Watches("geo")
    replay(two_sites(jobs=jobs), watcher)
    shown = [job.arrives + s.now for s in watcher.snapshots for job in s.jobs if job.id == "y" and s.now < 3]
    assert shown == [3] * len(shown)


@cache
def limits(family: str, seed: int) -> tuple[float, float]:
    """The exact optimum and the clairvoyant bound."""
    best = optsched.solve(tiny.TINY[family](seed)).objective
    assert best is not None
    return best, family_named(family).clairvoyant(tiny.TINY[family](seed))


@pytest.mark.parametrize(("family", "policy"), BEHIND)
def test_no_policy_beats_the_optimum(family: str, policy: str) -> None:
    """Whoever knows everything does at least as well; and no policy of the house needs to be rescued."""
    for seed in range(4):
        instance = tiny.TINY[family](seed)
        result = replay(instance, policy, seed=seed)
        assert check(instance, result.best) == []
        assert result.options["figures"]["fallbacks"] == 0, result.message
        assert result.objective is not None
        assert result.objective <= min(limits(family, seed)) + 1e-9


def example(family: str, seed: int) -> Instance:
    """Two slots a day, so that forecasts of the last day have one; with something in `meta`."""
    if family == "allocation":
        return andreas(1, 2, jobs=6, seed=seed).model_copy(update={"meta": {"secret": 1}})
    made: Any = tiny.TINY[family](seed)
    update: dict[str, Any] = {"slot_s": 43200.0, "meta": {"secret": 1}}
    if family == "geo":
        update["signal_slot_s"] = 43200.0 * made.slots_per_signal
    else:
        update["forecast"] = {"secret": 1}
    changed: Instance = made.model_copy(update=update)
    return changed


def known_until(instance: Any, slot: float) -> Any:
    """The same past, another future: signals after the slot and jobs submitted after it."""
    if instance.problem == "allocation":
        jobs = [
            j if j.submit_s <= slot else j.model_copy(update={"id": "?" + j.id, "due_s": j.due_s + 999, "weight_per_s": 7.0})
            for j in instance.jobs
        ]
        return instance.model_copy(update={"jobs": tuple(jobs)})
    jobs = [j if j.submitted <= slot else j.model_copy(update={"id": "?" + j.id, "duration": 2}) for j in instance.jobs]
    if instance.problem == "deferrable":
        capacity = tuple(c if t <= slot else c + 1 + t for t, c in enumerate(instance.capacity))
        return instance.model_copy(update={"jobs": tuple(jobs), "capacity": capacity})
    last = int(slot) // instance.slots_per_signal
    sites = []
    for site in instance.sites:
        names = ("price_usd_per_mwh", "carbon_g_per_kwh")
        future = {name: tuple(v if t <= last else v / 2 + 9 * t for t, v in enumerate(getattr(site, name))) for name in names}
        sites.append(site.model_copy(update=future))
    return instance.model_copy(update={"jobs": tuple(jobs), "sites": tuple(sites)})


BLIND = [("allocation", "perfect")] + [(f, n) for f in ("deferrable", "geo") for n in ("persistence", "yesterday", "fitted")]


def shown(instance: Instance, forecast: str) -> list[tuple[float, dict[str, Any]]]:
    watcher = Watches(instance.problem)
    replay(instance, watcher, forecast=forecast)
    return watcher.shown


@pytest.mark.parametrize(("family", "forecast"), BLIND)
def test_another_future_shows_the_same_past(family: str, forecast: str) -> None:
    """Whoever could tell two truths apart before they part has peeked. They do part: the whole lists differ somewhere."""
    parted = 0
    for seed in range(12):
        truth: Any = example(family, seed)
        times = [j.submit_s if family == "allocation" else j.submitted for j in truth.jobs]
        for slot in sorted(set(times)):
            lists = [shown(t, forecast) for t in (truth, known_until(truth, slot))]
            now_s = slot if family == "allocation" else slot * truth.slot_s
            past = [[entry for entry in one if entry[0] <= now_s] for one in lists]
            assert past[0] == past[1], (seed, slot)
            parted += bool(past[0]) and lists[0] != lists[1]
    assert parted > 5


@pytest.mark.parametrize("family", ["deferrable", "geo"])
def test_perfect_forecasts_do_show_the_future(family: str) -> None:
    """So the test above sees what it looks for."""
    differ = 0
    for seed in range(12):
        truth: Any = example(family, seed)
        slot = min(j.submitted for j in truth.jobs)
        first = [shown(t, "perfect")[:1] for t in (truth, known_until(truth, slot))]
        differ += first[0] != first[1]
    assert differ > 5


@pytest.mark.parametrize("family", tiny.TINY)
def test_a_snapshot_holds_submitted_jobs_and_no_notes(family: str) -> None:
    seen = 0
    for seed in range(12):
        truth: Any = example(family, seed)
        submitted = {j.id: j.submit_s if family == "allocation" else j.submitted * truth.slot_s for j in truth.jobs}
        watcher = Watches(family)
        replay(truth, watcher)
        seen += len(watcher.snapshots)
        for snapshot in watcher.snapshots:
            assert all(submitted[job.id] <= snapshot.now_s for job in snapshot.jobs)
            assert snapshot.meta == {}
            assert getattr(snapshot, "forecast", None) is None
            assert "secret" not in repr(snapshot.__dict__)
    assert seen > 12


@pytest.mark.parametrize("family", ["deferrable", "geo"])
@pytest.mark.parametrize("policy", ["rolling", "rolling:exact"])
def test_same_seed_same_trajectory(family: str, policy: str) -> None:
    """Noise included; and another seed is another noise."""
    for seed in range(4):
        logs: list[list[dict[str, Any]]] = [[], []]
        for log in logs:
            replay(tiny.TINY[family](seed), policy, forecast="noisy:0.5", seed=seed, log=log.append)
        assert logs[0] == logs[1]
    watchers = [Watches(family), Watches(family)]
    for seed, watcher in enumerate(watchers):
        replay(example(family, 3), watcher, forecast="noisy:0.5", seed=seed)
    assert watchers[0].shown[0] != watchers[1].shown[0]


class TooLong(BaseException):
    """Not an Exception, so that the loop lets it through."""


@pytest.mark.parametrize(
    ("policy", "seed", "said"),
    [
        ("fifo", 1, "job 'j3' fits on no node: a replay would never end"),
        ("greedy", 1, "job 'j3' fits on no node: a replay would never end"),
        ("greedy", 0, "idle|nothing got on for too long"),  # without `use_all_nodes` running costs and waiting does not, yet
    ],
)
def test_a_replay_ends(policy: str, seed: int, said: str) -> None:
    """And says why: in what it raises, or in the message of what another has finished."""

    def end(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 30)
    try:
        result = replay(tiny.allocation(seed), policy)
        told, ran = result.message, {run.job for run in result.best.runs}
        assert ran == {job.id for job in tiny.allocation(seed).jobs}  # type: ignore[attr-defined]
    except optsched.OptschedError as error:
        told = str(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert re.search(said, told or "")


def test_utilisation_and_counts() -> None:
    """6 of the 20 GPU-slots."""
    figures = replay(two_sites(), "local-fcfs").options["figures"]
    assert figures["utilisation"] == pytest.approx(6 / 20)
    assert (figures["jobs_run"], figures["jobs_dropped"]) == (2, 0)
    assert np.isfinite(list(figures.values())).all()


@pytest.mark.parametrize(("period_s", "slots"), [(60.0, 1), (119.0, 1), (150.0, 2), (0.3, 3), (3 * 0.1, 3)])
def test_a_period_is_no_longer_than_asked(period_s: float, slots: int) -> None:
    assert whole_slots("period", period_s, 60.0 if period_s > 1 else 0.1) == slots


def test_the_log_says_that_a_job_starts_where_its_data_arrive_at_once() -> None:
    link = {"throughput_gb_per_s": 1.0, "cost_usd_per_gb": 0.0}
    instance = two_sites(
        links=[{"from": "a", "to": "b"} | link, {"from": "b", "to": "a"} | link],
        jobs=[{"id": "y", "source": "a", "submitted": 0, "gpus": 1, "duration": 2, "slack": 0, "data_gb": 0, "model_gb": 0}],
    )

    class Goes:
        def reset(self, seed: int) -> None: ...

        def decide(self, snapshot: Any) -> Any:
            return {"starts": [{"job": job.id, "site": "b", "start": 0, "departure": 0} for job in snapshot.jobs]}

    rows: list[Any] = []
    result = replay(instance, Goes(), log=rows.append)
    assert [row["decision"] for row in rows if row["decision"]] == [
        [{"job": "y", "site": "b", "departure": 0, "arrives": 0, "start": 0}]
    ]
    assert [(start.site, start.start) for start in result.best.starts] == [("b", 0)]
