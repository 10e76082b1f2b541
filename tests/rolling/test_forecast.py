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
    """4,000 walks: the error a day ahead is what was asked for, and twice that at four days (3 % is 2.7 standard errors)."""
    series = np.full((4000, 50), 20.0)
    error = (noisy(series, 0, 12, seed=3) - series).std(axis=0)
    assert error[12] == pytest.approx(DAY_AHEAD_ERROR * 20, rel=0.04)
    assert error[48] / error[12] == pytest.approx(2, rel=0.06)
    assert (forecast("noisy:0.4")(series, 0, 12, 3) - series).std(axis=0)[12] == pytest.approx(4 * error[12])


@pytest.mark.parametrize("name", ["magic", "", "perfect:0.2", "noisy:-1", "noisy:nan", "noisy:inf", "noisy:much"])
def test_wrong_names(name: str) -> None:
    """One line that says what there is, or what an error looks like."""
    with pytest.raises(OptschedError, match=r"noisy:0\.2") as refused:
        forecast(name)
    assert "\n" not in str(refused.value)
