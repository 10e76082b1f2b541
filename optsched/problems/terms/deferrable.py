"""deferrable: work against delay and overload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from optsched.instances.deferrable import DeferrableInstance
from optsched.problems.terms.base import FAINT, PricedTerms, Term, Weighted
from optsched.schedules.deferrable import DeferrableSchedule, evaluate


class DeferrableTerms(PricedTerms[DeferrableInstance, DeferrableSchedule]):
    """The components of OSDEC's eq. (1)."""

    axes: ClassVar[tuple[str, str]] = ("work+delay", "overload")

    def terms(self, instance: DeferrableInstance) -> Mapping[str, Term]:
        """All in core-slots."""
        return {
            "work": Term("work done", instance.unit, earned=True),
            "delay": Term("delay at its penalty", instance.unit),
            "overload": Term("overload at its penalty", instance.unit),
        }

    def values(self, instance: DeferrableInstance, schedule: DeferrableSchedule) -> dict[str, float]:
        """The components."""
        return evaluate(instance, schedule).components

    def weighted(self, instance: DeferrableInstance, weights: Mapping[str, float]) -> Weighted[DeferrableInstance]:
        """Other penalties; work, whose price is one, is weighed by dividing the others. Faint work only lowers the sum."""
        unit = max(weights["work"], FAINT * max(weights.values()))
        prices = {
            "delay_penalty": instance.delay_penalty * weights["delay"] / unit,
            "overload_penalty": instance.overload_penalty * weights["overload"] / unit,
        }
        return Weighted(instance.model_copy(update=prices), unit)


TERMS = DeferrableTerms()
