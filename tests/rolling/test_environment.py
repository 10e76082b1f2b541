"""The Gymnasium environment, and each known fault of the published DatacenterEnv as a test that shows ours free of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from optsched.errors import OptschedError  # noqa: E402
from optsched.instances.generators import vcc  # noqa: E402
from optsched.referee import evaluate  # noqa: E402
from optsched.rolling.loop import replay  # noqa: E402
from optsched.rolling.vcc.environment import VirtualCapacityEnv  # noqa: E402
from optsched.schedules.vcc import VccSchedule  # noqa: E402
from tests.schedules.test_vcc import centre  # noqa: E402


def act(cap: float) -> np.ndarray:
    return np.array([cap], dtype=np.float32)


def episode(env: Any, caps: np.ndarray) -> tuple[float, list[dict[str, float]]]:
    """The return, and what every step told."""
    env.reset(seed=0)
    total, told, ended = 0.0, [], False
    for cap in caps:
        assert not ended
        _, reward, ended, cut, info = env.step(act(cap))
        total, told = total + reward, [*told, info]
        assert not cut
    assert ended
    return total, told


@pytest.mark.filterwarnings("ignore:.*A Box observation space")
def test_gymnasium_knows_it() -> None:
    env = gymnasium.make("optsched.environments:optsched/VirtualCapacity-v0", instance=vcc(days=1, jobs=60, load=0.1))
    check_env(env.unwrapped)  # which renders in each mode
    check_env(VirtualCapacityEnv(), skip_render_check=True)


def test_the_return_is_minus_the_referees_objective() -> None:
    """The same queue as the replay's: the same caps have the same schedule and cost, to the digit of float32 caps."""
    for seed in range(10):
        instance = vcc(days=3, jobs=400, load=1.0, seed=seed, preempt=seed % 2 == 1)
        env = VirtualCapacityEnv(instance)
        caps = np.random.default_rng(seed).random(instance.horizon).astype(np.float32)
        value, told = episode(env, caps)
        schedule = VccSchedule(cap=tuple(caps.astype(float).tolist()), starts=tuple(env.queue.pieces()))
        judged = evaluate(instance, schedule)
        assert value == pytest.approx(-judged.objective)
        for name, part in judged.components.items():
            assert sum(info[name] for info in told) == pytest.approx(part), name


def test_a_picture_of_the_episode_so_far() -> None:
    """Caps and load as the referee's picture of the same schedule has them; another slot, another picture."""
    env = VirtualCapacityEnv(centre([(0, 2, 4.0)] * 3), render_mode="rgb_array")
    env.reset()
    seen = [env.render()]
    for cap in (0.9, 0.2):
        env.step(act(cap))
        seen.append(env.render())
    assert all(frame is not None and frame.dtype == np.uint8 and frame.shape == (800, 1100, 3) for frame in seen)
    assert not (seen[0] == seen[1]).all()
    assert not (seen[1] == seen[2]).all()
    caps, starts = env.queue.history().cap, env.queue.history().starts
    assert caps == (pytest.approx(0.9), pytest.approx(0.2), 1.0, 1.0)
    assert [(start.job, start.start) for start in starts] == [("j0", 0), ("j1", 0)]
    assert env.again().render() is not None
    assert VirtualCapacityEnv(env.instance).render() is None
    with pytest.raises(OptschedError, match="draws as 'rgb_array' or not at all, got render_mode 'human'"):
        VirtualCapacityEnv(env.instance, render_mode="human")


def test_actions_and_ends() -> None:
    env = VirtualCapacityEnv(centre([(0, 1, 1.0)] * 5))
    env.reset()
    told = [env.step(action)[0][0] for action in (0.5, [0.25], np.array([2.0]))]  # type: ignore[arg-type]
    assert told == [0.5, 0.25, 1.0]
    env.step(act(1.0))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(act(1.0))
    other = env.again()
    assert other.action_space is not env.action_space
    assert other.queue is not env.queue


def test_fault_the_load_was_compared_with_a_fraction() -> None:
    """Half of 10 NCU lets 4 NCU in; the published program let in what was below 0.5 NCU."""
    env = VirtualCapacityEnv(centre([(0, 4, 4.0)]))
    env.reset()
    seen, *_ = env.step(act(0.5))
    assert seen[1] == 4.0


def test_fault_one_job_an_hour() -> None:
    """All that fits starts at once; the published program ended its loop with the first success."""
    env = VirtualCapacityEnv(centre([(0, 1, 1.0)] * 5))
    seen, _ = env.reset()
    assert seen[2] == 5
    seen, *_ = env.step(act(1.0))
    assert seen[2] == 0


def test_fault_state_survived_reset() -> None:
    env = VirtualCapacityEnv(vcc(days=2, jobs=100, load=0.1))
    caps = np.full(48, 0.05)
    first = episode(env, caps)
    seen, info = env.reset(seed=0)
    assert (seen[0], seen[1], info) == (0.0, 0.0, {})
    assert episode(env, caps) == first


def test_fault_waiting_was_free() -> None:
    env = VirtualCapacityEnv(centre([(0, 1, 3.0)], delay_limit_slots=1, delay_penalty_per_ncu_h=2.0))
    _, told = episode(env, np.array([0.0, 0.0, 0.0, 1.0]))
    assert [info["delay"] for info in told] == [0.0, 0.0, 0.0, 2.0 * 3.0 * 2]


def test_fault_the_rewards_sign() -> None:
    env = VirtualCapacityEnv(centre([(0, 4, 4.0)]))
    dirty, _ = episode(env, np.ones(4))
    clean, _ = episode(env, np.zeros(4))
    assert dirty < clean < 0


def test_fault_the_forecast_was_the_truth() -> None:
    """Two data centres with the same past look the same, whatever comes."""
    instance = vcc(days=2, jobs=30, load=0.1)
    other = instance.model_copy(update={"carbon_kg_per_kwh": (*instance.carbon_kg_per_kwh[:24], *(0.9,) * 24)})
    seen = [[env.reset()[0], *(env.step(act(0.5))[0] for _ in range(23))] for env in map(VirtualCapacityEnv, (instance, other))]
    assert all((a == b).all() for a, b in zip(*seen, strict=True))
    knows = [VirtualCapacityEnv(i, forecast="perfect").reset()[0] for i in (instance, other)]
    assert (knows[0][3:27] == knows[1][3:27]).all()
    assert VirtualCapacityEnv(instance, "perfect").carbon[10] == pytest.approx(instance.carbon[10:34], rel=1e-6)


def test_fault_the_end_of_the_month() -> None:
    """The last observations are whole: the published state ran out of carbon 24 hours before the end."""
    env = VirtualCapacityEnv(vcc(days=1, jobs=40, load=0.1))
    seen, _ = env.reset()
    for _ in range(24):
        assert env.observation_space.contains(seen)
        seen, *_ = env.step(act(1.0))
    assert env.observation_space.contains(seen)


def test_fault_evictions_were_drawn_at_random() -> None:
    """Last started first, with the remaining duration; and the evicted run on first."""
    instance = centre([(0, 3, 4.0), (0, 4, 2.0), (1, 1, 1.0)], preempt=True)
    episodes = [VirtualCapacityEnv(instance) for _ in range(2)]
    for env in episodes:
        episode(env, np.array([1.0, 0.4, 0.4, 1.0]))
    assert episodes[0].queue.pieces() == episodes[1].queue.pieces()
    assert [(s.job, s.start) for s in episodes[0].queue.pieces()] == [("j0", 0), ("j1", 0), ("j1", 3), ("j2", 3)]


def test_an_agent_sees_in_a_replay_what_it_sees_in_the_environment() -> None:
    instance = vcc(days=2, jobs=250, load=0.8)
    shown: list[np.ndarray] = []

    class Same:
        def reset(self, seed: int) -> None:
            self.cap = 0.0

        def decide(self, snapshot: Any) -> VccSchedule:
            from optsched.rl.vcc.page import observe

            shown.append(observe(self.cap, snapshot))
            self.cap = 0.3
            return VccSchedule(cap=(0.3,), starts=())

    replay(instance, Same(), forecast="fitted")
    env = VirtualCapacityEnv(instance, "fitted")
    seen, _ = env.reset()
    for row in shown:
        assert row == pytest.approx(seen, rel=1e-5, abs=1e-6)
        seen, *_ = env.step(np.array([0.3]))


def test_an_action_that_is_no_cap_is_told() -> None:
    env = VirtualCapacityEnv(vcc(days=1, jobs=120))
    env.reset()
    for wrong in ("x", np.zeros(3)):
        with pytest.raises(OptschedError, match="an action is one number, the cap, got"):
            env.step(wrong)  # type: ignore[arg-type]


def test_what_is_no_instance_is_told(examples: Path) -> None:
    """An empty dict had been taken for none at all."""
    for wrong, said in (({}, "expected an instance, got {}"), (examples / "geo-small.json", "a vcc instance, got one of geo")):
        with pytest.raises(OptschedError, match=said):
            VirtualCapacityEnv(wrong)  # type: ignore[arg-type]


@pytest.mark.timing
def test_a_hundred_thousand_steps_a_second(traces: Any) -> None:
    from optsched.instances.readers import read_google2019

    env = VirtualCapacityEnv(read_google2019(traces / "google2019"))
    caps = np.random.default_rng(0).random((env.instance.horizon, 1)).astype(np.float32)
    seconds = []
    for _ in range(60):
        env.reset()
        began = time.perf_counter()
        for cap in caps:
            env.step(cap)
        seconds.append(time.perf_counter() - began)
    assert len(caps) / min(seconds) >= 100_000
