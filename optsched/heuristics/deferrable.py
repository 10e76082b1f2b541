"""deferrable: a feasible schedule in milliseconds, for a start and for when time runs out."""

from __future__ import annotations

import numpy as np

from optsched.heuristics.time_indexed import construct
from optsched.instances.deferrable import DeferrableInstance
from optsched.models.deferrable import program, to_schedule
from optsched.schedules.deferrable import DeferrableSchedule


def greedy(instance: DeferrableInstance, seed: int = 0) -> DeferrableSchedule:
    """Jobs by earliest slot, the larger first, each where it earns most after the overload that it adds."""
    options = program(instance)
    order = np.lexsort((-options.demand * options.duration, instance.columns.earliest))
    return to_schedule(instance, options, construct(options, order))


HEURISTICS = {"greedy": greedy}
