"""optsched/GeoSingle-v0: one agent decides for all sites, job after job, over the same rounds (Gymnasium)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium import spaces

from optsched.instances.geo import GeoInstance
from optsched.rl.geo.observation import joint_size
from optsched.rl.geo.split import case
from optsched.rolling.forecast import forecast as named_forecast
from optsched.rolling.geo.environment import SEEDS, action_of, drawable, given, picture
from optsched.rolling.geo.episode import Episode
from optsched.rolling.pictured import MODES, refuse_mode

SINGLE = "optsched/GeoSingle-v0"


class GeoSingleEnv(gymnasium.Env[np.ndarray, np.int64]):
    """What each agent of `GeoEnv` would see, one site after the other, with a one-hot of the site before it.

    Action 0 postpones the job, 1 + n runs it at site n; ``info["action_mask"]`` says which are possible, and an impossible one
    postpones. Rewards are `GeoEnv`'s: they come with the last site of a round.

    Parameters
    ----------
    scenario, instance, forecast, render_mode
        As of `GeoEnv`.

    Raises
    ------
    OptschedError
        As of `GeoEnv`.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012 (Gymnasium's own)

    def __init__(
        self,
        scenario: str = "small",
        instance: GeoInstance | str | Path | None = None,
        forecast: str = "perfect",
        render_mode: str | None = None,
    ) -> None:
        refuse_mode(render_mode)
        self.render_mode = render_mode
        self.scenario, self.instance, self.believe = drawable(scenario), given(instance), named_forecast(forecast)
        self.sites = len((self.instance or case(self.scenario, "train", 0)).sites)
        self.size = self.sites + joint_size(self.sites)
        self.observation_space = spaces.Box(-5.0, 5.0, (self.size,), np.float32)
        self.action_space = spaces.Discrete(1 + self.sites)
        self.episode: Episode | None = None
        self.over = True

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[np.ndarray, dict[str, object]]:
        """A new instance; the same seed draws the same one."""
        super().reset(seed=seed)
        number = int(self.np_random.integers(SEEDS))
        self.episode = Episode(self.instance or case(self.scenario, "train", number), self.believe)
        self.over = False
        self._begin(self.episode)
        return self._seen(self.episode)

    def _begin(self, episode: Episode) -> None:
        """The sites that have a job in this round."""
        rounds = episode.rounds
        self.left = [] if rounds is None else np.flatnonzero(rounds.asked >= 0).tolist()
        self.actions = [0] * self.sites

    def _seen(self, episode: Episode) -> tuple[np.ndarray, dict[str, object]]:
        rounds, found = episode.rounds, np.zeros(self.size, dtype=np.float32)
        mask = np.zeros(1 + self.sites, dtype=np.int8)
        mask[0] = 1
        if rounds is not None:
            site = self.left[0]
            found[site] = 1.0
            found[self.sites :] = episode.sight.joint()[site]
            mask[:] = rounds.legal[site]
        return found, {"action_mask": mask, "idle": episode.idle if rounds is None else 0.0}

    def step(self, action: np.int64 | int) -> tuple[np.ndarray, float, bool, bool, dict[str, object]]:
        """Decide about one job."""
        episode = self.episode
        if episode is None or self.over:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() first")
        chosen, earned = action_of(action, self.sites), 0.0
        if self.left:  # there is nothing to decide in an instance whose jobs can run nowhere
            self.actions[self.left.pop(0)] = chosen
            if not self.left:
                earned = episode.decide(self.actions)
                self._begin(episode)
        self.over = episode.rounds is None
        seen, info = self._seen(episode)
        return seen, earned, self.over, False, info

    def render(self) -> np.ndarray | None:
        """As of `GeoEnv`."""
        return None if self.render_mode is None else picture(self.episode)
