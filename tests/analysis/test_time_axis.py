"""The horizontal axis: its unit, its ticks, and dates where an instance has one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from matplotlib.dates import num2date
from matplotlib.figure import Figure

import optsched
from optsched.analysis.time_axis import MOST_TICKS, TimeAxis
from optsched.instances.base import Instance


@pytest.fixture
def instance(examples: Path) -> Instance:
    return optsched.load(examples / "geo-small.json")


@pytest.mark.parametrize(
    ("length_s", "unit", "an_hour"),
    [(3000, "minutes", 60.0), (7200, "hours", 1.0), (4 * 86400, "hours", 1.0), (10 * 86400, "days", 1 / 24)],
)
def test_units(instance: Instance, length_s: float, unit: str, an_hour: float) -> None:
    time = TimeAxis.of(instance, length_s)
    assert time.label == unit
    assert time.at([0, 3600]).tolist() == [0.0, pytest.approx(an_hour)]
    assert TimeAxis.of(instance, length_s, relative=True).label == f"{unit} from now"


@pytest.mark.parametrize("hours", [0.2, 1, 1.6, 5, 6, 24, 48, 95, 97, 168, 672, 8760])
@pytest.mark.parametrize("start", [None, "2026-03-28T06:00"])
def test_a_handful_of_ticks(instance: Instance, hours: float, start: str | None) -> None:
    if start is not None:
        instance = instance.model_copy(update={"meta": {"start": start}})
    axes = Figure().add_subplot()
    TimeAxis.of(instance, hours * 3600).frame(axes, hours * 3600)
    low, high = axes.get_xlim()
    ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
    assert 3 <= len(ticks) <= MOST_TICKS + 1


def test_dates_where_the_instance_starts_on_one(instance: Instance) -> None:
    dated = instance.model_copy(update={"meta": {"start": "2026-03-28T06:00:00+01:00"}})
    time = TimeAxis.of(dated, 7200, now_s=1800)
    assert time.label == "date and time (UTC+01:00)"
    assert num2date(float(time.at(3600))).replace(microsecond=0) == datetime(2026, 3, 28, 7, 30, tzinfo=UTC)  # wall time
    assert TimeAxis.of(instance.model_copy(update={"meta": {"start": "2026-03-28"}}), 7200).label == "date and time (UTC)"


@pytest.mark.parametrize("start", ["yesterday", 5, None, ""])
def test_no_date_is_no_error(instance: Instance, start: object) -> None:
    assert TimeAxis.of(instance.model_copy(update={"meta": {"start": start}}), 7200).label == "hours"
