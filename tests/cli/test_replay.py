"""`optsched replay` as a user types it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import optsched
from tests.cli.test_cli import one_line, run


def test_several_policies_and_the_clairvoyant_bound(examples: Path) -> None:
    """A maximised total stays below the bound of its table."""
    done = run("replay", examples / "geo-small.json", "--policy", "local-fcfs", "--policy", "rolling")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (head,) = (line for line in lines if line.startswith("policy"))
    for word in ("total USD", "gap", "fallbacks", "lost_in_transit", "s/decision"):
        assert word in head
    rows = {word: line for line in lines for word in ("local-fcfs", "rolling", "clairvoyant bound") if line.startswith(word)}
    bound = float(rows["clairvoyant bound"].split()[2])
    assert all(float(rows[word].split()[6]) <= bound for word in ("local-fcfs", "rolling"))


def test_a_noisy_forecast(examples: Path, tmp_path: Path) -> None:
    result = tmp_path / "r.json"
    done = run("replay", examples / "geo-small.json", "--forecast", "noisy:0.2", "--policy", "greedy", "-o", result)
    assert done.returncode == 0, done.stderr
    assert '"forecast": "noisy:0.2"' in result.read_text()
    assert "clairvoyant" not in done.stdout
    assert run("check", examples / "geo-small.json", result).returncode == 0


def test_window_replan_and_budget(examples: Path) -> None:
    words = ["--policy", "rolling:exact", "--window", "3600", "--replan", "1800", "--budget", "20"]
    done = run("replay", examples / "deferrable-small.json", *words)
    assert done.returncode == 0, done.stderr
    assert "rolling:exact" in done.stdout


def test_history(examples: Path, tmp_path: Path) -> None:
    """Of other days it is taken, also in a table with policies that do not want it; the replay's own jobs are refused."""
    file, past = examples / "deferrable-small.json", tmp_path / "past.json"
    assert run("generate", "osdec", "--jobs", "12", "--horizon", "24", "--seed", "9", "-o", past).returncode == 0
    assert run("replay", file, "--history", past).returncode == 0
    assert run("replay", file, "--policy", "fifo", "--policy", "rolling", "--history", past).returncode == 0
    one_line(run("replay", file, "--history", file))


REFUSED: list[tuple[str, list[str], str]] = [
    ("deferrable-small", ["--policy", "fifo", "--window", "60"], "policy fifo takes no window"),
    ("deferrable-small", ["--policy", "fifo", "--replan", "60"], "policy fifo takes no replan"),
    ("deferrable-small", ["--window", "60"], "policy rolling takes no window"),
    ("armida", ["--policy", "rolling:exact", "--window", "60"], "it takes no window"),
    ("armida", ["--forecast", "persistence"], "no signal to forecast"),
    ("geo-small", ["--policy", "magic"], "geo has no policy 'magic', it has: greedy, local-fcfs"),
    ("geo-small", ["--forecast", "noisy:x"], "noisy:0.2"),
    ("geo-small", ["--budget", "0"], "budget must be a positive number"),
    ("geo-small", ["--period", "1"], "shorter than a slot"),
    ("geo-small", ["-o", "missing/r.json"], "missing/r.json: cannot be written"),
    ("geo-small", ["--log", "missing/log"], "missing/log: cannot be written"),
    ("geo-small", ["--policy", "greedy", "--policy", "rolling", "-o", "r.json"], "single --policy"),
]


@pytest.mark.parametrize(("name", "words", "said"), REFUSED, ids=[f"{n} {' '.join(w)}" for n, w, _ in REFUSED])
def test_refusals_are_one_line(examples: Path, tmp_path: Path, name: str, words: list[str], said: str) -> None:
    assert said in one_line(run("replay", examples / f"{name}.json", *words, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_history_of_another_family_is_refused(examples: Path) -> None:
    one_line(run("replay", examples / "deferrable-small.json", "--history", examples / "geo-small.json"))


def test_the_result_is_a_history_that_the_referee_knows(examples: Path, tmp_path: Path) -> None:
    result, log = tmp_path / "r.json.gz", tmp_path / "log"
    instance: Any = optsched.load(examples / "deferrable-small.json")
    done = run("replay", examples / "deferrable-small.json", "--bound", "-o", result, "--log", log)
    assert done.returncode == 0, done.stderr
    assert "clairvoyant bound" in done.stdout
    assert run("check", examples / "deferrable-small.json", result).returncode == 0
    assert 0 < len(log.read_text().splitlines()) <= instance.horizon
