"""Instances and schedules from pandas frames and mappings, and back without loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import optsched
from optsched.errors import InputError, OptschedError
from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.geo import GeoInstance
from optsched.schedules.allocation import AllocationSchedule
from optsched.schedules.geo import GeoSchedule, Lost, Start
from optsched.schedules.vcc import VccSchedule

EXAMPLES = ["allocation-small", "armida", "day-ahead", "deferrable-small", "geo-small", "vcc-small"]


def rest(instance: optsched.Instance) -> dict[str, Any]:
    """Every field but the table."""
    return {name: getattr(instance, name) for name in type(instance).model_fields if name != instance.table}


@pytest.mark.parametrize("name", EXAMPLES)
def test_instances_survive_a_frame_and_csv(name: str, examples: Path, tmp_path: Path) -> None:
    instance = optsched.load(examples / f"{name}.json")
    frame = instance.to_frame()
    assert len(frame) == len(getattr(instance, instance.table))
    frame.to_csv(tmp_path / "jobs.csv", index=False)
    for given in (frame, frame.set_index("id"), pd.read_csv(tmp_path / "jobs.csv")):
        again = type(instance).from_frame(given, **rest(instance))
        assert again == instance
        assert again.sha256 == instance.sha256
    again.save(tmp_path / "again.json")
    assert optsched.load(tmp_path / "again.json").sha256 == instance.sha256


def test_unequal_lists_and_gaps_within_them(examples: Path) -> None:
    """A job that cannot run on two GPUs but on three keeps its null; shorter lists stay short, absent types absent."""
    instance = AllocationInstance.load(examples / "allocation-small.json")
    types = {"V100": {"node_cost_per_h": [1.0, 2.0, 3.0]}, "T4": {"node_cost_per_h": [1.0]}}
    times: list[dict[str, tuple[float | None, ...]]] = [{"V100": (9.0, None, 4.0)}, {"T4": (7.5,), "V100": (8.0,)}]
    jobs = tuple(Job(id=f"J{j}", submit_s=0.0, due_s=9.0, weight_per_s=1.0, time_s=time) for j, time in enumerate(times))
    fields = rest(instance) | {"gpu_types": types, "nodes": []}
    made = AllocationInstance.from_dict(fields | {"jobs": jobs})
    frame = made.to_frame()
    assert list(frame.columns[4:]) == ["time_s.V100.1", "time_s.V100.2", "time_s.V100.3", "time_s.T4.1", "estimate"]
    assert frame.loc[0, "time_s.V100.3"] == 4.0  # seconds on three GPUs, not four
    assert AllocationInstance.from_frame(frame, **fields) == made
    with pytest.raises(InputError, match=r"column 'time_s.T4.0': positions count from 1$"):
        AllocationInstance.from_frame(frame.rename(columns={"time_s.T4.1": "time_s.T4.0"}), **fields)


def test_other_tables_may_be_frames_too(examples: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    fields = rest(instance) | {"sites": instance.to_frame("sites"), "links": instance.to_frame("links")}
    assert GeoInstance.from_frame(instance.to_frame(), **fields) == instance
    with pytest.raises(OptschedError, match="no table 'horizon', it has: sites, links, jobs"):
        instance.to_frame("horizon")


def test_what_pandas_makes_of_columns_is_read_back(examples: Path) -> None:
    """Numbers as ids, integers that became floats beside empty cells, NumPy arrays for lists."""
    instance = optsched.load(examples / "geo-small.json")
    frame = instance.to_frame().head(2).drop(columns=["bound_for"])
    frame["id"], frame["gpus"], frame["arrives"] = [17, 18], [1.0, 2.0], [np.nan, np.nan]
    (site, *_) = instance.to_json()["sites"]
    site |= {"price_usd_per_mwh": np.array(site["price_usd_per_mwh"]), "gpus": np.int64(64)}
    frame["source"] = site["id"]
    made = GeoInstance.from_frame(frame, **rest(instance) | {"sites": [site], "links": ()})
    assert [(job.id, job.gpus, job.arrives) for job in made.jobs] == [("17", 1, 0), ("18", 2, 0)]
    assert made.sites[0].gpus == 64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda f: f.rename(columns={"gpus": "GPUs"}),
            ": column 'GPUs': is no field of a Job, which has: id, source, submitted",
        ),
        (lambda f: pd.concat([f, f["gpus"]], axis=1), ": column 'gpus': is there twice"),
        (lambda f: f.drop(columns=["slack"]), ": column 'slack': is missing; columns are id, source"),
        (lambda f: f.assign(gpus=0), '[0].gpus (id "J1"): must be greater than or equal to 1, got 0'),
        (lambda f: f.assign(gpus=1.5), "[0].gpus"),
        (lambda f: f.assign(source="nowhere"), "[0].source: unknown site 'nowhere'"),
    ],
)
def test_bad_frames_end_in_one_line(examples: Path, change: Any, message: str) -> None:
    instance = optsched.load(examples / "geo-small.json")
    frame = instance.to_frame()
    frame["id"] = [f"J{n}" for n in range(1, len(frame) + 1)]
    with pytest.raises(InputError) as caught:
        GeoInstance.from_frame(change(frame), **rest(instance))
    assert str(caught.value).startswith("GeoInstance.from_frame: jobs" + message)
    assert "\n" not in str(caught.value)


def test_schedules_survive_a_frame_and_a_mapping(examples: Path, tmp_path: Path) -> None:
    away = GeoSchedule(
        starts=(Start(job="a", site="x", start=3, departure=None), Start(job="b", site="y", start=4, departure=2)),
        lost=(Lost(job="c", site="y", departure=1),),
    )
    frame = away.to_frame()
    assert frame.to_dict("list") == {"job": ["a", "b"], "site": ["x", "y"], "start": [3, 4], "departure": [None, 2]}
    assert GeoSchedule.from_frame(frame, lost=away.to_frame("lost")) == away
    frame.to_csv(tmp_path / "s.csv", index=False)
    assert GeoSchedule.from_frame(pd.read_csv(tmp_path / "s.csv"), lost=away.lost) == away  # departures came as floats
    assert GeoSchedule.from_dict(away.model_dump()) == away
    assert GeoSchedule.from_frame(GeoSchedule(starts=()).to_frame()) == GeoSchedule(starts=())
    assert AllocationSchedule.from_frame(pd.DataFrame({"job": [], "node": [], "gpus": []})).assignments == ()
    capped = VccSchedule.from_frame(pd.DataFrame({"job": ["a"], "start": [0]}), cap=np.array([0.5, 1.0]))
    assert (capped.cap, capped.starts[0].until) == ((0.5, 1.0), None)


def test_a_bad_schedule_ends_in_one_line() -> None:
    with pytest.raises(InputError, match=r"^GeoSchedule.from_dict: starts\[0\].site: is missing \(and 1 more\)$"):
        GeoSchedule.from_dict({"starts": [{"job": "a", "start": 3}]})
    with pytest.raises(InputError, match=r"^GeoSchedule.from_frame: starts: column 'place': is no field of a Start"):
        GeoSchedule.from_frame(pd.DataFrame({"job": ["a"], "place": ["x"]}))


def test_another_family_is_refused(examples: Path) -> None:
    data = optsched.load(examples / "deferrable-small.json").to_json()
    with pytest.raises(InputError, match=r"GeoInstance.from_dict: problem: is 'deferrable', expected 'geo'"):
        GeoInstance.from_dict(data)
    with pytest.raises(InputError, match=r"deferrable-small.json: problem: is 'deferrable', expected 'geo'"):
        GeoInstance.load(examples / "deferrable-small.json")
    assert GeoInstance.load(examples / "geo-small.json") == optsched.load(examples / "geo-small.json")
