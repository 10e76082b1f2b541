"""Gymnasium environment of allocation: the replay's simulator, a step from one event of the cluster to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gymnasium
import numpy as np
from gymnasium import spaces

from optsched.errors import OptschedError
from optsched.instances.allocation import AllocationInstance
from optsched.rl.allocation import scenarios
from optsched.rl.allocation.scenarios import PER_SPLIT, SPLITS, Split
from optsched.rl.allocation.scores import carried_out
from optsched.rl.allocation.view import OF_ALL, OF_JOB, OF_WAY, View, see
from optsched.rolling.allocation.ledger import Ledger
from optsched.rolling.allocation.simulator import AllocationSimulator
from optsched.rolling.pictured import MODES, pictured, refuse_mode
from optsched.schedules.allocation import AllocationHistory

MOST_STALLS = 100  # decisions in a row that leave everything idle while jobs wait

Observation = dict[str, np.ndarray]


class AllocationEnv(gymnasium.Env[Observation, np.ndarray]):
    """Say at every event how much each way to run each known job is wanted; an episode is an instance, until all work is done.

    Observation: ``jobs`` (max_jobs, 9), ``ways`` (max_jobs, max_ways, 13) and ``whole`` (4,), the relative numbers that
    `optsched.rl.allocation.view` names; ``mask`` and ``running`` (max_jobs, max_ways), which ways there are and which run.
    Jobs come in order of urgency, a way is a class of nodes and a number of GPUs. Action, shape (max_jobs, max_ways), from -1
    to 1: jobs by their best score, each in the first of its ways, the best first, that fits; below 0 a way is not taken.
    Reward: minus the energy, and the tardiness that grows, until the next event, so that an episode's return is minus the
    objective. An episode of nothing but idling is truncated.

    Parameters
    ----------
    scenario
        What `reset` draws an instance from, a name of `optsched.rl.allocation.scenarios`.
    split
        Whose cases.
    instances
        To draw from instead.
    max_jobs, max_ways
        Sizes of the spaces; the scenario's, or what the instances need. The least urgent beyond `max_jobs` wait unseen.
    render_mode
        ``"rgb_array"``, for `render`.

    Raises
    ------
    OptschedError
        No such scenario, split or render mode, or an instance with more ways than `max_ways`.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012 (Gymnasium's own)

    def __init__(
        self,
        scenario: str = "andreas",
        split: Split = "train",
        instances: Sequence[AllocationInstance] | None = None,
        max_jobs: int | None = None,
        max_ways: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        refuse_mode(render_mode)
        if split not in SPLITS:
            raise OptschedError(f"a split is one of {', '.join(SPLITS)}, got {split!r}")
        self.render_mode, self.split = render_mode, split
        self.given = () if instances is None else tuple(instances)
        if instances is not None and not (self.given and all(isinstance(each, AllocationInstance) for each in self.given)):
            raise OptschedError("instances are one or more of allocation")
        self.scenario = scenarios.scenario(scenario)
        jobs = max((len(i.jobs) for i in self.given), default=self.scenario.jobs)
        ways = max((len(_ways(i)) for i in self.given), default=self.scenario.ways)
        self.max_jobs, self.max_ways = jobs if max_jobs is None else max_jobs, ways if max_ways is None else max_ways
        if self.max_jobs < 1 or self.max_ways < ways:
            raise OptschedError(f"max_jobs must be at least 1 and max_ways {ways}, got {self.max_jobs} and {self.max_ways}")
        shape = self.max_jobs, self.max_ways
        self.action_space = spaces.Box(-1.0, 1.0, shape, np.float32)
        self.observation_space = spaces.Dict(  # type: ignore[assignment]  # of arrays, which it does not say
            {
                "jobs": spaces.Box(-np.inf, np.inf, (self.max_jobs, len(OF_JOB)), np.float32),
                "ways": spaces.Box(-np.inf, np.inf, (*shape, len(OF_WAY)), np.float32),
                "whole": spaces.Box(-np.inf, np.inf, (len(OF_ALL),), np.float32),
                "mask": spaces.MultiBinary(shape),
                "running": spaces.MultiBinary(shape),
            }
        )
        self.simulator: AllocationSimulator | None = None

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[Observation, dict[str, float]]:
        """An instance drawn anew, at its first submission."""
        super().reset(seed=seed)
        if self.given:
            instance = self.given[int(self.np_random.integers(len(self.given)))]
        else:
            instance = self.scenario.instance(self.split, int(self.np_random.integers(PER_SPLIT)))
        self.simulator = AllocationSimulator(instance)
        self.ledger, self.stalls = Ledger(), 0
        self.ways = {way: w for w, way in enumerate(_ways(instance))}
        return self._observe(), {}

    def _observe(self) -> Observation:
        assert self.simulator is not None
        shape = self.max_jobs, self.max_ways
        seen: Observation = {
            "jobs": np.zeros((self.max_jobs, len(OF_JOB)), np.float32),
            "ways": np.zeros((*shape, len(OF_WAY)), np.float32),
            "whole": np.zeros(len(OF_ALL), np.float32),
            "mask": np.zeros(shape, np.int8),
            "running": np.zeros(shape, np.int8),
        }
        snapshot = self.simulator.snapshot()
        if snapshot is None:
            return seen
        self.snapshot, self.view = snapshot, see(snapshot)
        self.at, self.shown = _places(self.view, self.max_jobs, self.ways)
        shown = self.view.order[: self.max_jobs]
        seen["jobs"][: len(shown)] = self.view.of_job[shown]
        seen["ways"][self.at] = self.view.of_way[self.shown]
        seen["whole"][:] = self.view.of_all
        seen["mask"][self.at] = 1
        running, kinds = self.simulator.running, snapshot.class_of_node
        for slot, j in enumerate(shown.tolist()):
            if (run := running.get(snapshot.known_jobs[j].id)) is not None:
                seen["running"][slot, self.ways[kinds[run.node], run.gpus]] = 1
        return seen

    def step(self, action: np.ndarray) -> tuple[Observation, float, bool, bool, dict[str, float]]:
        """Carry the decision out until the next event; `info` has what that cost by component."""
        if self.simulator is None or not self.simulator.due():
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() first")
        try:
            wanted = np.asarray(action, dtype=np.float32)
        except (TypeError, ValueError):
            raise OptschedError(f"an action is numbers of shape {self.action_space.shape}, got {action!r:.60}") from None
        if wanted.shape != self.action_space.shape:
            raise OptschedError(f"an action is of shape {self.action_space.shape}, got shape {wanted.shape}")
        if not np.isfinite(wanted).all():
            raise OptschedError("an action is finite numbers, got NaN or infinity among them")
        scores = np.full(len(self.view.listed), -1.0, np.float32)
        scores[self.shown] = wanted[self.at]
        decision = carried_out(self.snapshot, self.view.listed, scores)
        self.ledger.begin(self.snapshot, decision)
        self.simulator.apply(decision)
        energy, tardiness = self.ledger.end(self.simulator.now_s)
        self.stalls = self.stalls + 1 if self.simulator.stalled else 0
        ended = not self.simulator.due()
        info = {"energy": energy, "tardiness": tardiness}
        return self._observe(), -(energy + tardiness), ended, not ended and self.stalls > MOST_STALLS, info

    def history(self) -> AllocationHistory:
        """What has run until now."""
        if self.simulator is None:
            raise gymnasium.error.ResetNeeded("no episode has begun: call reset() first")
        return self.simulator.history()

    def render(self) -> np.ndarray | None:
        """The family's Gantt chart of the episode so far, shape (height, width, 3), 8 bits each.

        None where no `render_mode` was given.
        """
        if self.render_mode is None:
            return None
        history = self.history()
        assert self.simulator is not None
        return pictured(self.simulator.truth, history)


def _ways(instance: AllocationInstance) -> list[tuple[int, int]]:
    """Class of nodes and number of GPUs of every column."""
    return [(k, g) for k, c in enumerate(instance.node_classes) for g in range(1, c.gpus + 1)]


def _places(view: View, max_jobs: int, ways: Mapping[tuple[int, int], int]) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Slot and column of every way that is shown, and its row in the view."""
    slot = np.full(view.of_job.shape[0], max_jobs)
    shown = view.order[:max_jobs]
    slot[shown] = np.arange(len(shown))
    listed = view.listed
    column = np.array([ways[way] for way in zip(listed.node_class.tolist(), listed.gpus.tolist(), strict=True)], dtype=np.int64)
    rows = np.flatnonzero(slot[listed.job] < max_jobs)
    return (slot[listed.job[rows]], column[rows]), rows
