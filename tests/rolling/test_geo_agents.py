"""Policies of geo's agents: the rounds by hand, the account of S0, the guard's promise, checkpoints, and the split."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import optsched
from benchmarks.harmful_geo import Never, network, price, untrained
from optsched.errors import InputError, OptschedError
from optsched.instances.base import Ints
from optsched.instances.generators import masac, vcc
from optsched.instances.geo import GeoInstance, Job, Link, Site
from optsched.registry import family_of
from optsched.rl.geo.actors import AGENTS, Agents, best_legal
from optsched.rl.geo.files import loaded
from optsched.rl.geo.network import Network
from optsched.rl.geo.observation import Sight, joint_size
from optsched.rl.geo.prices import FEATURES, LEADS_H, PRICES, BidPrices, features
from optsched.rl.geo.rounds import Rounds
from optsched.rl.geo.split import FIRST, PARTS, SCENARIOS, case, seed_of
from optsched.rl.trained import file_of, shipped
from optsched.rolling.geo.agents import AgentPolicy, GuardedAgent
from optsched.rolling.geo.beside import Beside, Kept, earliest
from optsched.rolling.geo.cases import A_SEED, Cases, Judged, utility
from optsched.rolling.geo.episode import Episode
from optsched.rolling.loop import replay
from optsched.rolling.policy import Guarded, Lasting, Settings
from optsched.schedules.geo import GeoSchedule

FEW = 0.05  # the promise: no agent is further behind S0


def two_sites(jobs: tuple[Job, ...], gpus: int = 2) -> GeoInstance:
    """Site a is dear, b is cheap; a GB takes a slot."""
    sites = tuple(
        Site(id=n, gpus=gpus, pue=1.0, price_usd_per_mwh=(p, p), carbon_g_per_kwh=(0.0, 0.0))
        for n, p in (("a", 400.0), ("b", 0.0))
    )
    links = tuple(Link(from_=a, to=b, throughput_gb_per_s=1 / 60, cost_usd_per_gb=0.001) for a, b in (("a", "b"), ("b", "a")))
    return GeoInstance(
        name="two",
        slot_s=60.0,
        horizon=120,
        signal_slot_s=3600.0,
        gpu_revenue_usd_per_h=0.06,
        gpu_power_kw=0.1,
        idle_power_ratio=0.0,
        carbon_price_usd_per_t=0.0,
        network_kwh_per_gb=0.0,
        sites=sites,
        links=links,
        jobs=jobs,
    )


def job(name: str, gpus: int = 1, slack: int = 10, source: str = "a", duration: int = 30) -> Job:
    """One that is there from the beginning."""
    return Job(id=name, source=source, submitted=0, gpus=gpus, duration=duration, slack=slack, data_gb=1.0, model_gb=1.0)


def rounds_of(instance: GeoInstance) -> Rounds:
    return Rounds.of_snapshot(Network.of(instance), instance)


def test_a_round_by_hand() -> None:
    """At a an hour of a GPU earns 0.06 - 0.04; at b 0.06, less 2 GB there and 1 GB back at 0.001: three slots of slack."""
    rounds = rounds_of(two_sites((job("x"), job("y", slack=2), job("z", source="b"))))
    assert rounds.first.tolist() == [[0, 2], [0, 2], [2, 0]]
    assert rounds.gain[0] == pytest.approx([0.5 * 0.02, 0.5 * 0.06 - 0.003])
    assert rounds.last[1].tolist() == [2, 1]  # y's result would be back a slot too late
    assert rounds.asked.tolist() == [0, 2]
    assert rounds.legal.tolist() == [[True, True, True], [True, True, True]]
    assert rounds.decide([2, 2]) == [(0, 1), (2, 1)]
    assert rounds.asked.tolist() == [1, -1]
    assert rounds.legal[0].tolist() == [True, True, False]
    rounds.decide([0, 0])
    assert rounds.over
    assert [(s.job, s.site, s.start, s.departure) for s in rounds.schedule.starts] == [("x", "b", 2, 0), ("z", "b", 0, None)]


def test_conflicts_are_settled_in_site_order() -> None:
    """Both want the only two GPUs of b: a's job comes first, and b's is postponed."""
    rounds = rounds_of(two_sites((job("x", gpus=2), job("z", gpus=2, source="b", duration=40))))
    assert rounds.decide([2, 2]) == [(0, 1)]
    assert rounds.over


def test_gpus_are_kept_for_who_is_on_its_way() -> None:
    """x arrives at b in two slots: nobody else takes its GPUs, and it is not asked before."""
    going = job("x", gpus=2).model_copy(update={"bound_for": "b", "arrives": 2})
    rounds = rounds_of(two_sites((going, job("z", source="b", slack=20))))
    assert rounds.asked.tolist() == [-1, 1]
    assert rounds.legal[1].tolist() == [True, True, False]  # but z may go to a


def test_the_earliest_slot() -> None:
    free = np.array([0, 2, 2, 1, 2, 2, 2, 0])
    assert earliest(free, 2, 2, 0, 6) == 1
    assert earliest(free, 2, 3, 0, 5) == 4
    assert earliest(free, 2, 3, 0, 3) is None
    assert earliest(free, 1, 6, 0, 2) == 1
    assert earliest(free, 3, 1, 0, 7) is None
    assert earliest(free, 0, 8, 0, 0) == 0
    assert earliest(free, 1, 1, 3, 2) is None


@pytest.mark.parametrize(
    ("seed", "revenue"),
    [
        (11, 1.0),
        pytest.param(12, 1.0, marks=pytest.mark.slow),
        (21, 0.5),
        pytest.param(21, 0.2, marks=pytest.mark.slow),
        (21, 0.05),
    ],
)
def test_the_account_is_s0s(seed: int, revenue: float) -> None:
    """What is placed beside an agent earns what a replay of local-fcfs does, from the agent's snapshots alone.

    Where a GPU earns little, energy is too dear in some hours, and S0 waits, or runs nothing.
    """
    instance = masac(jobs=150, days=0.5, load=1.5, scale=0.25, seed=seed)
    instance = instance.model_copy(update={"gpu_revenue_usd_per_h": revenue * instance.gpu_revenue_usd_per_h})
    policy = GuardedAgent(price(0.2))
    replay(instance, policy)
    rule = replay(instance, "local-fcfs").objective
    assert rule is not None
    idle = optsched.evaluate(instance, GeoSchedule(starts=())).objective
    assert policy.rule.earned + idle == pytest.approx(rule, rel=1e-6)


@pytest.mark.parametrize(("seed", "sites"), [(21, None), (22, 3), (21, 7)])
def test_no_agent_is_far_behind_its_rule(seed: int, sites: int | None) -> None:
    """Not one that runs nothing, and none that is shipped, on cases that none has seen, of any number of sites."""
    if sites is None:
        instance = masac(jobs=80, days=0.4, load=1.2, scale=0.2, seed=seed)
    else:
        instance = case(SCENARIOS["many"], "test", next(i for i in range(seed, 999) if sites_of("test", i) == sites))
        instance = instance.model_copy(update={"jobs": instance.jobs[:60]})
    rule = replay(instance, "local-fcfs").objective
    assert rule is not None
    known = len(instance.sites)
    for acting in (Never(network(0, known).trained), *(loaded(file_of("geo", name)) for name in shipped("geo"))):
        found = replay(instance, GuardedAgent(acting)).objective
        assert found is not None
        assert found >= rule - FEW * abs(rule)


@pytest.mark.parametrize("name", shipped("geo"))
def test_what_is_shipped_acts(name: str) -> None:
    """On a case of the test's, with and without its guard, and never beyond the clairvoyant."""
    instance = case(SCENARIOS["toy"], "test", 1)
    bound = family_of(instance).clairvoyant(instance)
    rule = replay(instance, "local-fcfs").objective
    assert rule is not None
    for guard in (None, False):
        told = replay(instance, name, settings=Settings(guard=guard))
        assert told.objective is not None
        assert told.objective <= bound
        assert guard is False or told.objective >= rule - FEW * abs(rule)


def sites_of(part: str, number: int) -> int:
    return len(case(SCENARIOS["many"], part, number).sites)  # type: ignore[arg-type]


def test_agents_of_other_numbers_of_sites_leave_it_to_the_rule() -> None:
    instance = two_sites((job("x"), job("y", gpus=2)))
    policy = GuardedAgent(network(0, 5))
    told = replay(instance, policy)
    assert told.message is not None
    assert "trained for another number of sites than 2" in told.message
    assert told.options["figures"]["overruled"] == told.options["figures"]["decisions"]  # type: ignore[index]
    assert told.objective == replay(instance, "local-fcfs").objective
    assert replay(instance, AgentPolicy(network(0, 5))).objective == told.objective


def trained_on(scenario: str) -> BidPrices:
    told = price(0.2).trained
    return BidPrices(replace(told, card=told.card.model_copy(update={"scenario": scenario})))


def test_on_fewer_gpus_than_any_trained_on_the_rule_decides() -> None:
    """One job is too much of the whole there; who was trained on instances of somebody's own is not doubted."""
    instance = masac(jobs=40, days=0.25, load=1.2, scale=0.08, seed=2)
    told = replay(instance, GuardedAgent(trained_on("many")))
    assert told.message is not None
    assert told.message.startswith("trained on 104 GPUs or more, here are 43: local-fcfs decides in its place")
    assert told.objective == replay(instance, "local-fcfs").objective
    own = replay(instance, GuardedAgent(trained_on("mine")))
    assert own.options["figures"]["overruled"] < own.options["figures"]["decisions"]  # type: ignore[index]
    assert "trained on" not in (own.message or "")


@pytest.mark.parametrize("acting", [network(1, 5), price(0.3)])
def test_a_replay_plays_what_an_episode_plays(acting: Agents | BidPrices) -> None:
    """The same rounds, from snapshots here and from the simulator there."""
    instance = masac(jobs=100, days=0.4, load=1.5, scale=0.2, seed=5)
    told = replay(instance, AgentPolicy(acting))
    assert told.objective == pytest.approx(utility(instance, acting), rel=1e-12)
    assert told.options["figures"]["fallbacks"] == 0  # type: ignore[index]


@pytest.mark.parametrize("make", [AgentPolicy, GuardedAgent])
def test_it_goes_on_from_a_checkpoint(make: type[AgentPolicy], tmp_path: Path) -> None:
    """Killed at any decision, it plays on as it would have."""
    instance = masac(jobs=60, days=0.3, load=1.5, scale=0.2, seed=6)
    assert isinstance(make(price(0.3)), Lasting)
    assert isinstance(make(price(0.3)), Guarded) == (make is GuardedAgent)
    whole: list[dict[str, object]] = []
    replay(instance, make(price(0.3)), log=whole.append)

    class Stop(Exception):
        pass

    def log(row: dict[str, object]) -> None:
        if row["time_s"] == whole[len(whole) // 2]["time_s"]:
            raise Stop

    with pytest.raises(Stop):
        replay(instance, make(price(0.3)), log=log, checkpoint=tmp_path, every=3)
    again: list[dict[str, object]] = []
    replay(instance, make(price(0.3)), log=again.append, checkpoint=tmp_path, resume=True)
    assert [row["decision"] for row in again] == [row["decision"] for row in whole]
    with pytest.raises(OptschedError, match="not the one that the checkpoint was made with"):
        make(price(0.4)).restore(make(price(0.3)).state())


def test_files(tmp_path: Path) -> None:
    for acting in (network(1, 5), price(0.3)):
        acting.trained.save(tmp_path / "mine.npz")
        assert loaded(str(tmp_path / "mine.npz")).trained.sha256 == acting.trained.sha256
    instance = masac(jobs=20, days=0.2, scale=0.2, seed=7)
    assert replay(instance, f"agent:{tmp_path / 'mine.npz'}").objective is not None
    untrained("else", {"w0": np.zeros(1)}).save(tmp_path / "else.npz")
    with pytest.raises(InputError, match="expected geo-prices or geo-agents"):
        loaded(str(tmp_path / "else.npz"))
    with pytest.raises(OptschedError, match="no agent 'nobody'"):
        replay(instance, "agent:nobody")


@pytest.mark.parametrize(
    ("kind", "name", "shape"),
    [
        (PRICES, "w0", (3, 1)),
        (PRICES, "w0", (1, FEATURES, 1)),
        (PRICES, "b0", (2,)),
        (PRICES, "b0", (1, 1, 1)),
        (PRICES, "b0", ()),
        (PRICES, "discount", (1,)),
        (AGENTS, "w0", (joint_size(5), 6)),
        (AGENTS, "w0", (5, joint_size(5), 5)),
        (AGENTS, "w0", (4, joint_size(5), 6)),
        (AGENTS, "b0", (5, 6)),
        (AGENTS, "b0", (4, 1, 6)),
        (AGENTS, "b0", (5, 2, 6)),
        (AGENTS, "residual", (2,)),
    ],
)
def test_arrays_of_any_other_shape_are_refused_at_once(kind: str, name: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    good = price(0.3) if kind == PRICES else network(1, 5)
    untrained(kind, dict(good.trained.arrays) | {name: np.zeros(shape)}).save(tmp_path / "bad.npz")
    with pytest.raises(InputError, match="does not fit"):
        loaded(str(tmp_path / "bad.npz"))


def test_arrays_that_are_not_there_are_missed(tmp_path: Path) -> None:
    for acting in (network(1, 5), price(0.3)):
        for name in acting.trained.arrays:
            left = {key: array for key, array in acting.trained.arrays.items() if key != name}
            untrained(acting.trained.card.kind, left).save(tmp_path / "bad.npz")
            with pytest.raises(InputError, match="does not fit"):
                loaded(str(tmp_path / "bad.npz"))


@pytest.mark.parametrize("make", [AgentPolicy, GuardedAgent])
@pytest.mark.parametrize("name", [*shipped("geo"), "random", "price", "strangers"])
def test_what_is_restored_is_what_is_remembered(name: str, make: type[AgentPolicy]) -> None:
    """Word for word, before the next decision and after it, whatever has been decided until then."""
    mine = {"random": network(1, 5), "price": price(0.3), "strangers": network(1, sites=4)}

    def policy() -> AgentPolicy:
        return make(mine[name] if name in mine else loaded(file_of("geo", name)))

    def remembered(each: AgentPolicy) -> object:
        return json.loads(json.dumps(each.state()))

    class Twins(AgentPolicy):
        """One that is asked, and another that is made anew from what it remembers before every decision."""

        def decide(self, snapshot: GeoInstance) -> GeoSchedule:
            kept, other = remembered(one), policy()
            other.restore(kept)
            assert remembered(other) == kept
            found = one.decide(snapshot)
            assert other.decide(snapshot) == found
            assert remembered(other) == remembered(one)
            return found

    one = policy()
    replay(masac(jobs=25, days=0.15, load=1.5, scale=0.2, seed=8), Twins(network(1, 5)))
    assert one.state() != policy().state()


class ByCredit(Agents):
    """What earns most at once."""

    def act(self, sight: Sight) -> Ints:
        """A myopic rule."""
        return best_legal(sight.credits(), sight.rounds.legal)


@pytest.mark.parametrize("load", [0.03, 1.5])
def test_a_score_is_a_share_of_what_there_is_to_earn(load: float) -> None:
    """From 0, running nothing, to 1, also where an idle system makes utility and bound negative."""
    instance = masac(jobs=8 if load < 1 else 60, days=0.3, load=load, scale=0.2, seed=3)
    judged = Judged.of(instance)
    assert (judged.bound < 0) == (load < 1)
    never, greedy = Never(network(0, 5).trained), ByCredit(network(0, 5).trained)
    assert judged.share(never) == pytest.approx(0.0, abs=1e-9)
    assert judged.idle == pytest.approx(utility(instance, never), rel=1e-9)
    assert 0.5 < judged.share(greedy) <= 1 + 1e-6
    cases = Cases.of("toy", [instance], 0)
    assert cases.judge(greedy) == judged.share(greedy) > cases.judge(never)
    with pytest.raises(AssertionError, match="beats the bound"):
        replace(judged, bound=judged.idle).share(greedy)


def test_nothing_to_earn_is_no_share() -> None:
    """At sites where energy costs more than a GPU earns."""
    instance = two_sites((job("x"),)).model_copy(update={"gpu_revenue_usd_per_h": 0.0})
    judged = Judged.of(instance)
    assert judged.bound == pytest.approx(judged.idle)
    assert judged.share(Never(network(0, 2).trained)) == 0.0


def test_seeds_see_cases_of_their_own() -> None:
    """Whatever the seed, and none of validation or test; seed 0 begins with the first."""
    drawn: dict[int, int] = {}
    held_out = range(seed_of("validation", 0), seed_of("test", 999_999) + 1)
    for seed in (0, 1, 99, 100, 101, 400, 123_456):
        for number in (0, A_SEED - 1):
            found = seed_of("train", seed * A_SEED + number)
            assert found >= FIRST
            assert found not in held_out
            assert drawn.setdefault(found, seed) == seed
    assert len(drawn) == 14
    assert Cases("toy", 0).training(7) == case(SCENARIOS["toy"], "train", 7)
    assert Cases("toy", 100).training(0).jobs != Cases("toy", 0).training(0).jobs
    assert "from 1,000,000 on" in Cases("toy", 0).split
    assert "from 4,000,000 on" in Cases("toy", 100).split


def test_cases_need_something_to_decide() -> None:
    """Jobs that can run somewhere, of this family."""
    alone, great = two_sites(()), two_sites((job("x", gpus=3),))
    for instance in (alone, great):
        with pytest.raises(OptschedError, match="'two' leaves nothing to decide"):
            Cases.of("toy", [instance], 0)
    with pytest.raises(OptschedError, match="learn from instances over sites"):
        Cases.of("toy", [vcc(days=1, jobs=60)], 0)
    mixed = Cases.of("toy", [two_sites((job("x"),)), masac(jobs=20, days=0.2, scale=0.2, seed=7)], 0)
    with pytest.raises(OptschedError, match=r"got \[2, 5\]"):
        assert mixed.sites


STRANGE: dict[str, dict[str, object]] = {
    "as it was": {},
    "slots of two hours": {"slot_s": 7200.0, "signal_slot_s": 7200.0},
    "slots of three days": {"slot_s": 3 * 86400.0, "signal_slot_s": 3 * 86400.0},
    "slots that no hour is made of": {"slot_s": 700.0, "signal_slot_s": 2100.0},
    "signals of a slot": {"signal_slot_s": 60.0},
    "signals of half a day": {"signal_slot_s": 43200.0},
    "no revenue": {"gpu_revenue_usd_per_h": 0.0},
    "hardly any revenue": {"gpu_revenue_usd_per_h": 1e-300},
    "no links": {"links": ()},
    "links one way": {"links": (Link(from_="a", to="b", throughput_gb_per_s=0.1, cost_usd_per_gb=0.001),)},
}


@pytest.mark.parametrize("name", STRANGE)
def test_features_are_finite(name: str) -> None:
    """Whatever slots, signals, revenue and links there are; and agents play on."""
    jobs = tuple(job(f"j{k}", source="ab"[k % 2], duration=1 + k % 3) for k in range(6))
    wave = tuple(40.0 + 400 * (k % 5 == 0) for k in range(120))
    sites = [site.model_copy(update={"price_usd_per_mwh": wave, "carbon_g_per_kwh": wave}) for site in two_sites(()).sites]
    instance = two_sites(jobs).model_copy(update=STRANGE[name] | {"sites": tuple(sites)})
    assert instance == GeoInstance.model_validate(instance.model_dump(by_alias=True))
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        episode = Episode(instance)
        assert episode.rounds is not None
        for seen in (features(episode.sight), episode.sight.joint(), episode.sight.credits()):
            assert np.isfinite(seen).all()
        assert np.abs(episode.sight.credits()).max() < 1e3
        for acting in (network(2, sites=2), price(0.2)):
            assert np.isfinite(utility(instance, acting))
            assert replay(instance, GuardedAgent(acting)).objective is not None
            assert replay(instance, AgentPolicy(acting)).objective == pytest.approx(
                utility(instance, acting), rel=1e-9, abs=1e-12
            )


@pytest.mark.parametrize("signal_slot_s", [900.0, 3600.0, 14400.0])
def test_leads_are_hours_whatever_the_signals(signal_slot_s: float) -> None:
    """Prices that rise by an hour's number: what is read at a lead is its hour's."""
    per_hour = 3600 / signal_slot_s
    instance = two_sites((job("x"),)).model_copy(update={"horizon": 600, "signal_slot_s": signal_slot_s})
    rise = tuple(20.0 * int(k / per_hour) for k in range(round(12 * per_hour)))
    sites = tuple(
        site.model_copy(update={"price_usd_per_mwh": rise, "carbon_g_per_kwh": (0.0,) * 60}) for site in instance.sites
    )
    sight = Episode(instance.model_copy(update={"sites": sites})).sight
    lead, hours = [LEADS_H.index(h) for h in (0, 4, 8)], np.array([0, 4, 8])
    assert features(sight)[0, lead, 1] == pytest.approx(1 - 0.1 * 0.02 * hours / 0.06)

    class Rising(BidPrices):
        """A price that is its lead in hours."""

        def __init__(self) -> None:
            super().__init__(price(0.0).trained)
            self.layers = ((np.eye(FEATURES)[:, [5]], np.zeros(1)),)

    paid = Rising().prices(sight)
    slots = np.array([0, 240, 480])
    step = paid.upto(np.zeros(3, np.int64), slots + 1) - paid.upto(np.zeros(3, np.int64), slots)
    assert step == pytest.approx(0.001 * np.log1p(hours))


def test_an_account_is_kept() -> None:
    rounds = rounds_of(two_sites((job("x"), job("y", gpus=2))))
    one = Beside()
    one.join(rounds, 0, [0, 1])
    other = Beside.of(one.kept(0))
    assert other.earned == one.earned
    assert (other.free == one.free).all()
    assert one.runs == [(0, 0, 30, 1)]  # y needs both GPUs of a, and would be too late
    assert other.largest == one.largest == ((0, 2, 30, 10), (0, 1, 30, 10))
    before = one.kept(0).model_dump(mode="json")
    del before["largest"]  # as checkpoints were once
    assert Beside.of(Kept.model_validate_json(json.dumps(before))).largest == ()


def test_parts_share_nothing() -> None:
    """Not a seed, a job or a price; and none with the seeds that benchmarks use."""
    drawn = {part: {seed_of(part, number) for number in (0, 1, 99, 999_999)} for part in PARTS}
    for scenario in SCENARIOS.values():
        jobs: set[object] = set()
        prices: set[object] = set()
        for part in PARTS:
            assert min(drawn[part]) >= 1_000_000
            assert not any(drawn[part] & drawn[other] for other in PARTS if other != part)
            for number in range(3):
                instance = case(scenario, part, number)
                assert instance == case(scenario, part, number)
                assert instance == GeoInstance.model_validate(instance.model_dump(by_alias=True))
                found = {(j.data_gb, j.model_gb, j.duration, j.submitted) for j in instance.jobs}
                told = {site.price_usd_per_mwh for site in instance.sites}
                assert not found & jobs
                assert not told & prices
                jobs |= found
                prices |= told
