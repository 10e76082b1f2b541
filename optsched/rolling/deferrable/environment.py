"""`optsched/Deferrable-v0`: the replay of deferrable as a Gymnasium environment, one decision a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces

from optsched.errors import OptschedError
from optsched.instances.deferrable import DeferrableInstance
from optsched.rl.deferrable.batch import Batch, Sight
from optsched.rl.deferrable.past import BACK, ROW
from optsched.rl.deferrable.split import SCENARIOS, SEEDS
from optsched.rl.deferrable.state import JOB, MOST, WHOLE, start_by_score
from optsched.rolling.deferrable.play import Play
from optsched.rolling.forecast import forecast as named_forecast
from optsched.rolling.pictured import MODES, pictured, refuse_mode

Observation: TypeAlias = dict[str, np.ndarray]


class DeferrableEnv(gymnasium.Env[Observation, np.ndarray]):
    """Score the known jobs in every slot in which some wait; an episode is a replay.

    Observation: ``jobs`` (K, 12), the open ones first and padded with zeros; ``mask`` (K,), 1 where a job is; ``whole`` (10,);
    ``past`` (12, 6), a row a decision. Action, shape (K,): a confidence a job. Open jobs are started in the order of their
    scores, the highest first, each that fits until its end into what is believed to be left. Reward: the core-slots that the
    started jobs are worth, less overload as time passes; an episode's return is the referee's objective.

    Parameters
    ----------
    instances
        To draw from at each reset; cases of the scenario where None.
    scenario
        ``osdec``, ``real-time`` or ``toy``.
    part
        Of the split that training, validation and test keep to: ``train``, ``validation`` or ``test``.
    most
        K: where more jobs are known, the last ones are not seen.
    forecast
        Of the capacity, as of `replay`.
    render_mode
        ``"rgb_array"``, for `render`.

    Raises
    ------
    OptschedError
        There is no such scenario, part, forecast or render mode.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012 (Gymnasium's own)

    def __init__(
        self,
        instances: Sequence[DeferrableInstance] | None = None,
        scenario: str = "osdec",
        part: str = "train",
        most: int = 64,
        forecast: str = "perfect",
        render_mode: str | None = None,
    ) -> None:
        refuse_mode(render_mode)
        if scenario not in SCENARIOS or part not in SEEDS:
            raise OptschedError(f"scenarios are {', '.join(SCENARIOS)}, parts {', '.join(SEEDS)}; got {scenario!r}, {part!r}")
        if instances is not None and not (instances and all(isinstance(each, DeferrableInstance) for each in instances)):
            raise OptschedError("instances are one or more of deferrable")
        if any(Play(each).seen is None for each in instances or ()):
            raise OptschedError("an instance has no job that may ever start: there is nothing to decide")
        self.instances, self.draw, self.part, self.most = instances, SCENARIOS[scenario], part, most
        self.believe, self.render_mode = named_forecast(forecast), render_mode
        self.play: Play | None = None
        self.action_space = spaces.Box(-1.0, 1.0, (most,), np.float32)
        self.parts = {
            "jobs": spaces.Box(-MOST, MOST, (most, JOB), np.float32),
            "mask": spaces.MultiBinary(most),
            "whole": spaces.Box(-MOST, MOST, (WHOLE,), np.float32),
            "past": spaces.Box(0.0, MOST, (BACK, ROW), np.float32),
        }
        self.observation_space = spaces.Dict(self.parts)  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[Observation, dict[str, object]]:
        """The beginning of another case, which the seed says; ``info["instance"]`` is its name."""
        super().reset(seed=seed)
        while True:
            if self.instances is not None:
                case = self.instances[int(self.np_random.integers(len(self.instances)))]
            else:
                case = self.draw(self.part, int(self.np_random.integers(len(SEEDS[self.part]))))
            self.play = Play(case, self.believe, int(self.np_random.integers(2**31)))
            if self.play.seen is not None or self.instances is not None:
                return self._observation(), {"instance": case.name}

    def _observation(self) -> Observation:
        play = self.play
        assert play is not None
        self.sight = None if play.seen is None else Sight.of(play.seen, play.past)
        if self.sight is None:
            return {name: np.zeros(space.shape or (), space.dtype) for name, space in self.parts.items()}
        batch = Batch.of([self.sight], self.most)
        parts = {"jobs": batch.jobs, "mask": batch.held.astype(np.int8), "whole": batch.whole, "past": batch.past}
        return {name: part[0] for name, part in parts.items()}

    def step(self, action: np.ndarray) -> tuple[Observation, float, bool, bool, dict[str, object]]:
        """Start jobs in the order of their scores, and go to the next slot in which some wait."""
        play = self.play
        if play is None or play.seen is None or self.sight is None:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() first")
        try:
            scores = np.asarray(action, dtype=float)
        except (TypeError, ValueError):
            scores = np.full(1, np.nan)
        if scores.shape != (self.most,) or not np.isfinite(scores).all():
            got = "NaN or infinity among them" if scores.shape == (self.most,) else f"shape {scores.shape}"
            raise OptschedError(f"an action is {self.most} finite scores, got {got}")
        begun = start_by_score(play.seen, self.sight.back(scores))
        jobs = play.simulator.truth.jobs
        started = [jobs[play.simulator.waiting[j]].id for j in begun]
        earned = play.start(begun)
        return self._observation(), earned, play.seen is None, False, {"started": started}

    def render(self) -> np.ndarray | None:
        """The family's picture of the episode so far, shape (height, width, 3), 8 bits each; None without a `render_mode`."""
        if self.render_mode is None or self.play is None:
            return None
        simulator = self.play.simulator
        return pictured(simulator.truth, simulator.history())
