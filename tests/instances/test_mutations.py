"""500 ways to break an instance file: each ends as one line that names the place, never as a traceback."""

from __future__ import annotations

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from optsched.cli import _run
from optsched.errors import InputError
from optsched.reading import load

FILES = ("armida.json", "allocation-small.json", "deferrable-small.json", "geo-small.json", "vcc-small.json", "day-ahead.json")
PENALTIES = {f"{what}_penalty_per_ncu_h" for what in ("delay", "daily", "unfinished")}
OPTIONAL = {"meta", "first_ending", "use_all_nodes", "forecast", "reserved_error", *PENALTIES}
FREE = {"meta"}
NEGATIVE_IS_FINE = {"due_s", "price_usd_per_mwh"}


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [here] if here else []
    if here and here[0] in FREE:
        return found
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [p for key, item in items for p in paths(item, (*here, key))]


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def mutate(data: dict[str, Any], rng: random.Random) -> tuple[Any, str, str] | None:
    """A broken copy, the place that its message must begin with and a word that it must contain; None if still valid."""
    data = copy.deepcopy(data)
    path = rng.choice(paths(data))
    parent, key, value = at(data, path[:-1]), path[-1], at(data, path)
    field = next(p for p in reversed(path) if isinstance(p, str))
    kind = rng.choice(["missing", "negative", "nan", "huge", "type", "unknown", "duplicate", "dangling", "null"])
    number = isinstance(value, int | float) and not isinstance(value, bool)
    where = str(path[0]) + (f"[{path[1]}]" if len(path) > 1 and isinstance(path[1], int) else "")
    if (
        kind == "missing"
        and isinstance(parent, dict)
        and key not in OPTIONAL
        and "gpu_types" not in path
        and "time_s" not in path[:-1]
    ):
        del parent[key]
        return data, where, key
    if kind == "negative" and number and not NEGATIVE_IS_FINE & set(path):
        parent[key] = -1 - abs(value)
        return data, where, field
    if kind == "nan" and number:
        parent[key] = rng.choice([float("nan"), float("inf"), float("-inf")])
        return data, where, field
    if kind == "huge" and number and field not in ("latest",):
        parent[key] = 10 ** rng.choice([16, 30, 400])
        return data, where, field
    if kind == "type" and key not in FREE:
        parent[key] = rng.choice([[[]], {"a": {}}, "seven" if number else 7, True if not isinstance(value, bool) else 1])
        return data, where, field
    if kind == "unknown" and isinstance(value, dict) and key not in ("gpu_types", "time_s", *FREE):
        value["colour"] = "red"
        return data, where, "colour"
    if kind == "duplicate" and isinstance(value, list) and value and isinstance(value[0], dict):
        value.append(copy.deepcopy(value[0]))
        return data, f"{field}[{len(value) - 1}]", "duplicate id"
    if kind == "dangling" and field in ("gpu_type", "source", "from", "to"):
        parent[key] = "nowhere"
        return data, where, "nowhere"
    if kind == "null" and key not in (*OPTIONAL, *FREE) and "time_s" not in path:
        parent[key] = None
        return data, where, field
    return None


def broken(count: int) -> list[Any]:
    rng, root = random.Random(20261121), Path(__file__).parents[2] / "instances"
    sources = {name: json.loads((root / name).read_text()) for name in FILES}
    made: list[Any] = []
    while len(made) < count:
        name = rng.choice(FILES)
        mutation = mutate(sources[name], rng)
        if mutation is not None:
            made.append(pytest.param(*mutation, id=f"{len(made)}-{name}-{mutation[2]}"))
    return made


@pytest.mark.parametrize(("data", "where", "word"), broken(500))
def test_one_line_that_names_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: Any, where: str, word: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    place = message.removeprefix(f"{path}: ")
    assert place.startswith(where), (where, message)
    assert word in place
    assert len(message) < 400
    assert _run(["validate", str(path)]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", f"error: {message}\n")


WHOLE = {
    "empty": b"",
    "white": b"  \n ",
    "binary": bytes(range(256)) * 4,
    "list": b"[]",
    "number": b"3",
    "no format": b'{"problem": "geo"}',
    "other format": b'{"format": "optsched-instance/9", "problem": "geo"}',
    "no problem": b'{"format": "optsched-instance/1"}',
    "odd problem": b'{"format": "optsched-instance/1", "problem": {"a": 1}}',
    "deep": b"[" * 100_000,
    "latin-1": '{"format": "optsched-instance/1", "name": "é"}'.encode("latin-1"),
    "surrogate": b'{"format": "optsched-instance/1", "problem": "geo", "name": "\\ud800"}',
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_files(tmp_path: Path, name: str) -> None:
    for suffix, data in (
        (".json", WHOLE[name]),
        (".json.gz", gzip.compress(WHOLE[name])),
        (".json.gz", WHOLE[name]),
    ):
        path = tmp_path / f"x{suffix}"
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            load(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_truncated(examples: Path, tmp_path: Path, share: float) -> None:
    data = (examples / "geo-small.json").read_bytes()
    path = tmp_path / "cut.json"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(InputError, match="is not valid JSON"):
        load(path)
    packed = gzip.compress(data)
    path = tmp_path / "cut.json.gz"
    path.write_bytes(packed[: int(len(packed) * share)])
    with pytest.raises(InputError, match="not a readable gzip file"):
        load(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a folder"):
        load(tmp_path)


def test_repeated_keys_and_nan_in_meta(examples: Path, tmp_path: Path) -> None:
    text, path = (examples / "geo-small.json").read_text(), tmp_path / "x.json"
    path.write_text(text.replace('"horizon":', '"horizon": 5, "horizon":'))
    with pytest.raises(InputError, match="horizon: stands twice in one object"):
        load(path)
    path.write_text(text.replace('"meta": {', '"meta": {"x": NaN, '))
    with pytest.raises(InputError, match="meta: holds a number that JSON cannot write"):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slot_s": 7}, "signal_slot_s: 3600 is not a multiple of slot_s = 7"),
        ({"horizon": 10_000}, "sites[0].price_usd_per_mwh: 6 values, the horizon needs 167"),
    ],
)
def test_rules_between_fields(examples: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    data = json.loads((examples / "geo-small.json").read_text()) | change
    path = tmp_path / "x.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError) as caught:
        load(path)
    assert message in str(caught.value)
