"""JSON in and out without loss; hashes that depend on the content only."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsched.errors import InputError
from optsched.instances.base import Instance
from optsched.instances.files import dumps, save
from optsched.origins import generate
from optsched.reading import load, parse, schema
from tests.oracle import tiny

EXAMPLES = ("armida", "armida-snapshot", "allocation-small", "deferrable-small", "geo-small")


@given(st.sampled_from(sorted(tiny.TINY)), st.integers(0, 10_000))
def test_round_trip(family: str, seed: int) -> None:
    instance = tiny.TINY[family](seed)
    again = parse(dumps(instance), "x.json")
    assert again == instance
    assert again.sha256 == instance.sha256
    assert dumps(again) == dumps(instance)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_files(examples: Path, tmp_path: Path, name: str, suffix: str) -> None:
    instance = load(examples / f"{name}.json")
    save(instance, tmp_path / f"x{suffix}")
    save(instance, tmp_path / f"y{suffix}")
    assert load(tmp_path / f"x{suffix}") == instance
    assert (tmp_path / f"x{suffix}").read_bytes() == (tmp_path / f"y{suffix}").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        f"x{suffix}",
        f"y{suffix}",
    ]  # nothing temporary is left


@pytest.mark.parametrize("name", EXAMPLES)
def test_hash_ignores_order_and_defaults_only(examples: Path, name: str) -> None:
    text = (examples / f"{name}.json").read_text()
    data = json.loads(text)
    instance = parse(text.encode(), "x")
    backwards = json.dumps(dict(reversed(data.items())))
    assert parse(backwards.encode(), "x").sha256 == instance.sha256
    if instance.problem == "allocation":
        assert parse(json.dumps(data | {"use_all_nodes": True}).encode(), "x").sha256 == instance.sha256
        assert parse(json.dumps(data | {"use_all_nodes": False}).encode(), "x").sha256 != instance.sha256
    assert instance.model_copy(update={"name": "other"}).sha256 != instance.sha256


@pytest.mark.parametrize("name", EXAMPLES)
def test_schema_takes_the_examples(examples: Path, name: str) -> None:
    data = json.loads((examples / f"{name}.json").read_text())
    described = schema(data["problem"])
    jsonschema.Draft202012Validator.check_schema(described)
    jsonschema.validate(data, described)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data | {"colour": "red"}, described)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"cores":', '"core":', r'^x: jobs\[0\].core \(id ".*"\): unknown key, did you mean cores\? \(and \d+ more\)$'),
        ('"slot_s":', '"slots":', r"^x: slots: unknown key, did you mean slot_s\?"),
        ('"slot_s":', '"colour":', r"^x: colour: unknown key; slot_s is missing$"),
    ],
)
def test_an_unknown_key_is_named_before_what_it_meant(examples: Path, old: str, new: str, message: str) -> None:
    text = (examples / "deferrable-small.json").read_text()
    with pytest.raises(InputError, match=message):
        parse(text.replace(old, new).encode(), "x")


def test_names_that_fool(examples: Path, tmp_path: Path) -> None:
    """A compressed file under a plain name, and no name at all."""
    (tmp_path / "x.json").write_bytes(gzip.compress((examples / "geo-small.json").read_bytes()))
    with pytest.raises(InputError, match=r"x.json: is compressed by gzip: its name must end in .gz$"):
        load(tmp_path / "x.json")
    with pytest.raises(InputError, match=r"^the name of a file is empty$"):
        load("")


def test_an_instance_prints_as_one_line_that_counts(examples: Path) -> None:
    data = json.loads((examples / "deferrable-small.json").read_text())
    one = parse(json.dumps(data | {"jobs": data["jobs"][:1], "capacity": [4] * len(data["capacity"])}).encode(), "x")
    assert str(one) == repr(one)
    assert ": 1 job, 24 slots of 300 s, capacity 4 cores, " in str(one)
    assert " 12 jobs, 24 slots of 300 s, capacity 5..12 cores, " in str(load(examples / "deferrable-small.json"))
    assert "2 clusters on 1 campus, 24 hours" in generate("day-ahead", clusters=2, campuses=1).summary()
    assert "3 clusters on 2 campuses" in generate("day-ahead", clusters=3, campuses=2).summary()


def test_instances_are_immutable(examples: Path) -> None:
    instance = load(examples / "geo-small.json")
    with pytest.raises(InputError, match="frozen"):
        instance.horizon = 3  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="read-only"):
        instance.columns.gpus[0] = 9  # type: ignore[attr-defined]


def test_columns_follow_the_jobs(examples: Path) -> None:
    geo = load(examples / "geo-small.json")
    assert geo.columns.duration.tolist() == [job.duration for job in geo.jobs]
    assert geo.price.shape == geo.carbon.shape == geo.capacity.shape == (5, geo.horizon)
    armida = load(examples / "armida-snapshot.json")
    assert armida.columns.time_s.shape == (8, 3, 2)
    assert np.isnan(armida.columns.time_s[0, 0, 1])  # armida-05 has one GPU


def test_armida_is_table_v(examples: Path) -> None:
    """Times are epochs times the profiled seconds per epoch; due dates are submission plus the printed ones."""
    epoch = {
        "LSTM-big": [43.0842, 30.5512, 110.7112],
        "LSTM-small": [43.0261, 30.5871, 110.6581],
        "EfficientNet": [51.6221, 41.2372, 88.9881],
        "ConvNet": [20.5382, 17.8042, 41.2582],
    }
    weights = {1: 0.00025371, 2: 0.00030128, 3: 0.00034885, 4: 0.00039642, 5: 0.00044399}
    trace, snapshot = load(examples / "armida.json"), load(examples / "armida-snapshot.json")
    assert (trace.now_s, snapshot.now_s) == (0, 8400)
    assert trace.jobs == snapshot.jobs
    assert [job.id for job in trace.jobs] == ["J6", "J9", "J10", "J7", "J8", "J1", "J2", "J3"]
    for job, row in zip(trace.jobs, trace.meta["table_v"], strict=True):
        times = [row["epochs"] * s for s in epoch[row["network"]]]
        assert [*job.time_s["V100"], *job.time_s["T4"]] == pytest.approx(times, abs=1e-3)
        assert job.due_s == row["submit_s"] + row["due_after_s"]
        assert job.weight_per_s == weights[row["weight_class"]]
    assert min(t for t in trace.jobs[1].time_s["V100"]) == pytest.approx(2848.672)  # J9 cannot meet 2600 s


def test_armida_is_the_published_data(examples: Path, traces: Path) -> None:
    """The costs in the example are the price column of the authors' file."""
    rows = (traces / "armida" / "gpu_cost_server_4-2.csv").read_text().splitlines()[1:]
    listed = {"TESLA": [], "TURING": []}
    for row in rows:
        kind, *_, cost = row.split(",")
        listed[kind].append(float(cost))
    types = load(examples / "armida.json").gpu_types
    assert list(types["V100"].node_cost_per_h) == pytest.approx(listed["TESLA"], rel=1e-9)
    assert list(types["T4"].node_cost_per_h) == pytest.approx(listed["TURING"], rel=1e-9)


def test_model_copy_forgets_the_cached(examples: Path) -> None:
    instance: Instance = load(examples / "armida-snapshot.json")
    assert len(instance.known_jobs) == 8
    earlier = instance.model_copy(update={"now_s": 0.0})
    assert len(earlier.known_jobs) == 1
    assert earlier.sha256 != instance.sha256
