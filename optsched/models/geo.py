"""geo: MASAC's program, eqs. (2)-(7), time-indexed over sites and start slots: docs/formulations/geo.md."""

from __future__ import annotations

from optsched.instances.base import Ints
from optsched.instances.geo import GeoInstance
from optsched.models.base import Model
from optsched.models.time_indexed import LoadBalanceForm, PulseForm, TimeIndexed
from optsched.problems.geo import selected, time_indexed, to_schedule
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.schedules.geo import GeoSchedule


class _Geo(TimeIndexed[GeoInstance, GeoSchedule]):
    def options(self) -> TimeIndexedProblem:
        """The instance's program; keeps the departures."""
        full, self.departure = time_indexed(self.instance)
        return full

    def schedule(self, chosen: Ints) -> GeoSchedule:
        """Starts of the chosen options, each with its best departure."""
        return to_schedule(self.instance, self.program, self.departure[self.kept], chosen)

    def selected(self, schedule: GeoSchedule) -> list[tuple[int, int, int]]:
        """(job, site, start) of every start."""
        return selected(self.instance, schedule)


class GeoState(_Geo, LoadBalanceForm[GeoInstance, GeoSchedule]):
    """Load as a state: three non-zeros an option, however long it runs."""


class GeoCover(_Geo, PulseForm[GeoInstance, GeoSchedule]):
    """A row a site and slot over the covering options, as (7c) is printed."""


FORMULATIONS: dict[str, type[Model[GeoInstance, GeoSchedule]]] = {m.name: m for m in (GeoCover, GeoState)}
