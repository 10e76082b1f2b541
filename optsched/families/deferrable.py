"""deferrable: which parts it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from optsched.family import Family, Heuristic
from optsched.instances.deferrable import DeferrableInstance
from optsched.schedules import deferrable as referee
from optsched.schedules.base import Evaluation, Violation
from optsched.schedules.deferrable import DeferrableSchedule

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


class Deferrable(Family[DeferrableInstance, DeferrableSchedule]):
    """Deferrable jobs under a capacity with a price (OSDEC)."""

    name = "deferrable"
    instance = DeferrableInstance
    schedules = (DeferrableSchedule,)
    trouble_only_costs = True

    def evaluate(self, instance: DeferrableInstance, schedule: DeferrableSchedule) -> Evaluation:
        """Core-slots run, less delay and overload."""
        return referee.evaluate(instance, schedule)

    def check(self, instance: DeferrableInstance, schedule: DeferrableSchedule) -> list[Violation]:
        """Broken rules."""
        return referee.check(instance, schedule)

    def heuristics(self) -> Mapping[str, Heuristic[DeferrableInstance, DeferrableSchedule]]:
        """Dispatch rules, and a greedy over all jobs."""
        from optsched.heuristics.deferrable import HEURISTICS

        return HEURISTICS

    def formulations(self) -> Mapping[str, type[Model[DeferrableInstance, DeferrableSchedule]]]:
        """Both ways to write a time-indexed problem."""
        from optsched.models.deferrable import FORMULATIONS

        return FORMULATIONS

    def bounding(self) -> Mapping[str, Callable[..., Method[DeferrableInstance]]]:
        """The decomposition."""
        from optsched.decomposition.method import Decomposition

        return {"decomposition": Decomposition}

    def exact_size(self, instance: DeferrableInstance) -> ExactSize:
        """Options."""
        from optsched.decomposition.sizes import options
        from optsched.problems.deferrable import view

        return options(instance, view)

    def empty(self, instance: DeferrableInstance) -> DeferrableSchedule:
        """No job runs."""
        return DeferrableSchedule(starts=())

    def time_indexed(self, instance: DeferrableInstance) -> TimeIndexedView[DeferrableSchedule]:
        """Start slots."""
        from optsched.problems.deferrable import view

        return view(instance)

    def clairvoyant(self, instance: DeferrableInstance) -> float:
        """The Lagrangian dual, in core-slots."""
        from optsched.decomposition.passes import dual_bound
        from optsched.problems.deferrable import view

        return dual_bound(view(instance).problem)

    def online(self) -> Online[DeferrableInstance, DeferrableSchedule]:
        """Replays."""
        from optsched.rolling.deferrable import ONLINE

        return ONLINE

    def priced_terms(self) -> PricedTerms[DeferrableInstance, DeferrableSchedule]:
        """Work, delay, overload."""
        from optsched.problems.terms.deferrable import TERMS

        return TERMS

    def draw(self, instance: DeferrableInstance, schedule: DeferrableSchedule) -> Figure:
        """Cores in use, and a bar a job."""
        from optsched.analysis.deferrable import draw

        return draw(instance, schedule)

    def timeline(self, instance: DeferrableInstance, schedule: DeferrableSchedule) -> Timeline:
        """The same as data, for a page."""
        from optsched.analysis.page.deferrable import timeline

        return timeline(instance, schedule)

    def origins(self) -> Origins[DeferrableInstance]:
        """Scenarios of the paper, and tables of one's own."""
        from optsched.origins.deferrable import ORIGINS

        return ORIGINS


FAMILY = Deferrable()
