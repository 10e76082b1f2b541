"""Forecasts: the present as it is, the future from what has been seen of it (or from the truth, where the name says so)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from optsched.errors import OptschedError
from optsched.instances.base import Floats
from optsched.rolling.forecast import DAY_AHEAD_ERROR, FORECASTS, fitted, forecast, noisy, perfect, persistence, yesterday

HONEST = sorted(FORECASTS.keys() - {"perfect", "noisy"})
WEEK = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0.0, 0, 9, 9, 0, 0, 9, 9, 0, 0]])


def test_perfect_is_the_truth() -> None:
    assert perfect(WEEK, 4, 4, 0).tolist() == WEEK[:, 4:].tolist()


def test_persistence_repeats_the_present() -> None:
    assert persistence(WEEK, 7, 4, 0).tolist() == [[8.0] * 3, [9.0] * 3]


@pytest.mark.parametrize(
    ("now", "believed"),
    [
        (8, [9, 6]),
        (5, [6, 3, 4, 5]),  # slots 6, 7, 8 are as 2, 3, 4
        (2, [3, 3, 1, 2]),  # slot 3 was never seen: as now; slots 4 and 5 are as 0 and 1
        (0, [1, 1, 1, 1]),
    ],
)
def test_yesterday_within_a_day(now: int, believed: list[float]) -> None:
    assert yesterday(WEEK[:1], now, 4, 0)[0, :4].tolist() == believed


def test_yesterday_wraps_beyond_a_day() -> None:
    """Three slots a day, in slot 4: slots 5 and 6 are as 2 and 3, and so are 8 and 9, a day later."""
    series = np.arange(12.0)[None, :]
    assert yesterday(series, 4, 3, 0)[0, 1:3].tolist() == [2, 3]
    assert yesterday(series, 4, 3, 0)[0, 4:6].tolist() == [2, 3]


def test_yesterday_a_whole_day_ahead_is_as_now() -> None:
    """The last day on which that slot was seen is today."""
    assert yesterday(np.arange(12.0)[None, :], 4, 3, 0)[0].tolist() == [4, 2, 3, 4, 2, 3, 4, 2]


@pytest.mark.parametrize(
    ("past", "day", "future"),
    [
        ([0, 10, 0, 10, 4], 2, [10, 4 / 3]),  # slot means 4/3 and 10; neighbouring deviations are unrelated: they fade at once
        ([4, 4, 1, 1], 10, [2.0, 2.5 - 1.5 / 9]),  # less than a day: mean 2.5, deviations fade to a third a step
        ([7, 7, 7], 10, [7, 7]),
    ],
)
def test_fitted_by_hand(past: list[float], day: int, future: list[float]) -> None:
    series = np.array([[*past, -1e6, -1e6]], dtype=float)
    assert fitted(series, len(past) - 1, day, 0)[0].tolist() == pytest.approx([past[-1], *future])


@st.composite
def seen(draw: st.DrawFn) -> tuple[Floats, int, int, Floats]:
    """A series, the present, slots a day, and other values for the future."""
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 12)))
    values = st.floats(-1e4, 1e4)
    series = draw(arrays(np.float64, shape, elements=values))
    now = draw(st.integers(0, shape[1] - 1))
    other = series.copy()
    other[:, now + 1 :] = draw(arrays(np.float64, (shape[0], shape[1] - now - 1), elements=values))
    return series, now, draw(st.integers(1, 6)), other


@pytest.mark.parametrize("name", FORECASTS)
@given(case=seen())
def test_shape_and_the_exact_present(name: str, case: tuple[Floats, int, int, Floats]) -> None:
    series, now, day, _ = case
    before = series.copy()
    believed = forecast(name)(series, now, day, 1)
    assert believed.shape == (series.shape[0], series.shape[1] - now)
    tolerance = 1e-9 if name == "fitted" else 0.0  # it adds up the mean and the deviation from it
    assert np.abs(believed[:, 0] - series[:, now]).max() <= tolerance
    believed[:] = 0.0  # the caller's, not the truth
    assert (series == before).all()


@pytest.mark.parametrize("name", HONEST)
@given(case=seen())
def test_nobody_peeks(name: str, case: tuple[Floats, int, int, Floats]) -> None:
    """Whatever the future turns out to be, the forecast was the same."""
    series, now, day, other = case
    assert (forecast(name)(series, now, day, 1) == forecast(name)(other, now, day, 1)).all()


def test_noise_is_seeded() -> None:
    first = noisy(WEEK, 2, 4, seed=5)
    assert (first == noisy(WEEK, 2, 4, seed=5)).all()
    assert (first[:, 1:] != noisy(WEEK, 2, 4, seed=6)[:, 1:]).all()
    assert (noisy(WEEK, 2, 4, seed=5, error=0.0) == WEEK[:, 2:]).all()


def test_noise_grows_with_the_root_of_the_lead() -> None:
    """4,000 paths: the error a day ahead is what was asked for, and twice that at four days (3 % is 2.7 standard errors)."""
    series = np.full((4000, 50), 20.0)
    error = (noisy(series, 0, 12, seed=3) - series).std(axis=0)
    assert error[12] == pytest.approx(DAY_AHEAD_ERROR * 20, rel=0.04)
    assert error[48] / error[12] == pytest.approx(2, rel=0.06)
    assert (forecast("noisy:0.4")(series, 0, 12, 3) - series).std(axis=0)[12] == pytest.approx(4 * error[12])


def test_noise_is_one_path() -> None:
    """The error of a slot 24 ahead is what remains of that 32 ahead and 8 innovations; neighbouring slots share innovations."""
    series = np.full((2000, 120), 1.0)
    error = {now: noisy(series, now, 24, seed=1) - 1.0 for now in (40, 48)}
    far, near = error[40][:, 32], error[48][:, 24]  # both of slot 72
    assert np.corrcoef(far, near)[0, 1] == pytest.approx((24 / 32) ** 0.5, abs=0.03)
    assert np.corrcoef(far - near, near)[0, 1] == pytest.approx(0, abs=0.07)
    nearby = [np.corrcoef(near, error[48][:, 24 + apart])[0, 1] for apart in (1, 3, 6, 12)]
    assert nearby == pytest.approx([0.93, 0.57, 0.11, 0], abs=0.07)
    rows = np.corrcoef(near[:1000], near[1000:])[0, 1]
    assert rows == pytest.approx(0, abs=0.1)


def test_noise_knows_nothing_but_the_first_value() -> None:
    """Neither the future nor what has been seen since changes the errors: if the size grew, old forecasts would be better."""
    rng = np.random.default_rng(0)
    series, other = 1 + rng.random((2, 3, 60))
    other[:, 0] = series[:, 0]
    other[:, 30:] *= 1000
    for now in (0, 1, 20, 59):
        first, second = (noisy(values, now, 24, seed=4) - values[:, now:] for values in (series, other))
        assert first == pytest.approx(second, abs=1e-9)
        longer = np.concatenate([series, other], axis=1)
        assert (noisy(longer, now, 24, seed=4)[:, : 60 - now] == noisy(series, now, 24, seed=4)).all()
    doubled = noisy(2 * series, 20, 24, seed=4) - 2 * series[:, 20:]
    assert doubled == pytest.approx(2 * (noisy(series, 20, 24, seed=4) - series[:, 20:]))


def test_a_series_that_begins_at_zero_is_not_known_for_that() -> None:
    error = noisy(np.zeros((500, 30)), 0, 24, seed=2)[:, 24]
    assert error.std() == pytest.approx(DAY_AHEAD_ERROR, rel=0.1)


def waves(kind: str) -> Floats:
    """A week by hours with a size near that of its first value: level, by the time of the day, spikes."""
    rng = np.random.default_rng(5)
    hours = np.arange(168)
    series = np.full(168, 100.0) + rng.normal(0, 10, 168)
    if kind == "days":
        series += 30 * np.sin(hours * 2 * np.pi / 24)
    if kind == "spikes":
        series += 150 * (rng.random(168) < 0.05)
    series[0] = 100.0
    return series


@pytest.mark.parametrize("kind", ["level", "days", "spikes"])
@pytest.mark.parametrize("lead", [6, 12, 24, 48])
def test_old_forecasts_add_nothing_to_the_latest(kind: str, lead: int) -> None:
    """No mean of all forecasts issued for a slot, nor the best combination of them on other seeds, beats the latest by 5 %."""
    series, paths = waves(kind), 120
    targets, back = range(100, 160, 4), range(0, 49, 2)  # the latest first

    def issued(seed: int) -> Floats:
        """Forecasts of each target by age, shape (paths, targets, ages)."""
        rows = np.repeat(series[None, :], paths, axis=0)
        made = {now: noisy(rows, now, 24, seed) for now in {t - lead - age for t in targets for age in back}}
        columns = [[made[t - lead - age][:, lead + age] for age in back] for t in targets]
        return np.array(columns).transpose(2, 0, 1)

    def rmse(believed: Floats) -> float:
        return float(np.sqrt(np.mean((believed - series[list(targets)]) ** 2)))

    train, test = issued(11), issued(12)
    truth = np.tile(series[list(targets)], paths)
    fitted_weights = np.linalg.lstsq(train.reshape(-1, len(back)), truth, rcond=None)[0]
    by_lead = 1 / (lead + np.array(back))
    latest = rmse(test[:, :, 0])
    assert latest == pytest.approx(10 * (lead / 24) ** 0.5, rel=0.1)
    for weights in (np.full(len(back), 1 / len(back)), by_lead / by_lead.sum(), fitted_weights):
        assert rmse(test @ weights) > 0.95 * latest


@pytest.mark.parametrize("name", ["magic", "", "perfect:0.2", "noisy:-1", "noisy:nan", "noisy:inf", "noisy:much"])
def test_wrong_names(name: str) -> None:
    """One line that says what there is, or what an error looks like."""
    with pytest.raises(OptschedError, match=r"noisy:0\.2") as refused:
        forecast(name)
    assert "\n" not in str(refused.value)
