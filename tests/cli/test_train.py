"""`optsched train` as a user types it: what it says without the extra, and about files that are not what they should be."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from optsched.errors import InputError
from optsched.rl.learners import lessons
from optsched.rl.lesson import TOY, VALIDATIONS
from optsched.rl.trained import Card, Trained, shipped
from tests.cli.test_cli import run

HAS_TORCH = find_spec("torch") is not None


def test_the_list_of_what_can_be_trained_needs_no_torch() -> None:
    shown = run("train", "--help").stdout
    assert all(name in shown for name in lessons())
    assert all("toy" in lesson.scenarios for lesson in lessons().values())


@pytest.mark.skipif(HAS_TORCH, reason="torch is here")
@pytest.mark.parametrize("name", lessons())
def test_without_torch_one_line_says_what_to_install(name: str, tmp_path: Path) -> None:
    done = run("train", name, "-o", str(tmp_path / "x.npz"))
    assert done.returncode == 2
    assert "pip install 'optsched[rl]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_agents_act_without_torch(tmp_path: Path) -> None:
    code = (
        "import sys, optsched; case = optsched.generate('osdec', jobs=5, horizon=12); "
        f"[optsched.replay(case, name) for name in {shipped('deferrable')!r}]; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def card(kind: str) -> Card:
    """A card of nobody."""
    return Card(name="x", kind=kind, problem="deferrable", scenario="toy", split="none", seed=0, steps=0, settings={})


def test_a_file_that_holds_no_agent_is_one_line(tmp_path: Path, examples: Path) -> None:
    files = {
        "other.npz": Trained({"a": np.zeros(2)}, card("geo-rounds")),
        "short.npz": Trained({"a": np.zeros(2)}, card("deferrable-scores")),
        "nan.npz": Trained({"a": np.full(2, np.nan)}, card("deferrable-scores")),
    }
    for name, held in files.items():
        held.save(tmp_path / name)
    (tmp_path / "none.npz").write_bytes(b"no zip")
    for name in (*files, "none.npz", "missing.npz"):
        done = run("replay", str(examples / "deferrable-small.json"), "--policy", f"agent:{tmp_path / name}")
        assert done.returncode == 2, name
        assert name in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def test_weights_of_another_kind_are_refused(tmp_path: Path) -> None:
    Trained({"a": np.zeros(2)}, card("geo-rounds")).save(tmp_path / "x.npz")
    with pytest.raises(InputError, match=r"holds an agent of deferrable \(geo-rounds\), expected deferrable-scores"):
        Trained.load(tmp_path / "x.npz", "deferrable-scores")


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    held = Trained({"a": np.arange(6.0).reshape(2, 3), "b": np.array(0.5)}, card("deferrable-scores"))
    held.save(tmp_path / "x.npz")
    again = Trained.load(tmp_path / "x.npz", "deferrable-scores")
    assert again.card == held.card
    assert again.sha256 == held.sha256
    assert json.loads(str(np.load(tmp_path / "x.npz")["card"]))["name"] == "x"
    assert Trained({"a": np.arange(6.0).reshape(3, 2), "b": np.array(0.5)}, card("deferrable-scores")).sha256 != held.sha256


def test_instances_are_in_place_of_a_scenario(tmp_path: Path, examples: Path) -> None:
    done = run(
        "train",
        "osdec",
        "--scenario",
        "toy",
        "--instance",
        str(examples / "deferrable-small.json"),
        "-o",
        str(tmp_path / "x.npz"),
    )
    assert done.returncode == 2
    assert "--instance is in place of a --scenario" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_toy_is_validated_six_times_however_short_it_is() -> None:
    for name, lesson in lessons().items():
        for steps in (lesson.steps_on(TOY), 2000, 3):
            assert steps // lesson.every_on(TOY, steps) >= min(steps, VALIDATIONS), name
        assert lesson.every_on("", lesson.steps) == lesson.every


def test_a_guard_that_was_never_needed_is_in_the_table(tmp_path: Path) -> None:
    """Its column says 0; without a guarded policy there is none."""
    file = str(tmp_path / "x.json")
    assert run("generate", "osdec", "--jobs", "6", "--horizon", "12", "--seed", "1", "-o", file).returncode == 0
    shown = run("replay", file, "--policy", "osdec").stdout
    assert "overruled" in shown
    assert "let a rule decide" not in shown
    assert "overruled" not in run("replay", file, "--policy", "osdec", "--no-guard").stdout
    assert "note: --no-guard changes nothing, fifo has no guard" in run("replay", file, "--policy", "fifo", "--no-guard").stderr
