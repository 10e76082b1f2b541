"""geo: what no schedule, online or offline, can exceed."""

from __future__ import annotations

from optsched.decomposition.dual import solve_dual
from optsched.instances.geo import GeoInstance
from optsched.models.geo import program


def clairvoyant(instance: GeoInstance) -> float:
    """A bound on the utility of whoever knows everything: the Lagrangian dual, in USD."""
    options, _ = program(instance)
    return solve_dual(options.where(options.value > 0)).bound
