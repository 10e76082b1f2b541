"""deferrable: what no schedule, online or offline, can exceed."""

from __future__ import annotations

from optsched.decomposition.dual import solve_dual
from optsched.instances.deferrable import DeferrableInstance
from optsched.models.deferrable import program


def clairvoyant(instance: DeferrableInstance) -> float:
    """A bound on the objective of whoever knows everything: the Lagrangian dual, in core-slots."""
    options = program(instance)
    return solve_dual(options.where(options.value > 0)).bound
