"""What may be believed of a signal's future: capacity, price and carbon, from what has been seen of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache, partial
from statistics import NormalDist

import numpy as np

from optsched.errors import OptschedError, meant
from optsched.instances.base import Floats, Instance

Forecast = Callable[[Floats, int, int, int], Floats]
"""(series of shape (R, T), present index, indices a day, seed) -> present and believed future, shape (R, T - now)."""

DAY_AHEAD_ERROR = 0.1
LARGEST_ERROR = 100.0  # relative: whoever wants more has meant per cent
WAVES = 16  # cosines whose mean is the correlation of one innovation over target slots
ALIKE_DAYS = 1 / 8  # targets three hours apart share 61 % of an innovation, six hours apart 13 %


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
    """The truth and one path of errors: a share `error` of the size a day ahead, more by the root of the lead, none at present.

    The error of a target slot is the sum of the innovations that are still to come until then, one a slot, each shared by
    neighbouring targets. An older forecast is the latest one and innovations that have passed, which say nothing of those to
    come: the latest is all there is to know. For that the size must be the same at every issue time (older forecasts with
    smaller errors would be worth keeping) and must not depend on the future: it is that of the first value, and 1 where that
    is zero.
    """
    first = np.abs(series[:, :1])
    size = np.where(first > 0.0, first, 1.0)
    passed, waves, to_target = _innovations(seed, *series.shape, day)
    unknown = to_target[:, now:] - passed[:, now] @ waves[now:].T
    unknown[:, 0] = 0.0  # exactly, whatever the rounding
    return np.asarray(series[:, now:] + unknown * error * size / np.sqrt(day))


@lru_cache(maxsize=4)  # drawn once a replay: the same path at each issue time, and again on resuming
def _innovations(seed: int, rows: int, slots: int, day: int) -> tuple[Floats, Floats, Floats]:
    """Innovations as waves over target slots with normal amplitudes (spectral representation, Shinozuka and Deodatis 1991).

    Returns
    -------
    Amplitudes summed up to each slot, shape (rows, slots, 2 WAVES); waves of norm 1 by target slot, shape (slots, 2 WAVES);
    the sum of each target's innovations up to the target itself, shape (rows, slots).
    """
    quantiles = [NormalDist().inv_cdf(0.5 + (m + 0.5) / (2 * WAVES)) for m in range(WAVES)]
    phase = np.outer(np.arange(slots), quantiles) / (ALIKE_DAYS * day)
    waves = np.concatenate([np.cos(phase), np.sin(phase)], axis=1) / np.sqrt(WAVES)
    drawn = [np.random.default_rng((seed, row)).standard_normal((slots, 2 * WAVES)) for row in range(rows)]
    passed = np.cumsum(np.array(drawn).reshape(rows, slots, 2 * WAVES), axis=1)
    return passed, waves, np.einsum("rtw,tw->rt", passed, waves)


def noise_seed(seed: int, truth: Instance, signal: str) -> int:
    """The seed of a signal's noise, from that of a replay.

    A policy knows the replay's seed, but not the truth's hash; and two signals with the same noise would uncover one another.
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {truth.sha256} {signal}".encode()).digest()[:8])


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
    OptschedError : no such forecast, or an error that is no number from 0 to below 100.
    """
    if not isinstance(name, str):
        raise OptschedError(f"a forecast is a name, got {name!r:.60}")
    word, colon, value = name.partition(":")
    if word not in FORECASTS or (colon and word != "noisy"):
        raise OptschedError(f"no forecast {name!r}{meant(word, FORECASTS)}; noisy takes an error, as in noisy:0.2")
    if not colon:
        return FORECASTS[word]
    try:
        error = float(value)
    except ValueError:
        error = -1.0
    if not 0 <= error < LARGEST_ERROR:
        said = f"the error of noisy is a number from 0 to below {LARGEST_ERROR:g}, e.g. noisy:0.2 for 20 %, got {value!r}"
        raise OptschedError(said)
    return partial(noisy, error=error)
