"""What an agent decides: which share of the waiting load starts now. The cap is the highest that starts no more."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.problems.vcc import JUST_BELOW
from optsched.rl.vcc.observation import MOST_ASKED, WAITED

STEEP = 1.25  # so that nothing is found well inside of [-1, 1], where a squashed action comes close to but never at
CROWDED = 0.5  # of the capacity, asked for in a day
HELD = 1 / 3  # of the delay limit
ROUNDING = 1e-9


def to_share(action: Floats, seen: Floats) -> Floats:
    """From [-1, 1] to a share from 0 to 1, shape (B,); half of it means all, for holding back is worth its price seldom.

    All starts, too, where a day has asked for half of the capacity, for such a day needs every cap, and where the head has
    waited for a third of the delay limit: whoever holds on for ever pays for the end. `seen` has the shape (B, SIZE).
    """
    share = np.clip(1.0 + STEEP * action, 0.0, 1.0)
    return np.where((seen[:, MOST_ASKED] > CROWDED) | (seen[:, WAITED] >= HELD), 1.0, share)


def to_action(share: Floats) -> Floats:
    """And back, with all at 1."""
    return np.where(share >= 1.0, 1.0, (share - 1.0) / STEEP)


def cap_of(share: float, snapshot: VccInstance) -> float:
    """1 where all that waits may start, else just too little for the first job beyond that share of its NCU."""
    ncu = snapshot.columns.ncu
    upto = np.cumsum(ncu)
    if not len(upto) or share >= 1.0:
        return 1.0
    count = int(np.searchsorted(upto, share * upto[-1] * (1 + ROUNDING), side="right"))
    if count == len(upto):
        return 1.0
    units = snapshot.units
    wanted = units.running[0] + units.ncu[: count + 1].sum()
    return min(1.0, float(wanted) / units.capacity * JUST_BELOW)
