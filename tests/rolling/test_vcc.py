"""Replays of vcc: snapshots by hand, no policy beats the bound, the agents act, and nobody sees the future."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.errors import OptschedError
from optsched.instances.generators import vcc
from optsched.instances.readers import read_google2019
from optsched.referee import check
from optsched.registry import family as family_named
from optsched.rl.agent import Agent, agent, shipped
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings, policies
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
    for seed in range(6):
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


def test_rolling_saves_carbon() -> None:
    """On a week, with forecasts that it has to make: below cap 1, at a fifth of the load that the data centre has room for."""
    instance = vcc(days=7, jobs=600, load=0.15, seed=1)
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


def test_agents_are_shipped_and_kept(tmp_path: Path) -> None:
    assert {"vcc-ppo", "vcc-sac"} <= set(shipped())
    for name in shipped():
        kept = tmp_path / f"{name}.npz"
        agent(name).save(kept)
        again = Agent.load(kept)
        seen = np.linspace(0, 1, 27)
        assert 0 <= again.act(seen) <= 1
        assert again.act(seen) == agent(name).act(seen)
        result = replay(three(), f"agent:{kept}")
        assert result.objective == replay(three(), name).objective
    (tmp_path / "rubbish.npz").write_bytes(b"rubbish")
    good = agent("vcc-ppo")
    (weights, bias), *rest = good.layers
    for broken in (
        replace(good, layers=tuple(rest)),
        replace(good, layers=((weights * np.nan, bias), *rest)),
        replace(good, scale=good.scale * 0),
        replace(good, activation="sine"),
    ):
        broken.save(tmp_path / "broken.npz")
        with pytest.raises(OptschedError, match="holds no agent"):
            Agent.load(tmp_path / "broken.npz")
    for wrong in ("agent:nobody", f"agent:{tmp_path / 'none.npz'}", f"agent:{tmp_path / 'rubbish.npz'}"):
        with pytest.raises(OptschedError):
            replay(three(), wrong)


def test_an_agent_says_where_it_has_not_learned(tmp_path: Path) -> None:
    """Elsewhere one line, in the result too; none for the instance and forecasts that it knows, or where nobody knows."""
    told = replay(three(), "vcc-ppo").message or ""
    assert told.startswith("trained on another instance, google2019-d0-28: look before you trust it")
    assert "`optsched train vcc-ppo --instance INSTANCE -o mine.npz`" in told
    kept = tmp_path / "mine.npz"
    agent("vcc-sac").trained(three(), "fitted").save(kept)
    renamed = three().model_copy(update={"name": "another name", "meta": {"read": "again"}})
    for instance in (three(), renamed):
        assert replay(instance, f"agent:{kept}", forecast="fitted", settings=BARE).message is None
    told = replay(three(), f"agent:{kept}", forecast="perfect", settings=BARE).message or ""
    assert told == "trained on fitted forecasts, and shown perfect ones: look before you trust it, or type --forecast fitted"
    told = replay(vcc(days=1, jobs=30, load=0.1), f"agent:{kept}", forecast="fitted").message or ""
    assert "optsched train vcc-sac" in told
    replace(agent("vcc-sac"), lesson=None).save(kept)
    assert replay(three(), f"agent:{kept}", settings=BARE).message is None


def test_the_shipped_agents_know_their_month(traces: Path) -> None:
    month = read_google2019(traces / "google2019")
    assert [agent(name).doubt(month, "fitted") for name in ("vcc-ppo", "vcc-sac")] == [None, None]
