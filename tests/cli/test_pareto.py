"""`optsched pareto`, as a user types it."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.test_cli import one_line, run
from tests.cli.test_interrupts import start


def test_a_front_as_table_files_and_picture(examples: Path, tmp_path: Path) -> None:
    names = ("f.png", "f.pdf", "f.svg", "f.csv", "f.parquet", "f.json")
    outputs = [word for name in names for word in ("-o", tmp_path / name)]
    done = run("pareto", examples / "armida-snapshot.json", *outputs)
    assert done.returncode == 0, done.stderr
    assert "tardiness+postponement (EUR, less is better)" in done.stdout
    assert "ended  complete: every schedule is matched or beaten by one of these" in done.stdout
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    table, told = pd.read_csv(tmp_path / "f.csv"), json.loads((tmp_path / "f.json").read_text())
    assert pd.read_parquet(tmp_path / "f.parquet").equals(table)
    late = "tardiness+postponement"
    assert list(table) == ["energy", "energy bound", late, f"{late} bound", "gap", "objective"]
    assert table["energy"].is_monotonic_increasing
    assert [point["values"][0] for point in told["points"]] == pytest.approx(table["energy"].tolist())
    schedule = tmp_path / "s.json"
    schedule.write_text(json.dumps(told["points"][-1]["schedule"]))
    checked = run("check", examples / "armida-snapshot.json", schedule)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_json_is_the_front_and_nothing_else(examples: Path) -> None:
    done = run("pareto", examples / "deferrable-small.json", "--json", "--points", "4")
    told = json.loads(done.stdout)
    assert [axis["name"] for axis in told["axes"]] == ["work+delay", "overload"]
    assert [axis["better"] for axis in told["axes"]] == ["more", "less"]
    assert told["ended"] == "points"
    assert len(told["points"]) >= 4
    assert all(part.keys() & {"weights", "axis"} for part in told["proven"])


def test_what_is_on_no_axis_is_told(examples: Path) -> None:
    done = run("pareto", examples / "vcc-small.json", "--axes", "carbon,delay", "--points", "3")
    assert done.returncode == 0, done.stderr
    assert "note: daily and unfinished on neither axis: not counted here" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--axes", "cost,carbn"], "geo has no axis 'carbn', did you mean carbon?"),
        (["--axes", "money,x"], "no axis 'money', did you mean energy? it has: revenue, energy, transfer, carbon, cost"),
        (["--axes", "cost"], "a front has two axes, as in cost,carbon"),
        (["--axes", "carbon,carbon"], "both axes are carbon"),
        (["-o", "x.txt"], "a front goes to a file that ends in .png, .pdf, .svg, .csv, .parquet, .json"),
        (["--points", "1"], "--points"),
        (["--time-limit", "0"], "time limit must be a positive number of seconds"),
        (["--gap", "5"], "write 5% or 0.05"),
    ],
)
def test_refusals_are_one_line(examples: Path, words: list[str], message: str) -> None:
    assert message in one_line(run("pareto", examples / "geo-small.json", *words))


def test_an_input_is_not_written_over(examples: Path, tmp_path: Path) -> None:
    mine = tmp_path / "x.json"
    mine.write_bytes((examples / "geo-small.json").read_bytes())
    assert "is a file that is read here" in one_line(run("pareto", mine, "-o", mine))
    assert "is an instance, a result or an events file" in one_line(run("pareto", examples / "armida.json", "-o", mine))
    assert mine.read_bytes() == (examples / "geo-small.json").read_bytes()


@pytest.mark.slow
def test_interrupted_with_the_points_so_far(examples: Path, tmp_path: Path) -> None:
    made = tmp_path / "x.json"
    assert run("generate", "masac", "--jobs", "100", "--scale", "0.3", "-o", made).returncode == 0
    output = tmp_path / "f.json"
    going = start(["pareto", made, "--time-limit", "5m", "-o", output])
    time.sleep(8)  # it takes a second or two to begin
    going.send_signal(signal.SIGINT)
    shown, said = going.communicate(timeout=60)
    assert going.returncode == 130, said
    assert "ended  interrupted" in shown
    told = json.loads(output.read_text())
    assert told["ended"] == "interrupted"
    assert told["points"]


@pytest.mark.parametrize("gap", ["nan", "-1%", "-0.1"])
def test_a_gap_is_a_number_from_0_on(examples: Path, gap: str) -> None:
    done = run("pareto", examples / "deferrable-small.json", f"--gap={gap}")
    assert done.returncode == 2
    assert f"gap must be a number from 0 on, got {gap}" in done.stderr
