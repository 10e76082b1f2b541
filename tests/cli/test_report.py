"""`optsched report`: a page of results, as a user asks for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import optsched
from optsched.analysis.page import build
from optsched.cli.report import names
from tests.cli.test_cli import one_line, run

pytest.importorskip("plotly", reason="a page needs plotly")


@pytest.fixture
def results(examples: Path, tmp_path: Path) -> list[Path]:
    """An optimum, a rule and a replay of one instance, and a rule on another."""
    files = []
    for name, method in (("geo-small", "exact"), ("geo-small", "greedy"), ("day-ahead", "greedy")):
        files.append(tmp_path / f"{name}.{method}.json")
        assert run("solve", examples / f"{name}.json", "--method", method, "-q", "-o", files[-1]).returncode == 0
    files.append(tmp_path / "replay.json")
    assert run("replay", examples / "geo-small.json", "--policy", "local-fcfs", "-o", files[-1]).returncode == 0
    return files


def test_results_and_replays_on_a_page(results: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    done = run("report", *results, "-o", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "4 results of 2 instances" in done.stderr
    made = path.read_bytes()
    assert b"replay:local-fcfs" in made
    again = run("report", *results, "-o", path, "--json")  # a page of ours is written over
    assert json.loads(again.stdout) == {"file": str(path), "results": 4, "instances": 2}
    assert path.read_bytes() == made


def test_an_instance_that_has_moved_is_given(results: list[Path], examples: Path, tmp_path: Path) -> None:
    instance = tmp_path / "elsewhere.json.gz"
    optsched.load(examples / "geo-small.json").save(instance)
    lost = optsched.load_result(results[1])
    lost.model_copy(update={"instance": lost.instance.model_copy(update={"file": None})}).save(tmp_path / "lost.json")
    assert "give it with --instance FILE" in one_line(run("report", tmp_path / "lost.json", "-o", tmp_path / "x.html"))
    assert not (tmp_path / "x.html").exists()
    assert run("report", tmp_path / "lost.json", "--instance", instance, "-o", tmp_path / "x.html").returncode == 0


def test_refusals_are_one_line_and_write_nothing(results: list[Path], examples: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("<p>mine</p>")
    edited = tmp_path / "edited.json"
    edited.write_text(results[1].read_text().replace('"seed": 0', '"seed": 1'))
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    page = tmp_path / "page.html"
    for words, said in (
        ((results[0], "-o", mine), "is not a page of optsched report"),
        ((results[0], "-o", tmp_path / "x.txt"), "must end in .html or .htm"),
        ((results[0], "-o", tmp_path / "none" / "x.html"), "no such folder"),
        ((results[0], "-o", tmp_path), "must end in"),
        ((examples / "geo-small.json", "-o", page), "is an instance, expected a result"),
        ((edited, "-o", page), "does not pass the referee: edited"),
        ((bad, "-o", page), "bad.json"),
        ((tmp_path / "nothing.json", "-o", page), "no such file"),
        (("-", "-", "-o", page), "standard input (-) can be read only once"),
    ):
        assert said in one_line(run("report", *words)), words
    assert mine.read_text() == "<p>mine</p>"
    assert not page.exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_without_plotly_one_line_says_what_to_install(
    results: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from optsched.cli import cli
    from optsched.errors import OptschedError

    build.plotly_js.cache_clear()
    monkeypatch.setattr(build, "find_spec", lambda name: None)
    done = CliRunner().invoke(cli, ["report", str(results[0]), "-o", str(tmp_path / "x.html")])
    said = str(done.exception) if isinstance(done.exception, OptschedError) else done.output
    assert "pip install 'optsched[report]'" in said
    assert done.exit_code != 0
    assert not (tmp_path / "x.html").exists()


def test_files_of_one_name_are_told_apart() -> None:
    assert names(("a/x.json", "y.json")) == ["x.json", "y.json"]
    assert names(("a/x.json", "b/x.json")) == ["a/x.json", "b/x.json"]
    assert names(("-",)) == ["standard input"]
