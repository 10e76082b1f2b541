"""A forecast of carbon that learns from months of it: a regression whose sums grow turn by turn, judged by what it saves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from optsched.errors import OptschedError
from optsched.instances.base import Floats, Instance
from optsched.instances.vcc import VccInstance
from optsched.rl.learner import Learner
from optsched.rl.trained import Card, Trained
from optsched.rl.vcc.agent import PROBLEM
from optsched.rl.vcc.carbon import DAY, FEATURES, KIND, LEADS, CarbonForecast, features
from optsched.rl.vcc.observation import REMEMBERED_DAYS
from optsched.rl.vcc.split import TRAIN, VALIDATION, WORDS
from optsched.rolling.forecast import forecast as named_forecast
from optsched.rolling.loop import replay
from optsched.rolling.vcc.agents import Foresight
from optsched.rolling.vcc.beliefs import believed_carbon
from optsched.rolling.vcc.guard import GuardedAgent
from optsched.rolling.vcc.lessons import CASES_SEED, FIRSTS, FORECAST, VALIDATED, VALIDATION_SEED
from optsched.rolling.vcc.months import MONTH_DAYS, carbon_of, data, every, synthetic

PENALTY = 300.0  # of the weights' squares, on standardised features
LEAST_DAYS = 7  # of a stretch
EARLIEST = 6  # slots seen before a first forecast
LEAST = 2 * DAY  # slots of an instance: whole days, of which the first forecasts see what came
LEAST_SCALE = 1e-6


@dataclass(frozen=True)
class Stretches:
    """What is learned from and judged by.

    Attributes
    ----------
    months
        Whose carbon is learned from, stretch by stretch.
    held
        Cases of validation.
    """

    scenario: str
    split: str
    months: Sequence[VccInstance]
    held: Sequence[VccInstance]
    forecast: str


class ForecastLearner:
    """Ridge regression of the hours to come; a turn adds a stretch of a month to its sums."""

    def __init__(self, name: str, given: Stretches, seed: int) -> None:
        self.name, self.given, self.seed = name, given, seed
        self.rng = np.random.default_rng(seed)
        self.squares, self.products = np.zeros((FEATURES, FEATURES)), np.zeros((FEATURES, LEADS))
        self.seen = 0
        self.rule = [_cost(instance, "uncapped", given.forecast) for instance in given.held]

    @property
    def steps(self) -> int:
        """Slots that were foretold from."""
        return self.seen

    def turn(self) -> Mapping[str, float]:
        """A stretch of a month, as if it began there; how far off its forecasts were before it was learned from."""
        month = self.given.months[int(self.rng.integers(len(self.given.months)))]
        days = month.horizon // DAY
        length = int(self.rng.integers(min(LEAST_DAYS, days), days + 1))
        first = int(self.rng.integers(days - length + 1))
        told, came = rows(stretch(month, first, length), self.given.forecast)
        error = float(np.sqrt(np.mean((came - told @ self._weights()) ** 2)))
        self.squares += told.T @ told
        self.products += told.T @ came
        self.seen += len(told)
        return {"error": error, "slots": float(len(told))}

    def _weights(self) -> Floats:
        """By raw features, shape (FEATURES, LEADS)."""
        scale = self._scale()
        standard = self.squares / np.outer(scale, scale) + PENALTY * np.eye(FEATURES)
        return np.asarray(np.linalg.solve(standard, self.products / scale[:, None]) / scale[:, None])

    def _scale(self) -> Floats:
        return np.maximum(LEAST_SCALE, np.sqrt(np.diag(self.squares) / max(1, self.seen)))

    def validate(self) -> float:
        """By how much less than `uncapped` the guarded plan costs, in the mean."""
        agent = Foresight(CarbonForecast(self.trained()))
        costs = [_cost(instance, GuardedAgent(agent), self.given.forecast) for instance in self.given.held]
        return float(np.mean([1 - cost / rule if rule else 0.0 for cost, rule in zip(costs, self.rule, strict=True)]))

    def trained(self) -> Trained:
        """Scale and weights."""
        given = self.given
        settings: dict[str, bool | int | float | str] = {"penalty": PENALTY, "forecast": given.forecast}
        settings["slot_s"] = given.months[0].slot_s
        card = Card(
            name=self.name,
            kind=KIND,
            problem=PROBLEM,
            scenario=given.scenario,
            split=given.split,
            seed=self.seed,
            steps=self.seen,
            settings=settings,
        )
        scale = self._scale()
        return Trained({"scale": scale, "weights": self._weights() * scale[:, None]}, card)

    def state(self) -> Mapping[str, object]:
        """The sums, and the generator of stretches."""
        return {
            "squares": torch.from_numpy(self.squares.copy()),
            "products": torch.from_numpy(self.products.copy()),
            "seen": self.seen,
            "lots": json.dumps(self.rng.bit_generator.state),
        }

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from there."""
        squares, products = state["squares"], state["products"]
        assert isinstance(squares, torch.Tensor)
        assert isinstance(products, torch.Tensor)
        self.squares, self.products = squares.numpy().copy(), products.numpy().copy()
        self.seen = int(str(state["seen"]))
        self.rng.bit_generator.state = json.loads(str(state["lots"]))


def rows(month: VccInstance, forecast: str) -> tuple[Floats, Floats]:
    """Features, shape (N, FEATURES), and the carbon that came, relative to their unit, shape (N, LEADS)."""
    believe, told, came = named_forecast(forecast), [], []
    beliefs = [believed_carbon(month, t, believe, 0) for t in range(month.horizon)]
    seen, remembered = np.array([belief[0] for belief in beliefs]), REMEMBERED_DAYS * DAY
    for t in range(EARLIEST, month.horizon - LEADS + 1):
        unit, given = features(seen[max(0, t + 1 - remembered) : t + 1], beliefs[t], t % DAY)
        told.append(given)
        came.append(month.carbon[t : t + LEADS] / unit - 1)
    return np.array(told).reshape(-1, FEATURES), np.array(came).reshape(-1, LEADS)


def stretch(month: VccInstance, first: int, days: int) -> VccInstance:
    """Some days of it, without jobs, as if it began there."""
    slots = slice(DAY * first, DAY * (first + days))
    return month.model_copy(
        update={
            "carbon_kg_per_kwh": month.carbon_kg_per_kwh[slots],
            "carbon_forecast": month.carbon_forecast and month.carbon_forecast[slots],
            "inflexible_ncu": month.inflexible_ncu[slots],
            "jobs": (),
        }
    )


def _cost(instance: VccInstance, policy: object, forecast: str) -> float:
    found = replay(instance, policy, forecast=forecast).objective  # type: ignore[arg-type]
    assert found is not None
    return found


def months(forecast: str) -> Stretches:
    """Nine months of the signal; validated on two others, under Google's jobs at three loads.

    Raises
    ------
    OptschedError : the data is not there.
    """
    folder = data()
    if folder is None:
        raise OptschedError("the scenario months needs google2019 and moer in $OPTSCHED_DATA: --scenario synthetic needs none")
    given = []
    for month in TRAIN.months:
        carbon, issued = carbon_of(month, folder)
        slots = DAY * MONTH_DAYS
        given.append(
            VccInstance(
                name=month,
                capacity_ncu=1.0,
                carbon_kg_per_kwh=tuple(carbon.tolist()),
                carbon_forecast=issued,
                inflexible_ncu=(0.0,) * slots,
                jobs=(),
            )
        )
    return Stretches("months", WORDS, given, every(VALIDATION, FIRSTS, folder), forecast)


def made(name: str, count: int, days: int, held: int, forecast: str) -> Stretches:
    """Synthetic weeks of other seeds."""
    given = synthetic(count, np.random.default_rng(CASES_SEED), days)
    judged = synthetic(held, np.random.default_rng(VALIDATION_SEED), days)
    return Stretches(
        name, f"generated, of other seeds: {count} cases in training, {held} in validation", given, judged, forecast
    )


def own(instances: Sequence[Instance], forecast: str) -> Stretches:
    """Somebody's instances, to learn from and to be judged by.

    Raises
    ------
    OptschedError : one is too short, or has other slots than hours.
    """
    given = [instance for instance in instances if isinstance(instance, VccInstance)]
    for instance in given:
        if instance.day_slots != DAY:
            raise OptschedError(
                f"a forecast is learned for slots of an hour, those of {instance.name!r} are of {instance.slot_s:g} s"
            )
        if instance.horizon < LEAST:
            raise OptschedError(f"{instance.name!r} has {instance.horizon} slots, a forecast is learned from {LEAST} at least")
    names = ", ".join(instance.name for instance in given)
    split = f"trained and validated on {names}: its figures there are of what it knows"
    return Stretches("instance", split, given, given, forecast)


SCENARIOS: dict[str, Callable[[str], Stretches]] = {
    "months": months,
    "synthetic": lambda forecast: made("synthetic", 96, 7, VALIDATED, forecast),
    "toy": lambda forecast: made("toy", 12, 3, 3, forecast),
}


def learned(scenario: str, instances: Sequence[Instance], seed: int, forecast: str = FORECAST) -> Learner:
    """For ``optsched train vcc-forecast``."""
    given = own(instances, forecast) if instances else SCENARIOS[scenario](forecast)
    return ForecastLearner("vcc-forecast", given, seed)
