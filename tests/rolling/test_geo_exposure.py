"""What an agent risks by leaving less room than S0, by hand; and that it stops those who are made to do harm."""

from __future__ import annotations

import numpy as np
import pytest

from optsched.instances.generators import masac
from optsched.rl.geo.actors import Agents, best_legal
from optsched.rl.geo.observation import Sight
from optsched.rl.geo.split import SCENARIOS, case
from optsched.rolling.geo.agents import AgentPolicy, GuardedAgent
from optsched.rolling.geo.exposure import LARGEST, crowded_out, largest, shut_out
from optsched.rolling.loop import replay
from tests.rolling.test_geo_agents import FEW, at_random, job, priced, rounds_of, two_sites

A, B = 0.02 / 60, 0.06 / 60  # USD that a GPU earns a slot, of `two_sites`


def test_who_comes_and_finds_no_room() -> None:
    """All of 120 slots is one window; a slot's ask is 0.3 of two GPUs at least; nobody comes in the present slot any more."""
    rounds = rounds_of(two_sites((job("x"),)))
    full, empty = np.zeros((2, 120), dtype=np.int64), np.full((2, 120), 2, dtype=np.int64)
    asked = np.array([1.0, 0.0])
    assert crowded_out(rounds, empty, empty, asked) == 0.0
    assert crowded_out(rounds, empty, full, asked) == 0.0  # more room than S0 would leave is no credit
    taken = empty.copy()
    taken[0] = 0
    assert crowded_out(rounds, taken, empty, asked) == pytest.approx(2 * 119 * A)  # twice as much may be asked for as of late
    assert crowded_out(rounds, taken, empty, np.array([0.7, 0.0])) == pytest.approx(2 * 0.7 * 120 * A)
    other = empty.copy()
    other[1] = 0
    less = 2 * 119 * A - 0.7 * 0.6 * 120 * B  # what is free at b makes up for it as far as it is sure to be used
    assert less > 0
    assert crowded_out(rounds, taken, other, asked) == pytest.approx(less)


def test_who_comes_again_and_finds_no_hole() -> None:
    """Two GPUs of a for 30 slots, to be started within ten."""
    rounds = rounds_of(two_sites((job("x"),)))
    empty = np.full((2, 120), 2, dtype=np.int64)
    taken = empty.copy()
    taken[0, :20] = 1
    lump = (0, 2, 30, 10)
    assert shut_out(rounds, taken, empty, [lump]) == pytest.approx(2 * 30 * A)
    assert shut_out(rounds, empty, taken, [lump]) == 0.0
    assert shut_out(rounds, taken, empty, [(0, 2, 30, 20), (1, 2, 30, 10), (0, 1, 30, 10), (0, 2, 200, 10)]) == 0.0
    assert shut_out(rounds, taken, empty, [(0, 2, 10, 10), lump]) == pytest.approx(2 * 30 * A)  # the greatest of them


def test_the_largest_are_remembered() -> None:
    many = [(0, 1 + k % 7, 10 + k, 5) for k in range(100)]
    kept = largest([*many, *many])
    assert len(kept) == len(set(kept)) == LARGEST
    assert min(g * d for _, g, d, _ in kept) >= max(g * d for _, g, d, _ in set(many) - set(kept))
    assert largest([*kept, (0, 1, 1, 0)]) == kept


class Worst(Agents):
    """Runs every job where it earns least."""

    def act(self, sight: Sight) -> np.ndarray:
        """Never postpones what can run."""
        may = sight.rounds.legal.copy()
        may[:, 0] = ~may[:, 1:].any(axis=1)
        return best_legal(-sight.credits(), may)


@pytest.mark.parametrize(("scenario", "number"), [("small", 301), ("many", 302), ("many", 303)])
def test_who_is_made_to_do_harm_is_stopped(scenario: str, number: int) -> None:
    """Cases cut to their first jobs: bare it loses what there is to lose, with its guard hardly anything."""
    instance = case(SCENARIOS[scenario], "validation", number)
    instance = instance.model_copy(update={"jobs": instance.jobs[:120]})
    rule = replay(instance, "local-fcfs").objective
    assert rule is not None
    harmful = Worst(at_random(0, len(instance.sites)).trained)
    bare, guarded = (replay(instance, make(harmful)).objective for make in (AgentPolicy, GuardedAgent))
    assert bare is not None
    assert guarded is not None
    assert bare < guarded
    assert guarded >= rule - FEW * abs(rule)


def test_a_good_price_is_left_alone() -> None:
    """One that pays: it decides in nearly all."""
    instance = masac(jobs=150, days=0.5, load=1.5, scale=0.25, seed=11)
    found, rule = replay(instance, GuardedAgent(priced(0.2))), replay(instance, "local-fcfs")
    assert found.objective is not None
    assert rule.objective is not None
    assert found.objective > rule.objective
    figures = found.options["figures"]
    assert isinstance(figures, dict)
    assert figures["overruled"] < 0.5 * figures["decisions"]
