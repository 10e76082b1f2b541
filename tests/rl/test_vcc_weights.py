"""The shipped agents of vcc: their cards, what they were tested at, and that they decide in time."""

from __future__ import annotations

import time

import pytest

from optsched.instances.generators import vcc
from optsched.rl.vcc.agent import Agent, agent, shipped
from optsched.rl.vcc.observation import Past
from optsched.rl.vcc.split import WORDS
from optsched.rolling.loop import replay
from optsched.rolling.vcc.policies import AgentPolicy

RECORDED = vcc(days=3, jobs=300, load=0.2, seed=424242)  # needs no data; its seed is in no scenario


@pytest.mark.parametrize("name", ["vcc-ppo", "vcc-sac"])
def test_shipped_weights_reproduce_their_recorded_score(name: str) -> None:
    found = agent(name)
    assert isinstance(found, Agent)
    card = found.trained.card
    objective = replay(RECORDED, AgentPolicy(found), forecast="fitted").objective
    assert objective == pytest.approx(card.tested[RECORDED.name], rel=1e-6)


@pytest.mark.parametrize("name", shipped())
def test_cards_say_what_was_seen(name: str) -> None:
    found = agent(name)
    assert isinstance(found, Agent)
    card = found.trained.card
    assert (card.name, card.scenario) == (name, "months")
    assert card.split.startswith(WORDS)
    assert card.curve[0] == (0, 0.0)
    assert max(score for _, score in card.curve) > 0
    assert card.best == max(card.curve, key=lambda row: row[1])[0]
    assert card.failures


@pytest.mark.timing
@pytest.mark.parametrize("name", shipped())
def test_a_decision_takes_less_than_five_milliseconds(name: str) -> None:
    found, instance = agent(name), vcc(days=7, jobs=5000, load=0.2)
    past = Past(carbon=(0.3,) * 190, asked=(1.0,) * 190).seen(instance)
    seconds = []
    for _ in range(20):
        began = time.perf_counter()
        found.cap(instance, past, 0.0)
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.005
