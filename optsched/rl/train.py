"""Training with Stable-Baselines3: PPO and SAC on a continuous action, observations and rewards normalised as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from optsched.errors import BackendUnavailable, OptschedError
from optsched.rl.agent import Agent, to_cap

if TYPE_CHECKING:
    import gymnasium
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize

    Environment: TypeAlias = gymnasium.Env[np.ndarray, np.ndarray]

ALGORITHMS = ("ppo", "sac")
HIDDEN = 64
SAME_TIME = 4  # environments of PPO
EVERY = 2048  # steps between reports


def train(
    algorithm: str,
    environment: Callable[[], Environment],
    steps: int,
    seed: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> Agent:
    """An agent trained for so many steps; the best of the means that it has had at the end of an episode.

    Parameters
    ----------
    environment : makes a Gymnasium environment with a Box action. progress : called with the steps so far and the last return.

    Raises
    ------
    BackendUnavailable : the `rl` extra is not installed. OptschedError : no such algorithm.
    """
    if algorithm not in ALGORITHMS:
        raise OptschedError(f"no algorithm {algorithm!r}, there are: {', '.join(ALGORITHMS)}")
    try:
        import torch
        from gymnasium.spaces import Box
        from gymnasium.wrappers import TransformAction
        from stable_baselines3 import PPO, SAC
        from stable_baselines3.common.callbacks import BaseCallback
        from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
    except ImportError as error:
        raise BackendUnavailable(f"training needs the rl extra (pip install 'optsched[rl]'): {error}") from None

    def scaled() -> Environment:
        return TransformAction(environment(), to_cap, Box(-1.0, 1.0, (1,), np.float32))

    torch.set_num_threads(1)
    many = SAME_TIME if algorithm == "ppo" else 1
    venv = VecNormalize(DummyVecEnv([scaled] * many), gamma=0.99)
    if algorithm == "ppo":
        shape = {"net_arch": [HIDDEN, HIDDEN], "activation_fn": torch.nn.Tanh, "log_std_init": -1.0}
        model: BaseAlgorithm = PPO(
            "MlpPolicy", venv, n_steps=672, batch_size=336, gamma=0.99, policy_kwargs=shape, seed=seed, device="cpu"
        )
    else:
        shape = {"net_arch": [HIDDEN, HIDDEN]}
        model = SAC("MlpPolicy", venv, gamma=0.99, learning_starts=1344, policy_kwargs=shape, seed=seed, device="cpu")
    best: list[tuple[float, Agent]] = []

    class Watch(BaseCallback):  # type: ignore[misc]
        def _on_step(self) -> bool:
            if self.n_calls % (EVERY // many) == 0:
                found = exported(model, venv, algorithm)
                value = evaluate_agent(found, environment)
                if not best or value > best[0][0]:
                    best[:] = [(value, found)]
                if progress is not None:
                    progress(self.num_timesteps, value)
            return True

    try:
        model.learn(total_timesteps=steps, callback=Watch())
    except KeyboardInterrupt:
        if not best:
            raise
    if not best:
        return exported(model, venv, algorithm)
    return best[0][1]


def evaluate_agent(agent: Agent, environment: Callable[[], Environment]) -> float:
    """The return of an episode without exploration."""
    env = environment()
    seen, _ = env.reset()
    total, over = 0.0, False
    while not over:
        seen, reward, ended, cut, _ = env.step(np.array([agent.act(seen)]))
        total, over = total + float(reward), ended or cut
    return total


def exported(model: BaseAlgorithm, venv: VecNormalize, algorithm: str) -> Agent:
    """The actor of a Stable-Baselines3 model as arrays."""
    policy = model.policy
    hidden, last = (
        (policy.mlp_extractor.policy_net, policy.action_net)
        if algorithm == "ppo"
        else (policy.actor.latent_pi, policy.actor.mu)
    )
    linear = [module for module in [*hidden, last] if hasattr(module, "weight")]
    layers = tuple((m.weight.detach().numpy().copy(), m.bias.detach().numpy().copy()) for m in linear)
    scale = np.sqrt(venv.obs_rms.var + venv.epsilon)
    activation, squash = ("tanh", False) if algorithm == "ppo" else ("relu", True)
    return Agent(venv.obs_rms.mean.copy(), scale, float(venv.clip_obs), layers, activation, squash)
