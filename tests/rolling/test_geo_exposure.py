"""What an agent risks by leaving less room than S0, by hand; and that it stops those who are made to do harm."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import optsched
from benchmarks.harmful_geo import Away, Never, Worst, network, price
from optsched.instances.events import Events, Outage
from optsched.instances.generators import masac
from optsched.rl.geo.actors import Agents
from optsched.rl.geo.split import SCENARIOS, case
from optsched.rolling.geo.agents import AgentPolicy, GuardedAgent
from optsched.rolling.geo.beside import REMEMBERED, largest
from optsched.rolling.geo.exposure import crowded_out, shut_out
from optsched.rolling.loop import replay
from optsched.schedules.geo import GeoSchedule
from tests.rolling.test_geo_agents import job, rounds_of, two_sites

A, B = 0.02 / 60, 0.06 / 60  # USD that a GPU earns a slot, of `two_sites`


def test_who_comes_and_finds_no_room() -> None:
    """The next 119 slots are one window; 0.3 of two GPUs are asked for at least; nobody comes in the present slot any more."""
    rounds = rounds_of(two_sites((job("x"),)))
    full, empty = np.zeros((2, 120), dtype=np.int64), np.full((2, 120), 2, dtype=np.int64)
    asked = np.array([1.0, 0.0])
    assert crowded_out(rounds, empty, empty, asked) == 0.0
    assert crowded_out(rounds, empty, full, asked) == 0.0  # more room than S0 would leave is no credit
    taken = empty.copy()
    taken[0] = 0
    assert crowded_out(rounds, taken, empty, asked) == pytest.approx(2 * 119 * A)  # twice as much may be asked for as of late
    assert crowded_out(rounds, taken, empty, np.array([0.7, 0.0])) == pytest.approx(2 * 0.7 * 119 * A)
    other = empty.copy()
    other[1] = 0
    less = 2 * 119 * A - 0.7 * 0.6 * 119 * B  # what is free at b makes up for it as far as it is sure to be used
    assert less > 0
    assert crowded_out(rounds, taken, other, asked) == pytest.approx(less)


def test_who_comes_again_and_finds_no_hole() -> None:
    """Two GPUs of a for 30 slots, to be started within ten of the next one."""
    rounds = rounds_of(two_sites((job("x"),)))
    empty = np.full((2, 120), 2, dtype=np.int64)
    taken = empty.copy()
    taken[0, :20] = 1
    lump = (0, 2, 30, 10)
    assert shut_out(rounds, taken, empty, [lump]) == pytest.approx(2 * 30 * A)
    assert shut_out(rounds, taken, empty, [(0, 2, 30, 0)]) == pytest.approx(2 * 30 * A)
    assert shut_out(rounds, empty, taken, [lump]) == 0.0
    assert shut_out(rounds, taken, empty, [(0, 2, 30, 19), (1, 2, 30, 10), (0, 1, 30, 10), (0, 2, 200, 10)]) == 0.0
    assert shut_out(rounds, taken, empty, [(0, 2, 30, 18)]) > 0.0
    assert shut_out(rounds, taken, empty, [(0, 2, 10, 10), lump]) == pytest.approx(2 * 30 * A)  # the greatest of them


def test_the_largest_are_remembered() -> None:
    rounds = rounds_of(two_sites((job("x"),)))
    many = [(0, 1 + k % 2, 10 + k, 5) for k in range(50)]
    kept = largest(rounds, [*many, (1, 1, 1, 9), *many, (1, 1, 1, 3), (0, 3, 50, 5), (0, 1, 120, 0)])
    assert kept[-1] == (1, 1, 1, 3)  # a small site's own, the soonest due; three GPUs fit nowhere, and 120 slots begin too late
    assert len(kept) == REMEMBERED + 1
    assert min(g * d for _, g, d, _ in kept[:-1]) >= max(g * d for _, g, d, _ in set(many) - set(kept))
    assert largest(rounds, [*kept, (0, 1, 1, 0)]) == kept


@pytest.mark.parametrize(
    ("scenario", "number", "harmful"),
    [
        pytest.param("small", 301, Worst, marks=pytest.mark.slow),
        ("small", 1001, Away),
        ("small", 1001, Never),
        ("many", 303, Away),
        pytest.param("many", 302, Agents, marks=pytest.mark.slow),
    ],
)
def test_who_is_made_to_do_harm_is_stopped(scenario: str, number: int, harmful: type[Agents]) -> None:
    """Cases cut to their first jobs, in which a guard that asks for less loses up to 2 %; bare it loses all that there is."""
    instance = case(SCENARIOS[scenario], "validation", number)
    instance = instance.model_copy(update={"jobs": instance.jobs[:120]})
    rule = replay(instance, "local-fcfs").objective
    assert rule is not None
    acting = harmful(network(0, len(instance.sites)).trained)
    bare, guarded = (replay(instance, make(acting)).objective for make in (AgentPolicy, GuardedAgent))
    assert bare is not None
    assert guarded is not None
    assert bare < guarded
    assert guarded >= rule - 1e-3 * abs(rule)


@pytest.mark.parametrize(("kind", "back_s"), [("fails", 5 * 3600.0), ("fails", None), ("drains", None)])
def test_what_a_failure_cut_is_not_earned(kind: Literal["fails", "drains"], back_s: float | None) -> None:
    """Its runs are taken back, and jobs that wait again are no new ones to S0."""
    instance = masac(jobs=80, days=0.4, load=1.2, scale=0.2, seed=21)
    outage = Outage(place=instance.sites[0].id, kind=kind, at_s=3 * 3600.0, back_s=back_s)
    failing = instance.model_copy(update={"events": Events(outages=(outage,))})
    policy = GuardedAgent(price(0.2))
    told = replay(failing, policy)
    idle = optsched.evaluate(failing, GeoSchedule(starts=())).objective
    assert told.objective is not None
    lost = told.components.get("lost", 0.0)
    assert policy.earned + idle == pytest.approx(told.objective + lost, rel=0.02)


def test_a_good_price_is_left_alone() -> None:
    """One that pays: it decides in nearly all."""
    instance = masac(jobs=150, days=0.5, load=1.5, scale=0.25, seed=11)
    found, rule = replay(instance, GuardedAgent(price(0.2))), replay(instance, "local-fcfs")
    assert found.objective is not None
    assert rule.objective is not None
    assert found.objective > rule.objective
    figures = found.options["figures"]
    assert isinstance(figures, dict)
    assert figures["overruled"] < 0.5 * figures["decisions"]
