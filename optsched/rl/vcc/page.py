"""What an agent sees of a data centre: the 27 numbers of the DatacenterEnv page."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance

AHEAD = 24  # slots of carbon forecast
SIZE = 3 + AHEAD


def forecast_rows(believed: list[Floats]) -> np.ndarray:
    """The next 24 slots of each belief, its last value repeated past the horizon, shape (len(believed), 24)."""
    rows = [row[np.minimum(np.arange(AHEAD), len(row) - 1)] for row in believed]
    return np.array(rows, dtype=np.float32).reshape(len(believed), AHEAD)


def observe(cap: float, snapshot: VccInstance) -> np.ndarray:
    """The last cap, flexible load that runs on (NCU), jobs waiting, carbon forecast (kg/kWh), shape (27,)."""
    head = np.array([cap, snapshot.running[0], len(snapshot.jobs)], dtype=np.float32)
    return np.concatenate([head, forecast_rows([snapshot.carbon])[0]])
