"""allocation: which parts it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from optsched.family import Family, Heuristic
from optsched.instances.allocation import AllocationInstance
from optsched.schedules import allocation as referee
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule, Decided
from optsched.schedules.base import Evaluation, Violation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from optsched.analysis.page.timeline import Timeline
    from optsched.methods import Method
    from optsched.models.base import Model
    from optsched.origins import Origins
    from optsched.problems.size import ExactSize
    from optsched.problems.terms.base import PricedTerms
    from optsched.rolling.online import Online


class Allocation(Family[AllocationInstance, Decided]):
    """GPU capacity allocation (ANDREAS): a snapshot's decision, or the history of a replay."""

    name = "allocation"
    instance = AllocationInstance
    schedules = (AllocationSchedule, AllocationHistory)
    trouble_only_costs = True

    def evaluate(self, instance: AllocationInstance, schedule: Decided) -> Evaluation:
        """The proxy of a snapshot, or the realised cost of a history."""
        return referee.evaluate(instance, schedule)

    def check(self, instance: AllocationInstance, schedule: Decided) -> list[Violation]:
        """Broken rules."""
        return referee.check(instance, schedule)

    def heuristics(self) -> Mapping[str, Heuristic[AllocationInstance, Decided]]:
        """Dispatch rules, the greedy, and the paper's randomized greedy."""
        from optsched.heuristics.allocation import HEURISTICS

        return HEURISTICS

    def formulations(self) -> Mapping[str, type[Model[AllocationInstance, Decided]]]:
        """By packing patterns, linearised, and as printed."""
        from optsched.models.allocation import FORMULATIONS

        return FORMULATIONS

    def bounding(self) -> Mapping[str, Callable[..., Method[AllocationInstance]]]:
        """Prices of slots and the reading by the cheapest job; of histories, a plan of whoever knows everything."""
        from optsched.decomposition.allocation.method import AllocationDecomposition
        from optsched.rolling.allocation.offline.method import OfflinePlan

        return {"decomposition": AllocationDecomposition, OfflinePlan.name: OfflinePlan}

    def relaxations(self) -> Mapping[str, Callable[[AllocationInstance, tuple[float, ...]], float | None]]:
        """Prices of slots."""
        from optsched.decomposition.allocation.slot_prices import proven
        from optsched.models.allocation.core import SlotCore

        return {SlotCore.name: proven}

    def exact_size(self, instance: AllocationInstance) -> ExactSize:
        """Columns of the recommended formulation."""
        from optsched.decomposition.allocation import exact_size

        return exact_size(instance)

    def clairvoyant(self, instance: AllocationInstance) -> float:
        """Every job as if alone."""
        from optsched.decomposition.allocation import clairvoyant

        return clairvoyant(instance)

    def online(self) -> Online[AllocationInstance, Decided]:
        """Replays."""
        from optsched.rolling.allocation import ONLINE

        return ONLINE

    def priced_terms(self) -> PricedTerms[AllocationInstance, Decided]:
        """Energy, tardiness, postponement."""
        from optsched.problems.terms.allocation import TERMS

        return TERMS

    def draw(self, instance: AllocationInstance, schedule: Decided) -> Figure:
        """Nodes over time."""
        from optsched.analysis.allocation import draw

        return draw(instance, schedule)

    def timeline(self, instance: AllocationInstance, schedule: Decided) -> Timeline:
        """The same as data, for a page."""
        from optsched.analysis.page.allocation import timeline

        return timeline(instance, schedule)

    def origins(self) -> Origins[AllocationInstance]:
        """Scenarios of the paper, and tables of one's own."""
        from optsched.origins.allocation import ORIGINS

        return ORIGINS


FAMILY = Allocation()
