"""Scenarios that the agents of vcc learn in: weeks of other months, synthetic ones, a toy, or somebody's own instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Floats, Instance
from optsched.instances.vcc import VccInstance
from optsched.rl.learner import Learner
from optsched.rl.trained import Trained, file_of
from optsched.rl.vcc.agent import PROBLEM, load_of
from optsched.rl.vcc.carbon import KIND, CarbonForecast, Regression
from optsched.rl.vcc.episodes import Shares
from optsched.rl.vcc.split import TRAIN, VALIDATION, WORDS
from optsched.rolling.vcc.batch import Batch, Case, case
from optsched.rolling.vcc.months import data, drawn, every, synthetic

SIZE = 24  # data centres at once
FORECAST = "fitted"
FORETELLS = "vcc-forecast"  # whose carbon agents of real months believe
FIRSTS = (0, 12)  # days of a validation month that its weeks begin with
MONTHS, MIXED, SYNTHETIC = 144, 216, 48  # training cases of each kind
VALIDATED = 12  # synthetic ones
CASES_SEED, VALIDATION_SEED = 17, 7919  # of the cases: the same for every seed of training


class Weeks:
    """Cases to draw from, and cases to validate on, the same number of slots each."""

    size = SIZE

    def __init__(
        self,
        scenario: str,
        split: str,
        cases: Sequence[Case],
        held: Sequence[Case],
        loads: Sequence[float],
        forecast: str,
        carbon: Regression | None = None,
    ) -> None:
        self.scenario, self.split, self.cases, self.held, self.carbon = scenario, split, cases, held, carbon
        self.slots = len(cases[0].carbon)
        self.settings: dict[str, bool | int | float | str] = {
            "least_load": round(min(loads), 4),
            "most_load": round(max(loads), 4),
            "slot_s": cases[0].h * 3600,
            "forecast": forecast,
        }
        self.rule = costs(held, lambda seen: np.ones(len(seen)))

    def draw(self, rng: np.random.Generator) -> Batch:
        """Different ones, where there are enough."""
        few = len(self.cases) < self.size
        return Batch([self.cases[i] for i in rng.choice(len(self.cases), self.size, replace=few)])

    def score(self, shares: Shares) -> float:
        """By how much less than uncapped, in the mean."""
        return float((1 - costs(self.held, shares) / self.rule).mean())


def costs(cases: Sequence[Case], shares: Shares) -> Floats:
    """What the objective is of each, shape (B,)."""
    batch, over = Batch(cases), False
    while not over:
        _, over = batch.step(shares(batch.seen()))
    return np.asarray(batch.cost + np.array([held.fixed for held in cases]))


def months(forecast: str) -> Weeks:
    """Google's jobs at many loads under the carbon of nine months, and synthetic weeks.

    Raises
    ------
    OptschedError : the data is not there.
    """
    folder, rng = data(), np.random.default_rng(CASES_SEED)
    if folder is None:
        lacks = "the scenario months needs the folders google2019 and moer (docs/traces.md) where $OPTSCHED_DATA points"
        raise OptschedError(f"{lacks}; --scenario synthetic, --scenario toy and --instance need none")
    given = drawn(TRAIN, MONTHS, rng, folder) + drawn(TRAIN, MIXED, rng, folder, mixed=True) + synthetic(SYNTHETIC, rng)
    made = f"; in training also {MIXED} weeks of its days in another order, and {SYNTHETIC} synthetic ones"
    foretold = CarbonForecast(Trained.load(file_of(PROBLEM, FORETELLS), KIND)).regression  # of the same months
    return _weeks("months", WORDS + made, given, every(VALIDATION, FIRSTS, folder), forecast, foretold)


def made(name: str, count: int, days: int, forecast: str) -> Weeks:
    """Synthetic cases of so many days."""
    given = synthetic(count, np.random.default_rng(CASES_SEED), days)
    held = synthetic(VALIDATED, np.random.default_rng(VALIDATION_SEED), days)
    return _weeks(
        name, f"generated, of other seeds: {count} cases in training, {VALIDATED} in validation", given, held, forecast
    )


def _weeks(
    name: str,
    split: str,
    given: Sequence[VccInstance],
    held: Sequence[VccInstance],
    forecast: str,
    carbon: Regression | None = None,
) -> Weeks:
    loads = [load_of(instance) for instance in given]
    train, validation = ([case(instance, forecast, carbon=carbon) for instance in part] for part in (given, held))
    return Weeks(name, split, train, validation, loads, forecast, carbon)


def own(instances: Sequence[Instance], forecast: str) -> Weeks:
    """Somebody's instances, to learn from and to be judged by.

    Raises
    ------
    OptschedError : they are not alike in slots, or not of this family.
    """
    given = [instance for instance in instances if isinstance(instance, VccInstance)]
    if len({(instance.horizon, instance.slot_s, instance.now % instance.day_slots) for instance in given}) != 1:
        raise OptschedError("instances to learn from together have the same number of slots, of the same length")
    names = ", ".join(instance.name for instance in given)
    return _weeks(
        "instance", f"trained and validated on {names}: its figures there are of what it knows", given, given, forecast
    )


SCENARIOS: dict[str, Callable[[str], Weeks]] = {
    "months": months,
    "synthetic": partial(made, "synthetic", 2 * SYNTHETIC, 7),
    "toy": partial(made, "toy", SIZE, 2),
}


def _source(scenario: str, instances: Sequence[Instance], forecast: str) -> Weeks:
    return own(instances, forecast) if instances else SCENARIOS[scenario](forecast)


def ppo(scenario: str, instances: Sequence[Instance], seed: int, forecast: str = FORECAST) -> Learner:
    """For ``optsched train vcc-ppo``."""
    from optsched.rl.vcc.learner import PPO_SETTINGS, PPOLearner

    return PPOLearner("vcc-ppo", _source(scenario, instances, forecast), seed, PPO_SETTINGS)


def sac(scenario: str, instances: Sequence[Instance], seed: int, forecast: str = FORECAST) -> Learner:
    """For ``optsched train vcc-sac``."""
    from optsched.rl.vcc.learner import SAC_SETTINGS, SACLearner

    return SACLearner("vcc-sac", _source(scenario, instances, forecast), seed, SAC_SETTINGS)
