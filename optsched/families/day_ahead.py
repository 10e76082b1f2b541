"""day_ahead: which parts it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from optsched.family import Family, Heuristic
from optsched.instances.day_ahead import DayAheadInstance
from optsched.schedules import day_ahead as referee
from optsched.schedules.base import Evaluation, Violation
from optsched.schedules.day_ahead import DayAheadSchedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from optsched.analysis.page.timeline import Timeline
    from optsched.models.base import Model
    from optsched.origins import Origins
    from optsched.problems.terms.base import PricedTerms


class DayAhead(Family[DayAheadInstance, DayAheadSchedule]):
    """Tomorrow's virtual capacity curves of many clusters (Radovanovic et al.)."""

    name = "day_ahead"
    instance = DayAheadInstance
    schedules = (DayAheadSchedule,)

    def evaluate(self, instance: DayAheadInstance, schedule: DayAheadSchedule) -> Evaluation:
        """Carbon and peaks."""
        return referee.evaluate(instance, schedule)

    def check(self, instance: DayAheadInstance, schedule: DayAheadSchedule) -> list[Violation]:
        """Broken rules."""
        return referee.check(instance, schedule)

    def heuristics(self) -> Mapping[str, Heuristic[DayAheadInstance, DayAheadSchedule]]:
        """The flattest usage."""
        from optsched.heuristics.day_ahead import HEURISTICS

        return HEURISTICS

    def formulations(self) -> Mapping[str, type[Model[DayAheadInstance, DayAheadSchedule]]]:
        """The paper's linear program."""
        from optsched.models.day_ahead import FORMULATIONS

        return FORMULATIONS

    def priced_terms(self) -> PricedTerms[DayAheadInstance, DayAheadSchedule]:
        """Carbon and peaks."""
        from optsched.problems.terms.day_ahead import TERMS

        return TERMS

    def draw(self, instance: DayAheadInstance, schedule: DayAheadSchedule) -> Figure:
        """A panel a cluster."""
        from optsched.analysis.day_ahead import draw

        return draw(instance, schedule)

    def timeline(self, instance: DayAheadInstance, schedule: DayAheadSchedule) -> Timeline:
        """The same as data, for a page."""
        from optsched.analysis.page.day_ahead import timeline

        return timeline(instance, schedule)

    def origins(self) -> Origins[DayAheadInstance]:
        """Scenarios of the paper, and tables of one's own."""
        from optsched.origins.day_ahead import ORIGINS

        return ORIGINS


FAMILY = DayAhead()
