"""`optsched/Deferrable-v0`: Gymnasium's own checker, the referee, seeds, and misuse."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import optsched.environments
from optsched.errors import OptschedError
from optsched.instances.generators import osdec
from optsched.registry import family_of
from optsched.rolling.deferrable.environment import DeferrableEnv


def played(env: DeferrableEnv, seed: int) -> tuple[float, list[float]]:
    """Return and rewards of an episode with scores drawn from the seed."""
    rng, over, rewards = np.random.default_rng(seed), False, []
    env.reset(seed=seed)
    while not over:
        _, reward, over, _, _ = env.step(rng.uniform(-1, 1, env.most).astype(np.float32))
        rewards.append(reward)
    return sum(rewards), rewards


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_gymnasiums_checker() -> None:
    assert "optsched/Deferrable-v0" in optsched.environments.PLACES
    check_env(gymnasium.make("optsched/Deferrable-v0", scenario="toy", render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize("forecast", ["perfect", "noisy:0.4"])
def test_the_return_is_the_referees_objective(forecast: str) -> None:
    env = DeferrableEnv(part="validation", forecast=forecast, most=16)
    for seed in range(4):
        total, _ = played(env, seed)
        assert env.play is not None
        truth = env.play.simulator.truth
        assert total == pytest.approx(family_of(truth).evaluate(truth, env.play.simulator.history()).objective)


def test_a_seed_draws_the_same_case_and_another_seed_another() -> None:
    env = DeferrableEnv(scenario="toy")
    names = [env.reset(seed=seed)[1]["instance"] for seed in (1, 2, 1)]
    assert names[0] == names[2] != names[1]
    assert played(env, 3) == played(DeferrableEnv(scenario="toy"), 3)


def test_own_instances_and_the_mask() -> None:
    few = osdec(jobs=3, horizon=30, seed=1)
    env = DeferrableEnv([few], most=8)
    seen, info = env.reset(seed=0)
    assert info["instance"] == few.name
    assert seen["mask"].sum() <= 3
    assert (seen["jobs"][seen["mask"] == 0] == 0).all()


def test_misuse_is_one_line() -> None:
    env = DeferrableEnv(scenario="toy")
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        env.step(np.zeros(64))
    env.reset(seed=0)
    for wrong in (np.zeros(3), np.full(64, np.nan)):
        with pytest.raises(OptschedError, match="64 finite scores"):
            env.step(wrong)
    for bad in ({"scenario": "none"}, {"part": "none"}, {"forecast": "none"}, {"render_mode": "human"}):
        with pytest.raises(OptschedError):
            DeferrableEnv(**bad)  # type: ignore[arg-type]


def test_it_draws_the_episode() -> None:
    env = DeferrableEnv(scenario="toy", render_mode="rgb_array")
    env.reset(seed=0)
    env.step(np.zeros(64))
    picture = env.render()
    assert picture is not None
    assert picture.ndim == 3
    assert picture.std() > 0
    assert DeferrableEnv(scenario="toy").render() is None
