"""deferrable: OSDEC's program, eq. (1), time-indexed with soft capacity: docs/formulations/deferrable.md."""

from __future__ import annotations

from optsched.instances.base import Ints
from optsched.instances.deferrable import DeferrableInstance
from optsched.models.base import Model
from optsched.models.time_indexed import LoadBalanceForm, PulseForm, TimeIndexed
from optsched.problems.deferrable import selected, time_indexed, to_schedule
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.schedules.deferrable import DeferrableSchedule


class _Deferrable(TimeIndexed[DeferrableInstance, DeferrableSchedule]):
    def options(self) -> TimeIndexedProblem:
        """The instance's program."""
        return time_indexed(self.instance)

    def schedule(self, chosen: Ints) -> DeferrableSchedule:
        """Starts of the chosen options."""
        return to_schedule(self.instance, self.program, chosen)

    def selected(self, schedule: DeferrableSchedule) -> list[tuple[int, int, int]]:
        """(job, 0, start) of every start."""
        return selected(self.instance, schedule)


class DeferrableState(_Deferrable, LoadBalanceForm[DeferrableInstance, DeferrableSchedule]):
    """Load as a state: three non-zeros an option, however long it runs."""


class DeferrableCover(_Deferrable, PulseForm[DeferrableInstance, DeferrableSchedule]):
    """A row a slot over the covering options; the printed eq. (1), with its sum over t' mended."""


FORMULATIONS: dict[str, type[Model[DeferrableInstance, DeferrableSchedule]]] = {
    m.name: m for m in (DeferrableCover, DeferrableState)
}
