"""`optsched prices`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_cli import run


@pytest.fixture
def priced(examples: Path, tmp_path: Path) -> Path:
    """A result with prices, beside its instance."""
    target = tmp_path / "x.result.json"
    made = run("solve", examples / "geo-small.json", "--method", "decomposition", "-o", target, "-q")
    assert made.returncode == 0, made.stderr
    return target


def test_tables_and_picture(priced: Path, tmp_path: Path) -> None:
    shown = run("prices", priced, "--hours", "2", "--top", "3", "-o", tmp_path / "p.png")
    assert shown.returncode == 0, shown.stderr
    assert "one more unit of capacity adds to the objective" in shown.stdout
    prices = json.loads(priced.read_text())["shadow_prices"]
    for place in prices:
        assert place in shown.stdout
    assert shown.stdout.split("one more unit adds")[1].count(".0 to ") == 3
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"


def test_a_data_centre_has_prices(examples: Path, tmp_path: Path) -> None:
    target = tmp_path / "v.json"
    made = run("solve", examples / "vcc-small.json", "--method", "fluid", "-o", target, "-q")
    assert made.returncode == 0, made.stderr
    shown = run("prices", target, "-o", tmp_path / "p.png")
    assert shown.returncode == 0, shown.stderr
    assert "data centre" in shown.stdout
    assert run("check", examples / "vcc-small.json", target).returncode == 0


def test_json_has_both_tables(priced: Path) -> None:
    told = json.loads(run("prices", priced, "--json", "--hours", "2", "--top", "3").stdout)
    prices = json.loads(priced.read_text())["shadow_prices"]
    assert {place["place"]: place["total"] for place in told["places"]} == {
        place: pytest.approx(sum(row)) for place, row in prices.items()
    }
    assert (told["unit"], told["slot_s"]) == ("USD", 60)
    assert len(told["stretches"]) == 3
    for stretch in told["stretches"]:
        row = prices[stretch["place"]][stretch["first"] : stretch["last"] + 1]
        assert stretch["value"] == pytest.approx(sum(row))


def test_check_proves_the_bound_from_the_prices(priced: Path, examples: Path, tmp_path: Path) -> None:
    """Those of capacity and covers, and where a file has no covers those of capacity alone."""
    raw = json.loads(priced.read_text())
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(raw | {"digest": None, "proof": raw["proof"] | {"covered": None}}))
    for file, what in ((priced, "prices of capacity and covers"), (bare, "capacity prices")):
        checked = run("check", examples / "geo-small.json", file)
        assert checked.returncode == 0
        assert f"recomputed from the {what} in the file, the bound is" in checked.stdout


def test_refusals_are_one_line(priced: Path, examples: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.json"
    run("solve", examples / "geo-small.json", "--method", "greedy", "-o", bare, "-q")
    vcc = tmp_path / "vcc.json"
    run("solve", examples / "vcc-small.json", "--method", "greedy", "-o", vcc, "-q")
    nodes = tmp_path / "nodes.json"
    run("solve", examples / "armida-snapshot.json", "--method", "greedy", "-o", nodes, "-q")
    raw = json.loads(priced.read_text()) | {"digest": None}
    for name, prices in (("huge", 1e308), ("negative", -1.0)):
        odd = {place: [prices] * len(row) for place, row in raw["shadow_prices"].items()}
        (tmp_path / f"{name}.json").write_text(json.dumps(raw | {"shadow_prices": odd}))
    (tmp_path / "other.json").write_text(json.dumps(raw | {"shadow_prices": {"x": [1.0]}}))
    for words, message in (
        ((tmp_path / "huge.json",), "shadow_prices"),
        ((tmp_path / "negative.json",), "shadow_prices"),
        (
            (tmp_path / "other.json", "--instance", examples / "geo-small.json"),
            "are of other places and slots than the instance has",
        ),
        ((priced, "--hours", "nan"), "--hours must be at least a slot of 60 s"),
        ((bare,), "greedy works none out; `optsched solve INSTANCE --method decomposition -o RESULT` does"),
        ((vcc,), "greedy works none out; `optsched solve INSTANCE --method fluid -o RESULT` does"),
        ((nodes,), "is of allocation, whose capacity no method prices: solve it again with one unit of capacity more"),
        ((priced, "--hours", "0"), "--hours must be at least a slot of 60 s"),
        ((priced, "-o", tmp_path / "p.txt"), "a picture ends in .png, .pdf, .svg"),
        ((tmp_path / "none.json",), "none.json"),
    ):
        refused = run("prices", *words)
        assert refused.returncode == 2
        assert message in refused.stderr
        assert refused.stderr.count("\n") == 1
