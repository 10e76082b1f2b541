"""Pictures of replays: what happened is drawn, for every family, from the file that `optsched replay` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from optsched.analysis.allocation_history import _blocks, _lanes
from optsched.cli import cli
from optsched.instances import load
from optsched.rolling.loop import replay
from optsched.rooms import room
from optsched.schedules.allocation import AllocationHistory, Run
from optsched.schedules.deferrable import DeferrableSchedule, Start
from optsched.schedules.geo import GeoSchedule

FILES = {"allocation": "armida", "deferrable": "deferrable-small", "geo": "geo-small"}


def drawn(path: Path, policy: str = "greedy") -> Figure:
    instance = load(path)
    figure: Figure = room("analysis", instance.problem).draw(instance, replay(instance, policy).schedule)
    figure.canvas.draw()
    return figure


@pytest.mark.parametrize("family", FILES)
def test_from_replay_to_picture(examples: Path, tmp_path: Path, family: str) -> None:
    result, picture = tmp_path / "h.json", tmp_path / "h.png"
    for words in (
        ["replay", str(examples / f"{FILES[family]}.json"), "--policy", "greedy", "-o", str(result)],
        ["plot", str(result), "-o", str(picture)],
    ):
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000


def test_allocation_draws_every_run(examples: Path) -> None:
    instance = load(examples / "armida.json")
    history = replay(instance, "fifo").schedule
    assert isinstance(history, AllocationHistory)
    nodes, jobs, cost = room("analysis", "allocation").draw(instance, history).axes
    assert len(jobs.patches) == len(history.runs)
    assert len(nodes.patches) == len(history.runs) + 3  # three nodes are shaded; FIFO's runs of two GPUs are in one piece here
    assert [label.get_text() for label in jobs.get_yticklabels()] == [job.id for job in instance.jobs]  # type: ignore[attr-defined]
    assert cost.get_ylabel() == "energy cost\nEUR/h"
    assert cost.get_xlabel() == "hours"


def test_lanes_keep_a_job_where_it_was() -> None:
    runs = [("a", 1, 0, 5), ("b", 1, 0, 9), ("c", 1, 0, 5), ("d", 2, 5, 9), ("b", 1, 9, 12)]
    placed = _lanes([Run(job=j, node="n", gpus=g, start_s=s, end_s=e) for j, g, s, e in runs], gpus=3)
    assert [lanes for _, lanes in placed] == [[0], [1], [2], [0, 2], [1]]
    assert _blocks([0, 2]) == [(0, 1), (2, 1)]
    assert _blocks([1, 2, 3]) == [(1, 3)]


def test_geo_has_a_panel_a_strip_and_a_price_a_site(examples: Path) -> None:
    figure = drawn(examples / "geo-small.json")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels.count("USD/MWh") == 5
    assert sum("GPUs" in label for label in labels) == 5
    assert any("g/kWh" in label for label in labels)
    assert len(figure.axes) == 5 * 3 + 1


def test_deferrable_marks_overload(examples: Path) -> None:
    instance = load(examples / "deferrable-small.json")
    draw = room("analysis", "deferrable").draw
    texts = {
        everything: [text.get_text() for text in draw(instance, decided).axes[0].get_legend().get_texts()]
        for everything, decided in (
            (False, DeferrableSchedule(starts=())),
            (True, DeferrableSchedule(starts=tuple(Start(job=job.id, start=job.earliest) for job in instance.jobs))),  # type: ignore[attr-defined]
        )
    }
    assert texts[False] == ["load", "capacity"]
    assert len(texts[True]) == 3
    assert texts[True][1].startswith("overload, ")


@pytest.mark.parametrize(
    "nothing", [AllocationHistory(runs=()), DeferrableSchedule(starts=()), GeoSchedule(starts=())], ids=list(FILES)
)
def test_nothing_run_is_a_picture_too(examples: Path, nothing: object) -> None:
    family = next(name for name in FILES if type(nothing).__module__.split(".")[2] == name)
    instance = load(examples / f"{FILES[family]}.json")
    room("analysis", family).draw(instance, nothing).canvas.draw()
    room("analysis", family).draw(instance.model_copy(update={"jobs": ()}), nothing).canvas.draw()
