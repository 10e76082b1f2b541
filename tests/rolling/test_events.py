"""What goes wrong in a replay: by hand, by the referee, and with every policy; killed and resumed it is the same replay."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.analysis.bounds import quick_bound
from optsched.errors import InputError, OptschedError
from optsched.instances.events import Cancellation, Estimate, Events, Outage, disturbed, laid_over
from optsched.instances.generators.events import draw_events
from optsched.rolling.allocation.simulator import AllocationSimulator
from optsched.rolling.estimates import corrected
from optsched.rolling.policy import policies
from optsched.schedules.allocation import AllocationHistory, Run
from optsched.schedules.deferrable import Cut as Stopped
from optsched.schedules.deferrable import DeferrableSchedule
from optsched.schedules.geo import Cut, GeoSchedule, Start
from tests.parts import parts

HOUR = 3600.0


def cluster(nodes: int = 1, jobs: int = 1, **fields: Any) -> Any:
    """Nodes of one GPU at 2 EUR/h, jobs of an hour, all due after an hour at 0.01 EUR/s."""
    return optsched.allocation.Instance.from_dict(
        {
            "name": "by hand",
            "currency": "EUR",
            "now_s": 0.0,
            "scheduling_interval_s": 300.0,
            "postponement_penalty": 100.0,
            "gpu_types": {"A": {"node_cost_per_h": [2.0]}},
            "nodes": [{"id": f"n{n}", "gpu_type": "A", "gpus": 1} for n in range(nodes)],
            "jobs": [
                {"id": f"j{j}", "submit_s": 0.0, "due_s": HOUR, "weight_per_s": 0.01, "time_s": {"A": [HOUR]}}
                for j in range(jobs)
            ],
        }
        | fields
    )


def outage(kind: Any, at_s: float, back_s: float | None, place: str | None = "n0", **fields: Any) -> Events:
    return Events(outages=(Outage(place=place, kind=kind, at_s=at_s, back_s=back_s, **fields),))


def test_a_failure_loses_what_was_done() -> None:
    result = optsched.replay(cluster(), "fifo", events=outage("fails", 1800.0, 5400.0))
    assert [(run.start_s, run.end_s) for run in result.best.runs] == [(0.0, 1800.0), (5400.0, 9000.0)]
    assert result.components == pytest.approx({"energy": 3.0, "tardiness": 54.0})
    assert result.options["figures"]["runs_cut"] == 1
    assert optsched.check(cluster(), result) == []


def test_a_failure_that_the_job_outruns_costs_nothing() -> None:
    result = optsched.replay(cluster(), "fifo", events=outage("fails", HOUR, 2 * HOUR))
    assert result.components == pytest.approx({"energy": 2.0, "tardiness": 0.0})


def test_another_node_takes_over() -> None:
    result = optsched.replay(cluster(nodes=2), "fifo", events=outage("fails", 1800.0, None))
    assert [(run.node, run.end_s) for run in result.best.runs] == [("n0", 1800.0), ("n1", 5400.0)]


def test_what_runs_on_a_draining_node_runs_on() -> None:
    for policy in ("fifo", "rolling", "easy-backfilling", "conservative-backfilling", "preemptive-edf"):
        result = optsched.replay(cluster(jobs=2), policy, events=outage("drains", 1800.0, 7200.0))
        assert sorted((run.start_s, run.end_s) for run in result.best.runs) == [(0.0, 3600.0), (7200.0, 10800.0)], policy


def test_nothing_is_owed_for_a_cancelled_job() -> None:
    events = Events(cancellations=(Cancellation(job="j1", at_s=5400.0), Cancellation(job="j0", at_s=7200.0)))
    result = optsched.replay(cluster(jobs=2), "fifo", events=events)
    assert [(run.job, run.start_s, run.end_s) for run in result.best.runs] == [("j0", 0.0, 3600.0), ("j1", 3600.0, 5400.0)]
    assert result.components == pytest.approx({"energy": 3.0, "tardiness": 0.0})
    assert result.options["figures"]["jobs_cancelled"] == 1


def test_estimates_are_corrected_when_they_are_outlived() -> None:
    truth = laid_over(cluster(), Events(believed=(Estimate(job="j0", multiple=0.5),)), None)
    simulator = AllocationSimulator(truth)
    seen = []
    while (snapshot := simulator.snapshot()) is not None:
        seen.append((simulator.now_s, simulator.event, snapshot.jobs[0].time_s["A"][0]))
        simulator.apply(optsched.allocation.Schedule.from_dict({"assignments": [{"job": "j0", "node": "n0", "gpus": 1}]}))
    assert seen == [(0.0, "submitted", 1800.0), (1800.0, "outlived", 1800.0)]
    assert (simulator.now_s, simulator.event) == (3600.0, "ended+outlived")
    assert [corrected(3, passed) for passed in (0, 2, 3, 6, 100)] == [3, 3, 6, 12, 192]


def test_time_goes_on_where_an_estimate_is_outlived_by_less_than_a_clock_can_tell() -> None:
    """A tenth of a second in 2023, believed to take 0.037: what is believed to be left rounded to no time at all, for ever."""
    job = {"id": "j0", "submit_s": 1.7e9, "due_s": 1.7e9 + 10, "weight_per_s": 0.01, "time_s": {"A": [0.1]}}
    for multiple in (0.37, 0.5, 1e-3):
        truth = laid_over(_with(cluster(), [job]), Events(believed=(Estimate(job="j0", multiple=multiple),)), None)
        simulator, decisions = AllocationSimulator(truth), 0
        while simulator.snapshot() is not None and decisions < 50:
            simulator.apply(optsched.allocation.Schedule.from_dict({"assignments": [{"job": "j0", "node": "n0", "gpus": 1}]}))
            decisions += 1
        assert decisions < 50
        assert simulator.now_s == pytest.approx(1.7e9 + 0.1, abs=1e-6)


@pytest.mark.parametrize("policy", ["conservative-backfilling", "easy-backfilling"])
def test_who_waits_begins_when_a_job_ends_sooner_than_believed(policy: str) -> None:
    """Its reservation was behind a job that is believed to take four hours; that ends after one, or is cancelled."""
    believed = (Estimate(job="j0", multiple=4.0),)
    for cancelled, begin in ((), HOUR), ((Cancellation(job="j0", at_s=1800.0),), 1800.0):
        result = optsched.replay(cluster(jobs=2), policy, events=Events(believed=believed, cancellations=cancelled))
        assert [(run.job, run.start_s) for run in result.best.runs] == [("j0", 0.0), ("j1", begin)]


def test_a_snapshot_says_nothing_of_what_is_to_come() -> None:
    events = outage("fails", 1800.0, 5400.0).model_copy(update={"estimates": "user"})
    jobs = [job | {"estimate": 3.0} for job in cluster().model_dump()["jobs"]]
    seen = AllocationSimulator(disturbed(_with(cluster(), jobs), events)).snapshot()
    assert seen is not None
    assert seen.events is None
    assert [(job.estimate, job.time_s) for job in seen.jobs] == [(None, {"A": (3 * HOUR,)})]


def _with(instance: Any, jobs: list[dict[str, Any]]) -> Any:
    return type(instance).from_dict(instance.to_json() | {"jobs": jobs})


def sites(gpus: int = 2, jobs: int = 2, **job: Any) -> Any:
    """Two sites, one price, ten slots of an hour; jobs of four slots and one GPU at "a", worth 1 USD a slot."""
    site = {"gpus": gpus, "pue": 1.0, "price_usd_per_mwh": [0.0] * 10, "carbon_g_per_kwh": [0.0] * 10}
    link = {"throughput_gb_per_s": 1.0, "cost_usd_per_gb": 0.01}
    given = {"source": "a", "submitted": 0, "gpus": 1, "duration": 4, "slack": 5, "data_gb": 10.0, "model_gb": 0.0} | job
    return optsched.geo.Instance.from_dict(
        {
            "name": "by hand",
            "slot_s": HOUR,
            "horizon": 10,
            "signal_slot_s": HOUR,
            "gpu_revenue_usd_per_h": 1.0,
            "gpu_power_kw": 1.0,
            "idle_power_ratio": 0.0,
            "carbon_price_usd_per_t": 0.0,
            "network_kwh_per_gb": 0.0,
            "sites": [{"id": name} | site for name in "ab"],
            "links": [{"from": "a", "to": "b"} | link, {"from": "b", "to": "a"} | link],
            "jobs": [{"id": f"j{j}"} | given for j in range(jobs)],
        }
    )


def test_a_site_that_fails_ends_what_runs_there() -> None:
    events = outage("fails", 2 * HOUR, 3 * HOUR, "a")
    result = optsched.replay(sites(), "local-fcfs", events=events, bound="quick")
    assert [(cut.job, cut.start, cut.until) for cut in result.best.cut] == [("j1", 0, 2), ("j0", 0, 2)]
    assert sorted((start.job, start.start) for start in result.best.starts) == [("j0", 3), ("j1", 3)]
    assert result.objective == pytest.approx(8.0)
    assert result.bound == pytest.approx(8.0)


def test_less_capacity_ends_who_was_started_last() -> None:
    events = outage("less", 2 * HOUR, None, "a", share=0.5)
    result = optsched.replay(sites(), "local-fcfs", events=events)
    assert [(cut.job, cut.until) for cut in result.best.cut] == [("j1", 2)]
    assert sorted((start.job, start.start) for start in result.best.starts) == [("j0", 0), ("j1", 4)]


def test_a_site_that_drains_takes_nothing_more() -> None:
    events = outage("drains", HOUR, 5 * HOUR, "a")
    result = optsched.replay(sites(gpus=1), "local-fcfs", events=events)
    assert sorted((start.job, start.start) for start in result.best.starts) == [("j0", 0), ("j1", 5)]
    early = GeoSchedule(starts=(Start(job="j0", site="a", start=2, departure=None),))
    assert [v.rule for v in optsched.check(disturbed(sites(), events), early)] == ["starts at a site that drains"]


def test_a_transfer_is_paid_again() -> None:
    """Both leave "a", which has no GPU, for "b"; "b" fails; they go there once more, and are charged for both ways."""
    instance = sites(slack=9)
    empty = [site.model_copy(update={"gpus": 0}) if site.id == "a" else site for site in instance.sites]
    instance = instance.model_copy(update={"sites": tuple(empty)})
    result = optsched.replay(instance, "greedy", events=outage("fails", 2 * HOUR, 3 * HOUR, "b", expected_s=3 * HOUR))
    assert [cut.until for cut in result.best.cut] == [2, 2]
    assert result.components["migration"] == pytest.approx(4 * 10.0 * 0.01)
    assert optsched.check(instance, result) == []


def test_a_run_longer_than_believed_is_cut_by_the_horizon() -> None:
    events = Events(believed=(Estimate(job="j0", multiple=0.25),))
    instance = sites(jobs=1, submitted=8, slack=1)
    result = optsched.replay(instance, "local-fcfs", events=events)
    assert [(cut.job, cut.start, cut.until) for cut in result.best.cut] == [("j0", 8, 10)]
    assert result.objective == 0.0
    assert result.options["figures"] | {"jobs_run": 0, "jobs_dropped": 1, "runs_cut": 1} == result.options["figures"]


def test_the_referee_knows_who_may_end_a_run() -> None:
    cut = GeoSchedule(starts=(), cut=(Cut(job="j0", site="a", start=0, until=2, departure=None),))
    assert [v.rule for v in optsched.check(sites(), cut)] == ["cut short by nothing"]
    assert optsched.check(disturbed(sites(), outage("fails", 2 * HOUR, None, "a")), cut) == []
    cancelled = disturbed(sites(), Events(cancellations=(Cancellation(job="j0", at_s=2 * HOUR),)))
    assert optsched.check(cancelled, cut) == []
    on = GeoSchedule(starts=(Start(job="j0", site="a", start=0, departure=None),))
    assert [v.rule for v in optsched.check(cancelled, on)] == ["runs on after it was cancelled"]
    twice = cut.model_copy(update={"starts": (Start(job="j0", site="a", start=1, departure=None),)})
    failing = disturbed(sites(), outage("less", 2 * HOUR, None, "a", share=0.5))
    assert [v.rule for v in optsched.check(failing, twice)] == ["runs twice at a time"]
    truth = disturbed(cluster(), outage("fails", 1800.0, 5400.0))
    through = AllocationHistory(runs=(Run(job="j0", node="n0", gpus=1, start_s=0.0, end_s=HOUR),))
    assert [v.rule for v in optsched.check(truth, through)] == ["runs on a node that has failed"]
    half = AllocationHistory(
        runs=tuple(Run(job="j0", node="n0", gpus=1, start_s=a, end_s=b) for a, b in ((0.0, 1800.0), (5400.0, 7200.0)))
    )
    assert [v.rule for v in optsched.check(truth, half)] == ["work not finished"]


def window(**fields: Any) -> Any:
    """Two jobs of two cores and four slots in a capacity of four cores."""
    job = {"cores": 2.0, "duration": 4, "earliest": 0, "latest": 4, "submitted": 0}
    given = {"name": "by hand", "slot_s": HOUR, "capacity": [4.0] * 8, "delay_penalty": 1.0, "overload_penalty": 10.0}
    return optsched.deferrable.Instance.from_dict(given | {"jobs": [{"id": f"j{j}"} | job for j in range(2)]} | fields)


def test_less_capacity_than_forecast_is_overload() -> None:
    result = optsched.replay(window(), "fifo", events=outage("less", 2 * HOUR, 3 * HOUR, None, share=0.25))
    assert result.components == pytest.approx({"work": 16.0, "delay": 0.0, "overload": 30.0})


def test_a_cancelled_job_does_no_work() -> None:
    events = Events(cancellations=(Cancellation(job="j1", at_s=1.5 * HOUR),))
    result = optsched.replay(window(), "fifo", events=events)
    assert result.best.cut == (Stopped(job="j1", start=0, until=2),)
    assert result.components == pytest.approx({"work": 8.0, "delay": 0.0, "overload": 0.0})
    never = DeferrableSchedule(starts=(), cut=result.best.cut)
    assert [v.rule for v in optsched.check(window(), never)] == ["cut short by nothing"]


def test_the_queue_waits_for_capacity() -> None:
    instance = optsched.generate("vcc", days=2, jobs=200, seed=1)
    less = outage("less", 6 * HOUR, 12 * HOUR, None, share=0.1)
    load = [optsched.replay(instance, "uncapped", events=events).components["delay"] for events in (None, less)]
    starts = [optsched.replay(instance, "uncapped", events=events).best.starts for events in (None, less)]
    assert load[1] >= load[0]
    assert sum(6 <= start.start < 12 for start in starts[1]) < sum(6 <= start.start < 12 for start in starts[0])


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (outage("fails", 1.0, None, "nowhere"), "outages[0].place: unknown place 'nowhere'"),
        (outage("less", 1.0, None, "n0", share=0.5), "outages[0].kind: 'less' does not happen here, only drains and fails"),
        (Events(cancellations=(Cancellation(job="x", at_s=1.0),)), "cancellations[0].job: unknown job 'x'"),
        (Events(estimates="user"), "estimates: job 'j0' has no `estimate`"),
        (Events(believed=(Estimate(job="j0", multiple=2.0),) * 2), "believed[1].job: 'j0' stands there twice"),
    ],
)
def test_events_that_do_not_fit(events: Events, said: str) -> None:
    with pytest.raises(InputError) as refused:
        optsched.replay(cluster(), "fifo", events=events)
    assert said in str(refused.value)


def test_a_job_that_could_never_end_is_refused() -> None:
    with pytest.raises(OptschedError, match="take every node on which it runs for good"):
        optsched.replay(cluster(), "fifo", events=outage("fails", 1.0, None))


def test_methods_plan_without_events() -> None:
    with pytest.raises(OptschedError, match="has events, which happen in a replay"):
        optsched.solve(disturbed(sites(), outage("fails", 1.0, None, "a")))
    with pytest.raises(OptschedError, match="has events"):
        optsched.compare(disturbed(sites(), outage("fails", 1.0, None, "a")), "greedy")
    with pytest.raises(OptschedError, match="knows no events"):
        laid_over(optsched.generate("day-ahead"), None, "noisy")


FEW = {
    "allocation": lambda seed: optsched.generate("andreas-1", nodes=3, jobs=12, seed=seed),
    "deferrable": lambda seed: optsched.generate("osdec", jobs=12, seed=seed),
    "geo": lambda seed: optsched.generate("masac", jobs=20, seed=seed),
    "vcc": lambda seed: optsched.generate("vcc", days=1, jobs=60, seed=seed),
}


@cache
def cases(family: str, seed: int) -> tuple[Any, Events, Any]:
    """A small instance in which much goes wrong, and its bound."""
    instance = FEW[family](seed)
    ends = max((job.due_s for job in instance.jobs), default=1.0) if family == "allocation" else 0.0
    span = ends or instance.horizon * instance.slot_s
    law = random.Random(seed).choice(["true", "noisy:0.5", "noisy:1.5"])
    events = draw_events(instance, mtbf_s=span / 3, repair_s=span / 12, cancelled=0.15, estimates=law, seed=seed)
    return instance, events, quick_bound(disturbed(instance, events), seconds=0)


def holds(family: str, policy: str, seed: int) -> None:
    """Nothing fails, every rule holds, every job is accounted for, and no bound is beaten."""
    instance, events, bound = cases(family, seed)
    result = optsched.replay(instance, policy, events=events, seed=seed)
    assert optsched.check(instance, result) == []
    sign = 1 if instance.sense == "minimize" else -1
    if bound is not None:
        assert sign * (result.objective - bound.value) >= -1e-9 * abs(bound.value)
    figures = result.options["figures"]
    if family in ("geo", "deferrable"):
        assert figures["jobs_run"] == len(result.best.starts)
        assert figures["jobs_run"] + figures["jobs_dropped"] == len(instance.jobs)
        assert figures["runs_cut"] == len(result.best.cut)
    if family == "allocation":
        ran = {run.job for run in result.best.runs}
        gone = {cancelled.job for cancelled in events.cancellations}
        assert ran | gone == {job.id for job in instance.jobs}


OWN = [(family, name) for family in FEW for name in policies(family) if not name.startswith("rolling:")]


FIRST = [(family, policy) for family, policy in OWN[::3] if (family, policy) != ("allocation", "rolling")]


@pytest.mark.parametrize(("family", "policy"), FIRST)  # the slow tests have all
def test_every_policy_lives_with_events(family: str, policy: str) -> None:
    holds(family, policy, 1)


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(2, 17, 3), in_ci=1))
@pytest.mark.parametrize("family", FEW)
def test_many_histories_with_events(family: str, first: int) -> None:
    """Every policy on 15 more."""
    for seed in range(first, first + 3):
        for policy in [name for of, name in OWN if of == family]:
            holds(family, policy, seed)


def test_without_events_nothing_changes() -> None:
    instance = FEW["geo"](3)
    assert Events() == Events.model_validate_json(json.dumps(Events().to_json()))
    bare, laid = optsched.replay(instance, "rolling"), optsched.replay(instance, "rolling", events=Events())
    assert bare.best == laid.best
    assert bare.instance == laid.instance
    assert "events" not in bare.to_json()["instance"]  # type: ignore[operator]


@pytest.mark.parametrize("policy", ["easy-backfilling", "conservative-backfilling"])
def test_who_has_reservations_goes_on_from_every_decision(policy: str, tmp_path: Path) -> None:
    """Nodes are away before the checkpoint and back after it, or the other way round: bookings are of the same nodes."""
    instance = optsched.generate("andreas-1", nodes=3, jobs=5, seed=1)
    events = draw_events(instance, mtbf_s=4000.0, repair_s=2500.0, cancelled=0.1, seed=3)
    kept, rows = tmp_path / "kept", list[dict[str, Any]]()

    def keep(row: dict[str, Any]) -> None:
        shutil.copytree(kept, tmp_path / str(len(rows)))

    how: dict[str, Any] = {"events": events, "every": 1}
    whole = optsched.replay(instance, policy, checkpoint=kept, log=rows.append, progress=keep, **how)
    assert whole.options["figures"]["runs_cut"] > 0
    for count in range(1, len(rows) + 1):
        again = list[dict[str, Any]]()
        result = optsched.replay(instance, policy, checkpoint=tmp_path / str(count), resume=True, log=again.append, **how)
        assert (result.best, again) == (whole.best, rows), count


def test_a_due_date_that_nobody_waits_for_draws_no_events() -> None:
    """Outages are drawn until all work may be done, however late it is due."""
    instance = optsched.generate("andreas-1", nodes=3, jobs=10, seed=0)
    last = instance.jobs[-1].model_copy(update={"due_s": 1e12})
    patient = instance.model_copy(update={"jobs": (*instance.jobs[:-1], last)})
    end_s = instance.jobs[-1].submit_s + sum(job.longest_s for job in instance.jobs)
    assert patient.ends_s <= max(end_s, instance.ends_s)
    events = draw_events(patient, mtbf_s=4 * HOUR, cancelled=1.0, seed=1)
    assert max(gone.at_s for gone in events.cancellations) < 10 * end_s
    assert all(outage.at_s < patient.ends_s for outage in events.outages)


def test_outages_are_drawn_until_who_runs_on_one_node_may_be_done() -> None:
    """Forty hours of work for the only A beside seven Bs, in no hurry: A may fail in all of that time."""
    made = cluster(8, 40)
    nodes = (made.nodes[0], *[node.model_copy(update={"gpu_type": "B"}) for node in made.nodes[1:]])
    jobs = tuple(job.model_copy(update={"due_s": 40 * HOUR}) for job in made.jobs)
    made = made.model_copy(update={"nodes": nodes, "jobs": jobs})
    assert made.ends_s == 40 * HOUR


def test_events_as_an_object_and_laws_that_are_none() -> None:
    told = {"outages": [{"place": "n0", "kind": "fails", "at_s": 1800.0, "back_s": 5400.0}]}
    assert optsched.replay(cluster(), "fifo", events=told).options["figures"]["runs_cut"] == 1
    with pytest.raises(InputError, match=r"outages\[0\]"):
        optsched.replay(cluster(), "fifo", events={"outages": [{"place": "n0"}]})
    with pytest.raises(OptschedError, match=r"got 0\.3"):
        optsched.replay(cluster(), "fifo", estimates=0.3)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("family", parts(["allocation", "geo"], in_ci=1))
def test_three_days_killed_thirty_times(family: str, tmp_path: Path) -> None:
    """Nothing is lost: every row of the log and every figure is that of the replay that nobody killed."""
    size: dict[str, Any] = {"nodes": 8, "jobs": 120} if family == "allocation" else {"jobs": 300, "days": 3}
    instance = optsched.generate("andreas-1" if family == "allocation" else "masac", seed=5, **size)
    instance.save(tmp_path / "x.json")
    events = draw_events(instance, mtbf_s=6 * HOUR, repair_s=HOUR, cancelled=0.1, estimates="noisy:0.5", seed=5)
    (tmp_path / "e.json").write_text(json.dumps(events.to_json()))
    policy = "priced" if family == "allocation" else "rolling"
    rows: list[Any] = []
    whole = optsched.replay(instance, policy, events=events, log=rows.append)
    command = [sys.executable, "-m", "optsched", "replay", "x.json", "--events", "e.json", "--policy", policy, "--no-bound"]
    command += ["--checkpoint", "kept", "--every", "7", "--log", "log", "-o", "r.json"]
    kept, kills = tmp_path / "kept" / "log.jsonl", 0
    for moment in sorted(random.Random(family).sample(range(len(rows)), 30)):
        process = subprocess.Popen(command + ["--resume"] * kept.exists(), cwd=tmp_path, stdout=subprocess.DEVNULL)
        while process.poll() is None:
            if kept.exists() and kept.read_bytes().count(b"\n") >= moment:
                process.kill()
            time.sleep(0.001)
        kills += process.returncode < 0
    assert kills >= 20
    subprocess.run([*command, "--resume"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()] == json.loads(json.dumps(rows))
    result = optsched.load_result(tmp_path / "r.json")
    assert (result.schedule, result.objective) == (whole.schedule, whole.objective)
    assert optsched.check(instance, result) == []


class Caps:
    """These caps in the first slots, 1 from then on, and all that it has been shown."""

    def __init__(self, *first: float) -> None:
        self.first = first

    def reset(self, seed: int) -> None:
        self.shown: list[Any] = []

    def decide(self, snapshot: Any) -> Any:
        self.shown.append(snapshot)
        cap = self.first[len(self.shown) - 1] if len(self.shown) <= len(self.first) else 1.0
        return {"cap": [cap] * snapshot.horizon}


@pytest.mark.parametrize("preempt", [False, True])
def test_what_the_day_has_asked_for_tells_no_true_duration(preempt: bool) -> None:
    """Jobs of four slots that are told to take two: by what is told, then by what they have run, by the truth when they end.

    Beside 7 NCU-hours before, among them those of c, who has waited; the second day begins with nothing.
    """
    jobs = [
        {"id": "b", "submitted": 1, "duration": 4, "ncu": 2.0},
        {"id": "a", "submitted": 0, "duration": 4, "ncu": 1.0},
        {"id": "c", "submitted": 0, "duration": 3, "ncu": 1.0, "waited": 1},
    ]
    fields = {"carbon_kg_per_kwh": [1] * 26, "inflexible_ncu": [0] * 26, "jobs": jobs, "preempt": preempt, "asked_ncu_h": 7}
    truth = optsched.vcc.Instance.from_dict({"name": "v", "slot_s": 3600, "capacity_ncu": 8} | fields)
    policy = Caps(0.0, 0.0)
    optsched.replay(truth, policy, events=Events(believed=tuple(Estimate(job=job, multiple=0.5) for job in "ab")))
    assert [snapshot.asked_ncu_h for snapshot in policy.shown] == [7, 9, 13, 13, *[19] * 20, 0, 0]
    assert [(job.id, job.duration) for job in policy.shown[1].jobs] == [("a", 2), ("c", 3), ("b", 2)]


def test_a_slot_without_an_outage_keeps_its_capacity() -> None:
    """A third, in eight decimals: the job fits there, and an outage hours before changes nothing."""
    fields = {"slot_s": 300, "capacity": [0.33333333] * 4, "delay_penalty": 1, "overload_penalty": 1e9}
    job = {"id": "j", "cores": 0.33333333, "duration": 1, "earliest": 2, "latest": 2, "submitted": 0}
    truth = optsched.deferrable.Instance.from_dict({"name": "d", "jobs": [job]} | fields)
    events = Events(outages=(Outage(kind="less", at_s=0.0, back_s=300.0, share=0.5),))
    assert disturbed(truth, events).capacity_cores.tolist() == [0.16666666, 0.33333333, 0.33333333, 0.33333333]
    for policy in ("fifo", "rolling"):
        assert optsched.replay(truth, policy, events=events).objective == 0.33333333


def test_a_log_tells_starts_and_evictions_apart() -> None:
    """Cap 1 starts both, a half evicts one of them, a fifth the other; then both start again."""
    jobs = [{"id": job, "submitted": 0, "duration": 3, "ncu": 4.0} for job in "ab"]
    fields = {"carbon_kg_per_kwh": [1] * 6, "inflexible_ncu": [0] * 6, "jobs": jobs, "preempt": True}
    truth = optsched.vcc.Instance.from_dict({"name": "v", "slot_s": 3600, "capacity_ncu": 8} | fields)
    rows: list[Any] = []
    result = optsched.replay(truth, Caps(1.0, 0.5, 0.2), log=rows.append)
    told = [(row["decision"][0]["started"], row["decision"][0]["evicted"]) for row in rows]
    assert told == [(2, 0), (0, 1), (0, 1), (2, 0), (0, 0), (0, 0)]
    assert sum(started for started, _ in told) == len(result.best.starts)


def test_trouble_may_save_something_in_vcc() -> None:
    """A job that does not fit into the tenth that is left holds the queue up: neither carbon nor a penalty, nor a bound."""
    job = {"id": "j", "submitted": 0, "duration": 2, "ncu": 0.5}
    fields = {"carbon_kg_per_kwh": [1], "inflexible_ncu": [0], "daily_penalty_per_ncu_h": 10, "jobs": [job]}
    truth = optsched.vcc.Instance.from_dict({"name": "v", "slot_s": 3600, "capacity_ncu": 1} | fields)
    assert quick_bound(truth) is not None
    less = disturbed(truth, Events(outages=(Outage(kind="less", at_s=0.0, share=0.1),)))
    assert optsched.replay(less, "uncapped").objective == 0.0
    assert quick_bound(less) is None
    assert quick_bound(disturbed(truth, Events(estimates="noisy:0.3"))) is not None


@pytest.mark.parametrize(
    ("family", "words"),
    [("osdec", {"jobs": 6, "horizon": 30}), ("masac", {"jobs": 6, "days": 0.2}), ("andreas-1", {"nodes": 2, "jobs": 6})],
)
def test_events_of_jobs_that_a_history_does_not_know(family: str, words: dict[str, Any]) -> None:
    """Names of the present say nothing about past days, whose jobs have others."""
    today, before = (optsched.generate(family, seed=seed, **words) for seed in (1, 2))
    past = before.model_copy(update={"jobs": tuple(job.model_copy(update={"id": f"past {job.id}"}) for job in before.jobs)})
    gone = today.jobs[-1].id
    cancelled = Events(cancellations=(Cancellation(job=gone, at_s=0.0),))
    result = optsched.replay(today, "rolling", history=past, events=cancelled)
    rows = result.best.runs if family.startswith("andreas") else result.best.starts
    assert gone not in {row.job for row in rows}
