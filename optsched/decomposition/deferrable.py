"""deferrable: its options for the decomposition, and what no schedule, online or offline, can exceed."""

from __future__ import annotations

from functools import partial

from optsched.decomposition.dual import solve_dual
from optsched.decomposition.listing import Listing
from optsched.decomposition.method import Decomposition, many_options
from optsched.instances.deferrable import DeferrableInstance
from optsched.models.deferrable import program, selected, to_schedule
from optsched.schedules.deferrable import DeferrableSchedule

METHOD = Decomposition
EMPTY = DeferrableSchedule(starts=())


def listed(instance: DeferrableInstance) -> Listing:
    """Start slots of the jobs."""
    full = program(instance)
    options = full.where(full.value > 0)
    return Listing(
        program=options,
        places=("cores",),
        schedule=partial(to_schedule, instance, options),
        selected=partial(selected, instance),
    )


def too_large(instance: DeferrableInstance) -> str | None:
    """Why the exact method would not finish."""
    return many_options(instance, listed)


def clairvoyant(instance: DeferrableInstance) -> float:
    """A bound on the objective of whoever knows everything: the Lagrangian dual, in core-slots."""
    return solve_dual(listed(instance).program).bound
