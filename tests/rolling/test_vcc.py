"""Replays of vcc: snapshots by hand, no policy beats the bound, the agents act, and nobody sees the future."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.errors import OptschedError
from optsched.instances.generators import vcc
from optsched.instances.vcc import VccInstance
from optsched.referee import check
from optsched.registry import family as family_named
from optsched.rl.trained import Card, Trained, file_of
from optsched.rl.vcc.absolute import digest
from optsched.rl.vcc.action import to_action
from optsched.rl.vcc.agent import KIND, Agent, agent, shipped
from optsched.rl.vcc.carbon import FEATURES, LEADS, features
from optsched.rl.vcc.observation import SIZE, Past
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings, policies
from optsched.rolling.vcc.agents import AgentPolicy, loaded
from optsched.rolling.vcc.simulator import VccSimulator
from optsched.schedules.vcc import VccSchedule
from tests.oracle import tiny

BARE = Settings(guard=False)


class Watches:
    """A constant cap, and all that it has been shown."""

    def __init__(self, cap: float) -> None:
        self.cap = cap

    def reset(self, seed: int) -> None:
        self.shown: list[Any] = []

    def decide(self, snapshot: Any) -> VccSchedule:
        self.shown.append(snapshot)
        return VccSchedule(cap=(self.cap,), starts=())


def three(**changes: Any) -> Any:
    """Two slots a day; j0 runs for three slots, j1 waits for its end, j2 comes last."""
    fields: dict[str, Any] = {
        "slot_s": 43200.0,
        "capacity_ncu": 4.0,
        "carbon_kg_per_kwh": [0.1, 0.2, 0.3, 0.4],
        "inflexible_ncu": [1.0, 1.0, 1.0, 1.0],
        "jobs": [
            {"id": "j0", "submitted": 0, "duration": 3, "ncu": 2.0},
            {"id": "j1", "submitted": 1, "duration": 1, "ncu": 2.0},
            {"id": "j2", "submitted": 3, "duration": 1, "ncu": 1.0},
        ],
    }
    return tiny.make("vcc", **(fields | changes))


def test_snapshots_by_hand() -> None:
    watcher = Watches(0.5)
    replay(three(), watcher)
    seen = [(s.now, [(j.id, j.submitted, j.waited, j.duration) for j in s.jobs], list(s.running_ncu)) for s in watcher.shown]
    assert seen == [
        (0, [("j0", 0, 0, 3)], [0.0, 0.0, 0.0, 0.0]),
        (1, [("j1", 0, 0, 1)], [2.0, 2.0, 0.0]),
        (2, [("j1", 0, 1, 1)], [2.0, 0.0]),
        (3, [("j1", 0, 2, 1), ("j2", 0, 0, 1)], [0.0]),
    ]
    # of the day so far: 0.5 * 4 NCU * 12 h given; j0 asked for 2 * 36 on day 0, j2's own slot counts by itself
    assert [s.allotted_ncu_h for s in watcher.shown] == [0.0, 24.0, 0.0, 24.0]
    assert [s.asked_ncu_h for s in watcher.shown] == [0.0, 72.0, 0.0, 0.0]
    assert [s.asked[0] for s in watcher.shown] == [72.0, 96.0, 0.0, 12.0]


def test_what_is_not_known_is_not_there() -> None:
    """The future may change: the snapshots before it do not, but for signals that are believed perfectly."""
    early, late = Watches(0.4), Watches(0.4)
    instance = vcc(days=2, jobs=60, load=0.1, seed=3)
    cut = 24
    jobs = tuple(job for job in instance.jobs if job.submitted < cut)
    carbon = (*instance.carbon_kg_per_kwh[:cut], *(0.7,) * (instance.horizon - cut))
    other = instance.model_copy(update={"jobs": jobs, "carbon_kg_per_kwh": carbon})
    for truth, watcher in ((instance, early), (other, late)):
        replay(truth, watcher, forecast="fitted")
    for a, b in zip(early.shown[:cut], late.shown[:cut], strict=True):
        assert a.jobs == b.jobs
        assert a.carbon_kg_per_kwh == b.carbon_kg_per_kwh
        assert a.running_ncu == b.running_ncu


def test_issued_forecasts_are_shown_unless_the_future_is_known() -> None:
    rows = [[0.11, 0.21], [0.22, 0.32], [0.33], [0.44]]
    instance = three(carbon_forecast=rows)
    watcher = Watches(0.5)
    replay(instance, watcher, forecast="persistence")
    assert [list(s.carbon_kg_per_kwh) for s in watcher.shown] == [
        [0.11, 0.21, 0.1, 0.1],
        [0.22, 0.32, 0.2],
        [0.33, 0.3],
        [0.44],
    ]
    replay(instance, watcher, forecast="perfect")
    assert list(watcher.shown[0].carbon_kg_per_kwh) == [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize("policy", policies("vcc"))
def test_no_policy_beats_the_optimum(policy: str) -> None:
    for seed in range(4):
        instance: Any = tiny.vcc(seed)
        best = optsched.solve(instance).objective
        assert best is not None
        result = replay(instance, policy, seed=seed)
        assert check(instance, result.best) == []
        assert result.options["figures"]["fallbacks"] == 0, result.message
        noise = 1e-6 * max(1.0, abs(best))
        assert result.objective is not None
        assert result.objective >= best - noise
        assert family_named("vcc").clairvoyant(instance) <= best + noise


@pytest.mark.parametrize("policy", ["uncapped", "threshold", "rolling", "day-ahead"])
def test_evictions(policy: str) -> None:
    instance = vcc(days=3, jobs=400, load=0.9, preempt=True)
    result = replay(instance, policy)
    assert result.options["figures"]["fallbacks"] == 0, result.message
    assert check(instance, result.best) == []


def test_numbers_of_rules() -> None:
    instance = vcc(days=2, jobs=250, load=0.3)
    assert replay(instance, "constant:0.1").objective == replay(instance, "constant").objective
    assert replay(instance, "constant:0.5").objective != replay(instance, "constant").objective
    assert replay(instance, "threshold:1").objective == replay(instance, "uncapped").objective
    for wrong in ("constant:2", "threshold:x", "uncapped:1"):
        with pytest.raises(OptschedError):
            replay(instance, wrong)


@pytest.mark.parametrize("seed", [0, 3])
def test_rolling_saves_where_jobs_may_be_evicted(seed: int) -> None:
    """It waits for cleaner hours there, too."""
    instance = vcc(days=4, jobs=120, load=0.2, seed=seed).model_copy(update={"preempt": True})
    rolling, uncapped = replay(instance, "rolling"), replay(instance, "uncapped")
    assert rolling.objective < 0.97 * uncapped.objective


def test_nobody_is_evicted_without_preempt() -> None:
    job = {"id": "j", "submitted": 0, "duration": 1, "ncu": 1.0, "waited": 1, "evicted": True}
    with pytest.raises(OptschedError, match=r"jobs\[0\].evicted"):
        three(jobs=[job])
    assert three(jobs=[job], preempt=True).jobs[0].evicted


def test_a_table_without_a_bound(tmp_path: Path) -> None:
    """Several policies are shown with the bound; where jobs are evicted there is none, and the table comes all the same."""
    from optsched.cli import _run
    from optsched.instances.files import save

    save(vcc(days=1, jobs=80, load=0.2, preempt=True), tmp_path / "p.json")
    words = ["replay", str(tmp_path / "p.json"), "--policy", "uncapped", "--policy", "threshold"]
    assert _run(words) == 0
    assert _run([*words, "--bound"]) == 2


@pytest.mark.slow
def test_rolling_saves_carbon() -> None:
    """On four days, with forecasts that it makes: below cap 1, at a fifth of the load that there is room for."""
    instance = vcc(days=4, jobs=345, load=0.15, seed=1)
    plain = replay(instance, "uncapped", forecast="fitted")
    rolling = replay(instance, "rolling", forecast="fitted")
    assert rolling.objective < 0.98 * plain.objective  # type: ignore[operator]
    best = optsched.solve(instance, "decomposition")
    assert best.bound <= rolling.objective  # type: ignore[operator]


def test_caps_that_are_none_are_refused() -> None:
    for cap in ((), (1.2,), (float("nan"),)):
        bad = Watches(0.0)
        bad.decide = lambda snapshot, cap=cap: VccSchedule.model_construct(cap=cap, starts=())  # type: ignore[method-assign, misc]
        result = replay(three(), bad, on_failure="fallback")
        assert result.options["figures"]["fallbacks"] == 4
    with pytest.raises(OptschedError, match="every slot"):
        replay(three(), "uncapped", period_s=86400)


LOADS: dict[str, bool | int | float | str] = {"least_load": 0.01, "most_load": 0.5, "slot_s": 3600.0, "forecast": "fitted"}


def made(share: float = 0.5, **changes: Any) -> Agent:
    """An agent that starts the same share whatever it sees."""
    told = LOADS | {"activation": "tanh", "squash": False} | changes
    arrays = {
        "mean": np.zeros(SIZE),
        "scale": np.full(SIZE, 1e9),
        "w0": np.zeros((1, SIZE)),
        "b0": np.array([to_action(share)]),
    }
    card = Card(name="vcc-ppo", kind=KIND, problem="vcc", scenario="x", split="x", seed=0, steps=0, settings=told)
    return Agent(Trained(arrays, card))


def of_before(path: Path, instance: VccInstance | None = None) -> None:
    """A file as agents were before they had cards: 27 numbers, cap (3/4)^3 whatever they are."""
    learned = {} if instance is None else {"lesson": np.array((instance.name, digest(instance), "fitted"))}
    settings = {"clip": 10.0, "activation": "tanh", "squash": False, "mean": np.zeros(27), "scale": np.ones(27)}
    np.savez_compressed(path, w0=np.zeros((1, 27)), b0=np.array([0.5]), **settings, **learned)


def test_agents_are_shipped_and_kept(tmp_path: Path) -> None:
    assert {"vcc-forecast", "vcc-ppo", "vcc-sac"} <= set(shipped())
    instance, kept = vcc(days=2, jobs=100, load=0.1), tmp_path / "mine.npz"
    for name in shipped():
        shutil.copy(file_of("vcc", name), kept)
        assert loaded(str(kept)).sha256 == loaded(name).sha256
        assert replay(instance, f"agent:{kept}").objective == replay(instance, name).objective


def test_what_is_no_agent_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rubbish.npz").write_bytes(b"rubbish")
    good = made().trained
    for arrays in ({"w0": np.zeros((1, 3))}, {"b0": np.array([np.nan])}, {"scale": np.zeros(SIZE)}, {"w1": np.ones((2, 1))}):
        replace(good, arrays={**good.arrays, **arrays}).save(tmp_path / "broken.npz")
        with pytest.raises(OptschedError, match="holds no agent"):
            agent(str(tmp_path / "broken.npz"))
    made(activation="sine").save(tmp_path / "broken.npz")
    with pytest.raises(OptschedError, match="activation 'sine' is unknown"):
        agent(str(tmp_path / "broken.npz"))
    for wrong in ("agent:nobody", f"agent:{tmp_path / 'none.npz'}", f"agent:{tmp_path / 'rubbish.npz'}"):
        with pytest.raises(OptschedError):
            replay(three(), wrong)


def test_an_agent_may_bring_its_own_forecast(tmp_path: Path) -> None:
    """It decides by what it foretells, in slots that it knows; half of a forecast, or one of other shapes, is refused."""
    weights = np.zeros((FEATURES, LEADS))
    weights[0] = 0.5
    forecast = {"carbon_scale": np.ones(FEATURES), "carbon_weights": weights}
    plain = made().trained
    replace(plain, arrays={**plain.arrays, **forecast}).save(tmp_path / "mine.npz")
    snapshot = VccSimulator(vcc(days=2, jobs=50, load=0.1)).snapshot()
    assert snapshot is not None
    past, mine = Past().seen(snapshot), agent(str(tmp_path / "mine.npz"))
    unit, _ = features(np.array(past.carbon), snapshot.carbon, 0)
    assert np.allclose(mine.believed(snapshot, past).carbon[:LEADS], 1.5 * unit)
    assert made().believed(snapshot, past) is snapshot
    halves = snapshot.model_copy(update={"slot_s": 1800.0})
    assert mine.believed(halves, past) is halves
    for wrong, said in (
        ({"carbon_scale": np.ones(FEATURES)}, "it lacks carbon_weights"),
        (forecast | {"carbon_weights": weights.T}, "its weights have not the shape"),
        (forecast | {"carbon_scale": np.zeros(FEATURES)}, "a scale is not positive"),
    ):
        replace(plain, arrays={**plain.arrays, **wrong}).save(tmp_path / "broken.npz")
        with pytest.raises(OptschedError, match=said):
            agent(str(tmp_path / "broken.npz"))


def test_a_share_of_all_is_uncapped(tmp_path: Path) -> None:
    instance = vcc(days=2, jobs=200, load=0.4)
    assert replay(instance, AgentPolicy(made(1.0))).objective == replay(instance, "uncapped").objective
    assert replay(instance, AgentPolicy(made(0.2))).objective != replay(instance, "uncapped").objective


def test_agents_of_before_still_act(tmp_path: Path) -> None:
    """A constant cap of theirs, bare; and they know one instance."""
    file, instance = tmp_path / "old.npz", vcc(days=2, jobs=100, load=0.1)
    of_before(file, instance)
    told = replay(instance, f"agent:{file}", forecast="fitted", settings=BARE)
    assert told.objective == replay(instance, f"constant:{0.75**3}", forecast="fitted").objective
    assert told.message is None
    assert "trained on fitted forecasts" in (replay(instance, f"agent:{file}", settings=BARE).message or "")
    other = replay(three(), f"agent:{file}", forecast="fitted").message or ""
    assert other.startswith(f"trained on another instance, {instance.name}: look before you trust it")
    assert "`optsched train vcc-ppo --instance INSTANCE -o mine.npz`" in other
    np.savez_compressed(file, w0=np.zeros((1, 26)), b0=np.zeros(1), clip=1.0, activation="tanh", squash=False, mean=0, scale=1)
    with pytest.raises(OptschedError, match="it does not look at 27 numbers"):
        agent(str(file))


def test_an_agent_says_where_it_has_not_learned() -> None:
    """One line: of loads, slots and forecasts."""
    instance = vcc(days=2, jobs=100, load=0.1)
    assert made().doubt(instance, "fitted") is None
    shown = "trained on fitted forecasts, and shown perfect ones: look before you trust it, or type --forecast fitted"
    assert made().doubt(instance, "perfect") == shown
    heavy = made(most_load=0.05).doubt(instance, "fitted") or ""
    assert heavy.startswith("trained at flexible loads from 1.0% to 5.0% of what the inflexible leaves, and this is 10.")
    assert "`optsched train vcc-ppo --instance INSTANCE -o mine.npz`" in heavy
    assert (made().doubt(three(), "fitted") or "").startswith("trained on slots of 3600 s, and these are of 43200 s")
    assert replay(instance, AgentPolicy(made(most_load=0.05)), forecast="fitted").message == heavy
