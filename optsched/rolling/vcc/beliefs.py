"""What may be believed of carbon: the forecasts that were issued, where the instance has them, and a fitted series beyond."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.rolling.forecast import Forecast, noise_seed, perfect


def believed_carbon(instance: VccInstance, now: int, forecast: Forecast, seed: int) -> Floats:
    """Carbon from slot `now` on as believed then, shape (T - now,); never negative. `seed` is the replay's."""
    believed = forecast(instance.carbon[None, :], now, instance.day_slots, noise_seed(seed, instance, "carbon"))[0]
    if instance.carbon_forecast is not None and forecast is not perfect:
        issued = instance.carbon_forecast[now][: len(believed)]
        believed[: len(issued)] = issued
    return np.asarray(np.maximum(0.0, believed))
