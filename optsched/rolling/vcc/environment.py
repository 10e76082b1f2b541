"""Gymnasium environment of vcc: the queue of the replay, one slot a step (SustainGym's DatacenterEnv, corrected)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium import spaces

from optsched.errors import OptschedError
from optsched.instances.generators import vcc
from optsched.instances.vcc import VccInstance
from optsched.rl.vcc.page import SIZE, forecast_rows
from optsched.rolling.forecast import forecast as named_forecast
from optsched.rolling.pictured import MODES, pictured, refuse_mode
from optsched.rolling.played import played
from optsched.rolling.vcc.beliefs import believed_carbon
from optsched.rolling.vcc.queue import queue


class VirtualCapacityEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """Set the cap of each slot; an episode is the instance's horizon.

    Observation, shape (27,): the last cap, the flexible load that runs on (NCU), the number of waiting jobs with those that
    have just come, and the carbon intensity believed for the next 24 slots (kg/kWh). Action, shape (1,), from 0 to 1: the cap
    as a share of the capacity; one outside is clipped. Reward: minus what the slot costs, so that an episode's return is minus
    the objective.

    Parameters
    ----------
    instance
        A vcc instance or its file; a synthetic month if not given.
    forecast
        As of `replay`; ``fitted`` takes the forecasts that the instance has been issued for the first hours.
    noise_seed
        Of a noisy forecast.
    render_mode
        ``"rgb_array"``, for `render`.

    Raises
    ------
    OptschedError
        The file holds no vcc instance, or there is no such render mode.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012 (Gymnasium's own)

    def __init__(
        self,
        instance: VccInstance | str | Path | None = None,
        forecast: str = "fitted",
        noise_seed: int = 0,
        render_mode: str | None = None,
    ) -> None:
        refuse_mode(render_mode)
        self.render_mode = render_mode
        self.instance = given = played(instance, VccInstance, "a vcc instance") or vcc(days=28, jobs=4000)
        believe = named_forecast(forecast)
        slots = given.horizon
        self.carbon = forecast_rows([believed_carbon(given, t, believe, noise_seed) for t in range(slots)])
        self.carbon = np.concatenate([self.carbon, self.carbon[-1:]])
        self.blank = np.concatenate([np.zeros((slots + 1, SIZE - self.carbon.shape[1]), np.float32), self.carbon], axis=1)
        self.queue = queue(given)
        self._spaces()

    def _spaces(self) -> None:
        self.action_space = spaces.Box(0.0, 1.0, (1,), np.float32)
        self.observation_space = spaces.Box(-np.inf, np.inf, (SIZE,), np.float32)

    def again(self) -> VirtualCapacityEnv:
        """Another environment of the same instance and forecast, without the work of making the latter."""
        other = copy(self)
        other.queue = queue(self.instance)
        other._spaces()
        return other

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Slot 0 of the same instance; nothing is kept of the last episode. The seed is Gymnasium's: nothing here is random."""
        super().reset(seed=seed)
        self.queue.reset()
        return self._observation(0.0), {}

    def _observation(self, cap: float) -> np.ndarray:
        queue = self.queue
        seen: np.ndarray = self.blank[queue.now].copy()
        seen[0] = cap
        seen[1] = queue.load
        seen[2] = queue.waiting
        return seen

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, float]]:
        """Carry a slot out; `info` has the slot's costs by component."""
        queue = self.queue
        if queue.now >= queue.horizon:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() first")
        try:
            cap = action.item() if isinstance(action, np.ndarray) else float(np.asarray(action, dtype=float).item())
            cap = 0.0 if cap < 0.0 else 1.0 if cap > 1.0 else cap
        except (TypeError, ValueError):
            raise OptschedError(f"an action is one number, the cap, got {action!r:.60}") from None
        if cap != cap:
            raise OptschedError("the action is not a number")
        carbon, delay, daily, unfinished = queue.step(cap)
        info = {"carbon": carbon, "delay": delay, "daily": daily, "unfinished": unfinished}
        return self._observation(cap), -(carbon + delay + daily + unfinished), queue.now >= queue.horizon, False, info

    def render(self) -> np.ndarray | None:
        """The family's picture of the episode so far, with cap 1 in the slots to come, shape (height, width, 3), 8 bits each.

        None where no `render_mode` was given.
        """
        if self.render_mode is None:
            return None
        return pictured(self.instance, self.queue.history())
