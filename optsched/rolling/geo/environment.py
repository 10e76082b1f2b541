"""optsched/Geo-v0: an agent a site and a shared reward, over the replay's simulator (PettingZoo's parallel interface)."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces

from optsched.errors import OptschedError
from optsched.instances.geo import GeoInstance
from optsched.rl.geo.observation import joint_size
from optsched.rl.geo.split import SCENARIOS, Scenario, case
from optsched.rolling.forecast import forecast as named_forecast
from optsched.rolling.geo.episode import Episode
from optsched.rolling.pictured import MODES, pictured, refuse_mode
from optsched.rolling.played import played

Seen = dict[str, np.ndarray]
SEEDS = 100_000  # of training cases that a reset draws from


class GeoEnv(pettingzoo.ParallelEnv):  # type: ignore[misc]
    """Every site decides about its next waiting job, all at once: postpone (0), or run it at site n (1 + n).

    An observation is a dict of ``observation``, what `Sight.joint` says of the site, and ``action_mask``, the actions that are
    possible; an impossible one postpones. The reward, the same for all, credits a job's utility in USD when it starts or leaves
    (see `Episode`): an episode's rewards and ``infos[agent]["idle"]`` of its last step add up to the objective.

    Parameters
    ----------
    scenario
        What `reset` draws an instance from; one of five sites.
    instance
        The same one every time, or its file, in place of a scenario.
    forecast
        As of `replay`.
    render_mode
        ``"rgb_array"``, for `render`.

    Raises
    ------
    OptschedError
        No such scenario, forecast or render mode, a scenario of varying numbers of sites, or an instance of another family.
    """

    metadata = {"name": "optsched/Geo-v0", "render_modes": list(MODES), "render_fps": 4, "is_parallelizable": True}  # noqa: RUF012

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
        self.rng = np.random.default_rng()
        first = self._drawn(0)
        self.possible_agents = [site.id for site in first.sites]
        self.agents: list[str] = []
        self.episode: Episode | None = None
        count = len(self.possible_agents)
        self.blank = np.zeros((count, joint_size(count)), dtype=np.float32)
        seen = spaces.Box(-5.0, 5.0, self.blank.shape[1:], np.float32)
        mask = spaces.Box(0, 1, (1 + count,), np.int8)
        space = spaces.Dict({"observation": seen, "action_mask": mask})
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = {agent: spaces.Discrete(1 + count) for agent in self.possible_agents}

    def _drawn(self, number: int) -> GeoInstance:
        return case(self.scenario, "train", number) if self.instance is None else self.instance

    def observation_space(self, agent: str) -> spaces.Dict:
        """Of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[np.int64]:
        """Of an agent."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[dict[str, Seen], dict[str, dict[str, float]]]:
        """A new instance; the same seed draws the same one."""
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.episode = Episode(self._drawn(int(self.rng.integers(SEEDS))), self.believe)
        self.agents = list(self.possible_agents)
        return self._seen(self.episode), {agent: {"idle": 0.0} for agent in self.agents}

    def _seen(self, episode: Episode) -> dict[str, Seen]:
        rounds, count = episode.rounds, len(self.possible_agents)
        joint = self.blank if rounds is None else episode.sight.joint().astype(np.float32)
        legal = np.eye(1, 1 + count).repeat(count, axis=0) if rounds is None else rounds.legal
        found = zip(self.possible_agents, joint, legal.astype(np.int8), strict=True)
        return {agent: {"observation": seen.copy(), "action_mask": mask} for agent, seen, mask in found}

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Seen], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, float]]]:
        """Carry a round out."""
        episode, count = self.episode, len(self.possible_agents)
        if episode is None or not self.agents:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() first")
        if actions.keys() != set(self.possible_agents):
            raise OptschedError(f"a step needs an action of every agent, {', '.join(self.possible_agents)}; got {[*actions]}")
        chosen = [action_of(actions[agent], count) for agent in self.possible_agents]
        earned, over = 0.0, episode.rounds is None
        if not over:
            earned = episode.decide(chosen)
            over = episode.rounds is None
        agents = self.agents
        self.agents = [] if over else agents
        said = {"idle": episode.idle if over else 0.0}
        rewards, ends = dict.fromkeys(agents, earned), dict.fromkeys(agents, over)
        return self._seen(episode), rewards, ends, dict.fromkeys(agents, False), {agent: dict(said) for agent in agents}

    def render(self) -> np.ndarray | None:
        """The family's picture of the episode so far, shape (height, width, 3), 8 bits each; None without a `render_mode`."""
        return None if self.render_mode is None else picture(self.episode)

    def close(self) -> None:
        """Nothing is open."""


def given(instance: GeoInstance | str | Path | None) -> GeoInstance | None:
    """The instance that is always played, if there is one.

    Raises
    ------
    OptschedError : as of `played`.
    """
    return played(instance, GeoInstance, "an instance over sites")


def action_of(action: object, sites: int) -> int:
    """An action as a number.

    Raises
    ------
    OptschedError : there is no such action.
    """
    try:
        found = operator.index(action)  # type: ignore[arg-type]
    except TypeError:
        found = -1
    if not 0 <= found <= sites:
        raise OptschedError(f"an action is a whole number from 0 (postpone) to {sites} (run at the last site), got {action!r}")
    return found


def drawable(scenario: str) -> Scenario:
    """The scenario of that name.

    Raises
    ------
    OptschedError : there is none, or its cases differ in their sites.
    """
    fixed = [name for name, found in SCENARIOS.items() if not found.strange]
    if scenario not in fixed:
        raise OptschedError(f"no scenario {scenario!r} with the same sites in every case, there are: {', '.join(fixed)}")
    return SCENARIOS[scenario]


def picture(episode: Episode | None) -> np.ndarray:
    """The Gantt chart of what has happened.

    Raises
    ------
    ResetNeeded : nothing has begun.
    """
    if episode is None:
        raise gymnasium.error.ResetNeeded("no episode has begun: call reset() first")
    return pictured(episode.truth, episode.history())
