"""Shipped weights of allocation, deferrable and geo: their cards, the test score that they reproduce, their size."""

from __future__ import annotations

from pathlib import Path

import pytest

import optsched
from benchmarks.ship_agent import CASES, KINDS
from optsched.registry import family_of
from optsched.rl.deferrable.split import SPLIT
from optsched.rl.learners import lesson
from optsched.rl.trained import Trained, file_of, shipped

AGENTS = [(problem, name) for problem in ("allocation", "deferrable", "geo") for name in shipped(problem)]
WEIGHTS = Path(optsched.__file__).parent / "rl" / "weights"


@pytest.mark.parametrize(
    ("problem", "name"), [pytest.param(*agent, marks=pytest.mark.slow if agent[0] == "geo" else ()) for agent in AGENTS]
)
def test_they_reproduce_their_recorded_score(problem: str, name: str) -> None:
    card = Trained.load(file_of(problem, name), *KINDS).card
    case = CASES[problem][0]
    found = optsched.replay(case, name, guard=False).objective
    bound = family_of(case).clairvoyant(case)
    assert set(card.tested) == {case.name for case in CASES[problem]}
    assert found == pytest.approx(card.tested[case.name], rel=1e-6)
    assert found is not None
    assert bound is not None
    ahead = found - bound if case.sense == "maximize" else bound - found
    assert ahead <= 1e-6 * abs(bound)


@pytest.mark.parametrize(("problem", "name"), AGENTS)
def test_cards_say_where_they_come_from(problem: str, name: str) -> None:
    card = Trained.load(file_of(problem, name), *KINDS).card
    assert (card.name, card.problem) == (name, problem)
    assert card.scenario in lesson(name).scenarios
    assert card.best == max(card.curve, key=lambda row: row[1])[0]  # the first of the best
    assert card.steps >= card.best
    assert card.failures
    if problem == "deferrable":
        assert card.split == SPLIT


def test_every_lesson_of_a_paper_has_weights_and_all_are_small() -> None:
    assert {"osdec", "osdec-reinforce", "osdec-mlp", "osdec-pointer", "osdec-att", "osdec-auxh", "osdec-auxl"} <= set(
        shipped("deferrable")
    )
    assert {"masac", "madqn", "geo-imitation"} <= set(shipped("geo"))
    assert sum(path.stat().st_size for path in WEIGHTS.rglob("*.npz")) < 20e6


@pytest.mark.timing
@pytest.mark.parametrize(("problem", "name"), AGENTS)
def test_a_decision_takes_less_than_five_milliseconds(problem: str, name: str) -> None:
    result = optsched.replay(CASES[problem][0], name, guard=False)
    assert result.options["figures"]["decision_s_median"] < 0.005
