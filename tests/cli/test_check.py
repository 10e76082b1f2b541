"""`optsched check` of a schedule that somebody wrote by hand, against bounds that others have proven."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import optsched
from tests.cli.test_cli import one_line, run

SMALL = "deferrable-small.json"  # its optimum is 118


@pytest.fixture(scope="module")
def solved(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A proven result."""
    path = tmp_path_factory.mktemp("solved") / "r.json"
    assert run("solve", examples / SMALL, "--method", "exact", "-q", "-o", path).returncode == 0
    return path


@pytest.fixture
def bare(examples: Path, tmp_path: Path) -> Path:
    """A schedule of somebody's own: the greedy one's, without its certificate."""
    done = run("solve", examples / SMALL, "--method", "fifo", "--json")
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(json.loads(done.stdout)["schedule"]))
    return path


def test_a_bare_schedule_has_a_gap_to_a_given_bound(examples: Path, solved: Path, bare: Path) -> None:
    plain = json.loads(run("check", examples / SMALL, bare, "--json").stdout)
    assert (plain["ok"], plain["bound"], plain["gap"]) == (True, None, None)
    assert "--bound gives one" in run("check", examples / SMALL, bare).stdout
    for bound in (solved, 118):
        found = json.loads(run("check", examples / SMALL, bare, "--bound", bound, "--json").stdout)
        assert (found["ok"], found["bound"]) == (True, 118)
        assert found["gap"] == pytest.approx((118 - plain["objective"]) / plain["objective"])
    shown = run("check", examples / SMALL, bare, "--bound", solved).stdout
    assert "118 as given" in shown
    assert f"{100 * (118 - plain['objective']) / plain['objective']:.3g} %" in shown


def test_a_bound_that_a_schedule_beats_is_wrong(examples: Path, solved: Path, tmp_path: Path) -> None:
    done = run("check", examples / SMALL, solved, "--bound", "100", "--json")
    assert done.returncode == 1
    assert "objective beyond its bound" in json.loads(done.stdout)["violations"][0]
    assert run("check", examples / SMALL, solved, "--bound", "130").returncode == 0  # its own is better
    cost = tmp_path / "cost.json"  # where costs are minimised the larger bound says more
    assert run("solve", examples / "armida-snapshot.json", "--method", "exact", "-q", "-o", cost).returncode == 0
    found = json.loads(run("check", examples / "armida-snapshot.json", cost, "--bound", "100", "--json").stdout)
    assert found["bound"] == pytest.approx(244.422, rel=1e-5)
    assert json.loads(run("check", examples / SMALL, solved, "--bound", "130", "--json").stdout)["bound"] == 118


def test_bounds_that_cannot_be_used(examples: Path, solved: Path, bare: Path, tmp_path: Path) -> None:
    assert "nope: no such file" in one_line(run("check", examples / SMALL, bare, "--bound", "nope"))
    assert "finite number" in one_line(run("check", examples / SMALL, bare, "--bound", "nan"))
    edited = tmp_path / "edited.json"
    edited.write_text(solved.read_text().replace('"bound": 118.0', '"bound": 117.0').replace('"gap": 0.0', '"gap": 0.1'))
    assert "edited.json: the bound cannot be trusted: edited" in one_line(
        run("check", examples / SMALL, bare, "--bound", edited)
    )
    other = tmp_path / "other.json"
    assert run("solve", examples / "geo-small.json", "--method", "greedy", "-q", "-o", other).returncode == 0
    assert "other.json: the bound is of" in one_line(run("check", examples / SMALL, bare, "--bound", other))


def test_json_names_every_broken_rule(examples: Path, bare: Path) -> None:
    schedule = json.loads(bare.read_text())
    schedule["starts"][0]["start"] = 23
    bare.write_text(json.dumps(schedule))
    done = run("check", examples / SMALL, bare, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["ok"], found["objective"]) == (1, False, None)
    assert found["violations"]


def test_what_a_bare_schedule_was_held_against_is_said(examples: Path, solved: Path, bare: Path) -> None:
    assert "(--bound gives one)" in run("check", examples / SMALL, bare).stdout
    for bound, said in ((solved, f"is that of {solved}, which passes the referee"), (118, "is taken on trust")):
        shown = run("check", examples / SMALL, bare, "--bound", bound).stdout
        assert shown.splitlines()[-1].endswith(f"held against the bound given, which {said}")
        assert "--bound gives one" not in shown


def test_a_bound_of_a_plan_is_none_of_what_happened(examples: Path, tmp_path: Path) -> None:
    """A snapshot's schedule is judged by a proxy, a history by what it cost: neither bounds the other."""
    instance, plan, history = examples / "armida-snapshot.json", tmp_path / "plan.json", tmp_path / "history.json"
    assert run("solve", instance, "--method", "exact", "-q", "-o", plan).returncode == 0
    assert run("replay", instance, "--policy", "fifo", "--no-bound", "-o", history).returncode == 0
    said = one_line(run("check", instance, history, "--bound", plan))
    assert said == f"error: {plan}: the bound is of a proxy objective, the schedule has a realised one"
    relaxed = tmp_path / "relaxed.json"  # a bound without a schedule is of what methods make
    without = {"schedule": None, "objective": None, "objective_kind": None, "gap": None, "components": {}, "solution": "none"}
    found = optsched.load_result(plan)
    proof = None if found.proof is None else found.proof.model_copy(update={"kind": "search", "duals": None})
    found.model_copy(update=without | {"termination": "time_limit", "proof": proof}).sealed().save(relaxed)
    assert "is of a proxy objective" in one_line(run("check", instance, history, "--bound", relaxed))
    assert run("check", instance, plan, "--bound", relaxed).returncode == 0
