"""geo: its options for the decomposition, and what no schedule, online or offline, can exceed."""

from __future__ import annotations

from functools import partial

from optsched.decomposition.dual import solve_dual
from optsched.decomposition.listing import Listing
from optsched.decomposition.method import Decomposition, many_options
from optsched.instances.geo import GeoInstance
from optsched.models.geo import program, selected, to_schedule
from optsched.schedules.geo import GeoSchedule

METHOD = Decomposition
EMPTY = GeoSchedule(starts=())


def listed(instance: GeoInstance) -> Listing:
    """Sites and start slots of the jobs."""
    full, departure = program(instance)
    worth = full.value > 0
    options = full.where(worth)
    return Listing(
        program=options,
        places=tuple(site.id for site in instance.sites),
        schedule=partial(to_schedule, instance, options, departure[worth]),
        selected=partial(selected, instance),
    )


def too_large(instance: GeoInstance) -> str | None:
    """Why the exact method would not finish."""
    return many_options(instance, listed)


def clairvoyant(instance: GeoInstance) -> float:
    """A bound on the utility of whoever knows everything: the Lagrangian dual, in USD."""
    return solve_dual(listed(instance).program).bound
