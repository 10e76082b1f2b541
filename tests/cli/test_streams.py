"""Standard output that is full or closed, names that look like markup, and lines as wide as what they are read on."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from optsched.cli._lines import UNLIMITED, say, wrapped
from optsched.cli._verbs import VERBS
from tests.cli.test_cli import run


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A line of a shell."""
    line = line.replace("optsched ", f"{sys.executable} -m optsched ")
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=cwd, check=False, env=env)


WORDS = [
    "--help", *(f"{verb} --help" for verb in ("solve", "generate", "import csv", "replay")), "methods", "versions", "example",
    "example geo-small", "validate {x}", "solve {x}", "solve {x} -q", "solve {x} --json", "replay {x} --policy fifo",
    "check {x} {r}", "schema geo", "completion bash", "generate osdec", "export {x} y.lp",
]  # fmt: skip


@pytest.fixture(scope="module")
def solved(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("solved") / "r.json"
    assert run("solve", examples / "deferrable-small.json", "-q", "-o", path).returncode == 0
    return path


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", WORDS)
def test_standard_output_that_is_full(examples: Path, tmp_path: Path, solved: Path, words: str) -> None:
    words = words.format(x=examples / "deferrable-small.json", r=solved)
    done = shell(f"optsched {words} > /dev/full", tmp_path)
    assert done.stderr.splitlines() == ["error: standard output: cannot be written (No space left on device)"]
    assert done.returncode == 2


@pytest.mark.parametrize("words", ["--help", "methods", "validate {x}", "solve {x} --json", "example geo-small"])
def test_standard_output_that_is_closed(examples: Path, tmp_path: Path, words: str) -> None:
    done = shell(f"optsched {words.format(x=examples / 'deferrable-small.json')} >&-", tmp_path)
    assert done.stderr.splitlines() == ["error: standard output: cannot be written (Bad file descriptor)"]
    assert done.returncode == 2


CLOSES = """
import sys
from optsched.registry import family_of

class Closes:
    def reset(self, seed): pass
    def decide(self, snapshot):
        {what}.close()
        return family_of(snapshot).heuristics()["greedy"](snapshot, 0)
"""


@pytest.mark.parametrize("words", ["", "--json", "-o r.json"])
@pytest.mark.parametrize("what", ["sys.stdout", "sys.stderr", "sys.stdout.buffer"])
def test_a_policy_that_closes_a_stream_loses_nothing(examples: Path, tmp_path: Path, what: str, words: str) -> None:
    (tmp_path / "mine.py").write_text(CLOSES.format(what=what))
    done = shell(f"optsched replay {examples / 'deferrable-small.json'} --policy mine:Closes {words}", tmp_path)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "r.json").exists() == words.startswith("-o")
    if what == "sys.stdout.buffer":
        lost = [] if words == "--json" else ["error: standard output: cannot be written (Bad file descriptor)"]
        assert done.stderr.splitlines() == lost
    else:
        assert done.returncode == 0
        assert "mine:Closes" in done.stdout


def test_who_prints_nothing_needs_no_standard_output(tmp_path: Path) -> None:
    done = shell("optsched generate osdec --jobs 5 -o x.json >&-", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ok" in run("validate", tmp_path / "x.json").stdout


ODD = "a :smile: [red]name[/red] [/]"


def test_what_is_data_is_printed_as_it_is(examples: Path, tmp_path: Path) -> None:
    """Names of instances and jobs, of files, policies and methods."""
    raw = json.loads((examples / "deferrable-small.json").read_text())
    raw["name"] = ODD
    raw["jobs"][0]["id"] = ODD
    file, result = tmp_path / "[red] :smile:.json", tmp_path / "r [bold] :fire:.json"
    file.write_text(json.dumps(raw))
    done = run("solve", file, "-o", result)
    assert done.stdout.startswith(ODD)
    assert f"written to {result}" in done.stdout
    assert str(file) in run("solve", file, "-q").stdout
    several = run("solve", file, examples / "geo-small.json").stdout
    assert str(file) in several.splitlines()[-2]
    assert run("replay", file, "--policy", "fifo").stdout.startswith(ODD)
    wrong = json.loads(result.read_text())["schedule"]
    wrong["starts"] = [{"job": ODD, "start": 23}]
    (tmp_path / "mine.json").write_text(json.dumps(wrong))
    assert f"violated starts after its latest slot: job '{ODD}'" in run("check", file, tmp_path / "mine.json").stdout
    (tmp_path / "mine.py").write_text(
        "class smile:\n    def reset(self, seed): pass\n    def decide(self, snapshot): raise ValueError('[red]no :fire:[/]')\n"
    )
    shown = run("replay", file, "--policy", "mine:smile", "--policy", "fifo", cwd=tmp_path).stdout
    assert "mine:smile *" in shown
    assert "[red]no :fire:[/]" in shown


def test_without_a_terminal_no_blanks_and_no_broken_lines(examples: Path) -> None:
    words = ["solve", examples / "armida-snapshot.json", "--method", "greedy"]
    wide = run(*words).stdout
    assert all(line == line.rstrip() for line in wide.splitlines())
    narrow = run(*words, columns=50).stdout
    assert max(map(len, narrow.splitlines())) <= 50
    assert len(narrow.splitlines()) > len(wide.splitlines())


@pytest.mark.parametrize("columns", [20, 50, 80, UNLIMITED])
def test_sentences_in_lines(columns: int) -> None:
    path = "/a/very/long/path/that-has-no-blank/in-it/and-must-stay-whole.json"
    text = f"  note: {path} is what it is, and [red]this[/red] is :smile:"
    lines = wrapped(text, columns).splitlines()
    assert all(len(line) <= columns or line.strip() == path for line in lines)
    assert " ".join(" ".join(lines).split()) == text.strip()
    out = io.StringIO()
    say(Console(file=out, width=columns), text)
    assert out.getvalue().splitlines() == lines


PAGES = [[], *([verb] for verb in VERBS), *(["import", kind] for kind in ("csv", "philly", "swf", "signals", "google2019"))]


@pytest.mark.parametrize("words", [*PAGES, ["generate", "masac"], ["train", "vcc-ppo"]])
def test_help_pages_in_80_columns(words: list[str]) -> None:
    page = run(*words, "--help", columns=80).stdout
    assert page.startswith("Usage: optsched")
    for line in page.splitlines():
        assert len(line) <= 80, line
        assert not line.endswith("...") or line.lstrip().startswith("Usage") or "ARGS" in line, line
