"""Schedules by hand on the command line, and names that would lose something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import optsched
from optsched import deferrable
from tests.cli.test_cli import one_line, run


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """One job, in a file."""
    m = deferrable.Model("one job", slot_s=3600, capacity=[2, 2], delay_penalty=1, overload_penalty=9)
    m.add_job(cores=2, duration=1, earliest=0, latest=1, id="a")
    m.instance().save(tmp_path / "x.json")
    return tmp_path / "x.json"


def test_a_start_is_never_written_over(instance: Path, tmp_path: Path) -> None:
    kept = tmp_path / "r.json"
    assert run("solve", instance, "--method", "greedy", "-o", kept, "-q").returncode == 0
    before = kept.read_bytes()
    assert "is a file that is read here" in one_line(run("solve", instance, "--start", kept, "-o", kept))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.result.json").write_bytes(before)
    inside = run("solve", instance, "--start", tmp_path / "out" / "x.result.json", "-o", tmp_path / "out")
    assert "is a file that is read here" in one_line(inside)
    assert kept.read_bytes() == (tmp_path / "out" / "x.result.json").read_bytes() == before


def test_several_results_make_no_folder_called_like_a_file(instance: Path, tmp_path: Path) -> None:
    other = tmp_path / "y.json"
    other.write_bytes(instance.read_bytes())
    said = one_line(run("solve", instance, other, "-o", tmp_path / "two.json"))
    assert said.endswith("two.json: is the name of one file; several results need a folder, e.g. -o results/")
    assert not (tmp_path / "two.json").exists()


def test_a_bare_schedule_is_a_start(instance: Path, tmp_path: Path) -> None:
    mine, idle = tmp_path / "mine.json", tmp_path / "idle.json"
    deferrable.Schedule.from_dict({"starts": [{"job": "a", "start": 1}]}).save(mine)
    (tmp_path / "own.py").write_text("def idle(instance):\n    print('thinking')\n    return {'starts': []}\n")
    done = run("solve", instance, "--start", mine, "--method", "own:idle", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["schedule"] == {"starts": [{"job": "a", "start": 1}]}  # nothing is printed but the result
    assert "thinking" in done.stderr
    idle.write_text('{"starts": [{"job": "a"}]}')
    assert "idle.json: starts[0].start: is missing" in one_line(run("solve", instance, "--start", idle))


def test_what_a_policy_prints_is_no_json(instance: Path, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "print('loaded')\n"
        "class Idle:\n"
        "    def reset(self, seed):\n"
        "        print('reset')\n"
        "    def decide(self, snapshot):\n"
        "        return {'starts': []}\n"
    )
    done = run("replay", instance, "--policy", "own:Idle", "--no-bound", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["schedule"] == {"starts": []}
    assert "loaded" in done.stderr
    assert "reset" in done.stderr


def test_what_is_not_there_is_not_written_as_a_dash(instance: Path, tmp_path: Path) -> None:
    kept = tmp_path / "r.json"
    assert run("solve", instance, "--method", "greedy", "-o", kept, "-q").returncode == 0
    checked = run("check", instance, kept)
    assert "confirmed; no bound was proven, completed" in checked.stdout
    assert optsched.load_result(kept).bound is None


def test_a_seed_is_no_negative_number(instance: Path) -> None:
    refused = run("solve", instance, "--seed", -1)
    assert refused.returncode == 2
    assert "-1 is not in the range x>=0" in refused.stderr
