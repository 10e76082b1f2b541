"""geo: which parts it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from optsched.family import Family, Heuristic
from optsched.instances.geo import GeoInstance
from optsched.schedules import geo as referee
from optsched.schedules.base import Evaluation, Violation
from optsched.schedules.geo import GeoSchedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from optsched.analysis.page.timeline import Timeline
    from optsched.methods import Method
    from optsched.models.base import Model
    from optsched.origins import Origins
    from optsched.problems.size import ExactSize
    from optsched.problems.terms.base import PricedTerms
    from optsched.problems.view import TimeIndexedView
    from optsched.rolling.online import Online


class Geo(Family[GeoInstance, GeoSchedule]):
    """Geo-distributed utility (MASAC)."""

    name = "geo"
    instance = GeoInstance
    schedules = (GeoSchedule,)
    trouble_only_costs = True

    def evaluate(self, instance: GeoInstance, schedule: GeoSchedule) -> Evaluation:
        """Utility: revenue less energy, carbon and transfers."""
        return referee.evaluate(instance, schedule)

    def check(self, instance: GeoInstance, schedule: GeoSchedule) -> list[Violation]:
        """Broken rules."""
        return referee.check(instance, schedule)

    def heuristics(self) -> Mapping[str, Heuristic[GeoInstance, GeoSchedule]]:
        """Dispatch rules of the paper, and a greedy over all jobs."""
        from optsched.heuristics.geo import HEURISTICS

        return HEURISTICS

    def formulations(self) -> Mapping[str, type[Model[GeoInstance, GeoSchedule]]]:
        """Both ways to write a time-indexed problem."""
        from optsched.models.geo import FORMULATIONS

        return FORMULATIONS

    def bounding(self) -> Mapping[str, Callable[..., Method[GeoInstance]]]:
        """The decomposition."""
        from optsched.decomposition.method import Decomposition

        return {"decomposition": Decomposition}

    def exact_size(self, instance: GeoInstance) -> ExactSize:
        """Options."""
        from optsched.decomposition.sizes import options
        from optsched.problems.geo import view

        return options(instance, view)

    def empty(self, instance: GeoInstance) -> GeoSchedule:
        """No job runs."""
        return GeoSchedule(starts=())

    def time_indexed(self, instance: GeoInstance) -> TimeIndexedView[GeoSchedule]:
        """Sites and start slots."""
        from optsched.problems.geo import view

        return view(instance)

    def chosen(self, instance: GeoInstance, options: Sequence[tuple[int, int, int]]) -> GeoSchedule:
        """Of each job only the site that it goes to is listed."""
        from optsched.problems.geo import chosen

        return chosen(instance, options)

    def clairvoyant(self, instance: GeoInstance) -> float:
        """The Lagrangian dual, in USD."""
        from optsched.decomposition.passes import dual_bound
        from optsched.problems.geo import view

        return dual_bound(view(instance).problem)

    def online(self) -> Online[GeoInstance, GeoSchedule]:
        """Replays."""
        from optsched.rolling.geo import ONLINE

        return ONLINE

    def priced_terms(self) -> PricedTerms[GeoInstance, GeoSchedule]:
        """Revenue, energy, transfers, carbon."""
        from optsched.problems.terms.geo import TERMS

        return TERMS

    def draw(self, instance: GeoInstance, schedule: GeoSchedule) -> Figure:
        """A panel a site."""
        from optsched.analysis.geo import draw

        return draw(instance, schedule)

    def timeline(self, instance: GeoInstance, schedule: GeoSchedule) -> Timeline:
        """The same as data, for a page."""
        from optsched.analysis.page.geo import timeline

        return timeline(instance, schedule)

    def origins(self) -> Origins[GeoInstance]:
        """Scenarios of the paper, and tables of one's own."""
        from optsched.origins.geo import ORIGINS

        return ORIGINS


FAMILY = Geo()
