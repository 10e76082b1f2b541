"""The shipped agents of vcc: their cards, what they were tested at, and that they decide in time."""

from __future__ import annotations

import time

import pytest

from benchmarks.ship_agent import CASES
from optsched.instances.generators import vcc
from optsched.rl.trained import Card
from optsched.rl.vcc.agent import Agent, shipped
from optsched.rl.vcc.observation import Past
from optsched.rl.vcc.split import WORDS
from optsched.rolling.loop import replay
from optsched.rolling.vcc.agents import AgentPolicy, Foresight, loaded

(RECORDED,) = CASES["vcc"]  # needs no data; its seed is in no scenario
NETWORKS = [name for name in shipped() if isinstance(loaded(name), Agent)]


def card_of(name: str) -> Card:
    found = loaded(name)
    assert isinstance(found, Agent | Foresight)
    return found.trained.card


@pytest.mark.parametrize("name", shipped())
def test_shipped_weights_reproduce_their_recorded_score(name: str) -> None:
    objective = replay(RECORDED, AgentPolicy(loaded(name)), forecast="fitted").objective
    assert objective == pytest.approx(card_of(name).tested[RECORDED.name], rel=1e-6)


@pytest.mark.parametrize("name", shipped())
def test_cards_say_what_was_seen(name: str) -> None:
    card = card_of(name)
    assert (card.name, card.scenario) == (name, "months")
    assert card.split.startswith(WORDS)
    assert card.curve[0] == (0, pytest.approx(0.0, abs=1e-3))
    assert max(score for _, score in card.curve) > 0
    assert card.best == max(card.curve, key=lambda row: row[1])[0]
    assert card.failures


@pytest.mark.timing
@pytest.mark.parametrize("name", NETWORKS)  # who plans solves a plan
def test_a_decision_takes_less_than_five_milliseconds(name: str) -> None:
    found, instance = loaded(name), vcc(days=7, jobs=5000, load=0.2)
    past = Past(carbon=(0.3,) * 190, asked=(1.0,) * 190).seen(instance)
    seconds = []
    for _ in range(20):
        began = time.perf_counter()
        found.cap(instance, past, 0.0)
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.005
