"""What may be believed of a signal's future: capacity, price and carbon, from what has been seen of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Floats

Forecast = Callable[[Floats, int, int, int], Floats]
"""(series of shape (R, T), present index, indices a day, seed) -> present and believed future, shape (R, T - now)."""

DAY_AHEAD_ERROR = 0.1


def perfect(series: Floats, now: int, day: int, seed: int) -> Floats:
    """The truth."""
    return series[:, now:].copy()


def persistence(series: Floats, now: int, day: int, seed: int) -> Floats:
    """As it is now."""
    return np.repeat(series[:, now : now + 1], series.shape[1] - now, axis=1)


def yesterday(series: Floats, now: int, day: int, seed: int) -> Floats:
    """As in the same slot of the last day that has been seen; as now where there is none yet."""
    lead = np.arange(series.shape[1] - now)
    back = now + lead - day * -(-lead // day)
    return np.where(back >= 0, series[:, np.maximum(back, 0)], series[:, now : now + 1])


def noisy(series: Floats, now: int, day: int, seed: int, error: float = DAY_AHEAD_ERROR) -> Floats:
    """The truth and a random walk: `error` of the mean size so far after a day, and more by the root of the lead."""
    truth = series[:, now:]
    steps = np.random.default_rng((seed, now)).standard_normal(truth.shape)
    steps[:, 0] = 0.0
    size = np.abs(series[:, : now + 1]).mean(axis=1, keepdims=True)
    return np.asarray(truth + np.cumsum(steps, axis=1) * error * size / np.sqrt(day))


def fitted(series: Floats, now: int, day: int, seed: int) -> Floats:
    """The mean of the same slot on the days seen, and the present deviation from it, which fades at its fitted rate.

    A first-order autoregression on the deviations; with less than a day seen, the mean so far stands in for the slot's mean.
    """
    past = series[:, : now + 1]
    slot = np.arange(series.shape[1]) % day
    mean = np.repeat(past.mean(axis=1, keepdims=True), day, axis=1)
    if now >= day:
        for s in range(day):
            mean[:, s] = past[:, slot[: now + 1] == s].mean(axis=1)
    deviation = past - mean[:, slot[: now + 1]]
    before, after = deviation[:, :-1], deviation[:, 1:]
    power = (before * before).sum(axis=1)
    fade = np.where(power > 1e-12, (before * after).sum(axis=1) / np.maximum(power, 1e-12), 1.0)
    lead = np.arange(series.shape[1] - now)
    return np.asarray(mean[:, slot[now:]] + deviation[:, -1:] * np.clip(fade, 0.0, 1.0)[:, None] ** lead)


FORECASTS: dict[str, Forecast] = {
    "perfect": perfect,
    "persistence": persistence,
    "yesterday": yesterday,
    "noisy": noisy,
    "fitted": fitted,
}


def forecast(name: str) -> Forecast:
    """The forecast of that name; ``noisy:0.2`` errs by 20 % a day ahead.

    Raises
    ------
    OptschedError : no such forecast, or an error that is no number from 0 on.
    """
    word, _, value = name.partition(":")
    if word not in FORECASTS or (value and word != "noisy"):
        raise OptschedError(f"no forecast {name!r}, there are: {', '.join(FORECASTS)}; noisy takes an error, as in noisy:0.2")
    if not value:
        return FORECASTS[word]
    try:
        error = float(value)
    except ValueError:
        error = -1.0
    if not 0 <= error < 100:
        raise OptschedError(f"the error of a noisy forecast is a number from 0 on, e.g. noisy:0.2, got {value!r}")
    return partial(noisy, error=error)
