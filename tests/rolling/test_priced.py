"""What the future is thought to ask for, of more jobs than are looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from optsched.decomposition.dual import Dual
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.instances.generators import osdec
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rolling import priced
from optsched.rolling.deferrable.policies import PRICING
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings
from tests.oracle import brute, tiny


@pytest.mark.parametrize("every", [2, 3])
def test_a_thinned_future_asks_for_as_much(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    past, coming = osdec(seed=1), osdec(seed=2)
    snapshot = coming.model_copy(update={"jobs": tuple(job for job in coming.jobs if job.submitted == 0)})
    asked: list[float] = []
    looked_at: list[int] = []
    solved = priced.solve_dual

    def weigh(program: TimeIndexedProblem, **options: Any) -> Dual:
        jobs = np.unique(program.job)
        asked.append(float((program.demand * program.duration)[jobs].sum()))
        looked_at.append(len(jobs))
        return solved(program, **options)

    monkeypatch.setattr(priced, "solve_dual", weigh)
    whole = priced.BidPricePolicy(PRICING, Settings(history=past))
    whole.decide(snapshot)
    monkeypatch.setattr(priced, "MOST_DRAWN", looked_at[0] // every + 1)
    thinned = priced.BidPricePolicy(PRICING, Settings(history=past))
    thinned.decide(snapshot)
    assert looked_at[1] < 1.3 * looked_at[0] / every
    assert asked[1] == pytest.approx(asked[0], rel=0.15)
    assert whole.prices is not None
    assert thinned.prices is not None
    assert thinned.prices.mean() == pytest.approx(whole.prices.mean(), rel=0.15)


@pytest.mark.parametrize("family", ["deferrable", "geo"])
def test_who_knows_everybody_does_as_well_as_can_be(family: str) -> None:
    """Jobs that are all there at once, and nobody else to come: prices must not turn away who has no rival."""
    for seed in range(40):
        drawn = getattr(tiny, family)(seed)
        instance = drawn.model_copy(update={"jobs": tuple(job.model_copy(update={"submitted": 0}) for job in drawn.jobs)})
        found, best = replay(instance, "rolling").objective, brute.optimum(instance)
        assert found >= best - priced.GAP * abs(best) - 1e-12, seed


@pytest.mark.parametrize(("past", "taken"), [(None, True), (osdec(seed=1, jobs=5), False)])
def test_a_history_makes_prices_surer(past: DeferrableInstance | None, taken: bool) -> None:
    """One core for one slot is worth 1: at a price of 1.5 worth it while half of that counts, and not when 0.9 of it does."""
    job = Job(id="a", cores=1, duration=1, earliest=0, latest=0, submitted=0)
    snapshot = DeferrableInstance(
        name="one", slot_s=300, capacity=(1.0, 1.0), delay_penalty=1.0, overload_penalty=10.0, jobs=(job,)
    )
    pricing = replace(PRICING, price_discount=0.5, informed_discount=0.9)
    policy = priced.BidPricePolicy(pricing, Settings(history=past))
    policy.prices, policy.expected = np.full((1, 2), 1.5), True
    assert bool(policy.decide(snapshot).starts) is taken


def test_a_memory_of_before_is_read() -> None:
    """States that do not say whether somebody was expected paid their prices."""
    policy = priced.BidPricePolicy(PRICING, Settings())
    policy.decide(tiny.deferrable(1))
    state = {name: value for name, value in policy.state().items() if name != "expected"}
    policy.restore(state)
    assert policy.expected
