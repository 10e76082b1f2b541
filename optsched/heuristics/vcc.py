"""vcc: caps by rule, and the queue that follows from them: played to its end, where time is short too, for it takes seconds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optsched.errors import OptschedError
from optsched.family import Heuristic
from optsched.instances.base import Floats, Share
from optsched.instances.vcc import VccInstance
from optsched.problems.vcc import round_down_to_feasible
from optsched.schedules.vcc import VccSchedule, simulate_queue
from optsched.stop import Spare


def uncapped_cap(instance: VccInstance) -> Floats:
    """Cap 1 in every slot."""
    return np.ones(instance.horizon)


def constant_cap(instance: VccInstance, cap: Share = 0.1) -> Floats:
    """The same cap in every slot."""
    return np.full(instance.horizon, _share("cap", cap))


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise OptschedError(f"{name} is a share, from 0 to 1, got {value:g}")
    return value


def threshold_cap(instance: VccInstance, quantile: Share = 0.5, low: Share = 0.02, *, slots: int | None = None) -> Floats:
    """Cap 1 while carbon is within the quantile of the 24 hours from then on, else `low`; of the first `slots` alone."""
    last, day, share = instance.horizon, min(instance.day_slots, instance.horizon), _share("quantile", quantile)
    slots = last if slots is None else min(slots, last)
    carbon = instance.carbon[: slots + day]
    whole = np.quantile(np.lib.stride_tricks.sliding_window_view(carbon, day), share, axis=1)
    ahead = np.append(whole, [np.quantile(carbon[t:], share) for t in range(len(whole), slots)])[:slots]
    return np.where(carbon[:slots] <= ahead + 1e-12, 1.0, _share("low", low))


def greedy(instance: VccInstance, seed: int = 0, *, spare: Spare | None = None) -> VccSchedule:
    """Jobs as soon as they fit, under the highest cap that starts no more."""
    if instance.preempt:
        return uncapped(instance)
    return round_down_to_feasible(instance, instance.arrived.astype(float)).schedule()


def uncapped(instance: VccInstance, seed: int = 0, *, spare: Spare | None = None) -> VccSchedule:
    """Cap 1: every job starts as soon as the data centre has room."""
    return simulate_queue(instance, uncapped_cap(instance).tolist())


def constant(instance: VccInstance, seed: int = 0, *, cap: Share = 0.1, spare: Spare | None = None) -> VccSchedule:
    """The same cap in every slot."""
    return simulate_queue(instance, constant_cap(instance, cap).tolist())


def threshold(
    instance: VccInstance, seed: int = 0, *, quantile: Share = 0.5, low: Share = 0.02, spare: Spare | None = None
) -> VccSchedule:
    """Cap 1 in the hours of little carbon, a low one in the others."""
    return simulate_queue(instance, threshold_cap(instance, quantile, low).tolist())


RULES: dict[str, Callable[[VccInstance], Floats]] = {
    "uncapped": uncapped_cap,
    "constant": constant_cap,
    "threshold": threshold_cap,
}
HEURISTICS: dict[str, Heuristic[VccInstance, VccSchedule]] = {
    "greedy": greedy,
    "uncapped": uncapped,
    "constant": constant,
    "threshold": threshold,
}
