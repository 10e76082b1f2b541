"""vcc: caps by rule, and the queue that follows from them."""

from __future__ import annotations

import numpy as np

from optsched.instances.vcc import VccInstance
from optsched.models.vcc.staircase import feasible
from optsched.schedules.vcc import VccSchedule, played


def uncapped(instance: VccInstance, seed: int = 0) -> VccSchedule:
    """Cap 1: every job starts as soon as the data centre has room."""
    return played(instance, (1.0,) * instance.horizon)


def constant(instance: VccInstance, seed: int = 0, *, cap: float = 0.1) -> VccSchedule:
    """The same cap in every slot."""
    return played(instance, (min(1.0, cap),) * instance.horizon)


def threshold(instance: VccInstance, seed: int = 0, *, quantile: float = 0.5, low: float = 0.02) -> VccSchedule:
    """Cap 1 while carbon is within the quantile of the 24 hours from now on, else `low`."""
    carbon, day = instance.carbon, instance.day_slots
    ahead = [np.quantile(carbon[t : t + day], min(1.0, quantile)) for t in range(instance.horizon)]
    return played(instance, np.where(carbon <= np.array(ahead) + 1e-12, 1.0, min(1.0, low)).tolist())


def greedy(instance: VccInstance, seed: int = 0) -> VccSchedule:
    """Jobs as soon as they fit, under the highest cap that starts no more."""
    if instance.preempt:
        return uncapped(instance)
    return feasible(instance, instance.arrived.astype(float)).schedule()


HEURISTICS = {"greedy": greedy, "uncapped": uncapped, "constant": constant, "threshold": threshold}
