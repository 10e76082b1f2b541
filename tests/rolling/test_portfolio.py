"""The recommended policy of allocation: a lane is the simulator, and futures are made of what was seen."""

from __future__ import annotations

import json

import numpy as np
import pytest

from optsched.errors import OptschedError
from optsched.heuristics.allocation.priced import priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats
from optsched.instances.events import Estimate, Events, laid_over
from optsched.instances.generators import andreas, osdec
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.referee import evaluate
from optsched.rolling.allocation.futures import Arrivals, futures
from optsched.rolling.allocation.outlook import Outlook
from optsched.rolling.allocation.playout import Cluster, Playout, Present
from optsched.rolling.allocation.portfolio import ALL, KEEPING, RULES, WARY, Bidding, Portfolio
from optsched.rolling.allocation.simulator import AllocationSimulator
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings
from optsched.schedules.allocation import Assignment
from tests.rolling.test_packing import alike


def one_node(seed: int, cost_s: float = 0.0) -> AllocationInstance:
    """Where jobs share a single node, counting GPUs by class loses nothing."""
    made = andreas(2 if seed % 2 else 1, 2, jobs=9, rate="high" if seed % 3 else "mixed", seed=seed)
    return made.model_copy(update={"nodes": made.nodes[:1], "migration_cost_s": cost_s})


def foreseen(instance: AllocationInstance, rules: tuple[Bidding, ...]) -> Floats:
    """What the rules cost, played out when the first job comes, with all others as the one future."""
    jobs = sorted(instance.jobs, key=lambda job: job.submit_s)
    every = instance.model_copy(update={"now_s": jobs[-1].submit_s})
    cluster = Cluster.of(instance, urgency(every, options(every)).speed)
    arrivals = Arrivals()
    for job in jobs[1:]:
        arrivals.add(job)
    now = instance.model_copy(update={"now_s": jobs[0].submit_s, "jobs": (jobs[0],)})
    drawn = np.arange(len(jobs) - 1)[None], np.array([[job.submit_s for job in jobs[1:]]])
    ahead = futures(now, cluster.kind, cluster.gpus, arrivals, drawn)
    present = Present(np.array([-1]), np.array([False]), instance.migration_cost_s)
    found = Playout(cluster, ahead, now.now_s, present, rules, np.zeros(len(rules), dtype=int)).run(10_000)
    assert found is not None
    return found


def realised(instance: AllocationInstance, rule: Bidding) -> float:
    """What a rule costs in the simulator."""
    simulator, held = AllocationSimulator(instance), dict[str, Assignment]()
    while (snapshot := simulator.snapshot()) is not None:
        there = {job.id for job in snapshot.known_jobs}
        running = {job: a for job, a in held.items() if job in there}
        decision = priced_dispatch(snapshot, bidding=rule, held=running)
        held = {a.job: a for a in decision.assignments}
        simulator.apply(decision)
    return evaluate(instance, simulator.history()).objective


@pytest.mark.parametrize(("rules", "cost_s"), [(RULES + KEEPING, 90.0), (WARY, 30.0)])
@pytest.mark.parametrize("seed", range(8))
def test_a_lane_is_the_simulator(seed: int, rules: tuple[Bidding, ...], cost_s: float) -> None:
    """Every rule costs what it costs in a replay, where moving loses work and where it does not; wary ones move more often."""
    instance = one_node(seed, 0.0 if seed < 4 else cost_s)
    for rule, cost in zip(rules, foreseen(instance, rules), strict=True):
        lost = 0.01 if instance.migration_cost_s else 1e-6  # who moves again before the move is over loses a little less
        assert cost == pytest.approx(realised(instance, rule), rel=lost)


def test_who_is_wary_takes_a_faster_way() -> None:
    """Due in two hours: an hour and a half on one GPU, an hour on two, which cost more. Twice as long it would be late."""
    instance = alike(1, (1.0, 2.0), [(0.0, 7200.0, 1.0, (5400.0, 3600.0))])
    for caution, gpus in ((1.0, 1), (2.0, 2)):
        decision = priced_dispatch(instance, bidding=Bidding(0.0, caution=caution))
        assert [a.gpus for a in decision.assignments] == [gpus]
    assert {rule.caution for rule in WARY} == {2.0, 4.0}


def test_estimates_that_are_ten_times_too_long_soon_do_no_harm() -> None:
    """What it pays is far nearer to what it pays with the truth than to what a rule pays that believes them."""
    made = andreas(1, 3, jobs=24, rate="high", seed=1)
    events = Events(believed=tuple(Estimate(job=job.id, multiple=10.0) for job in made.jobs))
    ours, truth = replay(laid_over(made, events, None), "rolling").objective, replay(made, "rolling").objective
    rule = replay(laid_over(made, events, None), "priced").objective
    assert ours is not None
    assert truth is not None
    assert rule is not None
    assert ours - truth < 0.1 * (rule - truth)


def test_draws_are_of_what_was_seen() -> None:
    instance = andreas(1, 4, jobs=30, seed=3)
    arrivals = Arrivals()
    for job in sorted(instance.jobs, key=lambda job: job.submit_s):
        arrivals.add(job)
    who, when = arrivals.draw(np.random.default_rng(1), 200, 5000.0, 20, 60.0)
    assert who.shape == when.shape == (200, 20)
    assert 0 <= who.min() <= who.max() < 30
    assert when.min() >= 5000.0
    assert (when[:, 1:] >= when[:, :-1]).all()
    assert 0 < np.isfinite(when).mean() < 1  # some futures end soon: nobody knows when jobs stop coming
    again = arrivals.draw(np.random.default_rng(1), 200, 5000.0, 20, 60.0)
    assert np.array_equal(who, again[0])
    assert np.array_equal(when, again[1])


def test_calm_makes_arrivals_rare() -> None:
    """Who has waited for long expects to wait on."""
    arrivals = Arrivals()
    for job in andreas(1, 4, jobs=30, seed=3).jobs:
        arrivals.add(job)
    last = arrivals.last_s
    assert last is not None
    soon = arrivals.draw(np.random.default_rng(1), 100, last, 5, 60.0)[1][:, 1] - last
    late = arrivals.draw(np.random.default_rng(1), 100, last + 1e6, 5, 60.0)[1][:, 1] - last - 1e6
    assert np.median(late[np.isfinite(late)]) > 10 * np.median(soon[np.isfinite(soon)])


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_moving_that_costs_much_is_left_alone(seed: int) -> None:
    """Rules that keep what runs are in the portfolio then, and lanes know what moving loses."""
    instance = andreas(1, 3, jobs=12, seed=seed).model_copy(update={"migration_cost_s": 3000.0})
    ours, rule = replay(instance, "rolling"), replay(instance, "priced")
    assert ours.options["figures"]["migrations"] < 0.5 * rule.options["figures"]["migrations"]
    assert ours.objective is not None
    assert rule.objective is not None
    assert ours.objective < 0.5 * rule.objective
    assert all(rule.keeps for rule in KEEPING)


@pytest.mark.parametrize("estimates", ["true", "noisy:1"])
def test_goes_on_from_what_it_remembers(estimates: str) -> None:
    """To the bit, through JSON, in the middle of a replay; what runs and what has begun, or ended unforeseen, included."""
    made = andreas(1, 3, jobs=12, seed=1).model_copy(update={"migration_cost_s": 60.0})
    instance = laid_over(made, None, estimates)
    policy, simulator = Portfolio(Settings()), AllocationSimulator(instance)
    policy.reset(7)
    for step in range(14):
        snapshot = simulator.snapshot()
        assert snapshot is not None
        if step == 6:
            other = Portfolio(Settings())
            other.restore(json.loads(json.dumps(policy.state())))
        decision = policy.decide(snapshot)
        if step >= 6:
            assert other.decide(snapshot) == decision
        simulator.apply(decision)


def test_a_budget_is_kept() -> None:
    """With no time to play anything out the last rule decides."""
    instance = andreas(2, 4, jobs=20, seed=1)
    policy = Portfolio(Settings(budget_s=1e-9))
    policy.reset(0)
    snapshot = AllocationSimulator(instance).snapshot()
    assert snapshot is not None
    assert policy.decide(snapshot).assignments


def test_a_history_tells_what_to_expect() -> None:
    past = andreas(1, 3, jobs=40, seed=5)
    policy = Portfolio(Settings(history=past))
    assert len(policy.outlook.arrivals.jobs) == 40
    with pytest.raises(OptschedError, match="not of allocation"):
        Portfolio(Settings(history=osdec(1, seed=0)))


def test_jobs_share_no_node_that_costs_more_than_two() -> None:
    """An hour on a GPU of each node at 1 EUR; both on one node cost 9 EUR."""
    instance = alike(2, (1.0, 9.0), [(0.0, 9e4, 1e-4, (3600.0, 3000.0))] * 2)
    assert replay(instance, "rolling").objective == pytest.approx(2.0)


def test_one_after_the_other_where_sharing_is_dear() -> None:
    """Nobody is in a hurry: the node costs 1 EUR an hour for one job at a time, side by side 5 EUR."""
    jobs = [(350.0, 8600.0, 0.0, (5400.0, 3000.0)), (475.0, 5500.0, 0.0, (3600.0, 2300.0))]
    found = replay(alike(1, (1.0, 5.0), jobs), "rolling")
    assert found.objective == pytest.approx((5400 + 3600) / 3600)


@pytest.mark.parametrize(("nodes", "most"), [(10, 32), (20, 60)])
def test_futures_of_many_nodes_have_as_many_more_arrivals(nodes: int, most: int) -> None:
    """Else a queue that lasts looks as if it were soon over, and a GPU too cheap."""
    instance = andreas(1, nodes)
    outlook = Outlook(0)
    outlook.observe(instance)
    _, _, ahead = outlook.ahead(instance, 3)
    assert ahead.submit_s.shape == (3, len(instance.known_jobs) + most)


def test_a_wary_rule_stays_where_a_failure_has_undone_the_surprise() -> None:
    """Nothing has ended, and what had outlived its estimate has lost all it did: nobody knows any more that estimates err."""
    instance = andreas(1, 3, jobs=12, rate="high", seed=1)
    policy = Portfolio(Settings())
    policy.reset(0)
    policy.last = ALL.index(WARY[0])
    snapshot = AllocationSimulator(instance).snapshot()
    assert snapshot is not None
    assert policy.decide(snapshot).assignments
