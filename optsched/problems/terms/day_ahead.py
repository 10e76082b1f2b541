"""day_ahead: carbon against peak power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from optsched.instances.day_ahead import DayAheadInstance
from optsched.problems.terms.base import PricedTerms, Term, Weighted
from optsched.schedules.day_ahead import DayAheadSchedule, evaluate


class DayAheadTerms(PricedTerms[DayAheadInstance, DayAheadSchedule]):
    """The two sums of eq. (6), without their prices. Schedules may be mixed, so that the front is a convex curve."""

    axes: ClassVar[tuple[str, str]] = ("carbon", "peak")
    discrete: ClassVar[bool] = False

    def terms(self, instance: DayAheadInstance) -> Mapping[str, Term]:
        """In kg and MW."""
        return {
            "carbon": Term("carbon emitted", "kg", price=instance.carbon_price),
            "peak": Term("sum of the clusters' daily peaks", "MW", price=instance.peak_price),
        }

    def values(self, instance: DayAheadInstance, schedule: DayAheadSchedule) -> dict[str, float]:
        """The components at prices of one."""
        return evaluate(instance.model_copy(update={"carbon_price": 1.0, "peak_price": 1.0}), schedule).components

    def weighted(self, instance: DayAheadInstance, weights: Mapping[str, float]) -> Weighted[DayAheadInstance]:
        """Other prices."""
        largest = max(weights.values())
        prices = {f"{name}_price": weight / largest for name, weight in weights.items()}
        return Weighted(instance.model_copy(update=prices), largest)


TERMS = DayAheadTerms()
