"""`optsched plot`: results, bare schedules and convergence, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

import optsched
from optsched.cli import cli
from optsched.cli import plot as verb
from optsched.instances.deferrable import DeferrableInstance
from tests.cli.test_cli import one_line, run


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """What would have been written."""
    kept: list[Figure] = []
    monkeypatch.setattr(verb, "save", lambda figure, _: kept.append(figure))
    return kept


def plot(*words: object) -> None:
    done = CliRunner().invoke(cli, ["plot", *map(str, words)])
    assert done.exit_code == 0, (done.output, done.exception)


@pytest.fixture
def hand(tmp_path: Path) -> Path:
    """A schedule by hand of the small deferrable instance."""
    path = tmp_path / "hand.json"
    path.write_text(json.dumps({"starts": [{"job": "j2", "start": 7}, {"job": "j7", "start": 17}]}))
    return path


def test_a_result_shows_its_gap(examples: Path, tmp_path: Path, figures: list[Figure]) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    result: Any = optsched.solve(instance, "exact")
    for bound, words in ((result.bound, "proven optimal"), (147.5, "bound 147.5, gap 25 %"), (None, "no bound")):
        shown = result.model_copy(update={"bound": bound, "gap": None if bound is None else abs(bound - 118) / 118})
        if bound != result.bound:
            shown = shown.model_copy(update={"termination": "gap_limit", "solution": "feasible", "proof": None})
        shown.sealed().save(tmp_path / "r.json")
        plot(tmp_path / "r.json", "--instance", examples / "deferrable-small.json", "-o", tmp_path / "x.png")
        title = figures[-1].get_suptitle()
        assert "objective 118 core-slots" in title
        assert f"{words}, by exact" in title


def test_a_schedule_by_hand_is_judged_and_drawn(examples: Path, tmp_path: Path, hand: Path, figures: list[Figure]) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    plot(hand, "--instance", examples / "deferrable-small.json", "-o", tmp_path / "x.png")
    assert isinstance(instance, DeferrableInstance)
    jobs = {job.id: job for job in instance.jobs}
    value = sum(jobs[j].cores * jobs[j].duration - 2 * (start - jobs[j].earliest) for j, start in (("j2", 7), ("j7", 17)))
    assert figures[0].get_suptitle() == f"{instance.name}: 2 of 12 jobs run\nobjective {value:g} core-slots"


def test_convergence_has_objective_and_bound_over_seconds(examples: Path, tmp_path: Path, figures: list[Figure]) -> None:
    result = optsched.solve(optsched.load(examples / "geo-small.json"), "exact")
    result.save(tmp_path / "r.json")
    for words, label in ((("--instance", examples / "geo-small.json"), "objective, USD"), ((), "objective")):
        plot(tmp_path / "r.json", "--convergence", *words, "-o", tmp_path / "x.svg")
        above, below = figures[-1].axes
        assert above.get_ylabel() == label
        assert below.get_xlabel() == "seconds"
        assert {text.get_text() for text in above.get_legend().get_texts()} == {"objective", "bound", "gap"}


def test_refusals_are_one_line(examples: Path, tmp_path: Path, hand: Path) -> None:
    deferrable, geo = examples / "deferrable-small.json", examples / "geo-small.json"
    late, kept = tmp_path / "late.json", tmp_path / "kept.png"
    late.write_text(json.dumps({"starts": [{"job": "j2", "start": 12}]}))
    optsched.solve(optsched.load(deferrable), "greedy").save(tmp_path / "greedy.json")
    kept.write_text("mine")
    for words, message in (
        ((hand,), "hand.json: is no result; if it is a bare schedule, give its instance with --instance FILE"),
        ((hand, "--instance", geo), "hand.json: starts[0].site: is missing"),
        ((late, "--instance", deferrable), "does not pass the referee: starts after its latest slot: job 'j2'"),
        ((hand, "--instance", deferrable, "--convergence"), "a bare schedule has no trace"),
        ((tmp_path / "greedy.json", "--convergence"), "incumbents: are empty: greedy keeps no trace"),
        ((geo, "-o", tmp_path / "x.bmp"), "a picture ends in .png, .pdf, .svg"),
        ((hand, "--instance", deferrable, "-o", tmp_path / "no" / "x.png"), "no such folder"),
    ):
        output = () if "-o" in words else ("-o", kept)
        assert message in one_line(run("plot", *words, *output))
    assert kept.read_text() == "mine"
