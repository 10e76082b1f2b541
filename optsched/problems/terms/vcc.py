"""vcc: carbon against what waits, what the caps lack and what is not finished."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from optsched.instances.vcc import VccInstance
from optsched.problems.terms.base import Group, PricedTerms, Term, Weighted
from optsched.schedules.vcc import VccSchedule, evaluate

PENALTIES = ("delay", "daily", "unfinished")


class VccTerms(PricedTerms[VccInstance, VccSchedule]):
    """Carbon in kg, and the penalties."""

    axes: ClassVar[tuple[str, str]] = ("carbon", "service")

    def terms(self, instance: VccInstance) -> Mapping[str, Term]:
        """Carbon in kg, the others in the objective's unit."""
        return {
            "carbon": Term("carbon emitted", "kg", price=instance.carbon_price),
            "delay": Term("waiting beyond the limit, at its penalty", instance.unit),
            "daily": Term("what a day's caps lack, at its penalty", instance.unit),
            "unfinished": Term("work not run by the end, at its penalty", instance.unit),
        }

    def groups(self) -> Mapping[str, Group]:
        """What the users of the data centre suffer."""
        return {"service": Group("penalties for delay, low caps and unfinished work", PENALTIES)}

    def values(self, instance: VccInstance, schedule: VccSchedule) -> dict[str, float]:
        """The components, carbon at a price of one."""
        priced = instance if instance.carbon_price == 1.0 else instance.model_copy(update={"carbon_price": 1.0})
        return evaluate(priced, schedule).components

    def weighted(self, instance: VccInstance, weights: Mapping[str, float]) -> Weighted[VccInstance]:
        """Other prices."""
        largest = max(weights.values())
        prices = {f"{name}_penalty_per_ncu_h": weights[name] / largest for name in PENALTIES}
        scaled = {field: share * getattr(instance, field) for field, share in prices.items()}
        return Weighted(instance.model_copy(update=scaled | {"carbon_price": weights["carbon"] / largest}), largest)


TERMS = VccTerms()
