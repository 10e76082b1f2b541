"""Records, schedules and arguments as people write them by hand: taken where their meaning is clear, else refused in a line."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import optsched
from optsched import deferrable, vcc
from optsched.cli._show import show_certificate
from optsched.errors import OptschedError


def small() -> deferrable.Instance:
    """Two jobs, one of which has a choice."""
    m = deferrable.Model("two jobs", slot_s=3600, capacity=[2, 2], delay_penalty=1, overload_penalty=9)
    m.add_job(cores=2, duration=1, earliest=0, latest=0, id="a")
    m.add_job(cores=2, duration=1, earliest=0, latest=1, id="b")
    return m.instance()


def night() -> vcc.Instance:
    """A job that waits where the cap is low."""
    m = vcc.Model(
        "a night",
        capacity_ncu=2,
        carbon_kg_per_kwh=[0.5, 0.1, 0.1],
        inflexible_ncu=[0] * 3,
        unfinished_penalty_per_ncu_h=1,
    )
    m.add_job(ncu=1, duration=1, id="a")
    return m.instance()


BOTH = {"starts": [{"job": "a", "start": 0}, {"job": "b", "start": 1}]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: deferrable.Schedule(starts=[{"job": "a", "start": 0}]), "DeferrableSchedule: starts: must be a valid tuple"),
        (lambda: deferrable.Start(job="a", start="x"), 'Start: start: must be a valid integer, got "x"'),
        (lambda: deferrable.Start(start=0), "Start: job: is missing"),
        (lambda: deferrable.Instance(name="x"), "DeferrableInstance: slot_s: is missing"),
        (lambda: setattr(small(), "name", "y"), "DeferrableInstance: name: is frozen: model_copy"),
        (lambda: deferrable.Instance.from_dict("x"), "DeferrableInstance.from_dict takes a dict of fields, got str: 'x'"),
        (lambda: optsched.certify(small(), BOTH, bound="x.json"), "a bound is a finite number or a result, got 'x.json'; "),
        (lambda: optsched.solve(small(), "greedy").plot("x.png"), "expected an instance, got 'x.png'; plot().savefig(FILE)"),
    ],
)
def test_a_slip_in_python_is_one_line(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(OptschedError) as caught:
        wrong()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_table_of_starts_is_told_what_reads_it() -> None:
    frame = pd.DataFrame(BOTH["starts"])
    with pytest.raises(OptschedError, match=r"got DataFrame; optsched\.deferrable\.Schedule\.from_frame reads one$"):
        optsched.check(small(), frame)  # type: ignore[arg-type]
    with pytest.raises(OptschedError, match=r'; a dict takes it: \{"starts": \[\.\.\.\]\}$'):
        optsched.certify(small(), BOTH["starts"])  # type: ignore[call-overload]
    assert optsched.check(small(), deferrable.Schedule.from_frame(frame)) == []


def test_a_schedule_goes_to_a_file_and_comes_back(tmp_path: Path) -> None:
    made = deferrable.Schedule.from_dict(BOTH)
    assert made.to_dict() == BOTH
    made.save(tmp_path / "mine.json.gz")
    assert deferrable.Schedule.load(tmp_path / "mine.json.gz") == made


def test_a_dict_is_a_start() -> None:
    started = optsched.solve(small(), lambda instance: {"starts": []}, start=BOTH)
    assert started.best == deferrable.Schedule.from_dict(BOTH)
    with pytest.raises(OptschedError, match=r"^schedule: starts\[0\]\.start: is missing"):
        optsched.solve(small(), "greedy", start={"starts": [{"job": "a"}]})


class Open:
    """A policy that says its caps, and no more."""

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def decide(self, snapshot: vcc.Instance) -> dict[str, object]:
        """Caps of 1."""
        return {"cap": [1.0] * snapshot.horizon}


def test_caps_alone_decide_what_the_queue_starts() -> None:
    instance = night()
    found = optsched.certify(instance, {"cap": [0.0, 1.0, 1.0]})
    assert found.best.to_dict() == {"cap": [0.0, 1.0, 1.0], "starts": [{"job": "a", "start": 1, "until": None}]}
    assert optsched.solve(instance, lambda given: {"cap": [0.0, 1.0, 1.0]}).best == found.best
    assert optsched.replay(instance, Open(), on_failure="raise").best.cap == (1.0, 1.0, 1.0)
    assert optsched.check(instance, {"cap": [1, 1, 1], "starts": []}) != []
    assert [v.rule for v in optsched.check(instance, {"cap": [1, 1]})] == ["a cap for every slot"]
    assert [v.rule for v in optsched.check(instance, {"cap": [1, 1, 2]})] == ["cap is no fraction"]
    with pytest.raises(OptschedError, match=r"^schedule: cap\[1\]: must be a valid number"):
        optsched.check(instance, {"cap": [1, "x", 1]})


def test_what_is_saved_is_called_json(tmp_path: Path) -> None:
    result = optsched.solve(small(), "greedy")
    for kept in (small(), result, result.best):
        with pytest.raises(OptschedError, match=r"x\.txt: the name must end in \.json or \.json\.gz$"):
            kept.save(tmp_path / "x.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_gap_to_nothing_is_no_long_number() -> None:
    found = optsched.certify(small(), {"starts": []}, bound=5.0)
    assert found.objective == 0.0
    assert "gap > 1e6 %" in repr(found)


def test_where_there_is_no_unit_there_is_no_gap_for_one() -> None:
    text = io.StringIO()
    out = Console(file=text, width=200)
    instance = small()
    result = optsched.solve(instance, "greedy")

    class Bare(deferrable.Instance):
        @property
        def unit(self) -> str:
            return ""

    show_certificate(out, Bare.from_dict(instance.to_json()), result)
    lines = {line.split()[0]: line.split()[2:] for line in text.getvalue().splitlines() if line.strip()}
    assert lines["objective"] == ["by", "the", "referee"]
