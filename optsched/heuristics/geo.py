"""geo: a feasible schedule in milliseconds, for a start and for when time runs out."""

from __future__ import annotations

from optsched.heuristics.time_indexed import construct, densest_first
from optsched.instances.geo import GeoInstance
from optsched.models.geo import program, to_schedule
from optsched.schedules.geo import GeoSchedule


def greedy(instance: GeoInstance, seed: int = 0) -> GeoSchedule:
    """Jobs by utility a GPU-slot, each at the site and start that earn most among those that still fit."""
    options, departure = program(instance)
    return to_schedule(instance, options, departure, construct(options, densest_first(options)))


HEURISTICS = {"greedy": greedy}
