"""Trace readers: hand-checked jobs, broken rows by number, and the real traces where they are."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import optsched
from optsched.analysis.time_axis import start_of
from optsched.errors import InputError, OptschedError
from optsched.instances.base import Instance
from optsched.instances.files import save
from optsched.instances.generators import masac
from optsched.instances.readers import (
    READERS,
    Trace,
    read_google2019,
    read_own_csv,
    read_signals,
    replace_signals,
    to_allocation,
    to_deferrable,
    to_geo,
    to_vcc,
)
from optsched.instances.readers.gpus import parse_nodes, priced
from optsched.instances.readers.to_deferrable import FIELDS

SWF = "; a comment\n1 0 5 600 4 -1 -1 8 -1 -1 1 1 1 1 1 1 -1 -1\n2 60 5 301 -1 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n"
PLACEMENTS = "placement,local_bsz,step_time,sync_time\n1,64,0.2,0.0\n1,128,0.4,0.0\n2,64,0.3,0.1\n2,128,0.5,0.1\n11,64,9,1\n"


def written(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def columns(trace: Trace) -> list[tuple[float, float, float]]:
    return list(zip(trace.submitted_s.tolist(), trace.duration_s.tolist(), trace.units.tolist(), strict=True))


@pytest.mark.parametrize(
    ("kind", "name", "text", "expected"),
    [
        (
            "alibaba2020",
            "official.csv",
            "job_id,num_gpu,submit_time,num_inst,num_cpu,duration,gpu_type\na,0.5,10,1,6,100,T4\nb,3,20,3,6,0,V100\nc,0,30,1,6,5,CPU\n",
            [(10, 100, 1), (20, 1, 3)],  # a share of a GPU is a GPU, no duration is a second, no GPU is no job
        ),
        (
            "alibaba2020",
            "short.csv.gz",
            "arrival_time,length,cpus\n0.0,6302.0,1\n68.0,1000.0,2\n",
            [(0, 6302, 1), (68, 1000, 2)],
        ),
        (
            "philly",
            "p.csv",
            "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 00:01:00,60,8,480,x\n2017-10-08 23:00:00,5,0,0,x\n",
            [(86400 + 60, 60, 8)],
        ),
        (
            "helios",
            "cluster_log.csv",
            "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
            "7,u,v,16,32,2,COMPLETED,2020-04-01 01:00:00,2020-04-01 01:00:05,2020-04-01 01:01:05,60,5\n"
            "8,u,v,0,4,1,FAILED,2020-04-01 01:00:00,2020-04-01 01:00:05,2020-04-01 01:01:05,60,5\n",
            [(3600, 60, 16)],
        ),
        (
            "azure-v1",
            "v.csv",
            "t_bin_s,batch,cores,mem_gb,dur_lo_s,dur_hi_s,censored\n0,0,8,14.0,300,600,0\n300,1,1,0.75,0,0,1\n",
            [(0, 450, 8), (300, 0, 1)],
        ),
        ("swf", "x.swf", SWF, [(0, 600, 4), (60, 301, 2)]),
    ],
)
def test_jobs_by_hand(tmp_path: Path, kind: str, name: str, text: str, expected: list[tuple[float, float, float]]) -> None:
    trace = READERS[kind](written(tmp_path / name, text))
    assert columns(trace) == expected
    assert trace.assumed
    assert trace.skipped == ()
    assert trace.files == (name,)


def test_philly_log(tmp_path: Path) -> None:
    attempt = {
        "start_time": "2017-10-09 00:10:00",
        "end_time": "2017-10-09 00:20:00",
        "detail": [{"ip": "m", "gpus": ["g0", "g1"]}],
    }
    jobs = [
        {"status": "Pass", "vc": "x", "jobid": "a", "attempts": [attempt, attempt], "submitted_time": "2017-10-09 00:00:01"},
        {"status": "Killed", "vc": "y", "jobid": "b", "attempts": [], "submitted_time": "2017-10-09 00:00:02"},
    ]
    path = written(tmp_path / "cluster_job_log", json.dumps(jobs))
    assert columns(READERS["philly"](path)) == [(1, 1200, 2)]
    with pytest.raises(OptschedError, match="no cluster 'z', there are: x, y"):
        READERS["philly"](path, cluster="z")
    broken = written(tmp_path / "broken.json", json.dumps([{"vc": "x"}, *jobs]))
    with pytest.raises(InputError, match="job 1, attempts: lacks submitted_time"):
        READERS["philly"](broken)
    assert len(READERS["philly"](broken, skip_bad=True)) == 1
    with pytest.raises(InputError, match="is not Philly's cluster_job_log"):
        READERS["philly"](written(tmp_path / "x.json", "{}"))


def packing(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE vm (vmId, tenantId, vmTypeId, priority, starttime, endtime)")
        base.execute("CREATE TABLE vmType (id, vmTypeId, machineId, core, memory, hdd, ssd, nic)")
        base.executemany("INSERT INTO vmType VALUES (?,?,?,?,0,0,0,0)", [(1, 7, 1, 0.25), (2, 7, 2, 0.125), (3, 8, 1, 1.0)])
        rows = [
            (1, 1, 7, 0, 0.5, 1.0),
            (2, 1, 8, 1, 0.25, 0.5),
            (3, 1, 7, 0, -3.0, 2.0),
            (4, 1, 7, 0, 1.0, None),
            (5, 1, 99, 0, 2.0, 3.0),
        ]
        base.executemany("INSERT INTO vm VALUES (?,?,?,?,?,?)", rows)
        base.commit()
    return path


def test_azure_packing(tmp_path: Path) -> None:
    path = packing(tmp_path / "p.sqlite")
    read = READERS["azure-packing"]
    with pytest.raises(InputError, match="vm 5, core: is 'None', expected a number above 0"):
        read(path)
    trace = read(path, skip_bad=True, machine_cores=40)
    assert trace.ids == ("vm2", "vm1")
    assert columns(trace) == [(21600, 21600, 40), (43200, 43200, 10)]  # the larger of the type's two shares
    assert [n for n, _ in trace.skipped] == [5]
    assert len(read(path, days=0.3)) == 1
    with pytest.raises(InputError, match="not the SQLite file"):
        read(written(tmp_path / "x.sqlite", "not a database"))
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (
            "alibaba2020",
            "arrival_time,length,cpus\n0,1,1\n\n5,1,x\n6,1,1\n",
            "line 4, cpus: is 'x', expected a whole number of at least 1",
        ),
        ("alibaba2020", "arrival_time,length,cpus\n0,1,1.5\n6,1,1\n", "line 2, cpus: is '1.5', expected a whole number"),
        ("alibaba2020", "arrival_time,length,cpus\n0,nan,1\n6,1,1\n", "line 2, length: is 'nan', expected a number above 0"),
        ("alibaba2020", "arrival_time,length,cpus\n0,1\n6,1,1\n", "line 2, fields: has not the header's 3 fields"),
        ("alibaba2020", "arrival_time,length,cpus\n6,1,1\n0,1e300,1\n", "line 3, length: is '1e300'"),
        (
            "alibaba2020",
            "job_id,num_gpu,submit_time,duration\na,1,0,1\na,1,0,1\n",
            "line 3, job_id: is 'a', stands in an earlier row too",
        ),
        (
            "philly",
            "timestamp,duration,num_gpus,cluster\nsoon,1,1,x\n2017-10-09,1,1,x\n",
            "line 2, timestamp: is 'soon', expected a date",
        ),
        (
            "azure-v1",
            "t_bin_s,cores,dur_lo_s,dur_hi_s,censored\n0,1,600,300,0\n0,1,0,0,0\n",
            "line 2, dur_hi_s: is '300', expected at",
        ),
        ("swf", SWF + "3 0 1\n", "line 4, fields: has not the 18 fields"),
        (
            "swf",
            SWF + SWF.splitlines()[2].replace("2 60", "3 y") + "\n",
            "line 4, submit: is 'y', expected a number of at least -1",
        ),
    ],
)
def test_broken_rows(tmp_path: Path, kind: str, text: str, message: str) -> None:
    path = written(tmp_path / "x.csv", text)
    with pytest.raises(InputError, match=message) as caught:
        READERS[kind](path)
    assert "\n" not in str(caught.value)
    trace = READERS[kind](path, skip_bad=True)
    assert [f"line {number}, {fault}"[: len(message)] for number, fault in trace.skipped] == [message]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "no such column, the table has a, b"),
        ("arrival_time,length,length\n", "names a column twice"),
        ("arrival_time,length,cpus\n", "no usable job in 0 rows"),
    ],
)
def test_files_that_are_no_trace(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(OptschedError, match=message):
        READERS["alibaba2020"](written(tmp_path / "x.csv", text))


DAY = "2020-04-01"


@pytest.mark.parametrize(
    ("kind", "text", "start"),
    [
        ("philly", f"timestamp,duration,num_gpus,cluster\n{DAY} 09:10:00,60,8,x\n", "2020-04-01T00:00:00+00:00"),
        ("helios", f"job_id,gpu_num,submit_time,duration\n7,16,{DAY} 09:10:00,60\n", "2020-04-01T00:00:00+00:00"),
        ("swf", "; UnixStartTime: 1585699200\n" + SWF, "2020-04-01T00:00:00+00:00"),
        ("swf", SWF, None),
        ("alibaba2020", "arrival_time,length,cpus\n0.0,6302.0,1\n", None),
    ],
)
def test_when_second_0_is(tmp_path: Path, kind: str, text: str, start: str | None) -> None:
    """A date where the trace has some, and that of a window's beginning."""
    trace = READERS[kind](written(tmp_path / "x.csv", text))
    assert trace.meta().get("start") == start
    later = "2020-03-31T22:30:00+00:00"
    assert trace.window(from_s=-5400).meta().get("start") == (None if start is None else later)
    assert "start" not in trace.window(from_s=-1e300).meta()
    made = to_allocation(trace) if kind != "swf" else to_deferrable(trace)
    assert made.meta.get("start") == start
    begin = start_of(made)
    assert (None if begin is None else begin.isoformat()) == start


def test_when_second_0_of_googles_month_is(traces: Path) -> None:
    """Midnight in California."""
    assert read_google2019(traces / "google2019", first_day=1, days=1).meta["start"] == "2019-05-02T00:00:00-07:00"


@pytest.mark.parametrize(("submit", "start"), [("2020-04-01T09:10+02:00", True), ("1585725000", True), ("600", False)])
def test_when_second_0_of_an_own_table_is(tmp_path: Path, submit: str, start: bool) -> None:
    path = written(tmp_path / "x.csv", f"submit,run\n{submit},60\n")
    trace = read_own_csv(path, FIELDS, {"submit": "submit", "duration": "run"})
    assert trace.meta().get("start") == ("2020-04-01T00:00:00+00:00" if start else None)


def test_window(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "arrival_time,length,cpus\n9000,1,1\n7300,1,2\n7200,1,3\n99000,1,4\n")
    trace = READERS["alibaba2020"](path)
    assert columns(trace.window()) == [(0, 1, 3), (100, 1, 2), (1800, 1, 1), (91800, 1, 4)]
    cut = trace.window(from_s=7260, hours=1, limit=5)
    assert (cut.ids, cut.origin_s) == (("line3", "line2"), 7260)
    assert "2 of the trace's 4 jobs are kept (window, sample, limit)." in cut.assumed
    assert trace.window(sample=2, seed=1).ids == trace.window(sample=2, seed=1).ids
    with pytest.raises(OptschedError, match="no job of the trace is submitted in the window"):
        trace.window(from_s=1e6)
    with pytest.raises(OptschedError, match="busiest window begins depends on its length: say so in hours"):
        trace.window(from_s="busiest")


def test_amdahl_by_hand(tmp_path: Path) -> None:
    """One GPU type as recorded: the time at the recorded number of GPUs is the duration, and Amdahl's law holds around it."""
    trace = READERS["alibaba2020"](written(tmp_path / "x.csv", "arrival_time,length,cpus\n0,1000,2\n"))
    instance = to_allocation(trace, "V100:4x1,T4:1x1", seed=2)
    times = np.array(instance.jobs[0].time_s["V100"])
    assert times[1] == pytest.approx(1000, abs=1e-3)
    serial = 2 * times[1] / times[0] - 1
    assert times == pytest.approx(times[0] * (serial + (1 - serial) / np.arange(1, 5)), abs=2e-3)
    assert instance.jobs[0].time_s["T4"][0] > times[0]
    assert min(times) <= instance.jobs[0].due_s <= max(times[0], instance.jobs[0].time_s["T4"][0])
    assert instance == to_allocation(trace, "V100:4x1,T4:1x1", seed=2)
    assert instance != to_allocation(trace, "V100:4x1,T4:1x1", seed=3)
    with pytest.raises(OptschedError, match="nodes of V100 and T4 only"):
        to_allocation(trace, "K80:2x2")


def test_nodes() -> None:
    nodes = parse_nodes("V100:6x2, K80:2x1")
    assert [(n.id, n.gpu_type, n.gpus) for n in nodes] == [("n1", "V100", 6), ("n2", "V100", 6), ("n3", "K80", 2)]
    costs = priced(nodes)["V100"].node_cost_per_h
    assert np.diff(costs) == pytest.approx([costs[1] - costs[0]] * 5)  # ANDREAS' line goes on
    for wrong in ("V100", "V100:0x1", "V100:99x1", "H100:4x1", "V100:4x0", ""):
        with pytest.raises(OptschedError, match="nodes"):
            parse_nodes(wrong)


def test_pollux_by_hand(tmp_path: Path) -> None:
    written(tmp_path / "pollux_cifar10_placements.csv", PLACEMENTS)
    path = written(tmp_path / "w.csv", "name,time,application,num_replicas,batch_size\nc-0,107,cifar10,6,192\n")
    trace = READERS["pollux"](path, profiles=tmp_path)
    steps = 3178 * 2048 / 192
    # one T4: 192 = two passes of 96, each 0.3 s; two T4: 96 each, 0.4 s of which 0.1 s synchronises
    assert trace.time_s[0]["T4"] == pytest.approx((steps * 0.6, steps * 0.4), abs=1e-3)
    assert columns(trace) == [(107, pytest.approx(steps * 0.4, abs=1e-3), 2)]  # the fastest, where one is needed
    instance = to_allocation(trace, seed=1)
    assert instance.nodes[0].gpu_type == "T4"
    assert instance.jobs[0].submit_s == 107
    with pytest.raises(OptschedError, match="no job of the trace has a time on V100; it knows T4"):
        to_allocation(trace, "V100:4x1")
    with pytest.raises(OptschedError, match="no profile of bert, expected a file pollux_bert_placements"):
        READERS["pollux"](written(path, path.read_text().replace("cifar10", "bert")), profiles=tmp_path)


def test_gavel_by_hand(tmp_path: Path) -> None:
    header = "gpu_type,consolidated,model,batch_size,scale_factor,steps_per_s\n"
    rows = "v100,1,ResNet-18,64,1,10\nv100,1,ResNet-18,128,1,8\nv100,1,ResNet-18,64,2,16\n"
    rows += "v100,0,ResNet-18,64,4,99\nk80,1,ResNet-18,64,1,2\n"  # the first of these is spread over nodes
    profile = written(tmp_path / "gavel.csv", header + rows)
    path = written(tmp_path / "w.csv", "name,time,application,num_replicas,batch_size\nc-0,107,cifar10,6,128\n")
    samples = 3178 * 2048
    times = READERS["pollux"](path, profiles=profile).time_s[0]
    assert times["V100"] == pytest.approx((samples / (8 * 128), samples / (16 * 64)), abs=1e-3)
    assert times["K80"] == pytest.approx((samples / (2 * 64),), abs=1e-3)


def test_deferrable_by_hand(tmp_path: Path) -> None:
    trace = READERS["swf"](written(tmp_path / "x.swf", SWF))
    instance = to_deferrable(trace, slot_s=300, slack=1.5, capacity=6)
    assert [(j.cores, j.duration, j.earliest, j.latest, j.submitted) for j in instance.jobs] == [
        (4, 2, 0, 3, 0),
        (2, 2, 1, 4, 1),
    ]
    assert instance.capacity == (6.0,) * 6
    assert to_deferrable(trace, slack=0, hours=1 / 6).job_count == 1  # two slots; the second job would end after them
    short = to_deferrable(trace, slack=0, hours=1 / 6, truncate=True)
    assert [j.duration for j in short.jobs] == [2, 1]
    assert to_deferrable(trace, hours=1, load=0.5).capacity == (4.0,) * 12  # 12 core-slots of 24, but the widest job has 4


def test_busy_cores(tmp_path: Path) -> None:
    busy = written(tmp_path / "busy.csv", "timestamp,cpu_usage,assigned_mem\n0,100,1\n300,500,1\n600,300,1\n900,500,1\n")
    trace = READERS["swf"](written(tmp_path / "x.swf", SWF))
    # left below the peak: 4, 0, 2, 0 cores, so 2 and 1 in slots of ten minutes; 6 core-slots are asked for (4 + 2)
    instance = to_deferrable(trace, slot_s=600, slack=0, hours=1 / 3, busy=busy)
    assert instance.capacity == (4, 2)
    with pytest.raises(InputError, match="take fewer hours"):
        to_deferrable(trace, busy=busy, hours=2)
    with pytest.raises(OptschedError, match="not both"):
        to_deferrable(trace, busy=busy, capacity=3)


def wide(path: Path, zones: str, rows: int, first: float) -> Path:
    lines = [
        f"2022-01-01 {h:02d}:00:00," + ",".join(str(first + h + 100 * z) for z in range(len(zones.split(","))))
        for h in range(rows)
    ]
    return written(path, f"datetime_utc,{zones}\n" + "\n".join(lines) + "\n")


def test_signals(tmp_path: Path) -> None:
    instance = masac(jobs=5, days=0.125, scale=0.05, seed=1)
    price = wide(tmp_path / "price.csv", "AU-SA,AU-WA,CA-ON,PL,X", 5, 0)
    carbon = wide(tmp_path / "z.csv", "AU-SA,AU-WA,CA-ON,PL,SG", 4, 500)
    made = replace_signals(instance, read_signals([price, f"carbon={carbon}"]), {"SG": "X,SG"}, "2022-01-01T01:00")
    assert made.sites[0].price_usd_per_mwh == (1, 2, 3)
    assert made.sites[4].price_usd_per_mwh == (401, 402, 403)
    assert made.sites[4].carbon_g_per_kwh == (901, 902, 903)
    assert made.jobs == instance.jobs
    assert made.meta["start"] == "2022-01-01T01:00:00+00:00"
    only = replace_signals(instance, read_signals([f"carbon={carbon}"]))
    assert only.sites[0].price_usd_per_mwh == instance.sites[0].price_usd_per_mwh
    for files, zones, start, message in (
        ([price], {}, None, "price: lacks SG; there are AU-SA"),
        (
            [price],
            {"SG": "X"},
            "2022-01-01T03:00",
            r"lacks hours of 2022-01-01 03:00 to .*: AU-SA 1, .* \(first 2022-01-01 05:00\)",
        ),
        ([price], {"Y": "X"}, None, "no site Y"),
        ([price], {"SG": "X"}, "soon", "'soon' is no date"),
        ([price, price], {}, None, "gives the price that another file gave already"),
        ([carbon], {}, None, "does its name say price or carbon"),
    ):
        with pytest.raises(OptschedError, match=message):
            replace_signals(instance, read_signals(files), zones, start)


def test_signals_say_when_second_0_is(tmp_path: Path) -> None:
    """Prices and carbon are of their hour of the day, whatever the day of the jobs."""
    zones = "AU-SA,AU-WA,CA-ON,PL,SG"
    signals = read_signals([wide(tmp_path / "price.csv", zones, 5, 0), wide(tmp_path / "carbon.csv", zones, 5, 500)])
    table = written(tmp_path / "p.csv", "timestamp,duration,num_gpus,cluster\n2017-10-09 00:01:00,60,1,x\n")
    trace = READERS["philly"](table)
    assert to_geo(trace, signals, hours=3).meta["start"] == "2022-01-01T00:00:00+00:00"
    later = "2022-01-01T02:00:00+00:00"
    assert to_geo(trace, signals, hours=3, start="2022-01-01T02:00").meta["start"] == later
    assert to_vcc(trace, signals, hours=3, zone="PL", start="2022-01-01T02:00").meta["start"] == later


def test_new_signals_begin_where_the_instance_does(tmp_path: Path) -> None:
    instance = masac(jobs=5, days=0.125, scale=0.05, seed=1)
    signals = read_signals([wide(tmp_path / "price.csv", "AU-SA,AU-WA,CA-ON,PL,SG", 9, 0)])
    dated = instance.model_copy(update={"meta": {"start": "2022-01-01T04:00:00+01:00"}})
    made = replace_signals(dated, signals)
    assert (made.meta["start"], made.sites[0].price_usd_per_mwh) == ("2022-01-01T03:00:00+00:00", (3, 4, 5))


def test_hours_of_signals(tmp_path: Path) -> None:
    """Those of the jobs where there is one of them; else of the same hour of the day, where all are there; else the first."""
    signals = read_signals([wide(tmp_path / "price.csv", "A", 9, 0)])
    first = signals.period({"price": ["A"]}, 3)[0]
    day = 24 * 3600.0
    begin = first * 3600.0
    found = [
        signals.period({"price": ["A"]}, 3, None, begins_s)
        for begins_s in (begin + 4 * 3600, begin - 2 * 3600, begin + day + 6 * 3600, begin + day + 7 * 3600, begin + 1800)
    ]
    assert [at - first for at, _ in found] == [4, -2, 6, 0, 0]
    assert [len(warnings) for _, warnings in found] == [0, 0, 1, 1, 1]
    assert found[-1][1] == ["Second 0 is 1800 s after 2022-01-01 00:00, from which on signals count."]


def test_long_signals_skip_broken_rows(tmp_path: Path) -> None:
    rows = ["2022-01-01 00:00,A,10,100", "2022-01-01 00:30,A,20,300", "2022-01-01 01:00,A,x,5", "2022-01-01 01:00,A,7,5"]
    path = written(
        tmp_path / "x.csv", "Datetime (UTC),Zone Id,price_usd_per_mwh,carbon_gco2_per_kwh\n" + "\n".join(rows) + "\n"
    )
    with pytest.raises(InputError, match="line 4, price_usd_per_mwh: is 'x'"):
        read_signals([path])
    with pytest.raises(InputError, match="line 2, A: is '-1', expected a number of at least 0"):
        read_signals([written(tmp_path / "carbon.csv", "time,A\n2022-01-01,-1\n")])
    signals = read_signals([path], skip_bad=True)
    assert len(signals.skipped) == 1
    first, _ = signals.period({"price": ["A"]}, 2)
    assert signals.take("price", ["A"], first, 2).tolist() == [[15, 7]]
    assert signals.take("carbon", ["A"], first, 2).tolist() == [[200, 5]]


def reloaded(instance: Instance, tmp_path: Path) -> Instance:
    """Through a file and back, with a feasible schedule by the greedy."""
    save(instance, tmp_path / "x.json.gz")
    again = optsched.load(tmp_path / "x.json.gz")
    assert again == instance
    assert str(tmp_path) not in json.dumps(again.meta)
    result = optsched.solve(again, "greedy")
    assert optsched.check(again, result) == []
    return again


def test_real_gpu_traces(traces: Path, tmp_path: Path) -> None:
    alibaba = READERS["alibaba2020"](traces / "gpu" / "alibaba2020_pai_1week_1k.csv")
    assert len(alibaba) == 1000
    instance = reloaded(to_allocation(alibaba.window(limit=60), "V100:4x5,T4:2x5", seed=1, all_submitted=True), tmp_path)
    assert instance.job_count == 60
    philly = READERS["philly"](traces / "gpu" / "philly_jobs.csv.gz", cluster="ee9e8c")
    assert philly.units.max() == 128
    reloaded(to_allocation(philly.window(from_s=864000, limit=60), seed=1, all_submitted=True), tmp_path)
    signals = read_signals([traces / "grid" / "masac_five_regions_2022-12-01_06_hourly.csv"])
    geo = reloaded(to_geo(alibaba.window(hours=24), signals, hours=24, scale=0.05, seed=1), tmp_path)
    assert geo.sites[0].price_usd_per_mwh[0] == pytest.approx(-32.278)  # type: ignore[attr-defined]


def test_real_profiles(traces: Path, tmp_path: Path) -> None:
    workload = traces / "gpu" / "pollux_workload-1.csv"
    pollux = READERS["pollux"](workload)
    assert len(pollux) == 160
    # an order-of-magnitude check against the sizes that Pollux names: imagenet more than 100 GPU-hours, ncf under one
    hours = {i.split("-")[0]: times["T4"][0] / 3600 for i, times in zip(pollux.ids, pollux.time_s, strict=True)}
    assert hours["imagenet"] > 100
    assert 5 < hours["yolov3"] < 100
    assert 1 < hours["deepspeech2"] < 10
    assert 1 < hours["bert"] < 10
    assert hours["ncf"] < 1
    reloaded(to_allocation(pollux.window(limit=60), all_submitted=True), tmp_path)
    gavel = READERS["pollux"](workload, profiles=traces / "profiles" / "gavel_throughputs_isolated.csv")
    assert set(gavel.time_s[0]) == {"K80", "P100", "V100"}
    reloaded(to_allocation(gavel.window(limit=60), "V100:4x5,K80:4x5", all_submitted=True), tmp_path)


def test_real_azure(traces: Path, tmp_path: Path) -> None:
    trace = READERS["azure-v1"](traces / "cpu" / "azure_v1_vms_7days.csv.gz").window(hours=24, sample=400, seed=1)
    busy = traces / "cpu" / "azure_v2_busy_cores_21days_5min.csv"
    instance = reloaded(to_deferrable(trace, hours=24, slot_s=900, busy=busy, load=1.2), tmp_path)
    cores, duration = instance.columns.cores, instance.columns.duration  # type: ignore[attr-defined]
    assert cores @ duration / sum(instance.capacity) == pytest.approx(1.2, rel=1e-3)  # type: ignore[attr-defined]
