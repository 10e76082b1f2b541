"""Episodes in step as a vectorised environment of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium.spaces import Box
from stable_baselines3.common.vec_env import VecEnv

from optsched.instances.base import Floats
from optsched.rl.vcc.action import to_share
from optsched.rl.vcc.episodes import Source
from optsched.rl.vcc.observation import SIZE

FAR = 8.0


class SameTime(VecEnv):  # type: ignore[misc]
    """Every environment is in the same slot; when the horizon is over, all need a reset, which draws other cases.

    Attributes
    ----------
    rng
        Draws the cases.
    mean, scale
        What is seen is normalised by; frozen.
    earned
        Mean return of the last episodes.
    """

    def __init__(self, source: Source, mean: Floats, scale: Floats, rng: np.random.Generator) -> None:
        seen = Box(-FAR, FAR, (SIZE,), np.float32)
        self.render_mode = None
        super().__init__(source.size, seen, Box(-1.0, 1.0, (1,), np.float32))
        self.source, self.mean, self.scale, self.rng = source, mean, scale, rng
        self.earned = 0.0

    def _normal(self, seen: Floats) -> Floats:
        return np.asarray(np.clip((seen - self.mean) / self.scale, -FAR, FAR))

    def reset(self) -> Floats:
        """Other cases."""
        self.episodes, self.sum = self.source.draw(self.rng), 0.0
        self.seen = self.episodes.seen()
        return self._normal(self.seen)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep them."""
        self.actions = actions

    def step_wait(self) -> tuple[Floats, Floats, np.ndarray, list[dict[str, object]]]:
        """Carry a slot out everywhere."""
        reward, over = self.episodes.step(to_share(self.actions[:, 0].astype(float), self.seen))
        self.sum += float(reward.mean())
        told: list[dict[str, object]] = [{} for _ in range(self.num_envs)]
        if over:  # the turn ends as well, and the next begins with a reset
            self.earned, seen = self.sum, np.zeros((self.num_envs, SIZE))
        else:
            self.seen = self.episodes.seen()
            seen = self._normal(self.seen)
        return seen, reward, np.full(self.num_envs, over), told

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: object = None) -> list[object]:
        """The same for each."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: object, indices: object = None) -> None:
        """For all."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: object, indices: object = None, **kwargs: object) -> list[object]:
        """Of the whole."""
        return [getattr(self, method_name)(*args, **kwargs)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: type, indices: object = None) -> Sequence[bool]:
        """Never."""
        return [False] * self.num_envs
