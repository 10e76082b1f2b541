"""What capacity will be charged: from features of each slot ahead to what the optimum would ask for a core in it."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.rl.deferrable.network import Arrays, linear
from optsched.rl.deferrable.past import ROW, Past
from optsched.rl.deferrable.state import MOST, SOON, Seen

SLOT = 12 + ROW
"""Numbers a slot."""


def slots(seen: Seen, past: Past) -> Floats:
    """Numbers of every slot from the present on, shape (T, `SLOT`), all between -`MOST` and `MOST`."""
    left, horizon = seen.left, len(seen.left)
    usual = max(1e-9, float(left[: SOON[-1]].mean()))
    length, size = (max(1e-9, float(column.mean())) if len(column) else 1.0 for column in (seen.duration, seen.cores))
    ahead = np.arange(horizon)
    wanted, work = np.zeros((2, horizon + 1)), seen.work
    for row, known in enumerate((seen.open, ~seen.open)):  # how many cores could be in use in each slot
        np.add.at(wanted[row], np.minimum(seen.earliest[known], horizon), seen.cores[known])
        np.add.at(wanted[row], np.minimum(seen.latest[known] + seen.duration[known], horizon), -seen.cores[known])
    asked = np.cumsum(wanted, axis=1)[:, :horizon]
    given, least = np.cumsum(left), np.maximum(1e-9, left)
    begun = np.zeros(horizon + 1)  # work that is ready by a slot, to be held against what there was to do it
    np.add.at(begun, np.minimum(seen.earliest, horizon), work)
    whole = np.array([np.log1p(len(work)) / 4, float(work.sum()) / (usual * SOON[-1]), length / SOON[-1], size / usual])
    lately = np.array(past.rows[-6:]).reshape(-1, ROW)
    behind = lately.mean(axis=0) if len(lately) else np.zeros(ROW)
    found = np.column_stack(
        [
            left / usual,
            asked[0] / least / 4,
            asked[1] / least / 4,
            np.cumsum(begun)[:horizon] / np.maximum(1e-9, given) / 2,
            ahead / SOON[-1],
            np.exp(-ahead / length),
            (horizon - ahead) / SOON[-1] / 4,
            np.full(horizon, seen.delay_penalty * length / max(1e-9, size * length)),
            np.broadcast_to(whole, (horizon, len(whole))),
            np.broadcast_to(behind, (horizon, ROW)),
        ]
    )
    return np.asarray(np.clip(found, -MOST, MOST))


def charged(arrays: Arrays, numbers: Floats) -> Floats:
    """Core-slots that a core costs in each slot, shape (T,)."""
    hidden = np.tanh(linear(arrays, "layers.0", numbers))
    hidden = np.tanh(linear(arrays, "layers.2", hidden))
    return np.logaddexp(0.0, linear(arrays, "layers.4", hidden)[:, 0])
