"""What a newcomer does first, as the README may show it: instance, schedule, heuristic and policy of one's own, and the gap."""

from __future__ import annotations

import io

import pandas as pd
import pytest

import optsched
from optsched import geo
from optsched.errors import OptschedError


def two_sites() -> geo.Instance:
    """Power is dear by day in the east and cheap in the west; data takes a slot to get there."""
    m = geo.Model("two sites", horizon=8, slot_s=3600, gpu_revenue_usd_per_h=0.1, gpu_power_kw=0.7)
    east = m.add_site(id="east", gpus=4, price_usd_per_mwh=[120, 120, 90, 90, 30, 30, 30, 30], carbon_g_per_kwh=[400] * 8)
    west = m.add_site(id="west", gpus=4, price_usd_per_mwh=[40] * 8, carbon_g_per_kwh=[100] * 8)
    m.add_link(east, west, throughput_gb_per_s=0.01, cost_usd_per_gb=0.0001)
    m.add_link(west, east, throughput_gb_per_s=0.01, cost_usd_per_gb=0.0001)
    for hour in range(4):
        m.add_job(east, gpus=2, duration=2, slack=4, submitted=hour, data_gb=20, model_gb=5)
    return m.instance()


def start_at_once(instance: geo.Instance) -> geo.Schedule:
    """A heuristic: every job at its source when it is submitted, if it fits there."""
    starts: list[geo.Start] = []
    for job in instance.jobs:
        more = geo.Start(job=job.id, site=job.source, start=job.submitted, departure=None)
        if not optsched.check(instance, geo.Schedule(starts=(*starts, more))):
            starts.append(more)
    return geo.Schedule(starts=tuple(starts))


class AtOnce:
    """A policy: what the heuristic says of what is known by now; the loop carries out the present."""

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def decide(self, snapshot: geo.Instance) -> geo.Schedule:
        """Decide on what is known."""
        return start_at_once(snapshot)


def test_an_instance_and_a_schedule_by_hand() -> None:
    instance = two_sites()
    by_hand = {"starts": [{"job": "job0", "site": "west", "start": 1, "departure": 0}]}
    assert optsched.check(instance, by_hand) == []
    best = optsched.solve(instance, time_limit=20)
    mine = optsched.certify(instance, by_hand, bound=best)
    assert mine.gap is not None
    assert mine.gap > 0.5  # one job of four
    too_early = {"starts": [{"job": "job1", "site": "east", "start": 0, "departure": None}]}
    assert str(optsched.check(instance, too_early)[0]) == "starts before it is submitted: job 'job1' at 'east' time 0 by 1"


def test_a_heuristic_is_a_method_and_a_policy() -> None:
    instance = two_sites()
    result = optsched.solve(instance, start_at_once)
    assert result.method == "start_at_once"
    assert [start.start for start in result.best.starts] == [0, 1, 2, 3]
    table = optsched.compare(instance, ["exact", start_at_once], ["local-fcfs", AtOnce()])
    assert list(table["name"]) == ["exact", "start_at_once", "local-fcfs", "AtOnce"]
    gaps = dict(zip(table["name"], table["gap"], strict=True))
    assert gaps["exact"] == 0
    assert gaps["start_at_once"] == gaps["AtOnce"] > 0.1
    replayed = optsched.replay(instance, AtOnce())
    assert replayed.best.starts == result.best.starts
    assert optsched.check(instance, replayed) == []


def test_jobs_from_a_table() -> None:
    csv = "JobID,Submit_h,GPUs,Hours\n17,0,2,2\n18,1,4,1\n"
    jobs = pd.read_csv(io.StringIO(csv)).rename(
        columns={"JobID": "id", "Submit_h": "submitted", "GPUs": "gpus", "Hours": "duration"}
    )
    template = two_sites()
    instance = geo.Instance.from_frame(
        jobs.assign(source="east", slack=3, data_gb=1.0, model_gb=1.0),
        **template.model_dump(exclude={"jobs"}, by_alias=True) | {"name": "from a table"},
    )
    assert [(job.id, job.gpus) for job in instance.jobs] == [("17", 2), ("18", 4)]
    result = optsched.solve(instance, time_limit=20)
    frame = result.to_frame()
    assert set(frame["job"]) <= {"17", "18"}
    assert optsched.check(instance, geo.Schedule.from_frame(frame)) == []


def test_mistakes_are_told_in_a_line() -> None:
    instance = two_sites()
    for act, said in (
        (lambda: optsched.solve(instance, lambda i: {"start": []}), "<lambda> returned: start"),
        (lambda: optsched.solve(instance, 3), "a method is a name or something to call with an instance, got 3"),  # type: ignore[arg-type]
        (lambda: optsched.solve("two.json"), "expected an instance, got 'two.json'; optsched.load(FILE) reads one"),  # type: ignore[arg-type]
        (lambda: optsched.check("two.json", {}), "expected an instance, got 'two.json'"),  # type: ignore[arg-type]
        (lambda: optsched.solve(instance, start_at_once, backend="highs"), "a method that is no name does not take backend"),
        (lambda: optsched.solve(instance, lambda i: geo.Schedule(starts=start_at_once(i).starts * 2)), "infeasible schedule"),
    ):
        with pytest.raises(OptschedError) as caught:
            act()
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
