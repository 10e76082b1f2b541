"""The picture of shadow prices: steps by place, few enough to be seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import optsched
from optsched.analysis.prices import MOST_PANELS, MOST_STEPS, binned, draw, stretch_slots
from optsched.instances.base import Instance


@pytest.fixture
def instance(examples: Path) -> Instance:
    return optsched.load(examples / "geo-small.json")


def test_a_panel_a_place_the_dearest_first(instance: Instance) -> None:
    prices = {"cheap": (0.0, 0.5, 0.0), "dear": (1.0, 0.0, 3.0)}
    figure = draw(prices, instance, 1800.0, objective=4.0, bound=5.0)
    figure.canvas.draw()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["dear", "cheap"]
    (steps,) = figure.axes[0].patches
    assert steps.get_data().values.tolist() == [2.0, 0.0, 6.0]  # by the hour
    assert steps.get_data().edges == pytest.approx([0, 30, 60, 90])
    assert figure.axes[0].get_ylim()[1] > 6
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert figure.get_supylabel() == "USD for an hour\nof one more unit of capacity"
    assert figure.axes[1].get_xlabel() == "minutes"
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["price"]
    assert figure.get_suptitle().endswith("objective 4 USD, bound 5, gap 25 %")


def test_many_slots_are_gathered(instance: Instance) -> None:
    spikes = np.zeros(2880)
    spikes[::60] = 60.0
    figure = draw({f"place {n}": tuple(spikes * (n + 1)) for n in range(20)}, instance, 60.0)
    figure.canvas.draw()
    assert len(figure.axes) == MOST_PANELS
    mean, most = (patch.get_data().values for patch in figure.axes[-1].patches)
    assert len(mean) <= MOST_STEPS
    assert mean.sum() / len(mean) == pytest.approx(spikes.mean() * 60 * (20 - MOST_PANELS + 1))  # nothing is lost
    assert most.max() == pytest.approx(60 * 60 * (20 - MOST_PANELS + 1))
    assert figure.axes[0].get_ylim()[1] > 60 * 60 * 20
    assert f"the {MOST_PANELS} dearest of 20 places" in figure.get_suptitle()
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["mean of 15 min", "dearest slot in it"]


@pytest.mark.parametrize(
    ("slots", "slot_s", "expected"),
    [(200, 60, 1), (201, 60, 15), (2880, 60, 15), (3001, 60, 30), (144, 300, 1), (2000, 300, 12), (672, 3600, 6)],
)
def test_stretches_are_whole_hours_or_quarters(slots: int, slot_s: float, expected: int) -> None:
    assert stretch_slots(slots, slot_s) == expected


def test_the_last_stretch_may_be_shorter() -> None:
    mean, most = binned(np.array([1.0, 3.0, 5.0]), 2)
    assert (mean.tolist(), most.tolist()) == ([2.0, 5.0], [3.0, 5.0])
