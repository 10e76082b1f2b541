"""Dispatch rules of geo and deferrable: each takes what its paper says it takes, on instances worked out by hand."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import optsched
from optsched.heuristics import geo, parts
from optsched.heuristics.deferrable import HEURISTICS as DEFERRABLE
from optsched.heuristics.geo import HEURISTICS as GEO
from optsched.referee import check
from optsched.stop import Spare
from tests.oracle import tiny

FREE = {"throughput_gb_per_s": 1 / 60, "cost_usd_per_gb": 0.01}  # a slot and a cent a GB


def three_sites(pue: float = 1, carbon_price: float = 1000, **changes: Any) -> Any:
    """Two jobs of two slots at a; b is cheap and dirty, c dear and clean; every site has one GPU.

    A GPU-slot earns 1 USD and takes 1 kWh. Less energy and carbon it is worth 0.4 at a, 0.05 at b and 0.7 at c.
    """
    signals = {"a": (100.0, 500.0), "b": (50.0, 900.0), "c": (200.0, 100.0)}
    job = {"source": "a", "submitted": 0, "gpus": 1, "duration": 2, "slack": 4, "data_gb": 0.0, "model_gb": 1.0}
    fields: dict[str, Any] = {
        "slot_s": 60,
        "horizon": 8,
        "signal_slot_s": 480,
        "gpu_revenue_usd_per_h": 60,
        "gpu_power_kw": 60,
        "idle_power_ratio": 0,
        "carbon_price_usd_per_t": carbon_price,
        "network_kwh_per_gb": 0,
        "sites": [
            {"id": s, "gpus": 1, "pue": pue if s == "b" else 1, "price_usd_per_mwh": [p], "carbon_g_per_kwh": [c]}
            for s, (p, c) in signals.items()
        ],
        "links": [{"from": s, "to": t, **FREE} for s in signals for t in signals if s != t],
        "jobs": [{"id": "x", **job}, {"id": "y", **job}],
    }
    return tiny.make("geo", **(fields | changes))


@pytest.mark.parametrize(
    ("rule", "chosen"),
    [
        ("local-fcfs", {"x": ("a", 0), "y": ("a", 2)}),
        ("price-greedy", {"x": ("a", 0), "y": ("b", 1)}),
        ("carbon-greedy", {"x": ("a", 0), "y": ("c", 1)}),
    ],
)
def test_geo_rules(rule: str, chosen: dict[str, tuple[str, int]]) -> None:
    instance = three_sites()
    schedule: Any = GEO[rule](instance, 0)
    assert check(instance, schedule) == []
    assert {s.job: (s.site, s.start) for s in schedule.starts} == chosen


def test_best_on_arrival_takes_what_earns_most() -> None:
    """1.4 USD less 2 cents of transfers is more than 0.8: both go to c, one after the other, in whichever order."""
    schedule: Any = GEO["best-on-arrival"](three_sites(), 0)
    assert check(three_sites(), schedule) == []
    assert sorted((s.site, s.start) for s in schedule.starts) == [("c", 1), ("c", 3)]


def test_the_price_of_energy_includes_the_pue() -> None:
    """At a PUE of 5 a kWh of work costs 0.25 USD at b, more than the 0.2 at c."""
    schedule: Any = GEO["price-greedy"](three_sites(pue=5, carbon_price=0), 0)
    assert {s.job: s.site for s in schedule.starts} == {"x": "a", "y": "c"}


def test_first_come_first_served_goes_by_submission() -> None:
    """y comes first though x is listed first; at slot 0 the one GPU is y's until 2."""
    jobs = [job.model_dump() | {"submitted": int(job.id == "x")} for job in three_sites().jobs]
    schedule: Any = GEO["local-fcfs"](three_sites(jobs=jobs), 0)
    assert {s.job: s.start for s in schedule.starts} == {"y": 0, "x": 2}


@pytest.mark.parametrize("rule", ["local-fcfs", "price-greedy", "carbon-greedy", "best-on-arrival"])
def test_a_job_on_its_way_runs_where_it_went(rule: str) -> None:
    """x has left for b, where it arrives in slot 2: no rule may call it back or pay its way again."""
    jobs = [job.model_dump() for job in three_sites().jobs]
    jobs[0] |= {"bound_for": "b", "arrives": 2}
    instance = three_sites(jobs=jobs)
    schedule: Any = GEO[rule](instance, 0)
    assert check(instance, schedule) == []
    (x,) = (s for s in schedule.starts if s.job == "x")
    assert (x.site, x.start, x.departure) == ("b", 2, None)


def batch(capacity: list[float], jobs: list[tuple[str, float, int, int]], latest: int = 2, penalty: float = 0) -> Any:
    """Jobs (id, cores, duration, submitted) that may start in slots 2..latest."""
    words = ("id", "cores", "duration", "submitted")
    return tiny.make(
        "deferrable",
        slot_s=300,
        capacity=capacity,
        delay_penalty=penalty,
        overload_penalty=10,
        jobs=[dict(zip(words, job, strict=True)) | {"earliest": 2, "latest": latest} for job in jobs],
    )


FOUR = [("a", 2.0, 3, 1), ("c", 2.0, 1, 1), ("d", 4.0, 4, 2), ("b", 3.0, 2, 0)]


@pytest.mark.parametrize(
    ("rule", "started"),
    [
        ("fifo", {"b"}),  # the first submitted; the one core that it leaves is enough for nobody
        ("sjf", {"c", "a"}),  # c, then b does not fit beside it, but a does
        ("tetris", {"d"}),  # the largest that fits
    ],
)
def test_deferrable_rules(rule: str, started: set[str]) -> None:
    """Four cores, everyone may start in slot 2 only."""
    schedule: Any = DEFERRABLE[rule](batch([4.0] * 7, FOUR), 0)
    assert {s.job for s in schedule.starts} == started
    assert {s.start for s in schedule.starts} == {2}


def test_tetris_takes_the_shorter_of_two_that_pack_alike() -> None:
    schedule: Any = DEFERRABLE["tetris"](batch([4.0] * 7, [("long", 3.0, 3, 0), ("short", 3.0, 2, 0)]), 0)
    assert [s.job for s in schedule.starts] == ["short"]


@pytest.mark.parametrize("rule", ["fifo", "sjf", "tetris"])
def test_a_job_starts_only_where_it_fits_to_its_end(rule: str) -> None:
    """Slot 2 has room, slot 3 has not: a job of two slots waits for slot 4, and overload is never bought."""
    schedule: Any = DEFERRABLE[rule](batch([4, 4, 4, 1, 4, 4, 4], [("j", 2.0, 2, 0)], latest=5), 0)
    assert [(s.job, s.start) for s in schedule.starts] == [("j", 4)]


@pytest.mark.parametrize(("penalty", "runs"), [(1.9, True), (2.0, False)])
def test_a_job_whose_delay_has_eaten_its_worth_is_left_out(penalty: float, runs: bool) -> None:
    """Its 4 core-slots less two slots of delay: worth starting at 1.9 a slot, worth nothing at 2."""
    schedule: Any = DEFERRABLE["fifo"](batch([4, 4, 4, 1, 4, 4, 4], [("j", 2.0, 2, 0)], latest=5, penalty=penalty), 0)
    assert bool(schedule.starts) == runs


def test_a_greedy_that_cannot_hold_all_options_forgets_those_of_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part at a time: feasible, nobody twice, and hardly worse; all options of 100,000 jobs, 56 million, took 2.5 GB."""
    instance = optsched.generate("masac", jobs=60, days=0.25, scale=0.1, seed=4)
    held: Any = GEO["greedy"](instance, 0)
    alive, most = weakref.WeakSet[Any](), [0]

    class Watched(geo.Part):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            alive.add(self)
            most[0] = max(most[0], len(alive))

    monkeypatch.setattr(parts, "JOBS", 10)
    monkeypatch.setattr(geo, "HELD", 0)
    monkeypatch.setattr(geo, "Part", Watched)
    schedule: Any = GEO["greedy"](instance, 0)
    assert most[0] <= 2, "the one that is made, and the one before it"
    assert check(instance, schedule) == []
    assert len(schedule.starts) >= 0.8 * len(held.starts)
    index = [[job.id for job in instance.jobs].index(start.job) for start in schedule.starts]
    assert index == sorted(set(index)), "in the instance's order, each once"
    assert optsched.evaluate(instance, schedule).objective > 0.8 * optsched.evaluate(instance, held).objective


def test_parts_are_of_so_many_options_where_windows_are_wide() -> None:
    """A thousand jobs at fifty sites, any time of a day, are fifteen million: 12 s before the clock was asked at all."""
    narrow = optsched.generate("masac", jobs=1200, days=0.5, seed=1)
    assert parts.how_many(narrow) == 2
    wide = narrow.model_copy(update={"jobs": tuple(job.model_copy(update={"slack": 10_000}) for job in narrow.jobs)})
    options = len(wide.jobs) * len(wide.sites) * (wide.horizon + 1)
    assert options / parts.how_many(wide) <= parts.OPTIONS
    assert parts.how_many(wide.model_copy(update={"jobs": wide.jobs[:1]})) == 1


def test_a_greedy_that_is_stopped_between_parts_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer jobs in the parts that were made than it asks for in a row; it went on to jobs of parts that were not."""
    instance = optsched.generate("masac", jobs=60, days=0.25, scale=0.1, seed=4)
    monkeypatch.setattr(parts, "JOBS", 10)
    for held in (0, geo.HELD):
        monkeypatch.setattr(geo, "HELD", held)
        for asked in range(5):
            left = iter(range(asked))
            schedule: Any = GEO["greedy"](instance, 0, spare=Spare(stopped=lambda left=left: next(left, None) is None))
            assert check(instance, schedule) == []
            assert 0 < len({start.job for start in schedule.starts}) == len(schedule.starts)


def test_a_greedy_that_places_each_part_at_once_hurries_only_where_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six parts of two seconds each, placing included: 13 s are enough."""
    instance = optsched.generate("masac", jobs=60, days=0.25, scale=0.1, seed=4)
    monkeypatch.setattr(parts, "JOBS", 10)
    monkeypatch.setattr(geo, "HELD", 0)
    now = [0.0]

    class Slow(geo.Part):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            now[0] += 2.0

    monkeypatch.setattr(geo, "Part", Slow)
    for seconds, cut in ((13.0, False), (11.0, True)):
        now[0] = 0.0
        spare = Spare(stopped=lambda: False)
        monkeypatch.setattr(spare, "left_s", lambda seconds=seconds: seconds - now[0])
        GEO["greedy"](instance, 0, spare=spare)
        assert spare.cut is cut
