"""A replay that is killed at any moment and taken up again is the replay that was not."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.rolling.loop import replay
from optsched.rolling.policy import policies
from tests.cli.test_cli import one_line, run
from tests.oracle import tiny

FILES = {"allocation": "armida.json", "deferrable": "deferrable-small.json", "geo": "geo-small.json", "vcc": "vcc-small.json"}


def words(examples: Path, family: str, folder: Path) -> list[str]:
    """A replay whose every decision takes a while, kept after each."""
    names = ["--log", str(folder / "log"), "-o", str(folder / "result.json")]
    return ["replay", str(examples / FILES[family]), "--policy", "rolling:exact", *names]


def killed(command: list[str], log: Path, rows: int) -> bool:
    """Start, and kill -9 when the log has so many rows; whether that was before the end."""
    process = subprocess.Popen([sys.executable, "-m", "optsched", *command], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if log.exists() and log.read_bytes().count(b"\n") >= rows:
            process.kill()
        time.sleep(0.001)
    return process.returncode < 0


def survives(examples: Path, tmp_path: Path, family: str, moments: int) -> None:
    whole, parts, state = tmp_path / "whole", tmp_path / "parts", tmp_path / "state"
    for folder in (whole, parts):
        folder.mkdir()
    assert run(*words(examples, family, whole)).returncode == 0
    count = len((whole / "log").read_text().splitlines())
    keep = [*words(examples, family, parts), "--checkpoint", str(state), "--every", "1"]
    kills = 0
    for moment in sorted(random.Random(family).choices(range(count), k=moments)):
        resume = ["--resume"] if (state / "log.jsonl").exists() else []
        kills += killed(keep + resume, state / "log.jsonl", moment)
    done = run(*keep, *(["--resume"] if (state / "log.jsonl").exists() else []))
    assert done.returncode == 0, done.stderr
    assert kills > 0
    assert (parts / "log").read_bytes() == (whole / "log").read_bytes()
    assert told(state / "log.jsonl") == [json.loads(line) for line in (whole / "log").read_text().splitlines()]
    results = [json.loads((folder / "result.json").read_text()) for folder in (whole, parts)]
    for key in ("schedule", "objective", "components", "message", "seed"):
        assert results[0][key] == results[1][key]


@pytest.mark.parametrize("family", FILES)
def test_killed_and_resumed(examples: Path, tmp_path: Path, family: str) -> None:
    survives(examples, tmp_path, family, 2)


@pytest.mark.slow
@pytest.mark.parametrize("family", FILES)
def test_killed_thirty_times_in_all(examples: Path, tmp_path: Path, family: str) -> None:
    survives(examples, tmp_path, family, 10)


def told(log: Path) -> list[dict[str, Any]]:
    """The rows of a checkpoint's log, without what is kept besides."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]
    for row in rows:
        del row["kept"]
    return rows


class Crash(BaseException):
    """Not an Exception: nobody catches it on the way."""


NAMED = [
    (family, name)
    for family in tiny.TINY
    for name in policies(family)
    if family != "allocation" or not name.startswith("rolling:")
]


@pytest.mark.parametrize(("family", "policy"), NAMED)
def test_every_policy_can_be_kept(examples: Path, tmp_path: Path, family: str, policy: str) -> None:
    """Crashed after 4 decisions with a checkpoint every 3: the fourth is decided again, and logged once."""
    instance = optsched.load(examples / FILES[family])
    given: dict[str, Any] = {"seed": 3} | ({} if family == "allocation" else {"forecast": "noisy"})
    whole: list[Any] = []
    expected = replay(instance, policy, log=whole.append, **given)
    rows: list[Any] = []

    def crash(row: dict[str, Any]) -> None:
        rows.append(row)
        if len(rows) == 4:
            raise Crash

    kept: dict[str, Any] = {"checkpoint": tmp_path, "every": 3, **given}
    with pytest.raises(Crash):
        replay(instance, policy, progress=crash, **kept)
    again: list[Any] = []
    result = replay(instance, policy, resume=True, log=again.append, **kept)
    assert again == whole
    assert result.schedule == expected.schedule
    assert told(tmp_path / "log.jsonl") == whole


@pytest.fixture(scope="module")
def finished(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole replay of armida under edf."""
    folder = tmp_path_factory.mktemp("kept")
    replay(optsched.load(examples / FILES["allocation"]), "edf", checkpoint=folder)
    return folder


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["armida.json", "--policy", "edf"], "holds a checkpoint already"),
        (["armida.json", "--policy", "fifo", "--resume"], "policy"),
        (["armida.json", "--policy", "edf", "--seed", "1", "--resume"], "seed"),
        (["allocation-small.json", "--policy", "edf", "--resume"], "instance"),
    ],
)
def test_another_replay_is_refused(examples: Path, finished: Path, words: list[str], said: str) -> None:
    before = (finished / "log.jsonl").read_bytes()
    assert said in one_line(run("replay", examples / words[0], *words[1:], "--checkpoint", finished))
    assert (finished / "log.jsonl").read_bytes() == before


def test_a_finished_replay_resumes_to_its_end(examples: Path, finished: Path) -> None:
    result = replay(optsched.load(examples / FILES["allocation"]), "edf", checkpoint=finished, resume=True)
    assert result.objective == pytest.approx(1.813, rel=0.005)


def test_resume_needs_a_folder(examples: Path, tmp_path: Path) -> None:
    assert "--checkpoint" in one_line(run("replay", examples / "armida.json", "--resume"))
    empty = one_line(run("replay", examples / "armida.json", "--checkpoint", tmp_path / "none", "--resume"))
    assert "holds no checkpoint" in empty
