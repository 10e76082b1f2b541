"""geo's environments: the interfaces' own checks, and that an episode's rewards are the referee's objective."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import gymnasium
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import optsched.environments
from optsched.errors import OptschedError
from optsched.rolling.geo.environment import GeoEnv
from optsched.rolling.geo.single import SINGLE, GeoSingleEnv


def test_pettingzoo_accepts_it() -> None:
    parallel_api_test(GeoEnv("toy"), num_cycles=200)
    parallel_seed_test(lambda: GeoEnv("toy"), num_cycles=50)


def test_gymnasium_accepts_the_single_agents_view() -> None:
    assert optsched.environments.PLACES[SINGLE]
    check_env(gymnasium.make(SINGLE, scenario="toy").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("forecast", ["perfect", "noisy:0.3", "persistence"])
def test_rewards_are_the_objective(forecast: str) -> None:
    """With the idle system's part, whatever is decided and whatever was believed of prices."""
    env = GeoEnv("toy", forecast=forecast)
    rng = np.random.default_rng(5)
    for seed in range(4):
        seen, _ = env.reset(seed=seed)
        total, infos = 0.0, {}
        while env.agents:
            actions = {agent: int(rng.choice(np.flatnonzero(seen[agent]["action_mask"]))) for agent in env.agents}
            seen, rewards, _, _, infos = env.step(actions)
            assert len(set(rewards.values())) == 1
            total += next(iter(rewards.values()))
        truth, history = env.episode.truth, env.episode.history()
        assert not optsched.check(truth, history)
        idle = next(iter(infos.values()))["idle"]
        assert total + idle == pytest.approx(optsched.evaluate(truth, history).objective, rel=1e-9, abs=1e-9)


def test_both_views_play_the_same() -> None:
    many, single = GeoEnv("toy"), GeoSingleEnv("toy")
    instance = many._drawn(3)
    many, single = GeoEnv("toy", instance), GeoSingleEnv("toy", instance)
    seen, _ = many.reset(seed=0)
    total = [0.0, 0.0]
    while many.agents:
        seen, rewards, *_ = many.step({agent: int(seen[agent]["action_mask"].argmax()) for agent in many.agents})
        total[0] += next(iter(rewards.values()))
    one, info = single.reset(seed=0)
    over = False
    while not over:
        assert one[: single.sites].sum() == 1
        one, reward, over, _, info = single.step(int(np.asarray(info["action_mask"]).argmax()))
        total[1] += reward
    assert total[0] == total[1]
    assert many.episode.history() == single.episode.history()


def test_it_draws_the_gantt() -> None:
    env = GeoEnv("toy", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture is not None
    assert picture.ndim == 3
    with pytest.raises(OptschedError, match="rgb_array"):
        GeoEnv("toy", render_mode="human")
    with pytest.raises(OptschedError, match="small, table-1, toy"):
        GeoEnv("many")
