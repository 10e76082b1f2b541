"""What it costs to begin late, or never: in columns of their own whose costs are not negative.

So no large ones cancel, and one that costs too much is cut off.
"""

from __future__ import annotations

from collections.abc import Iterable

from optsched.instances.vcc import VccInstance

Prices = dict[tuple[int, int], float]


def waiting(instance: VccInstance, of: Iterable[tuple[float, int, int, int]]) -> tuple[Prices, Prices, float]:
    """Of jobs, or of classes of jobs alike, an hour of a slot.

    Parameters
    ----------
    of : NCU, duration, slot of submission and last slot without a charge of each.

    Returns
    -------
    tuple
        By row and slot from its submission on: what not to have begun by then leaves undone, and the delay of beginning then.
        And what is undone whatever happens.
    """
    slots, undone, late = instance.horizon, instance.unfinished_penalty_per_ncu_h, instance.delay_penalty_per_ncu_h
    waits, delays, constant = Prices(), Prices(), 0.0
    for i, (ncu, duration, submitted, due) in enumerate(of):
        # of its last slots, as many as it is long, each in which it has not begun is one that it lacks
        constant += undone * ncu * max(0, duration - slots + submitted)
        waits |= {(i, t): undone * ncu for t in range(max(submitted, slots - duration), slots)}
        delays |= {(i, t): late * ncu * (t - due) for t in range(max(submitted, due + 1), slots)}
    return waits, delays, constant
