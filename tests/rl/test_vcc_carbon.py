"""The learned forecast of carbon: without units, by hand, nothing of the future; and it learns what comes every day."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from optsched.instances.generators import vcc
from optsched.instances.vcc import VccInstance
from optsched.rl.trained import Card, Trained
from optsched.rl.vcc.carbon import DAY, FEATURES, KIND, LEADS, CarbonForecast, features
from optsched.rl.vcc.observation import Past
from optsched.rolling.policy import Settings
from optsched.rolling.vcc.agents import AgentPolicy, Foresight
from optsched.rolling.vcc.plan import planned_cap
from optsched.rolling.vcc.policies import Rolling
from optsched.rolling.vcc.simulator import VccSimulator


def forecast(weights: np.ndarray, slot_s: float = 3600.0) -> CarbonForecast:
    """A regression with these weights."""
    settings: dict[str, bool | int | float | str] = {"slot_s": slot_s, "forecast": "fitted"}
    card = Card(name="x", kind=KIND, problem="vcc", scenario="toy", split="none", seed=0, steps=0, settings=settings)
    return CarbonForecast(Trained({"scale": np.ones(FEATURES), "weights": weights}, card))


def test_features_have_no_unit() -> None:
    rng = np.random.default_rng(0)
    seen, believed = rng.uniform(0.1, 1.0, 100), rng.uniform(0.1, 1.0, 40)
    (one, first), (three, second) = features(seen, believed, 7), features(3 * seen, 3 * believed, 7)
    assert three == pytest.approx(3 * one)
    assert np.allclose(first, second)
    assert first.shape == (FEATURES,)


@pytest.mark.parametrize("hours", [1, 5, 23, 24, 100, 300])
def test_the_same_all_the_time_is_no_deviation(hours: int) -> None:
    unit, told = features(np.full(hours, 0.3), np.full(50, 0.3), 0)
    assert unit == pytest.approx(0.3)
    assert told[0] == 1.0
    assert np.allclose(told[7:-1], 0.0)
    assert told[-1] == min(hours - 1, 96) / 96


def test_the_same_hours_of_days_before_by_hand() -> None:
    """A day of 2 .. 48 and one of 1 .. 24: what the next hours were is told as their mean over the days that have seen them."""
    hours = np.arange(1.0, 25)
    unit, told = features(np.concatenate([2 * hours, hours]), np.full(30, 12.5), 23)
    assert unit == pytest.approx(12.5)
    assert np.allclose(told[-1 - DAY : -1], 1.5 * hours / 12.5 - 1)


def test_what_is_foretold_takes_the_place_of_the_first_hours() -> None:
    instance = vcc(days=3, jobs=50, load=0.1)
    simulator = VccSimulator(instance)
    snapshot = simulator.snapshot()
    assert snapshot is not None
    past, weights = Past().seen(snapshot), np.zeros((FEATURES, LEADS))
    weights[0] = 0.5  # half as much again as the unit, always
    found = forecast(weights).believed(snapshot, past)
    unit, _ = features(np.array(past.carbon), snapshot.carbon, 0)
    assert np.allclose(found.carbon[:LEADS], 1.5 * unit)
    assert np.allclose(found.carbon[LEADS:], snapshot.carbon[LEADS:])
    assert forecast(weights, 1800.0).believed(snapshot, past) is snapshot  # slots that it does not know
    assert (forecast(np.full((FEATURES, LEADS), -9.0)).believed(snapshot, past).carbon >= 0.0).all()


def test_it_plans_as_rolling_does() -> None:
    """Where it foretells nothing: from what it remembers of the hours, for the days that rolling remembers too."""
    simulator, rolling = VccSimulator(vcc(days=4, jobs=200, load=0.15, seed=3)), Rolling(Settings())
    bare = AgentPolicy(Foresight(forecast(np.zeros((FEATURES, LEADS)), 1.0)))
    while (snapshot := simulator.snapshot()) is not None:
        wanted = planned_cap(snapshot, rolling._coming(snapshot))
        decision = bare.decide(snapshot)
        assert decision.cap == (wanted,)
        simulator.apply(decision)


def test_before_a_day_has_been_seen_it_is_not_at_home() -> None:
    snapshot = VccSimulator(vcc(days=2, jobs=20, load=0.1)).snapshot()
    assert snapshot is not None
    agent = Foresight(forecast(np.zeros((FEATURES, LEADS))))
    told = [agent.at_home(snapshot, Past(carbon=(0.3,) * hours), 0.0) for hours in (1, 23, 24, 100)]
    assert told == [False, False, True, True]


def wave(days: int) -> VccInstance:
    """Carbon that comes again every day, which a fitted forecast learns slowly and a regression at once."""
    slots = np.arange(days * DAY)
    carbon = 0.3 + 0.1 * np.sin(2 * np.pi * slots / DAY) + 0.05 * np.cos(4 * np.pi * slots / DAY)
    return vcc(days=days, jobs=20 * days, load=0.1).model_copy(update={"carbon_kg_per_kwh": tuple(carbon.tolist())})


@pytest.mark.rl
def test_it_learns_what_comes_every_day_and_goes_on_where_it_was() -> None:
    pytest.importorskip("torch")
    from optsched.rolling.vcc.forecasting import ForecastLearner, Stretches

    given = Stretches("toy", "none", [wave(14)], [vcc(days=2, jobs=30, load=0.1)], "fitted")
    one, other = ForecastLearner("x", given, 5), ForecastLearner("x", given, 5)
    errors = [one.turn()["error"] for _ in range(12)]
    assert errors[-1] < 0.05 < errors[0]
    for _ in range(4):
        other.turn()
    kept, third = other.state(), ForecastLearner("x", given, 5)
    third.restore(kept)
    for _ in range(8):
        third.turn()
    assert third.trained().sha256 == one.trained().sha256
    assert third.validate() == one.validate()


@pytest.mark.rl
def test_a_validation_that_was_interrupted_is_made_on_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from optsched.rl.learner import Run, curve_of
    from optsched.rolling.vcc.forecasting import ForecastLearner, Stretches

    given = Stretches("toy", "none", [wave(14)], [vcc(days=2, jobs=30, load=0.1)], "fitted")
    whole = Run.begin(ForecastLearner("x", given, 5), tmp_path / "whole.npz")
    whole.go(800, 300)
    stopped = ForecastLearner("x", given, 5)
    part, validate, asked = Run.begin(stopped, tmp_path / "part.npz"), stopped.validate, []

    def interrupted() -> float:
        asked.append(stopped.steps)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return validate()

    monkeypatch.setattr(stopped, "validate", interrupted)
    part.go(800, 300)
    assert part.scores == whole.scores[:1]
    again = Run.resume(ForecastLearner("x", given, 5), tmp_path / "part.npz")
    again.go(800, 300)
    assert again.scores == whole.scores
    assert curve_of(tmp_path / "part.npz").read_text() == curve_of(tmp_path / "whole.npz").read_text()
