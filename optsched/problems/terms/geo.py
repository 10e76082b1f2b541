"""geo: revenue, energy, transfers and carbon, each by itself; the utility's U1 to U5 mix them."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import ClassVar

from optsched.instances.geo import GeoInstance, Site
from optsched.problems.terms.base import FAINT, Group, PricedTerms, Term, Weighted
from optsched.schedules.geo import GeoSchedule, evaluate

KG_PER_T = 1000.0


class GeoTerms(PricedTerms[GeoInstance, GeoSchedule]):
    """Terms in their own units: utility = revenue - energy - transfer - mu / 1000 * carbon."""

    axes: ClassVar[tuple[str, str]] = ("cost", "carbon")

    def terms(self, instance: GeoInstance) -> Mapping[str, Term]:
        """In USD, and carbon in kg."""
        return {
            "revenue": Term("of the GPUs in use", "USD", earned=True),
            "energy": Term("electricity, idle GPUs included", "USD"),
            "transfer": Term("prices of the links", "USD"),
            "carbon": Term(
                "carbon emitted, transfers and idle GPUs included", "kg", instance.carbon_price_usd_per_t / KG_PER_T
            ),
        }

    def groups(self) -> Mapping[str, Group]:
        """All money but that for carbon."""
        return {"cost": Group("energy and transfers less revenue", ("energy", "transfer", "revenue"))}

    def values(self, instance: GeoInstance, schedule: GeoSchedule) -> dict[str, float]:
        """From the referee's components at several prices: it knows no finer ones."""
        free = _priced(instance, revenue=0.0, energy=0.0, carbon=0.0)
        transfer = _cost(free, schedule, "migration", "retrieval")
        bought = evaluate(_priced(instance, revenue=0.0, energy=1.0, carbon=0.0), schedule).components
        grams = evaluate(_priced(instance, revenue=0.0, energy=0.0, carbon=KG_PER_T), schedule).components
        return {
            "revenue": evaluate(_priced(instance, revenue=1.0, energy=0.0, carbon=0.0), schedule).components["profit"],
            "energy": fsum([bought["idle"], -bought["profit"]]),
            "transfer": transfer,
            "carbon": fsum([grams["carbon"], grams["migration"], grams["retrieval"], -transfer]),
        }

    def weighted(self, instance: GeoInstance, weights: Mapping[str, float]) -> Weighted[GeoInstance]:
        """Other prices of all but the links: paths are chosen by theirs, and who can go where must stay as it is."""
        unit = max(weights["transfer"], FAINT * max(weights.values()))
        prices = {name: weights[name] / unit for name in ("revenue", "energy")}
        slack = 0.0 if weights["transfer"] else unit * _most_transfer(instance)
        return Weighted(_priced(instance, **prices, carbon=KG_PER_T * weights["carbon"] / unit), unit, slack)


def _priced(instance: GeoInstance, *, revenue: float, energy: float, carbon: float) -> GeoInstance:
    """Revenue and electricity times a factor; carbon at a price, USD a tonne."""
    prices: dict[str, object] = {
        "gpu_revenue_usd_per_h": revenue * instance.gpu_revenue_usd_per_h,
        "carbon_price_usd_per_t": carbon,
    }
    if energy != 1.0:
        prices["sites"] = tuple(_site(site, energy) for site in instance.sites)
    return instance.model_copy(update=prices)


def _site(site: Site, energy: float) -> Site:
    return site.model_copy(update={"price_usd_per_mwh": tuple(energy * price for price in site.price_usd_per_mwh)})


def _cost(instance: GeoInstance, schedule: GeoSchedule, *names: str) -> float:
    components = evaluate(instance, schedule).components
    return fsum(components[name] for name in names)


def _most_transfer(instance: GeoInstance) -> float:
    """No schedule pays more for its transfers: every job goes the dearest way there and back."""
    dearest = max((path.cost_usd_per_gb for path in instance.paths.values()), default=0.0)
    return (1 + FAINT) * dearest * fsum(job.data_gb + 2 * job.model_gb for job in instance.jobs)


TERMS = GeoTerms()
