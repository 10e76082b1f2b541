"""Learned policies of GPU clusters: by hand, in a replay, from a checkpoint, and with a guard that plays decisions out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from optsched.errors import InputError, OptschedError
from optsched.heuristics.allocation.dispatch import RULES, dispatch
from optsched.heuristics.allocation.priced import priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.instances.generators import andreas, wide_nodes
from optsched.referee import check, evaluate
from optsched.rl.allocation.pricer import KIND, Pricer
from optsched.rl.allocation.scenarios import scenario
from optsched.rl.allocation.view import PRICE, SIZE, see
from optsched.rl.trained import Card, Trained, file_of
from optsched.rolling.allocation.agents import AgentPolicy, GuardedAgent, agent_policy
from optsched.rolling.allocation.futures import Futures
from optsched.rolling.allocation.instead import RUSHES, SAMPLES, USUAL_ONES, WORTH, worth
from optsched.rolling.allocation.ledger import Ledger
from optsched.rolling.allocation.simulator import AllocationSimulator
from optsched.rolling.loop import replay
from optsched.rolling.policy import Guarded, Lasting, Settings
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule

CARD = Card(name="by-hand", kind=KIND, problem="allocation", scenario="none", split="none", seed=0, steps=0, settings={})


def at(price: float) -> Pricer:
    """A pricer of one layer that always says the same."""
    arrays = {"mean": np.zeros(SIZE), "scale": np.full(SIZE, 100.0), "w0": np.zeros((SIZE, 1)), "b0": np.zeros(1)}
    return Pricer(Trained(arrays | {"prices": np.array([price])}, CARD))


def snapshots(instance: AllocationInstance) -> list[AllocationInstance]:
    simulator, found = AllocationSimulator(instance), []
    while (snapshot := simulator.snapshot()) is not None:
        found.append(snapshot)
        simulator.apply(priced_dispatch(snapshot))
    return found


def run(instance: AllocationInstance, decide: Callable[[AllocationInstance], AllocationSchedule]) -> AllocationHistory:
    """What happens when that decides."""
    simulator = AllocationSimulator(instance)
    while (snapshot := simulator.snapshot()) is not None:
        simulator.apply(decide(snapshot))
    return simulator.history()


def test_at_the_rules_price_it_is_the_rule() -> None:
    for instance in (andreas(case=2, nodes=4, jobs=30, seed=2), wide_nodes(nodes=4, jobs=15, seed=1)):
        for snapshot in snapshots(instance):
            assert at(PRICE).decide(snapshot) == priced_dispatch(snapshot)


def test_the_price_is_a_mean_of_logarithms() -> None:
    """Of 0.01 and 1, the second three times as likely: 0.01 ** (1 / 4)."""
    arrays = dict(at(1).trained.arrays)
    arrays |= {"w0": np.zeros((SIZE, 2)), "b0": np.log([1.0, 3.0]), "prices": np.array([0.01, 1.0])}
    snapshot = snapshots(andreas(nodes=2, jobs=5, seed=0))[0]
    assert Pricer(Trained(arrays, CARD)).price(see(snapshot)) == pytest.approx(0.01**0.25)


def test_what_is_seen_moves_the_price() -> None:
    """One number, clipped at 0 by the hidden layer: how many jobs there are for a GPU."""
    first, last = np.zeros((SIZE, 1)), np.array([[0.0, 1.0]])
    first[0] = 1.0
    arrays = {"w0": first, "b0": np.zeros(1), "w1": last, "b1": np.zeros(2), "prices": np.array([0.01, 1.0])}
    arrays |= {"mean": np.zeros(SIZE), "scale": np.ones(SIZE)}
    pricer = Pricer(Trained(arrays, CARD))
    seen = [see(snapshot) for snapshot in snapshots(andreas(nodes=2, jobs=20, seed=0))]
    prices = np.array([pricer.price(view) for view in seen])
    load = np.maximum(0.0, [view.of_all[0] for view in seen])
    np.testing.assert_allclose(prices, 0.01 ** (1 / (1 + np.exp(load))), rtol=1e-5)


def test_every_number_is_relative() -> None:
    """A cluster whose seconds are twice as long, at half the cost of each, looks the same."""
    snapshot = snapshots(andreas(nodes=4, jobs=30, seed=1))[20]
    jobs = tuple(
        job.model_copy(
            update={
                "submit_s": 2 * job.submit_s,
                "due_s": 2 * job.due_s,
                "weight_per_s": job.weight_per_s / 2,
                "time_s": {kind: tuple(None if t is None else 2 * t for t in row) for kind, row in job.time_s.items()},
            }
        )
        for job in snapshot.jobs
    )
    kinds = {
        name: kind.model_copy(update={"node_cost_per_h": tuple(c / 2 for c in kind.node_cost_per_h)})
        for name, kind in snapshot.gpu_types.items()
    }
    other = snapshot.model_copy(update={"now_s": 2 * snapshot.now_s, "jobs": jobs, "gpu_types": kinds})
    for one, two in ((see(snapshot), see(other)),):
        np.testing.assert_allclose(one.summary, two.summary, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(one.of_way, two.of_way, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(one.of_job, two.of_job, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("instance", [andreas(nodes=3, jobs=25, seed=8), wide_nodes(nodes=4, jobs=12, seed=3)])
def test_the_ledger_counts_as_the_referee_does(instance: AllocationInstance) -> None:
    simulator, ledger = AllocationSimulator(instance), Ledger()
    while (snapshot := simulator.snapshot()) is not None:
        decision = dispatch(snapshot, RULES["wspt"][0])
        ledger.begin(snapshot, decision)
        simulator.apply(decision)
        ledger.end(simulator.now_s)
    parts = evaluate(instance, simulator.history()).components
    assert ledger.energy == pytest.approx(parts["energy"])
    assert ledger.tardiness == pytest.approx(parts["tardiness"])


@pytest.mark.parametrize("kind", [AgentPolicy, GuardedAgent])
def test_a_replay_goes_on_from_a_checkpoint(kind: type[AgentPolicy] | type[GuardedAgent]) -> None:
    instance = andreas(nodes=2, jobs=16, seed=3)
    first = kind(at(30.0))
    assert isinstance(first, Lasting)
    first.reset(0)
    simulator, again = AllocationSimulator(instance), kind(at(30.0))
    for _ in range(60):
        if (snapshot := simulator.snapshot()) is None:
            break
        again.reset(0)
        again.restore(first.state())
        decision = first.decide(snapshot)
        assert again.decide(snapshot) == decision
        simulator.apply(decision)
    with pytest.raises(OptschedError, match="not the one that the checkpoint was made with"):
        kind(at(PRICE)).restore(first.state())


def test_the_guard_keeps_a_bad_policy_near_the_rule() -> None:
    instance = andreas(nodes=4, jobs=40, seed=6)
    bare = replay(instance, AgentPolicy(at(30.0))).objective
    guarded = replay(instance, GuardedAgent(at(30.0)))
    rule = replay(instance, "priced").objective
    assert rule is not None
    assert bare is not None
    assert guarded.objective is not None
    assert bare > 5 * rule
    assert guarded.objective - rule < 0.2 * (bare - rule)
    assert "its guard let a rule decide" in str(guarded.message)


def test_futures_under_stress_by_hand() -> None:
    """At 10 s one job is known and another comes at 16 s, due 20 s later: in the first nobody comes, in the last at 12 s."""
    drawn = Futures(
        submit_s=np.tile([10.0, 16.0, np.inf], (3, 1)),
        due_s=np.tile([50.0, 36.0, np.inf], (3, 1)),
        weight_per_s=np.ones((3, 3)),
        time_s=np.ones((3, 3, 1)),
        told=np.ones((3, 3)),
    )
    stressed = drawn.stressed(10.0, rushes=1, times=3.0)
    np.testing.assert_array_equal(stressed.submit_s, [[10, np.inf, np.inf], [10, 16, np.inf], [10, 12, np.inf]])
    np.testing.assert_array_equal(stressed.due_s, [[50, np.inf, np.inf], [50, 36, np.inf], [50, 32, np.inf]])


@pytest.mark.parametrize(
    ("usual", "rush", "yes"),
    [(0.85, 1.0, True), (0.95, 0.5, False), (0.85, 1.05, False)],
    ids=["a seventh saved", "a twentieth is luck", "a loss in a rush"],
)
def test_what_a_learned_decision_has_to_be_worth(usual: float, rush: float, yes: bool) -> None:
    """Where the rule's costs 100 in every future."""
    learned = 100 * np.repeat([usual, rush], [USUAL_ONES, RUSHES])
    assert worth(learned, np.full(SAMPLES, 100.0)) is yes


def test_a_gain_may_be_chance() -> None:
    """120 less in one future of eight, and 1.5 more in the others: 13.7 less in the mean, and a standard error of 14.2."""
    saved = np.full(SAMPLES, -1.5)
    saved[0] = 120.0
    rule = np.full(SAMPLES, 100.0)
    rule[0] = 200.0
    assert saved[:USUAL_ONES].mean() > WORTH * rule[:USUAL_ONES].mean()
    assert not worth(rule - saved, rule)


def test_where_work_is_lost_the_rule_decides() -> None:
    instance = andreas(nodes=2, jobs=10, seed=3).model_copy(update={"migration_cost_s": 30.0})
    guarded = GuardedAgent(at(30.0))
    assert isinstance(guarded, Guarded)
    assert replay(instance, guarded).objective == replay(instance, "priced").objective


def test_where_numbers_were_never_met_the_rule_decides() -> None:
    instance = andreas(nodes=2, jobs=10, seed=3)
    arrays = dict(at(30.0).trained.arrays) | {"scale": np.full(SIZE, 1e-6)}
    guarded = replay(instance, GuardedAgent(Pricer(Trained(arrays, CARD))))
    figures = guarded.options["figures"]
    assert guarded.objective == replay(instance, "priced").objective
    assert isinstance(figures, dict)
    assert figures["overruled"] >= figures["decisions"] - 1  # where nothing is known there is nothing to see


def test_misuse_is_told_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "by-hand.npz"
    at(PRICE).trained.save(path)
    assert isinstance(agent_policy(str(path), Settings()), GuardedAgent)
    assert isinstance(agent_policy(str(path), Settings(guard=False)), AgentPolicy)
    with pytest.raises(OptschedError, match="takes no window"):
        agent_policy(str(path), Settings(window_s=5))
    with pytest.raises(OptschedError, match="no agent 'nobody'"):
        agent_policy("nobody", Settings())
    held = dict(at(PRICE).trained.arrays)
    for wrong in ({"w0": np.zeros((3, 1))}, {"mean": np.zeros(3)}, {"prices": np.ones(2)}, {"prices": -np.ones(1)}):
        Trained(held | wrong, CARD).save(path)
        with pytest.raises(InputError, match="holds no agent"):
            Pricer.load(path)


def test_a_replay_by_name(tmp_path: Path) -> None:
    path = tmp_path / "by-hand.npz"
    at(PRICE).trained.save(path)
    instance = scenario("toy").instance("test", 0)
    result = replay(instance, f"agent:{path}")
    assert check(instance, result.schedule) == []


def test_what_ships_does_what_its_card_says() -> None:
    pricer = Pricer.load(file_of("allocation", "allocation-imitation"))
    told, saved = pricer.trained.card.tested, []
    for k in range(6):
        instance = scenario("andreas").instance("test", k)
        rule, own = (evaluate(instance, run(instance, decide)).objective for decide in (priced_dispatch, pricer.decide))
        saved.append(np.log(rule / own))
        assert k >= len(told) or own == pytest.approx(told[instance.name], rel=1e-6)
    assert len(told) == 3
    assert np.mean(saved) > 0
