"""Tuning: what is searched on some instances counts on others."""

from __future__ import annotations

import pytest

from optsched.analysis.tune import Axis, replaying, solving, tune
from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.instances.generators import vcc
from tests.oracle import tiny

pytest.importorskip("optuna")


def weeks(seeds: range) -> list[Instance]:
    return [vcc(2, 60, load=0.2, seed=seed) for seed in seeds]


def test_a_cap_is_found_and_its_gain_is_that_of_other_instances() -> None:
    train, test = weeks(range(3)), weeks(range(3, 6))
    run = solving("constant")
    found = tune(run, train, test, {"cap": Axis(0.05, 1.0)}, trials=15, seed=1)
    again = tune(run, train, test, {"cap": Axis(0.05, 1.0)}, trials=15, seed=1)
    assert found == again
    assert found.train.mean == max(0.0, *(row["gain"] for row in found.tried)) > 0
    by_hand = [1 - run(case, found.options, 0) / run(case, {}, 0) for case in test]  # type: ignore[operator]
    assert found.test.mean == pytest.approx(sum(by_hand) / 3)
    assert found.test.worst == pytest.approx(min(by_hand))


def test_nothing_better_leaves_the_default() -> None:
    found = tune(solving("constant"), weeks(range(2)), weeks(range(2, 4)), {"cap": Axis(choices=(0.1,))}, trials=2)
    assert found.options == {}
    assert (found.train.mean, found.test.mean) == (0.0, 0.0)


def test_policies_too() -> None:
    cases = [tiny.deferrable(seed) for seed in (1, 2, 4)]
    found = tune(replaying("rolling"), cases[:2], cases[2:], {"replan_s": Axis(300, 3600)}, trials=2)
    assert len(found.tried) == 2
    assert max(row["gain"] for row in found.tried) > -1  # none failed
    with pytest.raises(OptschedError, match="no 'window' to tune, did you mean window_s"):
        tune(replaying("rolling"), cases[:2], cases[2:], {"window": Axis(300, 3600)}, trials=2)


def test_what_cannot_be_tuned() -> None:
    cases, run = weeks(range(2)), solving("constant")
    with pytest.raises(OptschedError, match="both in training and in test"):
        tune(run, cases, cases[:1], {"cap": Axis(0.1, 0.9)})
    with pytest.raises(OptschedError, match="all of one family"):
        tune(run, cases, [tiny.deferrable(1)], {"cap": Axis(0.1, 0.9)})
    with pytest.raises(OptschedError, match="no option"):
        tune(run, cases[:1], cases[1:], {"quantle": Axis(0.1, 0.9)})
    for wrong in (Axis(-0.5, 0.9), Axis(0.5, 1.5), Axis(choices=(0.1, 2))):
        with pytest.raises(OptschedError, match="option cap of constant is a number from 0 to 1, got"):
            tune(run, cases[:1], cases[1:], {"cap": wrong}, trials=1)
    with pytest.raises(OptschedError, match="nothing to search"):
        tune(run, cases[:1], cases[1:], {})


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("1..100", Axis(1, 100)),
        ("0.1..0.9", Axis(0.1, 0.9)),
        ("a,b", Axis(choices=("a", "b"))),
        ("1,2.5", Axis(choices=(1, 2.5))),
    ],
)
def test_ranges_are_read(text: str, axis: Axis) -> None:
    assert Axis.read(text) == axis
    assert Axis.around(8) == Axis(2, 32)
    assert Axis.around(True) is None
    assert (Axis.around(0.3), Axis.around(1.5)) == (Axis(0.075, 1.0), Axis(0.375, 6.0))
    assert Axis(0, 1).real() == Axis(0.0, 1.0)


@pytest.mark.parametrize("text", ["5", "9..1", "a..b", "1..inf", ""])
def test_ranges_that_are_none(text: str) -> None:
    with pytest.raises(OptschedError, match=r"range|choices"):
        Axis.read(text)
