"""Pictures of replays: what happened is drawn, for every family, from the file that `optsched replay` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import optsched
from optsched.analysis import allocation, deferrable, geo, vcc
from optsched.cli import cli
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule
from optsched.schedules.base import Schedule
from optsched.schedules.deferrable import DeferrableSchedule
from optsched.schedules.geo import GeoSchedule
from optsched.schedules.vcc import VccSchedule

EMPTY: list[tuple[str, Any, Schedule]] = [
    ("armida", allocation.draw, AllocationHistory(runs=())),
    ("armida", allocation.draw, AllocationSchedule(assignments=())),
    ("deferrable-small", deferrable.draw, DeferrableSchedule(starts=())),
    ("geo-small", geo.draw, GeoSchedule(starts=())),
    ("vcc-small", vcc.draw, VccSchedule(cap=(0.0,) * 48, starts=())),
]


@pytest.mark.parametrize("name", ["armida", "deferrable-small", pytest.param("geo-small", marks=pytest.mark.slow), "vcc-small"])
def test_from_replay_to_picture(examples: Path, tmp_path: Path, name: str) -> None:
    result, picture = tmp_path / "h.json", tmp_path / "h.png"
    for words in (
        ["replay", str(examples / f"{name}.json"), "--policy", "greedy", "-o", str(result)],
        ["plot", str(result), "-o", str(picture)],
    ):
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("name", "draw", "nothing"), EMPTY, ids=[type(nothing).__name__ for *_, nothing in EMPTY])
def test_nothing_run_is_a_picture_too(examples: Path, name: str, draw: Any, nothing: Schedule) -> None:
    instance = optsched.load(examples / f"{name}.json")
    for given in (instance, instance.model_copy(update={"jobs": ()})):
        figure = draw(given, nothing)
        figure.canvas.draw()
        assert figure.get_suptitle().startswith(f"{instance.name}: ")
