"""`optsched import csv` as a user types it: a table of one's own as an instance of every family."""

from __future__ import annotations

from pathlib import Path

import pytest

import optsched
from optsched.instances.allocation import AllocationInstance
from optsched.instances.day_ahead import DayAheadInstance
from optsched.instances.deferrable import DeferrableInstance
from optsched.instances.geo import GeoInstance
from optsched.instances.vcc import VccInstance
from tests.cli.test_cli import one_line, run

JOBS = """JobID,Submit,GPUs,Runtime_min,Deadline,Priority,Where,Elapsed
a,2026-01-05 08:00,2,30,2026-01-05 09:30,1,east,00:30:00
b,2026-01-05 08:10,1,120,2026-01-05 11:00,3,west,02:00:00
c,2026-01-05 09:00,4,45,2026-01-05 10:00,2,east,0-00:45:00
"""
MAPPED = ["--map", "id=JobID", "--map", "submit=Submit", "--map", "duration=Runtime_min"]


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    return path


@pytest.fixture
def signals(tmp_path: Path) -> Path:
    path = tmp_path / "signals.csv"
    rows = [f"2026-01-05 {h:02}:00,{zone},{50 + h},{100 * (h + 1)}" for h in range(24) for zone in ("east", "west")]
    path.write_text("\n".join(["datetime,region,price,carbon", *rows]) + "\n")
    return path


def imported(tmp_path: Path, *words: object) -> tuple[optsched.Instance, str]:
    """The instance, and what was said of it."""
    out = tmp_path / "out.json"
    done = run("import", "csv", *words, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return optsched.load(out), done.stderr


def test_allocation_keeps_deadlines_and_priorities(jobs: Path, tmp_path: Path) -> None:
    words = [*MAPPED, "--map", "gpus=GPUs", "--map", "due=Deadline", "--map", "priority=Priority", "--nodes", "V100:4x2"]
    instance, said = imported(tmp_path, jobs, "--to", "allocation", *words, "--all-submitted")
    assert isinstance(instance, AllocationInstance)
    assert [(job.id, job.submit_s, job.due_s) for job in instance.jobs] == [
        ("a", 0, 5400),
        ("b", 600, 10800),
        ("c", 3600, 7200),
    ]
    assert [job.time_s["V100"][gpus - 1] for job, gpus in zip(instance.jobs, (2, 1, 4), strict=True)] == [1800, 7200, 2700]
    a, b, c = (job.weight_per_s for job in instance.jobs)
    assert (b / a, c / a) == pytest.approx((3, 2), rel=1e-3)
    assert (a + b + c) / 3 == pytest.approx(0.0349, rel=1e-2)
    assert "Numbers of Runtime_min (duration) are in min (by its name)." in said
    assert "Weights are the priorities, scaled" in said
    assert "drawn as ANDREAS draws them" not in said  # neither due dates nor weights


def test_allocation_says_what_it_draws(jobs: Path, tmp_path: Path) -> None:
    _, said = imported(tmp_path, jobs, "--to", "allocation", *MAPPED, "--map", "due=Deadline")
    assert "assumed: Weights (0.0254-0.0444 EUR/s) are drawn as ANDREAS draws them." in said
    assert "assumed: Every job has gpus 1: no column is mapped." in said
    assert "note: none of the 3 jobs is known" not in said  # the first is submitted at second 0


def test_allocation_takes_measured_times(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("at,v1,v2,t1\n0,100,60,\n5,80,,300\n")
    mapped = ["--map", "submit=at", "--map", "time.V100.1=v1", "--map", "time.V100.2=v2", "--map", "time.T4.1=t1"]
    instance, _ = imported(tmp_path, path, "--to", "allocation", *mapped, "--nodes", "V100:2x1,T4:1x1")
    assert isinstance(instance, AllocationInstance)
    assert [job.time_s for job in instance.jobs] == [{"V100": (100, 60), "T4": (None,)}, {"V100": (80, None), "T4": (300,)}]


def test_deferrable_windows(jobs: Path, tmp_path: Path) -> None:
    words = [
        "--map",
        "submit=Submit",
        "--map",
        "duration=Elapsed",
        "--map",
        "cores=GPUs",
        "--map",
        "due=Deadline",
        "--slot-s",
        "10m",
    ]
    instance, said = imported(tmp_path, jobs, "--to", "deferrable", *words)
    assert isinstance(instance, DeferrableInstance)
    assert instance.slot_s == 600
    rows = [(j.cores, j.duration, j.submitted, j.earliest, j.latest) for j in instance.jobs]
    # a: due 90 min after 8:00 is slot 9, 3 slots long; b: due slot 18, 12 long; c: submitted slot 6, due slot 12, 5 long
    assert rows == [(2, 3, 0, 0, 6), (1, 12, 1, 1, 6), (4, 5, 6, 6, 7)]
    assert "assumed: id is column JobID." in said
    assert said.count("is column") == 1  # what was mapped is no assumption, and is kept
    columns = {"id": "JobID", "submit": "Submit", "duration": "Elapsed", "cores": "GPUs", "due": "Deadline"}
    assert instance.meta["columns"] == columns
    assert instance.meta["start"] == "2026-01-05T08:00:00+00:00"
    assert "Second 0 is second 28800 of the trace, 2026-01-05 08:00:00 UTC." in said
    assert said.count("Second 0 is") == 1


def test_geo_at_sites_of_ones_own(jobs: Path, signals: Path, tmp_path: Path) -> None:
    sites = tmp_path / "sites.csv"
    sites.write_text("id,gpus,pue\neast,8,1.1\nwest,4,\n")
    words = [
        *MAPPED,
        "--map",
        "gpus=GPUs",
        "--map",
        "source=Where",
        "--map",
        "due=Deadline",
        "--sites",
        sites,
        "--signals",
        signals,
    ]
    instance, said = imported(tmp_path, jobs, "--to", "geo", *words)
    assert isinstance(instance, GeoInstance)
    assert [(s.id, s.gpus, s.pue, s.price_usd_per_mwh[0]) for s in instance.sites] == [
        ("east", 8, 1.1, 58),
        ("west", 4, 1.2, 58),
    ]
    rows = [(j.source, j.submitted, j.gpus, j.duration, j.slack) for j in instance.jobs]
    assert rows == [("east", 0, 2, 30, 60), ("west", 10, 1, 120, 50), ("east", 60, 4, 45, 15)]
    assert "Every site has a link to every other" in said
    assert instance.meta["start"] == "2026-01-05T08:00:00+00:00"
    assert instance.meta["files"] == ["jobs.csv", "sites.csv", "signals.csv"]
    assert run("solve", tmp_path / "out.json", "--method", "greedy", "-q").returncode == 0


def test_vcc(jobs: Path, signals: Path, tmp_path: Path) -> None:
    words = [*MAPPED, "--map", "ncu=GPUs", "--signals", signals, "--zone", "west", "--hours", 6, "--capacity", 10]
    instance, said = imported(tmp_path, jobs, "--to", "vcc", *words, "--inflexible", 2)
    assert isinstance(instance, VccInstance)
    assert (instance.horizon, instance.capacity_ncu, instance.inflexible_ncu) == (6, 10, (2.0,) * 6)
    assert instance.carbon_kg_per_kwh[:2] == (0.9, 1.0)  # of 8 and 9 o'clock, when the jobs are
    assert (instance.meta["start"], instance.meta["files"]) == ("2026-01-05T08:00:00+00:00", ["jobs.csv", "signals.csv"])
    assert [(j.submitted, j.duration, j.ncu) for j in instance.jobs] == [(0, 1, 2), (1, 2, 1), (1, 1, 4)]
    assert "zone west" in said


def test_signals_of_other_days_keep_the_hour_of_the_day_and_say_so(jobs: Path, signals: Path, tmp_path: Path) -> None:
    signals.write_text(signals.read_text().replace("2026-01-05", "2025-12-31"))
    words = [jobs, "--to", "vcc", *MAPPED, "--signals", signals, "--zone", "west", "--hours", 6]
    instance, said = imported(tmp_path, *words)
    assert isinstance(instance, VccInstance)
    assert instance.carbon_kg_per_kwh[:2] == (0.9, 1.0)
    assert instance.meta["start"] == "2025-12-31T08:00:00+00:00"
    assert "warning: The jobs are of 2026-01-05 08:00 to 2026-01-05 14:00 UTC, of which signals.csv has no hour" in said
    named, said = imported(tmp_path, *words, "--from", "2025-12-31T02:00")
    assert isinstance(named, VccInstance)
    assert named.carbon_kg_per_kwh[0] == 0.3
    assert "warning" not in said


def test_signals_that_end_within_the_days_of_the_jobs_are_refused(jobs: Path, signals: Path, tmp_path: Path) -> None:
    words = [*MAPPED, "--signals", signals, "--zone", "west", "--hours", 48, "-o", tmp_path / "x.json"]
    line = one_line(run("import", "csv", jobs, "--to", "vcc", *words))
    assert "lacks hours of 2026-01-05 08:00 to 2026-01-07 08:00: west 32 (first 2026-01-06 00:00): take fewer hours" in line


def test_day_ahead(tmp_path: Path) -> None:
    path = tmp_path / "clusters.csv"
    rows = [f"{c},{h},{100 + h},{0.2 + 0.01 * h}" for c in ("x", "y") for h in range(24)]
    path.write_text("\n".join(["c,h,load,co2", *rows]) + "\n")
    mapped = ["--map", "cluster=c", "--map", "hour=h", "--map", "inflexible=load", "--map", "carbon=co2"]
    instance, said = imported(tmp_path, path, "--to", "day_ahead", *mapped)
    assert isinstance(instance, DayAheadInstance)
    assert (len(instance.clusters), instance.hours, len(instance.campuses)) == (2, 24, 1)
    assert instance.clusters[0].flexible_ncu_h == pytest.approx(0.25 * sum(range(100, 124)))
    assert "Flexible usage is 0.25 of inflexible usage (--share)." in said
    assert run("solve", tmp_path / "out.json", "-q").returncode == 0
    path.write_text("\n".join(["c,h,load,co2", *rows[:-1]]) + "\n")
    assert "cluster y: has the hours 0, 1" in one_line(run("import", "csv", path, "--to", "day_ahead", *mapped))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "allocation", "--map", "duration=Runtime_min"], "needs submit (when it is submitted"),
        (["--to", "allocation", "--map", "submit=Submit"], "needs duration"),
        (["--to", "allocation", *MAPPED, "--map", "dew=Deadline"], "has no field 'dew' to map, it has: id, submit"),
        (["--to", "allocation", *MAPPED, "--map", "due=Deadlin"], "Deadlin: no such column, the table has JobID"),
        (["--to", "allocation", *MAPPED, "--map", "due"], "write it as --map due=Deadline"),
        (["--to", "allocation", *MAPPED, "--map", "id=Where"], "id is given twice: JobID and Where"),
        (["--to", "allocation", *MAPPED, "--map", "gpus=Where"], "line 2, Where: is 'east', expected a whole number"),
        (["--to", "allocation", *MAPPED, "--map", "due=Priority"], "are not on the same clock"),
        (["--to", "allocation", *MAPPED, "--unit", "duration=week"], "one of ms, s, min, h, d"),
        (["--to", "deferrable", *MAPPED, "--slack", "1e300"], "slack: is 1e+300, expected a number from 0 to 1,000,000"),
        (["--to", "deferrable", *MAPPED, "--slot-s", "1e9"], "slot_s: is 1000000000.0, expected a number from 0.001 to"),
        (["--to", "deferrable", *MAPPED, "--hours", "1e9"], "hours: is 1000000000.0, expected a number from 1e-06 to"),
        (["--to", "allocation", *MAPPED, "--nodes", "V100:4x1000000000"], "1 to 64 GPUs a node, and 1 to 1,000,000 nodes"),
        (["--to", "allocation", *MAPPED, "--slack", "2"], "--slack is not an option of --to allocation"),
        (
            ["--to", "deferrable", "--map", "submit=JobID", "--map", "duration=Runtime_min"],
            "line 2, JobID: is 'a', expected a date",
        ),
        (["--to", "vcc", *MAPPED], "needs --signals"),
        (["--to", "geo", *MAPPED], "needs --signals"),
        (["--to", "day_ahead", "--hours", "24", "--map", "cluster=Where"], "--hours is not an option of --to day_ahead"),
        (MAPPED, "Missing option '--to'"),
        (["--to", "day-ahead", *MAPPED], "'day-ahead' is made of it, did you mean day_ahead?"),
    ],
)
def test_refusals(jobs: Path, tmp_path: Path, words: list[str], message: str) -> None:
    assert message in one_line(run("import", "csv", jobs, *words, "-o", tmp_path / "x.json"))
    assert not (tmp_path / "x.json").exists()


def test_a_broken_row_is_named_or_left_out(jobs: Path, tmp_path: Path) -> None:
    jobs.write_text(JOBS.replace("b,2026-01-05 08:10", "b,yesterday"))
    words = [jobs, "--to", "allocation", *MAPPED]
    line = one_line(run("import", "csv", *words))
    assert line == f"error: {jobs}: line 3, Submit: is 'yesterday', expected a date and time such as 2022-12-01 06:00:00"
    instance, said = imported(tmp_path, *words, "--skip-bad")
    assert len(instance.to_json()["jobs"]) == 2
    assert "skipped: 1 broken rows: 3, Submit" in said


def test_dates_of_another_format_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("when,long\n05.01.2026 08:00,2\n05.01.2026 09:30,1\n")
    words = [
        path,
        "--to",
        "deferrable",
        "--map",
        "submit=when",
        "--map",
        "duration=long",
        "--unit",
        "duration=h",
        "--slot-s",
        "1800",
    ]
    instance, _ = imported(tmp_path, *words, "--time-format", "%d.%m.%Y %H:%M")
    assert [(j["submitted"], j["duration"]) for j in instance.to_json()["jobs"]] == [(0, 4), (3, 2)]
    path.write_text("when_h,long_h\n0.5,2\n2,1\n")
    words = [path, "--to", "deferrable", "--map", "submit=when_h", "--map", "duration=long_h", "--slot-s", "1800"]
    instance, _ = imported(tmp_path, *words)
    assert [(j["submitted"], j["duration"]) for j in instance.to_json()["jobs"]] == [(1, 4), (4, 2)]


@pytest.mark.parametrize("format_", ["%Q", "%", "%Y %Y"])
def test_a_format_that_is_none_gets_one_line(tmp_path: Path, format_: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("when,long\n05.01.2026 08:00,2\n")
    words = ["--to", "deferrable", "--map", "submit=when", "--map", "duration=long", "--time-format", format_]
    done = run("import", "csv", path, *words, "-o", tmp_path / "x.json")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert f"--time-format {format_!r}: " in done.stderr
    assert not (tmp_path / "x.json").exists()


def philly(tmp_path: Path, outlier: bool) -> Path:
    """A trace of 30 jobs within a day, and perhaps one a month before."""
    path = tmp_path / "p.csv"
    early = ["2017-09-01 07:30:00,100,1,x"] if outlier else []
    rows = [f"2017-10-03 {h:02}:{m:02}:00,600,1,x" for h in range(5, 20) for m in (0, 30)]
    path.write_text("\n".join(["timestamp,duration,num_gpus,cluster", *early, *rows]) + "\n")
    return path


def test_a_window_does_not_begin_at_an_outlier(tmp_path: Path) -> None:
    done = run("import", "philly", philly(tmp_path, outlier=True), "--hours", 24, "-o", tmp_path / "o.json")
    assert len(optsched.load(tmp_path / "o.json").to_json()["jobs"]) == 30
    assert (
        "where its busiest 24 hours begin, with 30 jobs; in the first 24 hours, from second 25200 on, there are 1"
        in done.stderr
    )
    first = run("import", "philly", tmp_path / "p.csv", "--hours", 24, "--from-s", 25200, "-o", tmp_path / "f.json")
    assert len(optsched.load(tmp_path / "f.json").to_json()["jobs"]) == 1, first.stderr
    plain = run("import", "philly", philly(tmp_path, outlier=False), "--hours", "2h", "-o", tmp_path / "n.json")
    assert "busiest" not in plain.stderr
    assert len(optsched.load(tmp_path / "n.json").to_json()["jobs"]) == 4
    assert "neither a second" in one_line(run("import", "philly", tmp_path / "p.csv", "--from-s", "noon"))


def test_help_says_that_signals_are_needed() -> None:
    shown = " ".join(run("import", "csv", "--help").stdout.split())
    assert "geo SUBMIT, DURATION, --SIGNALS," in shown
    assert "vcc SUBMIT, DURATION, --SIGNALS," in shown
    assert "vcc: needed: hourly carbon" in shown


def test_durations_of_both_kinds_under_a_name_that_is_a_unit(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("at_h,hours,due_h\n0,1.5,3\n1,0:30:00,1\n2,x,9\n")
    words = [path, "--to", "deferrable", "--map=submit=at_h", "--map=duration=hours", "--map=due=due_h"]
    assert one_line(run("import", "csv", *words)).endswith(
        "line 4, hours: is 'x', expected a duration above 0 and up to 1e+12 s: a number, or such as 02:30:00 or 1-02:30:00"
    )
    instance, said = imported(tmp_path, *words, "--skip-bad", "--slot-s", "1800")
    assert [(j["earliest"], j["duration"]) for j in instance.to_json()["jobs"]] == [(0, 3), (2, 1)]
    assert "Numbers of hours (duration) are in h (by its name)." in said
    assert "Jobs that cannot end by when they are due (1: line3) may start in their earliest slot only, and are late." in said


def test_numbers_beyond_all_measure_say_what_is_the_most(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("at,long_s,cpus\n0,60,1e13\n0,1e9,1\n")
    words = [path, "--to", "deferrable", "--map", "submit=at", "--map", "duration=long_s"]
    assert "line 2, cpus: is '1e13', expected a number of at most 1e+12" in one_line(
        run("import", "csv", *words, "--map", "cores=cpus")
    )
    assert "job 'line3' of 1e+09 s may be run until then" in one_line(run("import", "csv", *words))


def test_a_column_that_is_empty_is_no_clock(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,submit,dur,due\na,0,600,\nb,300,900,\n")
    words = ["--map", "submit=submit", "--map", "duration=dur", "--map", "due=due", "-o", tmp_path / "x.json"]
    said = one_line(run("import", "csv", tmp_path / "t.csv", "--to", "deferrable", *words))
    assert "t.csv: line 2, due: is '', expected a date and time" in said
