"""The picture of a trace: steps of objective and bound, and the gap between them."""

from __future__ import annotations

from pathlib import Path

import pytest

import optsched
from optsched.analysis.convergence import draw
from optsched.errors import OptschedError
from optsched.result import Result


@pytest.fixture
def result(examples: Path) -> Result:
    return optsched.solve(optsched.load(examples / "deferrable-small.json"), "greedy")


def traced(result: Result, rows: list[tuple[float, float | None, float | None]], bound: float | None) -> Result:
    timings = result.timings_s.model_copy(update={"total": 8.0})
    return result.model_copy(update={"incumbents": tuple(rows), "bound": bound, "objective": 110.0, "timings_s": timings})


def test_steps_and_gap(result: Result) -> None:
    rows = [(1.0, 100.0, None), (2.0, 100.0, 125.0), (4.0, 110.0, 121.0)]
    figure = draw(traced(result, rows, 110.0), unit="core-slots")
    figure.canvas.draw()
    above, below = figure.axes
    lines = {line.get_label(): line for line in above.get_lines() if not line.get_label().startswith("_")}
    assert set(lines) == {"objective", "bound"}
    assert lines["objective"].get_xydata().tolist() == [[1, 100], [2, 100], [4, 110], [8, 110]]
    assert lines["bound"].get_xydata().tolist() == [[2, 125], [4, 121], [8, 110]]
    assert {line.get_drawstyle() for line in lines.values()} == {"steps-post"}
    dots = [line.get_xydata().tolist() for line in above.get_lines() if line.get_marker() == "o"]
    assert dots == [[[1, 100], [4, 110]], [[2, 125], [4, 121], [8, 110]]]  # where something changed
    (gap,) = below.get_lines()
    assert gap.get_xydata()[:, 0].tolist() == [2, 4, 8]
    assert gap.get_xydata()[:2, 1] == pytest.approx([25, 10])
    assert below.get_ylim()[0] < gap.get_xydata()[2, 1] < 0.01
    assert "0" in [label.get_text() for label in below.get_yticklabels()]
    assert above.get_ylabel() == "objective, core-slots"
    assert below.get_ylabel() == "gap, %"
    assert above.get_xlim() == (0, 8)
    assert "after 8 s\nobjective 110 core-slots, bound 110, proven optimal" in figure.get_suptitle()


def test_without_a_bound_there_is_no_gap(result: Result) -> None:
    figure = draw(traced(result, [(1.0, 100.0, None)], None))
    figure.canvas.draw()
    (above,) = figure.axes
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["objective"]
    assert figure.get_suptitle().endswith("objective 110, no bound")


def test_no_trace_is_said(result: Result) -> None:
    with pytest.raises(OptschedError, match="greedy keeps no trace of incumbents"):
        draw(result.model_copy(update={"incumbents": ()}))
