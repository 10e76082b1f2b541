"""`optsched import` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import optsched
from tests.cli.test_cli import one_line, run

SHORT = "arrival_time,length,cpus\n0.0,6302.0,1\n68.0,1000.0,3\n463.0,1570.0,{}\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(SHORT.format("x"))
    return path


def test_a_broken_row_is_named_and_nothing_is_written(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "i.json"
    line = one_line(run("import", "alibaba2020", trace, "-o", out))
    assert line == f"error: {trace}: line 4, cpus: is 'x', expected a whole number of at least 1"
    assert not out.exists()
    done = run("import", "alibaba2020", trace, "--skip-bad", "--all-submitted", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "2 known jobs of 2" in done.stderr.splitlines()[0]
    assert "assumed: cpus, the workers of a job, are its GPUs" in done.stderr
    assert "skipped: 1 broken rows: 4, cpus: is 'x', expected a whole number of at least 1" in done.stderr
    meta = optsched.load(out).meta
    assert (meta["reader"], meta["files"], meta["skipped_rows"]) == ("alibaba2020", ["t.csv"], 1)
    assert str(tmp_path) not in json.dumps(meta)


def test_same_seed_same_file(trace: Path, tmp_path: Path) -> None:
    trace.write_text(SHORT.format(2))
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run("import", "alibaba2020", trace, "--seed", seed, "-o", tmp_path / f"{name}.json").returncode == 0
    a, b, c = ((tmp_path / f"{name}.json").read_bytes() for name in "abc")
    assert a == b != c
    assert run("import", "alibaba2020", trace, "--seed", 1).stdout.encode() == a


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["alibaba2020", "none.csv"], "none.csv: no such file"),
        (["alibaba2020", "none.csv", "-o", "x.csv"], "an instance file ends in .json"),
        (["alibaba2020", "{trace}", "--skip-bad", "--nodes", "V100"], "nodes are written TYPE:GPUSxCOUNT"),
        (["alibaba2020", "{trace}", "--skip-bad", "--nodes", "A100:4x1"], "nodes of V100 and T4 only"),
        (["alibaba2020", "{trace}", "--skip-bad", "--to", "geo"], "needs --signals"),
        (["alibaba2020", "{trace}", "--skip-bad", "--scale", "2"], "--scale is not an option of --to allocation"),
        (["alibaba2020", "{trace}", "--skip-bad", "--map", "a=b"], "--zone is not an option of --to allocation"),
        (
            ["alibaba2020", "{trace}", "--skip-bad", "--hours", "-1"],
            "hours: is -1.0, expected a number from 1e-06 to",
        ),
        (["swf", "{trace}", "--slack", "-1"], "line 1, fields"),
        (["azure-packing", "{trace}"], "is not the SQLite file"),
        (["philly", "{trace}"], "no such column"),
        (["signals", "{geo}", "{trace}"], "has no column of times"),
        (["signals", "{trace}", "{trace}"], "is not valid JSON"),
        (["signals", "{deferrable}", "{trace}"], "only a geo instance has prices"),
        (["signals", "{geo}"], "Missing argument"),
        (["weather", "x.csv"], "no command 'weather'"),
    ],
)
def test_refusals(examples: Path, trace: Path, tmp_path: Path, words: list[str], message: str) -> None:
    names = {"trace": trace, "geo": examples / "geo-small.json", "deferrable": examples / "deferrable-small.json"}
    before = sorted(tmp_path.iterdir())
    assert message in one_line(run("import", *(word.format(**names) for word in words), cwd=tmp_path))
    assert sorted(tmp_path.iterdir()) == before


def test_help_teaches() -> None:
    kinds = ["alibaba2020", "azure-packing", "azure-v1", "helios", "philly", "pollux", "signals", "swf"]
    listed = run("import", "--help").stdout
    for kind in kinds:
        assert kind in listed
    for kind in ("pollux", "azure-packing"):
        shown = run("import", kind, "--help").stdout
        assert "Assumed:" in shown
        assert "--skip-bad" in shown


def test_real_traces(traces: Path, tmp_path: Path, examples: Path) -> None:
    gpu, grid = traces / "gpu", traces / "grid"
    long = grid / "masac_five_regions_2022-12-01_06_hourly.csv"
    short = gpu / "alibaba2020_pai_1week_1k.csv"
    commands = {
        "geo": ["alibaba2020", short, "--to", "geo", "--hours", 24, "--scale", 0.05, "--signals", long],
        "allocation": ["pollux", gpu / "pollux_workload-1.csv", "--limit", 20, "--all-submitted"],
        "signals": ["signals", examples / "geo-small.json", *sorted(grid.glob("*2022_hourly*")), "--from", "2022-07-01",
                    "--map", "AU-SA=AU-VIC,AU-SA", "--map", "AU-WA=AU-NSW", "--map", "PL=DE-LU,PL"],
    }  # fmt: skip
    for name, words in commands.items():
        done = run("import", *words, "-o", tmp_path / f"{name}.json")
        assert done.returncode == 0, done.stderr
        assert run("validate", tmp_path / f"{name}.json").returncode == 0
        assert run("solve", tmp_path / f"{name}.json", "--method", "greedy", "-q").returncode == 0
    assert "AU-SA = AU-SA/AU-VIC" in done.stderr
